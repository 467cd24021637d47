// Why a stage is not in the store: what changed in the config or the data since the last run of that name.
#pragma once

#include <filesystem>
#include <vector>

#include "pipeline/run/experiment.h"

namespace tunemix {

// The stage that a config key belongs to: the first that its change makes run again; nothing for keys that
// change no result.
std::optional<Stage> stage_of_key(const std::string& key);

// Fills in the reasons of the stages that have something missing.
void explain_missing(std::vector<StageStatus>& stages, const Plan& plan,
                     const std::filesystem::path& manifest);

}  // namespace tunemix
