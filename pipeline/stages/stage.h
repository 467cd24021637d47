// The stages of an experiment: what each reads of the config, said once. Keys of artifacts, the reasons that
// `status` gives and what a manifest lists all follow from it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/config/config.h"
#include "tunemix/core/hash.h"

namespace tunemix {

enum class Stage { kData, kTrain, kCalibrate, kMix, kEvaluate, kReport };
inline constexpr size_t kStages = 6;

std::string_view to_string(Stage stage);
Stage parse_stage(std::string_view name);  // throws InputError with the nearest name

// Which keys of a stage have an option.
enum class Scope {
  kEvery,    // those of all its jobs
  kFold,     // those of the fold that the option is of
  kSource,   // those of learners that train on data.source
  kJoint,    // those of learners that train on data.source and the fold's data
  kLearner,  // those of the learners of its entry, through LearnerSpec
  kContent,  // the content of the files that it names
};

struct OptionUse {
  std::string_view option;     // its path in the config; "*" is any number, "a." all that begin with it
  std::optional<Stage> stage;  // the first that reads it; nothing where no result depends on it
  Scope scope = Scope::kEvery;
};
// Nothing for an option that the table does not have.
const OptionUse* find_use(std::string_view option);

// The first stage that reads an option: a change makes it run again, and those after it. Nothing for options
// that change no result, or only by the content of files.
std::optional<Stage> stage_that_reads(std::string_view option);

// The options, with their values, that a stage reads in a scope; of one fold where they are of folds.
void hash_options(Stage stage, Scope scope, const Config& config, Hasher& hasher, size_t fold = 0);

}  // namespace tunemix
