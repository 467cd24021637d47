// Reads the entries under `learners`, and decides what makes two of them the same.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "pipeline/config/sections.h"
#include "pipeline/config/tables.h"
#include "tunemix/learn/monotone.h"
#include "tunemix/learners/registry.h"

namespace tunemix {
namespace {

constexpr size_t kMostCombinations = 200000;  // that one entry may span

// A map by features, whose names are replaced by numbers.
std::string features_by_number(const YamlSection& section, const std::string& key, const DataConfig& data) {
  try {
    const Monotone given = parse_monotone(section.map_text(key));
    const bool named = std::any_of(given.begin(), given.end(), [](const auto& item) {
      return item.first.find_first_not_of("0123456789") != std::string::npos;
    });
    return to_text(numbered(given, named ? known_names(data).names : FeatureNames()));
  } catch (const InputError& error) {
    section.fail(key, error.what());
  }
}

// A map by features that other learners take and this one does not.
void refuse_features(const YamlSection& section, const LearnerEntry& learner) {
  std::map<std::string, std::vector<std::string>> takers;
  for (const auto& entry : registry().entries())
    for (const OptionInfo& option : entry->options)
      if (option.role == OptionRole::kFeatures) takers[option.name].push_back(entry->type);
  for (const auto& [key, types] : takers)
    if (section.has(key) && std::find(types.begin(), types.end(), learner.type) == types.end())
      section.fail(
          key, fmt::format("cannot be kept by {}; learners that can: {}", learner.type, join(types, ", ")));
}

// All points of the grid that the section spans over a learner's options; an option with another role has one
// value.
std::vector<Settings> expand_grid(const YamlSection& section, const LearnerEntry& learner,
                                  const DataConfig& data, ResolvedLog& log) {
  std::vector<Settings> grid = {learner.complete({})};
  for (size_t o = 0; o < learner.options.size(); ++o) {
    const OptionInfo& option = learner.options[o];
    if (option.role == OptionRole::kLength) continue;
    if (!section.has(option.name)) {
      log.add(section.path_of(option.name), option.default_value, "default");
      continue;
    }
    const auto canonical = [&](const std::string& text) {
      try {
        return learner.canonical(option.name, text);
      } catch (const InputError& error) {
        section.fail(option.name, error.what());
      }
    };
    std::vector<std::string> values;
    if (option.role == OptionRole::kPath)
      values.push_back(canonical(section.text(option.name)));
    else if (option.role == OptionRole::kFeatures)
      values.push_back(canonical(features_by_number(section, option.name, data)));
    else
      for (const std::string& item : section.items(option.name)) values.push_back(canonical(item));
    if (values.empty()) section.fail(option.name, "expected a value or a list of values");
    if (grid.size() * values.size() > kMostCombinations)
      section.fail(option.name, fmt::format("makes a grid of {} combinations or more; expected at most {}",
                                            grid.size() * values.size(), kMostCombinations));
    std::vector<Settings> next;
    for (const std::string& value : values)
      for (Settings settings : grid) {
        settings[o].second = value;
        next.push_back(std::move(settings));
      }
    grid = std::move(next);
    log.add(section.path_of(option.name), values.size() == 1 ? values[0] : "[" + join(values, ", ") + "]",
            section.origin(option.name));
  }
  return grid;
}

// Whole numbers in rising order; throws where one of them occurs twice.
void sort_lengths(const YamlSection& section, const std::string& key, std::vector<int64_t>& lengths) {
  std::sort(lengths.begin(), lengths.end());
  const auto twice = std::adjacent_find(lengths.begin(), lengths.end());
  if (twice != lengths.end())
    section.fail(key, fmt::format("{} occurs twice; give each number once", *twice));
}

// The lengths of a learner's points: `iterations: 200` with `checkpoints`, or `iterations: [100, 200]`.
std::vector<int64_t> read_lengths(const YamlSection& section, const LearnerEntry& learner,
                                  std::vector<int64_t> checkpoints, ResolvedLog& log) {
  const OptionInfo& option = *learner.length_option();
  std::vector<int64_t> given;
  if (section.has(option.name))
    for (const std::string& item : section.items(option.name)) try {
        given.push_back(std::stoll(learner.canonical(option.name, item)));
      } catch (const InputError& error) {
        section.fail(option.name, error.what());
      }
  else
    given.push_back(std::stoll(option.default_value));
  if (given.empty()) section.fail(option.name, "expected a value or a list of values");
  sort_lengths(section, option.name, given);
  const int64_t last = given.back();
  if (given.size() > 1 && section.has("checkpoints"))
    section.fail(
        "checkpoints",
        fmt::format("'{}' is a list, which already says the checkpoints; give one of them", option.name));
  sort_lengths(section, "checkpoints", checkpoints);
  if (!checkpoints.empty() && checkpoints.back() > last)
    section.fail("checkpoints", fmt::format("has {}, and '{}' is {}; expected whole numbers up to that",
                                            checkpoints.back(), option.name, last));
  if (given.size() > 1) checkpoints = given;
  log.add(section.path_of(option.name), fmt::format("{}", last), section.origin(option.name));
  log.add(section.path_of("checkpoints"), fmt::format("[{}]", fmt::join(checkpoints, ", ")),
          section.origin(given.size() > 1 ? option.name : "checkpoints"));
  if (checkpoints.empty()) return default_lengths(last);
  if (checkpoints.back() < last) checkpoints.push_back(last);
  return checkpoints;
}

// The score files of each fold: a list of folds, or one fold for data of one.
std::vector<FoldFiles> read_score_files(const YamlSection& section, const DataConfig& data,
                                        ResolvedLog& log) {
  if (!section.has("files"))
    section.fail("files", "is missing; expected {train: ..., valid: ..., test: ...} for each fold");
  const YAML::Node node = section.child("files");
  const TestFiles test = data.has_test() ? TestFiles::kExpect : TestFiles::kRefuse;
  std::vector<FoldFiles> folds;
  if (node.IsMap()) {
    folds.push_back(read_fold_files(section.section("files"), test, log));
  } else if (node.IsSequence()) {
    for (size_t i = 0; i < node.size(); ++i)
      folds.push_back(read_fold_files(
          YamlSection(section.document(), node[i], fmt::format("{}.{}", section.path_of("files"), i)), test,
          log));
  }
  const size_t expected = fold_count(data);
  if (folds.size() != expected)
    section.fail("files", fmt::format("has {} folds; expected {}, as the data has", folds.size(), expected));
  for (const FoldFiles& fold : data.folds)
    if (fold.valid.empty())
      section.fail("files",
                   "scores from elsewhere need a validation split in files of its own, and the data's "
                   "is taken from the training files");
  return folds;
}

std::string read_score_name(const YamlSection& section, const std::vector<LearnerSpec>& learners,
                            ResolvedLog& log) {
  if (!section.has("name")) section.fail("name", "is missing; expected a short name for these scores");
  std::string name = section.text("name");
  const bool good =
      !name.empty() && name.size() <= 40 && std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
      });
  if (!good) section.fail("name", fmt::format("is '{}'; expected letters, digits, '.', '_' and '-'", name));
  bool taken = name == "ALL";
  for (const auto& entry : registry().entries()) taken = taken || entry->row == name || entry->family == name;
  for (const LearnerSpec& other : learners) taken = taken || other.name == name;
  if (taken) section.fail("name", fmt::format("'{}' is the name of another family; choose another", name));
  log.add(section.path_of("name"), name, section.origin("name"));
  return name;
}

