// The evaluate stage: every row of the results on every fold, under every tool; and the results as JSON and
// tables.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pipeline/stages/fold_data.h"
#include "pipeline/stages/mix.h"
#include "pipeline/stages/plan.h"
#include "tunemix/metric/policy.h"

namespace tunemix {

// The tool's conventions with the D of ERR that a config names (`auto`: 2 to the largest of so many labels).
MetricPolicy evaluation_policy(const std::string& tool, const std::string& err_max, int labels);
// "ERR", or "ERR (max 4)" where D is not that of the tools.
std::string err_label(double err_max);

// The headline measures of one row on one fold, by query: what `compare` tests.
struct QueryValues {
  std::string row;
  size_t fold = 0;
  std::vector<double> ndcg;  // NDCG@10
  std::vector<double> err;
};

struct EvaluationResult {
  // "rows", "ndcg_at", "choices" as results.json has them.
  nlohmann::ordered_json summary;
  std::vector<QueryValues> per_query;  // of the test split (or validation) under the first tool
};

// The row that stands for the experiment and is marked in the results: ALL+EXP, or the one family's EXP.
// Never picked by the test data.
const MixRow& main_row(const std::vector<MixRow>& rows);
std::string main_row_name(const std::vector<std::string>& names);

EvaluationResult evaluate(const Plan& plan, const std::vector<FoldInfo>& folds,
                          const std::vector<std::vector<MixRow>>& rows, const Context& context);

std::vector<uint8_t> save_evaluation(const EvaluationResult& result);
// Throws InputError for what evaluate() cannot have made.
EvaluationResult load_evaluation(std::span<const uint8_t> payload);

// The rows of the test split (of validation, without test data) under the first tool, for a terminal and as
// Markdown.
std::string results_table(const nlohmann::ordered_json& results, bool markdown);

}  // namespace tunemix
