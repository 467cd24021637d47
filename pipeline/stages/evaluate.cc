#include "pipeline/stages/evaluate.h"

#include <algorithm>
#include <cmath>

#include "pipeline/stages/data_checks.h"
#include "tunemix/metric/evaluator.h"

namespace tunemix {
namespace {

// Values of one row, split and tool over the folds: the mean of the folds' means, with their standard errors
// added in quadrature.
struct Average {
  double sum = 0;
  double variance = 0;
  size_t count = 0;
  void add(double mean, double standard_error) {
    sum += mean;
    variance += standard_error * standard_error;
    ++count;
  }
  double mean() const { return sum / static_cast<double>(count); }
  double standard_error() const { return std::sqrt(variance) / static_cast<double>(count); }
};

struct RowEvaluations {
  std::string row;
  std::vector<std::vector<Evaluation>> folds;  // [fold][tool]
};

std::vector<RowEvaluations> evaluate_split(const Plan& plan, const std::vector<std::string>& tools,
                                           const std::vector<FoldInfo>& folds,
                                           const std::vector<std::vector<MixRow>>& rows, bool test,
                                           const Context& context) {
  std::vector<RowEvaluations> result(rows[0].size());
  for (size_t fold = 0; fold < folds.size(); ++fold) {
    const SplitInfo& split = test ? folds[fold].test : folds[fold].valid;
    std::vector<MetricPolicy> policies;
    for (const std::string& tool : tools)
      policies.push_back(evaluation_policy(tool, plan.config.evaluate.err_max, folds[fold].labels));
    const Evaluator evaluator(split.queries, split.labels, split.names, policies, 10, split.weights);
    for (size_t r = 0; r < rows[fold].size(); ++r) {
      const std::vector<float>& scores = test ? rows[fold][r].test : rows[fold][r].valid;
      result[r].row = rows[fold][r].name;
      result[r].folds.push_back(
          evaluator(std::vector<double>(scores.begin(), scores.end()), context.pool(), true));
    }
  }
  return result;
}

ResultRow result_row(const RowEvaluations& row, const std::string& split, size_t tool) {
  ResultRow result;
  result.name = row.row;
  result.split = split;
  Average ndcg;
  Average err;
  Average map;
  const MeasureTable& m = row.folds[0][tool].measures;
  for (size_t fold = 0; fold < row.folds.size(); ++fold) {
    const Evaluation& e = row.folds[fold][tool];
    result.err_max = std::max(result.err_max, e.policy.err_max);
    ndcg.add(e.ndcg(10), e.standard_error[m.ndcg(10)]);
    err.add(e.mean[m.err()], e.standard_error[m.err()]);
    map.add(e.mean[m.map()], e.standard_error[m.map()]);
    result.folds.push_back({fold + 1, e.ndcg(10), e.standard_error[m.ndcg(10)], e.mean[m.err()], e.queries,
                            e.empty_queries, e.short_queries});
  }
  result.ndcg = ndcg.mean();
  result.standard_error = ndcg.standard_error();
  result.err = err.mean();
  result.err_standard_error = err.standard_error();
  result.map = map.mean();
  return result;
}

void add_rows(EvaluationResult& result, const std::vector<std::string>& tools, const std::string& split,
              const std::vector<RowEvaluations>& rows, const std::string& main) {
  for (size_t tool = 0; tool < tools.size(); ++tool)
    for (const RowEvaluations& row : rows) {
      result.rows.push_back(result_row(row, split, tool));
      result.rows.back().tool = tools[tool];
      result.rows.back().main = row.row == main;
      for (size_t k = 1; k <= 10; ++k) {
        Average at;
        for (const auto& fold : row.folds)
          at.add(fold[tool].ndcg(k), fold[tool].standard_error[fold[tool].measures.ndcg(k)]);
        result.ndcg_at.push_back({row.row, tools[tool], split, k, at.mean(), at.standard_error()});
      }
    }
}

}  // namespace

std::string main_row_name(const std::vector<std::string>& names) {
  require(!names.empty(), "no row to stand for the experiment");
  // The mixture of all families, or that of the only one.
  const auto all = std::find(names.begin(), names.end(), "ALL+EXP");
  return all == names.end() ? names.front() : *all;
}

const MixRow& main_row(const std::vector<MixRow>& rows) {
  std::vector<std::string> names;
  for (const MixRow& row : rows) names.push_back(row.name);
  const std::string name = main_row_name(names);
  return *std::find_if(rows.begin(), rows.end(), [&](const MixRow& row) { return row.name == name; });
}

MetricPolicy evaluation_policy(const std::string& tool, const std::string& err_max, int labels) {
  MetricPolicy policy = preset(tool);
  policy_options().set(policy, "err-max", err_max);
  if (err_max == "auto") policy.err_max = std::exp2(labels - 1);
  return policy;
}

EvaluationResult evaluate(const Plan& plan, const std::vector<FoldInfo>& folds,
                          const std::vector<std::vector<MixRow>>& rows, const Context& context) {
  for (const auto& fold : rows)
    for (size_t r = 0; r < fold.size(); ++r)
      if (fold.size() != rows[0].size() || fold[r].name != rows[0][r].name)
        throw InternalError("the folds have different rows");
  EvaluationResult result;
  const std::vector<std::string> tools = evaluation_tools(plan.config, folds);
  const std::string main = main_row(rows[0]).name;
  result.metric = plan.config.mix.metric;
  const bool has_test = plan.config.data.has_test();
  for (const bool test : {true, false}) {
    if (test && !has_test) continue;
    const auto evaluated = evaluate_split(plan, tools, folds, rows, test, context);
    add_rows(result, tools, test ? "test" : "valid", evaluated, main);
    if (test != has_test) continue;
    for (const RowEvaluations& row : evaluated)
      for (size_t fold = 0; fold < row.folds.size(); ++fold) {
        const Evaluation& e = row.folds[fold][0];
        QueryValues values{row.row, fold, {}, {}};
        for (size_t q = 0; q < e.queries; ++q) {
          const double* at = e.per_query.data() + q * e.measures.columns();
          values.ndcg.push_back(at[e.measures.ndcg(10)]);
          values.err.push_back(at[e.measures.err()]);
        }
        result.per_query.push_back(std::move(values));
      }
  }
  for (size_t fold = 0; fold < rows.size(); ++fold)
    for (const MixRow& row : rows[fold])
      result.choices.push_back({fold + 1, row.name, row.mixture.c(), row.mixture.checkpoint(), row.validation,
                                row.chosen_by, row.grid.empty() ? row.mixture.members()[0].name() : ""});
  return result;
}

}  // namespace tunemix
