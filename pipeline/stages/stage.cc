#include "pipeline/stages/stage.h"

#include <algorithm>
#include <charconv>

#include "tunemix/core/text.h"

namespace tunemix {
namespace {

constexpr std::string_view kNames[kStages] = {"data", "train", "calibrate", "mix", "evaluate", "report"};

// Every option of a config, and nothing else says what an option changes. Generated data comes from the seed
// as well (fold_key).
const std::vector<OptionUse>& uses() {
  static const std::vector<OptionUse> table = {
      {"data.labels", Stage::kData},
      {"data.max_feature_id", Stage::kData},
      {"data.missing", Stage::kData},
      {"data.allow_new_features", Stage::kData},
      {"data.categorical", Stage::kData},
      {"data.synthetic.preset", Stage::kData},
      {"data.synthetic.queries", Stage::kData},
      {"data.folds.*.valid.", Stage::kData, Scope::kFold},
      {"data.folds.*.train", std::nullopt, Scope::kContent},
      {"data.folds.*.valid", std::nullopt, Scope::kContent},
      {"data.folds.*.test", std::nullopt, Scope::kContent},
      {"data.given.", std::nullopt, Scope::kContent},
      {"seed", Stage::kTrain},
      {"data.calibration.", Stage::kTrain},
      {"data.features", Stage::kTrain},
      {"data.standardize", Stage::kTrain, Scope::kLearner},
      {"data.source.use", Stage::kTrain, Scope::kLearner},
      {"data.source.features", Stage::kTrain, Scope::kSource},
      {"data.source.weight", Stage::kTrain, Scope::kJoint},
      {"data.source.files", Stage::kTrain, Scope::kContent},
      {"learners.", Stage::kTrain, Scope::kLearner},
      {"calibrate.", Stage::kCalibrate},
      {"data.grades", Stage::kCalibrate},
      {"mix.", Stage::kMix},
      {"evaluate.", Stage::kEvaluate},
      // Where and how a run is made, how it is called, and how many folds it has.
      {"name", std::nullopt},
      {"engine.", std::nullopt},
      {"data.root", std::nullopt},
      {"data.feature_names", std::nullopt},
      {"data.allow_overlap", std::nullopt},
      {"data.synthetic.folds", std::nullopt},
  };
  return table;
}

// The number that stands for the pattern's "*", or `fold` where there is none; nothing where it does not fit.
std::optional<size_t> match(std::string_view pattern, std::string_view option, size_t fold = 0) {
  if (const size_t star = pattern.find('*'); star != std::string_view::npos) {
    if (!option.starts_with(pattern.substr(0, star))) return std::nullopt;
    option.remove_prefix(star);
    const auto [end, error] = std::from_chars(option.data(), option.data() + option.size(), fold);
    if (error != std::errc()) return std::nullopt;
    option.remove_prefix(static_cast<size_t>(end - option.data()));
    pattern.remove_prefix(star + 1);
  }
  const bool fits = pattern.ends_with('.') ? option.starts_with(pattern) : option == pattern;
  return fits ? std::optional(fold) : std::nullopt;
}

}  // namespace

std::string_view to_string(Stage stage) { return kNames[static_cast<size_t>(stage)]; }

Stage parse_stage(std::string_view name) {
  const std::vector<std::string> names(std::begin(kNames), std::end(kNames));
  for (size_t s = 0; s < kStages; ++s)
    if (names[s] == name) return static_cast<Stage>(s);
  throw_input("stage is '{}'; expected one of: {}{}", name, join(names, ", "), did_you_mean(name, names));
}

const OptionUse* find_use(std::string_view option) {
  const auto& table = uses();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const OptionUse& use) { return match(use.option, option); });
  return found == table.end() ? nullptr : &*found;
}

std::optional<Stage> stage_that_reads(std::string_view option) {
  const OptionUse* use = find_use(option);
  return use == nullptr ? std::nullopt : use->stage;
}

void hash_options(Stage stage, Scope scope, const Config& config, Hasher& hasher, size_t fold) {
  for (const auto& [option, value] : config.values) {
    const OptionUse* use = find_use(option);
    if (use == nullptr || use->stage != stage || use->scope != scope) continue;
    if (scope != Scope::kFold)
      hasher.text(option).text(value);
    else if (match(use->option, option) == fold)
      hasher.text(option.substr(option.find_last_of('.') + 1)).text(value);
  }
}

}  // namespace tunemix
