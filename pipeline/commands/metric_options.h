// What `eval` and `compare` share: reading labelled data for evaluation, and policies from the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tunemix/core/context.h"
#include "tunemix/data/dataset.h"
#include "tunemix/metric/policy.h"

namespace tunemix {

// `--gain`, `--ties`, ... as given, by name of the policy option.
using PolicyOverrides = std::map<std::string, std::string>;

// One `--NAME` for each entry of policy_options().
void add_policy_options(CLI::App& command, PolicyOverrides& overrides);

// The preset with the overrides applied.
MetricPolicy make_policy(const std::string& preset_name, const PolicyOverrides& overrides);

// Labels, queries and names; the features are checked and not kept.
Dataset read_for_evaluation(std::span<const std::filesystem::path> files, size_t max_feature_id,
                            const Context& context);

// Throws InputError when `--err-max` was given and is too small for the data's labels.
void check_err_max(const MetricPolicy& policy, const PolicyOverrides& overrides, const Dataset& data);

}  // namespace tunemix
