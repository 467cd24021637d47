// Reads `data`: the files of the folds, or built-in data.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "pipeline/config/sections.h"
#include "pipeline/config/tables.h"
#include "tunemix/core/file.h"
#include "tunemix/core/text.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/data/synthetic.h"

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

std::vector<YamlSection> fold_sections(const YamlSection& section) {
  const YAML::Node list = section.child("folds");
  if (!list.IsSequence() || list.size() == 0)
    section.fail("folds", "expected a list of {train: ..., valid: ..., test: ...}");
  std::vector<YamlSection> folds;
  for (size_t i = 0; i < list.size(); ++i)
    folds.emplace_back(section.document(), list[i], fmt::format("{}.{}", section.path_of("folds"), i));
  return folds;
}

void read_folds(const YamlSection& section, DataConfig& data, ResolvedLog& log) {
  for (const YamlSection& fold : fold_sections(section)) {
    const TestFiles test = data.folds.empty() ? TestFiles::kMayMiss
                           : data.has_test()  ? TestFiles::kExpect
                                              : TestFiles::kRefuse;
    data.folds.push_back(read_data_fold(fold, test, log));
  }
}

// What may have been meant by a name that no feature has.
std::string other_feature(const std::string& word, const FeatureNames& names) {
  std::vector<std::string> known;
  for (size_t j = 0; j < names.size(); ++j)
    if (!names[j].empty()) known.emplace_back(names[j]);
  const std::string meant = did_you_mean(word, known);
  return meant.empty() ? "; expected one of those, a number from 1 or a range such as 1-10" : meant;
}

// The features that a key of the section lists, names replaced by their numbers.
std::string numbered_features(const YamlSection& section, const std::string& key, const DataConfig& data) {
  std::string text = section.text(key);
  const bool is_list = section.child(key).IsSequence();
  if (!is_list && text == "all") return text;
  if (!is_list && text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::optional<KnownNames> known;
  std::vector<std::string> items = is_list ? section.items(key) : split(text, ',');
  for (std::string& item : items) {
    if (item.find_first_not_of("0123456789- ") == std::string::npos) continue;
    item = item.substr(item.find_first_not_of(' '));
    item.erase(item.find_last_not_of(' ') + 1);
    if (!known) {
      DataConfig of_files = data;
      ResolvedLog none;
      if (section.has("folds"))
        of_files.folds = {read_data_fold(fold_sections(section)[0], TestFiles::kMayMiss, none)};
      known = known_names(of_files);
    }
    if (known->names.empty())
      section.fail(key, fmt::format("'{}' is neither a number from 1 nor a range such as 1-10, and the "
                                    "features have no names; give them by data.feature_names",
                                    item));
    const std::optional<size_t> feature = known->names.find(item);
    if (!feature)
      section.fail(key, fmt::format("'{}' is no name in {}{}", item, known->source,
                                    other_feature(item, known->names)));
    item = fmt::format("{}", *feature + 1);
  }
  return "[" + join(items, ", ") + "]";
}

void read_source(const YamlSection& section, SourceConfig& source, ResolvedLog& log) {
  section.expect_keys(source_table().names() + std::vector<std::string>{"files", "features"});
  if (!section.has("files")) section.fail("files", "is missing; expected the files of the source");
  source.files = section.items("files");
  if (source.files.empty()) section.fail("files", "expected at least one file");
  log.add_texts(section.path_of("files"), source.files, section.origin("files"));
  if (section.has("features")) {
    source.features = section.items("features");
    log.add_texts(section.path_of("features"), source.features, section.origin("features"));
    if (source.features.empty())
      section.fail("features", "expected at least one feature that both sets have");
    try {
      source.feature_pairs();
    } catch (const InputError& error) {
      section.fail("features", error.what());
    }
  }
  section.read(source_table(), source, log);
}

size_t read_feature(std::string_view text, const std::string& item) {
  size_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop != text.data() + text.size() || number < 1 || number > 100000000)
    throw_input("'{}' is no feature; expected a number as 3, a range as 1-10, or SOURCE:FOLD as 5:7", item);
  return number;
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

std::string_view to_string(SourceUse use) {
  constexpr std::string_view kNames[] = {"none", "joint", "only", "both"};
  return kNames[static_cast<size_t>(use)];
}

std::vector<std::pair<size_t, size_t>> SourceConfig::feature_pairs() const {
  std::vector<std::pair<size_t, size_t>> pairs;
  for (const std::string& item : features) {
    const std::string_view text = item;
    if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
      pairs.emplace_back(read_feature(text.substr(0, colon), item),
                         read_feature(text.substr(colon + 1), item));
    } else if (const size_t dash = text.find('-'); dash != std::string_view::npos) {
      const size_t last = read_feature(text.substr(dash + 1), item);
      const size_t first = read_feature(text.substr(0, dash), item);
      if (last < first || last - first > 1000000)
        throw_input("'{}' is no range; expected the smaller number first", item);
      for (size_t j = first; j <= last; ++j) pairs.emplace_back(j, j);
    } else {
      pairs.emplace_back(read_feature(text, item), read_feature(text, item));
    }
  }
  std::vector<size_t> targets;
  for (const auto& [from, to] : pairs) targets.push_back(to);
  std::sort(targets.begin(), targets.end());
  if (const auto twice = std::adjacent_find(targets.begin(), targets.end()); twice != targets.end())
    throw_input("feature {} of the folds is given twice; expected one feature of the source for it", *twice);
  return pairs;
}

