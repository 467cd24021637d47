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

// The first stage that reads an option, by its path in the config: a change makes it run again, and those
// after it. Nothing for options that change no result.
std::optional<Stage> stage_that_reads(std::string_view option);

// The options, with their values, that all jobs of a stage read.
void hash_options(Stage stage, const Config& config, Hasher& hasher);

}  // namespace tunemix
