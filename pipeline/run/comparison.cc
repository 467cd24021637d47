#include "pipeline/run/comparison.h"

#include <algorithm>
#include <cmath>

#include "tunemix/metric/significance.h"

namespace tunemix {
namespace {

// Rankings are compared on so many queries of a fold, and on so many documents of each.
constexpr size_t kTauQueries = 200;
constexpr size_t kTauDocuments = 150;

// Every row's values, fold by fold.
struct RowValues {
  std::string name;
  std::vector<const QueryValues*> folds;
};

std::vector<RowValues> by_row(const EvaluationResult& evaluation) {
  std::vector<RowValues> rows;
  for (const QueryValues& values : evaluation.per_query) {
    if (values.fold == 0) rows.push_back({values.row, {}});
    rows.back().folds.push_back(&values);
  }
  return rows;
}

// The mean over folds of the folds' means, as the results have it.
template <typename Value>
double mean_over_folds(const std::vector<FoldInfo>& folds, const Value& value) {
  double sum = 0;
  for (size_t fold = 0; fold < folds.size(); ++fold) {
    const SplitInfo& test = folds[fold].test;
    std::vector<double> weights = query_weights(test.queries, test.weights);
    if (weights.empty()) weights.assign(test.queries.size(), 1.0);
    double of_fold = 0;
    double total = 0;
    for (size_t q = 0; q < weights.size(); ++q) {
      of_fold += weights[q] * value(fold, q);
      total += weights[q];
    }
    sum += of_fold / total;
  }
  return sum / static_cast<double>(folds.size());
}

std::vector<double> all_queries(const RowValues& row) {
  std::vector<double> values;
  for (const QueryValues* fold : row.folds) values.insert(values.end(), fold->ndcg.begin(), fold->ndcg.end());
  return values;
}

// The whole of a family: neither one kind of calibration nor one member.
bool is_whole(const std::string& row) { return row.ends_with("+EXP") || row == "ALL+OneBest"; }

double mean_tau(size_t a, size_t b, const std::vector<FoldInfo>& folds,
                const std::vector<const std::vector<MixRow>*>& rows) {
  double sum = 0;
  double count = 0;
  for (size_t fold = 0; fold < folds.size(); ++fold) {
    const QueryIndex& queries = folds[fold].test.queries;
    const std::vector<float>& x = (*rows[fold])[a].test;
    const std::vector<float>& y = (*rows[fold])[b].test;
    for (size_t q = 0; q < std::min(queries.size(), kTauQueries); ++q) {
      const size_t begin = queries.begin(q);
      const size_t n = std::min(queries.length(q), kTauDocuments);
      const auto tau = kendall_tau(std::span(x).subspan(begin, n), std::span(y).subspan(begin, n));
      if (!tau) continue;
      sum += *tau;
      count += 1;
    }
  }
  return sum / count;
}

}  // namespace

std::optional<double> kendall_tau(std::span<const float> a, std::span<const float> b) {
  double both = 0, in_a = 0, in_b = 0;
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = i + 1; j < a.size(); ++j) {
      const int x = (a[i] > a[j] ? 1 : 0) - (a[i] < a[j] ? 1 : 0);
      const int y = (b[i] > b[j] ? 1 : 0) - (b[i] < b[j] ? 1 : 0);
      both += x * y;
      in_a += std::abs(x);
      in_b += std::abs(y);
    }
  if (in_a == 0 || in_b == 0) return std::nullopt;
  return both / std::sqrt(in_a * in_b);
}

RowComparison compare_rows(const EvaluationResult& evaluation, const std::vector<FoldInfo>& folds,
                           const std::vector<const std::vector<MixRow>*>& rows) {
  const std::vector<RowValues> values = by_row(evaluation);
  RowComparison result;
  result.tool = evaluation.rows.front().tool;
  const auto best = [&](size_t fold, size_t q, auto member) {
    double highest = -1;
    for (const RowValues& row : values) highest = std::max(highest, (row.folds[fold]->*member)[q]);
    return highest;
  };
  for (const RowValues& row : values) {
    const auto mean = [&](auto member) {
      return mean_over_folds(folds, [&](size_t fold, size_t q) { return (row.folds[fold]->*member)[q]; });
    };
    const double leads = mean_over_folds(folds, [&](size_t fold, size_t q) {
      return row.folds[fold]->ndcg[q] >= best(fold, q, &QueryValues::ndcg) ? 1.0 : 0.0;
    });
    result.rows.push_back({row.name, mean(&QueryValues::ndcg), mean(&QueryValues::err), leads});
  }
  const auto oracle = [&](auto member) {
    return mean_over_folds(folds, [&](size_t fold, size_t q) { return best(fold, q, member); });
  };
  result.oracle_ndcg = oracle(&QueryValues::ndcg);
  // The best of values that are none would be -1.
  result.oracle_err = std::isnan(result.rows[0].err) ? result.rows[0].err : oracle(&QueryValues::err);
  for (size_t a = 0; a < values.size(); ++a)
    for (size_t b = a + 1; b < values.size(); ++b) {
      if (!is_whole(values[a].name) || !is_whole(values[b].name)) continue;
      const std::vector<double> x = all_queries(values[a]);
      const double p = x.size() < 2 ? std::nan("") : paired_t_test(x, all_queries(values[b])).p;
      result.pairs.push_back({values[a].name, values[b].name, p, mean_tau(a, b, folds, rows)});
    }
  return result;
}

}  // namespace tunemix
