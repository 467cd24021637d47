// What `eval`, `compare` and the Python package share: labelled data for evaluation, policies by name and by
// option, and the test of a difference.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tunemix/core/context.h"
#include "tunemix/data/dataset.h"
#include "tunemix/metric/evaluator.h"
#include "tunemix/metric/policy.h"
#include "tunemix/metric/significance.h"

namespace tunemix {

// `--gain`, `--ties`, ... as given, by name of the policy option.
using PolicyOverrides = std::map<std::string, std::string>;

// One `--NAME` for each entry of policy_options().
void add_policy_options(CLI::App& command, PolicyOverrides& overrides);

// The preset with the overrides applied.
MetricPolicy make_policy(const std::string& preset_name, const PolicyOverrides& overrides);

struct ToolChoice {
  std::vector<MetricPolicy> policies;
  std::vector<std::pair<std::string, std::string>> skipped;  // preset and why
};

// `all`, or names of presets separated by commas, each with the overrides applied.
std::vector<MetricPolicy> named_policies(const std::string& tools, const PolicyOverrides& overrides);
// A tool asked for by name must fit the data; `all` leaves out those that do not, and says so.
ToolChoice fit_to_data(const std::vector<MetricPolicy>& policies, const std::string& tools,
                       const PolicyOverrides& overrides, const Dataset& data);

// The rank of a measure such as ndcg@20; 10 for those without.
size_t rank_of(std::string_view metric);
// One measure of every query.
std::vector<double> column_of(const Evaluation& evaluation, size_t column);

// Tests over queries whether scores a are better than b by a measure such as ndcg@10.
PairedTest compare_scores(const Dataset& data, std::span<const double> a, std::span<const double> b,
                          const MetricPolicy& policy, const PolicyOverrides& overrides,
                          const std::string& metric, ThreadPool& pool);

// Labels, queries and names; the features are checked and not kept.
Dataset read_for_evaluation(std::span<const std::filesystem::path> files, size_t max_feature_id,
                            const Context& context);

// Throws InputError when `--err-max` was given and is too small for the data's labels.
void check_err_max(const MetricPolicy& policy, const PolicyOverrides& overrides, const Dataset& data);

}  // namespace tunemix