// Sets differ in the scale of their features; within a query they are alike.
void expect_source(const YamlSection& section, const CommonLearnerOptions& common, const DataConfig& data,
                   bool external) {
  if (common.source == SourceUse::kNone) return;
  if (external) section.fail("source", "is of learners that are trained; scores from files are given");
  if (data.source.files.empty())
    section.fail("source", fmt::format("is {}, and there is no data.source", to_string(common.source)));
  for (const Standardize view : common.standardize)
    if (view != Standardize::kReplace)
      section.fail("standardize",
                   fmt::format("is {}, and data.source may have another scale; set data.standardize: replace",
                               to_string(view)));
}

std::string point_key(const LearnerSpec& spec, const Point& point) {
  std::string key = spec.learner->type + "/" + spec.name;
  for (const auto& [name, value] : spec.settings)
    if (const OptionRole role = spec.learner->option(name).role;
        role == OptionRole::kGrid || role == OptionRole::kFeatures)
      key += fmt::format("/{}={}", name, value);
  for (const auto& [name, value] : spec.own_settings()) key += fmt::format("/{}={}", name, value);
  return key + "/" + point.name();
}

// `[[0], [1, 2]]` as text; anything but lists and words is left to the reader of groupings to refuse.
std::string node_text(const YAML::Node& node) {
  if (!node.IsSequence()) return node.IsScalar() ? node.Scalar() : "?";
  std::vector<std::string> items;
  for (const auto& item : node) items.push_back(node_text(item));
  return "[" + join(items, ", ") + "]";
}

