// The evaluate stage: every row of the results on every fold, under every tool.
#pragma once

#include <string>
#include <vector>

#include "pipeline/stages/fold_data.h"
#include "pipeline/stages/mix.h"
#include "pipeline/stages/plan.h"
#include "pipeline/stages/results.h"
#include "tunemix/metric/policy.h"

namespace tunemix {

// The tool's conventions with the D of ERR that a config names (`auto`: 2 to the largest of so many labels).
MetricPolicy evaluation_policy(const std::string& tool, const std::string& err_max, int labels);

// The row that stands for the experiment and is marked in the results: ALL+EXP, or the one family's EXP.
// Never picked by the test data.
const MixRow& main_row(const std::vector<MixRow>& rows);
std::string main_row_name(const std::vector<std::string>& names);

EvaluationResult evaluate(const Plan& plan, const std::vector<FoldInfo>& folds,
                          const std::vector<std::vector<MixRow>>& rows, const Context& context);

}  // namespace tunemix
