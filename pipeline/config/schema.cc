// The config as a JSON Schema, for editors: made from the same tables as the reader and the reference.
#include <charconv>
#include <nlohmann/json.hpp>

#include "pipeline/config/tables.h"
#include "pipeline/store/json_text.h"
#include "tunemix/learners/registry.h"

namespace tunemix {
namespace {

using Json = nlohmann::ordered_json;

// "... from LOW to HIGH", as OptionTable words it; nothing where a bound is beyond what JSON says exactly.
void add_range(Json& schema, std::string_view expected) {
  const size_t from = expected.find(" from ");
  const size_t to = expected.find(" to ", from);
  const auto bound = [&](std::string_view text, const char* key) {
    double value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size() || value > 9e15) return;
    if (schema["type"] == "integer")
      schema[key] = static_cast<int64_t>(value);
    else
      schema[key] = value;
  };
  bound(expected.substr(from + 6, to - from - 6), "minimum");
  bound(expected.substr(to + 4), "maximum");
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words = split(text, ',');
  for (std::string& word : words) word.erase(0, word.find_first_not_of(' '));
  return words;
}

// `[a, b]`, or `a` for `[a]`.
Json list_of(const Json& item) { return {{"anyOf", {item, {{"type", "array"}, {"items", item}}}}}; }

// What a value may be, from what the table says is expected. A grammar of its own is any plain value.
Json value_schema(const std::string& expected) {
  const auto after = [&](std::string_view prefix) { return expected.substr(prefix.size()); };
  if (expected == "true or false") return {{"type", "boolean"}};
  if (expected.starts_with("one of: ")) return {{"enum", split_words(after("one of: "))}};
  if (expected.starts_with("a list of: ")) return list_of({{"enum", split_words(after("a list of: "))}});
  Json number = {{"type", "number"}};
  if (expected.starts_with("a whole number from ")) number["type"] = "integer";
  if (expected.starts_with("a whole number from ") || expected.starts_with("a number from ")) {
    add_range(number, expected);
    return number;
  }
  if (expected.starts_with("a list of whole numbers from ")) number["type"] = "integer";
  if (expected.starts_with("a list of whole numbers from ") ||
      expected.starts_with("a list of numbers from ")) {
    add_range(number, expected);
    return list_of(number);
  }
  Json plain = {{"type", {"string", "number", "boolean"}}};
  return expected.find(" list ") == std::string::npos ? plain : list_of(plain);
}

Json described(Json schema, const std::string& doc, const std::string& value) {
  schema["description"] = value.empty() ? doc : fmt::format("{} (default: {})", doc, value);
  return schema;
}

Json object() {
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
}

template <typename Struct>
void add_keys(Json& section, const OptionTable<Struct>& table, const Struct& defaults = {}) {
  for (const auto& entry : table.entries())
    section["properties"][entry.name] =
        described(value_schema(entry.expected), entry.doc, entry.get(defaults));
}

template <typename Struct>
Json section_of(const OptionTable<Struct>& table, const Struct& defaults = {}) {
  Json section = object();
  add_keys(section, table, defaults);
  return section;
}

Json fold_schema() {
  const Json files = {{"type", {"string", "array"}}, {"items", {{"type", "string"}}}, {"minItems", 1}};
  Json fold = object();
  for (const char* split : {"train", "valid", "test"}) fold["properties"][split] = files;
  fold["required"] = {"train", "valid", "test"};
  return fold;
}

// Of the data, whose validation queries may be taken from the training data.
Json data_fold_schema() {
  Json from = section_of(valid_from_table(), {.from = "train"});
  from["required"] = Json::array({"from"});
  Json fold = fold_schema();
  fold["properties"]["valid"] = {{"anyOf", {fold["properties"]["valid"], from}}};
  return fold;
}

Json learner_schema(const LearnerEntry& learner) {
  Json section = object();
  section["description"] = learner.doc;
  section["required"] = learner.external ? Json::array({"type", "name", "files"}) : Json::array({"type"});
  section["properties"]["type"] = {{"const", learner.type}};
  add_keys(section, common_learner_table(learner));
  for (const GridKey& key : common_grid_keys(learner))
    section["properties"][key.name] = {{"description", key.doc}};
  for (const OptionInfo& option : learner.options) {
    const Json one = value_schema(option.expected);
    const Json schema = option.role == OptionRole::kFeatures ? Json{{"type", "object"}}
                        : option.role == OptionRole::kPath   ? one
                                                             : list_of(one);
    section["properties"][option.name] = described(schema, option.doc, option.default_value);
  }
  if (learner.external) {
    section["properties"]["name"] = {{"type", "string"}, {"pattern", "^[A-Za-z0-9._-]{1,40}$"}};
    section["properties"]["files"] = list_of(fold_schema());
  }
  return section;
}

// Chosen by `type`, so that an editor names the key that is wrong rather than the learners that it is not.
Json learners_schema() {
  Json types = Json::array();
  Json branches = Json::array();
  for (const auto& learner : registry().entries()) {
    types.push_back(learner->type);
    branches.push_back({{"if", {{"properties", {{"type", {{"const", learner->type}}}}}}},
                        {"then", learner_schema(*learner)}});
  }
  Json item = {{"type", "object"}, {"required", Json::array({"type"})}};
  item["properties"]["type"] = {{"enum", types}};
  item["allOf"] = branches;
  return {{"type", "array"}, {"minItems", 1}, {"items", item}};
}

}  // namespace

std::string config_schema() {
  Json data = section_of(data_table());
  data["properties"]["folds"] = {{"type", "array"}, {"minItems", 1}, {"items", data_fold_schema()}};
  data["properties"]["synthetic"] = section_of(synthetic_table());
  data["properties"]["calibration"] = section_of(calibration_split_table());
  data["oneOf"] = {{{"required", Json::array({"folds"})}}, {{"required", Json::array({"synthetic"})}}};
  Json calibrate = section_of(calibrate_table());
  calibrate["properties"]["rbc"] = section_of(rbc_table());
  Json mix = section_of(mix_table());
  mix["properties"].update(section_of(mix_choice_table())["properties"]);
  mix["properties"]["c"] = section_of(mix_c_table());
  mix["properties"]["fixed"] = section_of(mix_fixed_table());
  Json engine = section_of(engine_table());
  engine["properties"]["slurm"] = section_of(slurm_table());

  Json root = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "TuneMix experiment"}};
  root.update(section_of(header_table()));
  root["required"] = {"name", "data"};
  root["properties"]["name"]["pattern"] = "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$";
  root["properties"]["data"] = data;
  root["properties"]["learners"] = learners_schema();
  root["properties"]["calibrate"] = calibrate;
  root["properties"]["mix"] = mix;
  root["properties"]["evaluate"] = section_of(evaluate_table());
  root["properties"]["engine"] = engine;
  return json_text(root) + '\n';
}

}  // namespace tunemix