int depth_of(const YAML::Node& node) {
  if (!node.IsSequence()) return 0;
  int deepest = 0;
  for (const auto& item : node) deepest = std::max(deepest, depth_of(item));
  return 1 + deepest;
}

// The groupings of `labels`: none, one, or a grid of them.
std::vector<std::optional<LabelGroups>> read_groupings(const YamlSection& section, ResolvedLog& log) {
  if (!section.has("labels")) {
    log.add(section.path_of("labels"), "[]", "default");
    return {std::nullopt};
  }
  const YAML::Node node = section.child("labels");
  std::vector<YAML::Node> values;
  if (depth_of(node) > 2)
    for (const auto& item : node) values.push_back(item);
  else
    values.push_back(node);
  std::vector<std::optional<LabelGroups>> groupings;
  std::vector<std::string> texts;
  for (const YAML::Node& value : values) {
    texts.push_back(node_text(value));
    if (texts.back() == "[]") {
      groupings.emplace_back();
      continue;
    }
    try {
      groupings.emplace_back(LabelGroups::parse(texts.back()));
    } catch (const InputError& error) {
      section.fail("labels", error.what());
    }
    texts.back() = groupings.back()->text();
  }
  log.add(section.path_of("labels"), texts.size() == 1 ? texts[0] : "[" + join(texts, ", ") + "]",
          section.origin("labels"));
  return groupings;
}

std::vector<bool> read_classes(const YamlSection& section, ResolvedLog& log) {
  const std::vector<std::string> words =
      section.has("classes") ? section.items("classes") : std::vector<std::string>{"multi"};
  std::vector<bool> ordinal;
  for (const std::string& word : words) {
    if (word != "multi" && word != "ordinal")
      section.fail("classes", fmt::format("is '{}'; expected multi or ordinal{}", word,
                                          did_you_mean(word, std::vector<std::string>{"multi", "ordinal"})));
    ordinal.push_back(word == "ordinal");
  }
  if (ordinal.empty()) section.fail("classes", "expected multi, ordinal or both");
  log.add(section.path_of("classes"), words.size() == 1 ? words[0] : "[" + join(words, ", ") + "]",
          section.origin("classes"));
  return ordinal;
}

}  // namespace

