#include "tunemix/metric/selection.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tunemix/core/error.h"

namespace tunemix {

SelectionMetric::SelectionMetric(const QueryIndex& queries, std::span<const int32_t> labels,
                                 std::span<const double> grades, size_t k)
    : offsets_(queries.offsets()), k_(k) {
  require(labels.size() == queries.documents(), "labels do not fit the queries");
  size_t longest = 0;
  for (size_t q = 0; q < queries.size(); ++q) longest = std::max(longest, queries.length(q));
  discounts_.assign(longest + 1, 0.0);
  for (size_t i = 1; i <= longest; ++i)
    discounts_[i] = discounts_[i - 1] + (i <= k ? 1 / std::log2(static_cast<double>(i) + 1) : 0.0);
  for (const int32_t label : labels) gains_.push_back(grades[static_cast<size_t>(label)]);
  std::vector<double> sorted;
  for (size_t q = 0; q < queries.size(); ++q) {
    sorted.assign(gains_.begin() + queries.begin(q), gains_.begin() + queries.end(q));
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    double ideal = 0;
    for (size_t i = 0; i < std::min(k, sorted.size()); ++i)
      ideal += sorted[i] * (discounts_[i + 1] - discounts_[i]);
    ideal_.push_back(ideal);
  }
}

double SelectionMetric::of_query(size_t query, const float* scores, std::vector<uint32_t>& order) const {
  if (ideal_[query] == 0) return 1;
  const size_t begin = offsets_[query];
  const size_t n = offsets_[query + 1] - begin;
  order.resize(n);
  std::iota(order.begin(), order.end(), uint32_t{0});
  const float* s = scores + begin;
  std::sort(order.begin(), order.end(), [s](uint32_t a, uint32_t b) { return s[a] > s[b]; });
  double dcg = 0;
  for (size_t i = 0; i < std::min(n, k_);) {
    size_t j = i;
    double gain = 0;
    // The sum over a tied group must not depend on the order that the sort left it in; gains are whole
    // numbers.
    while (j < n && s[order[j]] == s[order[i]]) gain += gains_[begin + order[j++]];
    dcg += gain / static_cast<double>(j - i) * (discounts_[j] - discounts_[i]);
    i = j;
  }
  return dcg / ideal_[query];
}

void SelectionMetric::per_query(std::span<const float> scores, std::span<double> out) const {
  require(scores.size() == gains_.size() && out.size() == queries(), "scores do not fit the queries");
  std::vector<uint32_t> order;
  for (size_t q = 0; q < queries(); ++q) out[q] = of_query(q, scores.data(), order);
}

double SelectionMetric::operator()(std::span<const float> scores) const {
  require(scores.size() == gains_.size(), "scores do not fit the queries");
  std::vector<uint32_t> order;
  double sum = 0;
  for (size_t q = 0; q < queries(); ++q) sum += of_query(q, scores.data(), order);
  return sum / static_cast<double>(queries());
}

}  // namespace tunemix
