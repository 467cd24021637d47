// Why a stage is not in the store: what changed in the config or the data since the last run of that name.
#pragma once

#include <filesystem>
#include <vector>

#include "pipeline/run/experiment.h"

namespace tunemix {

// Fills in the reasons of the stages that have something missing.
void explain_missing(std::vector<StageStatus>& stages, const Plan& plan,
                     const std::filesystem::path& manifest);

}  // namespace tunemix