void read_learner(const YamlSection& section, const DataConfig& data, std::vector<LearnerSpec>& learners,
                  ResolvedLog& log) {
  std::vector<std::string> types;
  for (const auto& entry : registry().entries()) types.push_back(entry->type);
  if (!section.has("type")) section.fail("type", "is missing; expected one of: " + join(types, ", "));
  const LearnerEntry* learner = registry().find(section.text("type"));
  if (learner == nullptr)
    section.fail("type", fmt::format("is '{}'; expected one of: {}{}", section.text("type"),
                                     join(types, ", "), did_you_mean(section.text("type"), types)));
  log.add(section.path_of("type"), learner->type, section.origin("type"));

  const bool has_length = learner->length_option() != nullptr;
  std::vector<std::string> keys = {"type"};
  keys = keys + common_learner_table(*learner).names();
  for (const GridKey& key : common_grid_keys(*learner)) keys.emplace_back(key.name);
  for (const OptionInfo& option : learner->options) keys.push_back(option.name);
  if (learner->external) keys = keys + std::vector<std::string>{"name", "files"};
  refuse_features(section, *learner);
  section.expect_keys(keys);

  LearnerSpec base;
  base.learner = learner;
  base.place = section.place();
  CommonLearnerOptions common;
  common.standardize = data.standardize;
  if (!data.source.files.empty() && !learner->external) common.source = data.source.use;
  for (const auto& entry : common_learner_table(*learner).entries()) {
    if (section.has(entry.name)) section.set(entry, common);
    const bool silent = entry.name == "checkpoints" || (entry.name == "leave_out" && common.copies == 0);
    if (!silent) log.add(section.path_of(entry.name), entry.get(common), section.origin(entry.name));
  }
  base.bags = common.bags;
  expect_source(section, common, data, learner->external != nullptr);
  base.copies = common.copies;
  base.leave_out = common.leave_out;
  if (section.has("leave_out") && base.copies == 0)
    section.fail("leave_out", "says nothing without copies; set 'copies' to 1 or more");
  if (learner->external) {
    base.name = read_score_name(section, learners, log);
    base.scores = read_score_files(section, data, log);
  }
  if (has_length) base.lengths = read_lengths(section, *learner, common.checkpoints, log);
  std::vector<std::optional<LabelGroups>> groupings = {std::nullopt};
  std::vector<bool> classes = {false};
  if (!learner->external) groupings = read_groupings(section, log);
  if (!learner->external && !learner->one_column) classes = read_classes(section, log);
  const std::vector<Settings> grid = expand_grid(section, *learner, data, log);
  for (const Standardize view : common.standardize)
    for (const Settings& settings : grid)
      for (const std::optional<LabelGroups>& labels : groupings)
        for (const bool ordinal : classes) {
          LearnerSpec spec = base;
          spec.standardize = view;
          spec.own_standardize = data.standardize.size() > 1 || view != data.standardize[0];
          spec.settings = settings;
          spec.labels = labels;
          spec.ordinal = ordinal;
          if (has_length)
            for (auto& [key, value] : spec.settings)
              if (key == learner->length_option()->name) value = fmt::format("{}", spec.lengths.back());
          spec.source = common.source == SourceUse::kBoth ? SourceUse::kNone : common.source;
          learners.push_back(spec);
          if (common.source != SourceUse::kBoth) continue;
          spec.source = SourceUse::kOnly;
          learners.push_back(std::move(spec));
        }
}

void expect_distinct(const std::vector<LearnerSpec>& learners) {
  std::map<std::string, const LearnerSpec*> owners;
  for (const LearnerSpec& spec : learners)
    for (const Point& point : spec.points()) {
      const auto [at, fresh] = owners.try_emplace(point_key(spec, point), &spec);
      if (fresh) continue;
      const std::string what =
          point.name().empty() ? spec.title() : fmt::format("{} {}", spec.title(), point.name());
      if (at->second->place == spec.place)
        throw_input("{}: {} occurs twice; give each value once, and raise 'bags' to train it more often",
                    spec.place, what);
      throw_input("{}: {} is trained here and at {}; raise 'bags' to train it more often", spec.place, what,
                  at->second->place);
    }
}

// What was trained on another set is a family of its own: its mass follows its own quality.
std::string LearnerSpec::family() const {
  if (!name.empty()) return name;
  return source == SourceUse::kOnly ? learner->family + "@src" : learner->family;
}

std::string LearnerSpec::row() const {
  if (!name.empty()) return name;
  return source == SourceUse::kOnly ? learner->row + "@src" : learner->row;
}

std::string LearnerSpec::title() const {
  std::string result = name.empty() ? learner->title(settings) : name;
  for (const auto& [key, value] : own_settings()) result += fmt::format(" {}={}", key, value);
  return result;
}

Settings LearnerSpec::own_settings() const {
  Settings result;
  if (own_standardize) result.emplace_back("standardize", to_string(standardize));
  if (source != SourceUse::kNone) result.emplace_back("source", to_string(source));
  if (labels) result.emplace_back("labels", labels->text());
  if (ordinal) result.emplace_back("classes", "ordinal");
  if (copies > 0) {
    result.emplace_back("copies", fmt::format("{}", copies));
    result.emplace_back("leave_out", fmt::format("{}", leave_out));
  }
  return result;
}

Settings LearnerSpec::identity() const {
  Settings result;
  for (const auto& setting : settings)
    if (learner->option(setting.first).role != OptionRole::kLength) result.push_back(setting);
  for (auto& setting : own_settings()) result.push_back(std::move(setting));
  return result;
}

std::vector<Point> LearnerSpec::points() const { return learner->points(settings, lengths); }

}  // namespace tunemix
