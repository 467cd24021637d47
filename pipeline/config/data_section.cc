// Reads `data`: the files of the folds, or built-in data.
#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "pipeline/config/sections.h"
#include "pipeline/config/tables.h"

namespace tunemix {
namespace {

std::string expand_environment(const YamlSection& section, const std::string& key, const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '$') {
      result += text[i++];
      continue;
    }
    const bool braces = i + 1 < text.size() && text[i + 1] == '{';
    size_t begin = i + (braces ? 2 : 1);
    size_t end = begin;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
      ++end;
    const std::string name = text.substr(begin, end - begin);
    const char* value = std::getenv(name.c_str());
    if (name.empty() || value == nullptr)
      section.fail(key, fmt::format("the environment has no ${}; set it or write the folder itself", name));
    result += value;
    i = end + (braces ? 1 : 0);
  }
  return result;
}

void read_folds(const YamlSection& section, DataConfig& data, ResolvedLog& log) {
  const YAML::Node list = section.child("folds");
  if (!list.IsSequence() || list.size() == 0)
    section.fail("folds", "expected a list of {train: ..., valid: ..., test: ...}");
  for (size_t i = 0; i < list.size(); ++i)
    data.folds.push_back(read_data_fold(
        YamlSection(section.document(), list[i], fmt::format("{}.{}", section.path_of("folds"), i)), log));
}

// What tells given data apart: its fingerprints.
void log_given(const YamlSection& section, const DataConfig& data, ResolvedLog& log) {
  for (size_t i = 0; i < data.given.size(); ++i)
    for (const auto& [name, split] :
         {std::pair{"train", &data.given[i]->train}, std::pair{"valid", &data.given[i]->valid},
          std::pair{"test", &data.given[i]->test}})
      log.add(fmt::format("{}.{}.{}", section.path_of("given"), i, name), split->fingerprint().hex(),
              "in memory");
}

}  // namespace

namespace {

FoldFiles read_fold(const YamlSection& fold, bool valid_has_files, ResolvedLog& log) {
  fold.expect_keys({"train", "valid", "test"});
  FoldFiles files;
  for (const auto& [key, target] :
       {std::pair{"train", &files.train}, std::pair{"valid", &files.valid}, std::pair{"test", &files.test}}) {
    if (!fold.has(key))
      fold.fail(key,
                "is missing; a fold has train, valid and test (data without validation files: 'valid: "
                "{from: train}')");
    if (target == &files.valid && !valid_has_files) {
      const YamlSection valid = fold.section(key);
      valid.expect_keys(valid_from_table().names());
      if (!valid.has("from")) valid.fail("from", "is missing; expected 'from: train'");
      valid.read(valid_from_table(), files.valid_from, log);
      continue;
    }
    *target = fold.items(key);
    if (target->empty()) fold.fail(key, "expected at least one file");
    log.add_texts(fold.path_of(key), *target, fold.origin(key));
  }
  return files;
}

}  // namespace

FoldFiles read_fold_files(const YamlSection& fold, ResolvedLog& log) { return read_fold(fold, true, log); }

FoldFiles read_data_fold(const YamlSection& fold, ResolvedLog& log) {
  return read_fold(fold, !fold.has("valid") || !fold.child("valid").IsMap(), log);
}

void read_data(const YamlSection& section, const YamlSection& recipe, DataConfig& data, ResolvedLog& log) {
  if (section.has("given") && data.given.empty())
    section.fail("given", "the data of this run was in the memory of a program; run it from there again");
  section.expect_keys(data_table().names() + std::vector<std::string>{"folds", "synthetic", "calibration"});
  if (!data.given.empty() && (section.has("folds") || section.has("synthetic")))
    section.fail("folds", "the data is given already; leave 'folds' and 'synthetic' out");
  if (data.given.empty() && section.has("folds") == section.has("synthetic"))
    section.fail("folds", "expected either 'folds' with files or 'synthetic' with a preset");
  if (section.has("root")) {
    data_table().set(data, "root", section.text("root"));
    data.root = expand_environment(section, "root", data.root);
    data.root = std::filesystem::absolute(data.root).lexically_normal().string();
  }
  for (const auto& entry : data_table().entries()) {
    if (entry.name == "root") {
      if (section.has("folds")) log.add(section.path_of("root"), data.root, section.origin("root"));
      continue;
    }
    const YamlSection& from = section.has(entry.name) ? section : recipe;
    if (from.has(entry.name)) from.set(entry, data);
    log.add(section.path_of(entry.name), entry.get(data), from.origin(entry.name));
  }
  if (data.labels == 1) section.fail("labels", "is 1; expected 0 or 2 to 32");
  if (!std::is_sorted(data.grades.begin(), data.grades.end()))
    section.fail("grades", "expected grades that do not fall");
  const YamlSection calibration = section.section("calibration");
  calibration.expect_keys(calibration_split_table().names());
  calibration.read(calibration_split_table(), data, log);
  if (!data.given.empty()) {
    log_given(section, data, log);
  } else if (section.has("folds")) {
    read_folds(section, data, log);
  } else {
    const YamlSection synthetic = section.section("synthetic");
    synthetic.expect_keys(synthetic_table().names());
    synthetic.read(synthetic_table(), data.synthetic, log);
    if (data.synthetic.preset != "quickstart" && data.synthetic.preset != "mslr10k")
      synthetic.fail("preset", fmt::format("is '{}'; expected quickstart or mslr10k", data.synthetic.preset));
  }
}

}  // namespace tunemix
