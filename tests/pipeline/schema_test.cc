// The JSON Schema of the config: says yes to every config that comes with the program, and no where the
// reader does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "pipeline/config/config.h"
#include "tunemix/core/binary.h"
#include "tunemix/learners/registry.h"

namespace tunemix {
namespace {

using Json = nlohmann::json;

// As an editor reads YAML 1.2: numbers and booleans are what looks so.
Json json_of(const YAML::Node& node) {
  if (node.IsMap()) {
    Json object = Json::object();
    for (const auto& item : node) object[item.first.as<std::string>()] = json_of(item.second);
    return object;
  }
  if (node.IsSequence()) {
    Json list = Json::array();
    for (const auto& item : node) list.push_back(json_of(item));
    return list;
  }
  const auto text = node.as<std::string>();
  if (text == "true" || text == "false") return text == "true";
  const char* end = text.data() + text.size();
  int64_t whole = 0;
  if (const auto read = std::from_chars(text.data(), end, whole); read.ec == std::errc() && read.ptr == end)
    return whole;
  double real = 0;
  if (const auto read = std::from_chars(text.data(), end, real); read.ec == std::errc() && read.ptr == end)
    return real;
  return text;
}

bool is_type(const Json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "number") return value.is_number();
  return type == "integer" && value.is_number_integer();
}

// The part of JSON Schema that the config's schema uses; any other word is a failure of the test.
bool fits(const Json& value, const Json& schema) {
  const auto any = [&](const Json& list) {
    return std::any_of(list.begin(), list.end(), [&](const Json& one) { return fits(value, one); });
  };
  for (const auto& [word, what] : schema.items()) {
    bool good = true;
    if (word == "type") {
      good = what.is_array()
                 ? std::any_of(what.begin(), what.end(), [&](const Json& t) { return is_type(value, t); })
                 : is_type(value, what);
    } else if (word == "enum") {
      good = std::find(what.begin(), what.end(), value) != what.end();
    } else if (word == "const") {
      good = value == what;
    } else if (word == "minimum") {
      good = !value.is_number() || value >= what;
    } else if (word == "maximum") {
      good = !value.is_number() || value <= what;
    } else if (word == "pattern") {
      good = !value.is_string() ||
             std::regex_search(value.get<std::string>(), std::regex(what.get<std::string>()));
    } else if (word == "minItems") {
      good = !value.is_array() || value.size() >= what.get<size_t>();
    } else if (word == "items") {
      good =
          !value.is_array() || std::all_of(value.begin(), value.end(),
                                           [&, &each = what](const Json& item) { return fits(item, each); });
    } else if (word == "required") {
      good = !value.is_object() || std::all_of(what.begin(), what.end(), [&](const Json& key) {
        return value.contains(key.get<std::string>());
      });
    } else if (word == "properties") {
      for (const auto& [key, property] : what.items())
        good = good && (!value.is_object() || !value.contains(key) || fits(value[key], property));
    } else if (word == "additionalProperties") {
      EXPECT_EQ(what, false);
      if (value.is_object())
        for (const auto& [key, item] : value.items()) good = good && schema["properties"].contains(key);
    } else if (word == "anyOf") {
      good = any(what);
    } else if (word == "oneOf") {
      good = std::count_if(what.begin(), what.end(), [&](const Json& one) { return fits(value, one); }) == 1;
    } else if (word == "allOf") {
      good = std::all_of(what.begin(), what.end(), [&](const Json& one) { return fits(value, one); });
    } else if (word == "if") {
      good = !fits(value, what) || fits(value, schema["then"]);
    } else {
      EXPECT_THAT((std::vector<std::string>{"then", "$schema", "title", "description"}),
                  testing::Contains(word));
    }
    if (!good) return false;
  }
  return true;
}

class ConfigSchema : public testing::Test {
 protected:
  bool accepts(const std::string& yaml) const { return fits(json_of(YAML::Load(yaml)), schema_); }
  const Json schema_ = Json::parse(config_schema());
};

TEST_F(ConfigSchema, TakesEveryConfigThatComesWithTheProgram) {
  size_t configs = 0;
  for (const char* folder : {"configs", "experiments"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(TUNEMIX_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".yaml") continue;
      const std::string text = read_text_file(entry.path());
      EXPECT_TRUE(accepts(text)) << entry.path();
      ++configs;
      // The line by which editors find the schema.
      if (folder == std::string("configs")) {
        EXPECT_THAT(text, testing::StartsWith("# yaml-language-server: $schema=")) << entry.path();
      }
    }
  EXPECT_GE(configs, 5U);
}

TEST_F(ConfigSchema, IsTheOneInTheDocs) {
  const auto file = std::filesystem::path(TUNEMIX_SOURCE_DIR) / "docs/config.schema.json";
  EXPECT_EQ(Json::parse(read_text_file(file)), schema_)
      << "run: build/bin/tunemix run --help-config --format schema > docs/config.schema.json";
}

TEST_F(ConfigSchema, SaysNoWhereTheReaderDoes) {
  const std::string head = "name: x\ndata: {synthetic: {preset: quickstart}}\n";
  const std::string good = head + "learners: [{type: svm}]\n";
  const std::pair<std::string, bool> cases[] = {
      {good, true},
      {head, true},
      {head + "learners: []\n", false},
      {"name: x\ndata: {folds: [{train: a, valid: {from: train}, test: [b, c]}]}\n", true},
      {"name: x\ndata: {folds: [{train: a, valid: {form: train}, test: [b, c]}]}\n", false},
      {"name: x\ndata: {folds: [{train: a, test: b}]}\n", false},
      {good + "sede: 3\n", false},
      {good + "seed: 3\n", true},
      {good + "seed: -3\n", false},
      {"name: a/b\ndata: {synthetic: {preset: quickstart}}\nlearners: [{type: svm}]\n", false},
      {"name: x\ndata: {}\nlearners: [{type: svm}]\n", false},
      {head + "learners: [{type: smv}]\n", false},
      {head + "learners: [{type: svm, C: auto}]\n", true},
      {head + "learners: [{type: svm, C: [1e-3, 0.1]}]\n", true},
      {head + "learners: [{type: lambdamart, leaves: [8, 16], iterations: [100, 200]}]\n", true},
      {head + "learners: [{type: lambdamart, leaves: 1}]\n", false},
      {head + "learners: [{type: lambdamart, leafs: 8}]\n", false},
      {head + "learners: [{type: adaboost_mh, base: tee}]\n", false},
      {good + "calibrate: {cpc: [ls, shift], rbc: {regressors: []}}\n", true},
      {good + "calibrate: {cpc: [sl]}\n", false},
      {good + "mix: {c: {to: 100}, families: pooled}\n", true},
      {good + "mix: {c: {upto: 100}}\n", false},
      {good + "evaluate: {tools: [yahoo, trek]}\n", false}};
  for (const auto& [yaml, expected] : cases) {
    EXPECT_EQ(accepts(yaml), expected) << yaml;
    bool read = true;
    try {
      parse_config(yaml, "test", {});
    } catch (const InputError&) {
      read = false;
    }
    EXPECT_EQ(read, expected) << yaml;
  }
}

TEST_F(ConfigSchema, HasEveryLearnerWithEveryOption) {
  for (const auto& learner : registry().entries()) {
    std::string yaml =
        "name: x\ndata: {synthetic: {preset: quickstart}}\nlearners:\n  - {type: " + learner->type;
    for (const OptionInfo& option : learner->options)
      if (!option.default_value.empty()) yaml += ", " + option.name + ": " + option.default_value;
    if (learner->external) yaml += ", name: x, files: {train: a, valid: b, test: c}";
    EXPECT_TRUE(accepts(yaml + "}\n")) << yaml;
    EXPECT_FALSE(accepts(yaml + ", no_such_key: 1}\n")) << yaml;
  }
}

}  // namespace
}  // namespace tunemix
