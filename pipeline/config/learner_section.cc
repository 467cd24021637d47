// Reads the entries under `learners`, and decides what makes two of them the same.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "pipeline/config/sections.h"
#include "pipeline/config/tables.h"
#include "tunemix/learners/registry.h"

namespace tunemix {
namespace {

constexpr size_t kMostCombinations = 200000;  // that one entry may span

// All points of the grid that the section spans over a learner's options; an option with another role has one
// value.
std::vector<Settings> expand_grid(const YamlSection& section, const LearnerEntry& learner, ResolvedLog& log) {
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

// The lengths of a learner's points: `iterations: 200` with `checkpoints`, or `iterations: [100, 200]`.
std::vector<int64_t> read_lengths(const YamlSection& section, const LearnerEntry& learner,
                                  std::vector<double> checkpoints, ResolvedLog& log) {
  const OptionInfo& option = *learner.length_option();
  std::vector<double> given;
  if (section.has(option.name))
    for (const std::string& item : section.items(option.name)) try {
        given.push_back(std::stod(learner.canonical(option.name, item)));
      } catch (const InputError& error) {
        section.fail(option.name, error.what());
      }
  else
    given.push_back(std::stod(option.default_value));
  if (given.empty()) section.fail(option.name, "expected a value or a list of values");
  std::sort(given.begin(), given.end());
  if (given.size() > 1 && section.has("checkpoints"))
    section.fail(
        "checkpoints",
        fmt::format("'{}' is a list, which already says the checkpoints; give one of them", option.name));
  if (given.size() > 1) checkpoints = given;
  std::vector<int64_t> lengths;
  const auto last = static_cast<int64_t>(given.back());
  std::sort(checkpoints.begin(), checkpoints.end());
  for (const double c : checkpoints)
    if (std::floor(c) < static_cast<double>(last)) lengths.push_back(static_cast<int64_t>(c));
  if (checkpoints.empty())
    lengths = default_lengths(last);
  else
    lengths.push_back(last);
  for (size_t i = 1; i < lengths.size(); ++i)
    if (lengths[i] == lengths[i - 1])
      section.fail(given.size() > 1 ? option.name : "checkpoints",
                   fmt::format("{} occurs twice", lengths[i]));
  log.add(section.path_of(option.name), fmt::format("{}", last), section.origin(option.name));
  log.add(section.path_of("checkpoints"), fmt::format("[{}]", fmt::join(checkpoints, ", ")),
          section.origin(given.size() > 1 ? option.name : "checkpoints"));
  return lengths;
}

// The score files of each fold: a list of folds, or one fold for data of one.
std::vector<FoldFiles> read_score_files(const YamlSection& section, const DataConfig& data,
                                        ResolvedLog& log) {
  if (!section.has("files"))
    section.fail("files", "is missing; expected {train: ..., valid: ..., test: ...} for each fold");
  const YAML::Node node = section.child("files");
  std::vector<FoldFiles> folds;
  if (node.IsMap()) {
    folds.push_back(read_fold_files(section.section("files"), log));
  } else if (node.IsSequence()) {
    for (size_t i = 0; i < node.size(); ++i)
      folds.push_back(read_fold_files(
          YamlSection(section.document(), node[i], fmt::format("{}.{}", section.path_of("files"), i)), log));
  }
  const size_t expected = data.folds.empty() ? static_cast<size_t>(data.synthetic.folds) : data.folds.size();
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

std::string point_key(const LearnerSpec& spec, const Point& point) {
  std::string key = spec.learner->type + "/" + spec.name;
  for (const auto& [name, value] : spec.identity())
    if (name == "standardize" || spec.learner->option(name).role == OptionRole::kGrid)
      key += fmt::format("/{}={}", name, value);
  return key + "/" + point.name();
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
  keys = keys + common_learner_table(has_length).names();
  for (const OptionInfo& option : learner->options) keys.push_back(option.name);
  if (learner->external) keys = keys + std::vector<std::string>{"name", "files"};
  section.expect_keys(keys);

  LearnerSpec base;
  base.learner = learner;
  base.place = section.place();
  CommonLearnerOptions common;
  common.standardize = data.standardize;
  for (const auto& entry : common_learner_table(has_length).entries()) {
    if (section.has(entry.name)) section.set(entry, common);
    if (entry.name != "checkpoints")
      log.add(section.path_of(entry.name), entry.get(common), section.origin(entry.name));
  }
  base.bags = common.bags;
  base.standardize = common.standardize;
  base.own_standardize = common.standardize != data.standardize;
  if (learner->external) {
    base.name = read_score_name(section, learners, log);
    base.scores = read_score_files(section, data, log);
  }
  if (has_length) base.lengths = read_lengths(section, *learner, common.checkpoints, log);
  for (Settings& settings : expand_grid(section, *learner, log)) {
    LearnerSpec spec = base;
    spec.settings = std::move(settings);
    if (has_length)
      for (auto& [key, value] : spec.settings)
        if (key == learner->length_option()->name) value = fmt::format("{}", spec.lengths.back());
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

std::string LearnerSpec::family() const { return name.empty() ? learner->family : name; }

std::string LearnerSpec::row() const { return name.empty() ? learner->row : name; }

std::string LearnerSpec::title() const {
  std::string result = name.empty() ? learner->title(settings) : name;
  if (own_standardize) result += fmt::format(" standardize={}", to_string(standardize));
  return result;
}

Settings LearnerSpec::identity() const {
  Settings result;
  for (const auto& setting : settings)
    if (learner->option(setting.first).role != OptionRole::kLength) result.push_back(setting);
  if (own_standardize) result.emplace_back("standardize", to_string(standardize));
  return result;
}

std::vector<Point> LearnerSpec::points() const { return learner->points(settings, lengths); }

}  // namespace tunemix