namespace {

FoldFiles read_fold(const YamlSection& fold, bool valid_has_files, TestFiles test, ResolvedLog& log) {
  fold.expect_keys({"train", "valid", "test"});
  FoldFiles files;
  for (const auto& [key, target] :
       {std::pair{"train", &files.train}, std::pair{"valid", &files.valid}, std::pair{"test", &files.test}}) {
    if (target == &files.test && !fold.has(key) && test != TestFiles::kExpect) continue;
    if (!fold.has(key))
      fold.fail(key,
                "is missing; a fold has train, valid and test (data without validation files: 'valid: "
                "{from: train}')");
    if (target == &files.test && test == TestFiles::kRefuse)
      fold.fail(key, "is not expected here: other folds, or the data, have no test files");
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

FoldFiles read_fold_files(const YamlSection& fold, TestFiles test, ResolvedLog& log) {
  return read_fold(fold, true, test, log);
}

FoldFiles read_data_fold(const YamlSection& fold, TestFiles test, ResolvedLog& log) {
  return read_fold(fold, !fold.has("valid") || !fold.child("valid").IsMap(), test, log);
}

KnownNames known_names(const DataConfig& data) {
  const auto path_of = [&](const std::string& file) { return std::filesystem::path(data.root) / file; };
  if (!data.feature_names.empty()) {
    const std::filesystem::path file = path_of(data.feature_names);
    expect_readable(file);
    return {read_feature_names(file), file.string()};
  }
  if (!data.given.empty()) return {data.given[0]->train.feature_names(), "the training data"};
  if (data.folds.empty()) return {};
  const std::filesystem::path file = path_of(data.folds[0].train[0]);
  expect_readable(file);
  return {read_header_names(file), "the head of " + file.string()};
}

void read_data(const YamlSection& section, const YamlSection& recipe, DataConfig& data, ResolvedLog& log) {
  if (section.has("given") && data.given.empty())
    section.fail("given", "the data of this run was in the memory of a program; run it from there again");
  section.expect_keys(data_table().names() +
                      std::vector<std::string>{"folds", "synthetic", "calibration", "source"});
  if (!data.given.empty() && (section.has("folds") || section.has("synthetic")))
    section.fail("folds", "the data is given already; leave 'folds' and 'synthetic' out");
  if (data.given.empty() && section.has("folds") == section.has("synthetic"))
    section.fail("folds", "expected either 'folds' with files or 'synthetic' with a preset");
  if (section.has("root")) {
    data_table().set(data, "root", section.text("root"));
    data.root = expand_environment(section, "root", data.root);
    // Empty in the resolved config of a run that named no folder.
    if (!data.root.empty()) data.root = std::filesystem::absolute(data.root).lexically_normal().string();
  }
  for (const auto& entry : data_table().entries()) {
    if (entry.name == "root") {
      if (section.has("folds") || (section.has("feature_names") && !section.text("feature_names").empty()))
        log.add(section.path_of("root"), data.root, section.origin("root"));
      continue;
    }
    const YamlSection& from = section.has(entry.name) ? section : recipe;
    if ((entry.name == "features" || entry.name == "categorical") && section.has(entry.name))
      section.set_text(entry, data, numbered_features(section, entry.name, data));
    else if (from.has(entry.name))
      from.set(entry, data);
    log.add(section.path_of(entry.name), entry.get(data), from.origin(entry.name));
  }
  if (data.labels == 1) section.fail("labels", "is 1; expected 0 or 2 to 32");
  if (!std::is_sorted(data.grades.begin(), data.grades.end()))
    section.fail("grades", "expected grades that do not fall");
  const YamlSection calibration = (section.has("calibration") ? section : recipe).section("calibration");
  if (calibration.has("fraction"))
    calibration.fail(
        "fraction",
        "is now said in parts, of which each bag leaves out one: write parts, 1 / fraction, as in "
        "'calibration: {parts: 5}' for a fifth");
  calibration.expect_keys(calibration_split_table().names());
  calibration.read(calibration_split_table(), data, log);
  if (data.calibration_parts == 1)
    calibration.fail("parts", "is 1, which leaves out all queries; expected 0, or 2 to 1000");
  if (section.has("source") && !section.has("folds"))
    section.fail("source", "goes with 'folds' of files, not with other data");
  if (section.has("source")) read_source(section.section("source"), data.source, log);
  if (!data.given.empty()) {
    log_given(section, data, log);
  } else if (section.has("folds")) {
    read_folds(section, data, log);
  } else {
    const YamlSection synthetic = section.section("synthetic");
    synthetic.expect_keys(synthetic_table().names());
    synthetic.read(synthetic_table(), data.synthetic, log);
    const std::vector<std::string> presets = synthetic_presets();
    if (std::ranges::find(presets, data.synthetic.preset) == presets.end())
      synthetic.fail("preset",
                     fmt::format("is '{}'; expected {}", data.synthetic.preset, fmt::join(presets, ", ")));
  }
}

}  // namespace tunemix
