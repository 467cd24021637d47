#include "tunemix/metric/selection.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "tunemix/core/error.h"

namespace tunemix {
namespace {

constexpr size_t kShort = 64;           // documents of a query whose ranks are counted one by one
constexpr size_t kInsertionLimit = 64;  // up to here, inserting into a short list beats a heap
constexpr size_t kLanes = 16;           // scores compared with the list's last at once
constexpr size_t kBlock = 128;          // queries of one task

bool any_above(const float* scores, float bound) {
  bool any = false;
  for (size_t i = 0; i < kLanes; ++i) any |= scores[i] > bound;
  return any;
}

// Leaves the best top.size() of n documents in `top`, best first.
template <typename Scored>
void insert_best(const float* scores, size_t n, std::vector<Scored>& top) {
  const size_t size = top.size();
  const auto insert = [&](size_t document, size_t at) {
    for (; at > 0 && top[at - 1].score < scores[document]; --at) top[at] = top[at - 1];
    top[at] = {scores[document], static_cast<uint32_t>(document)};
  };
  size_t i = 0;
  for (; i < size; ++i) insert(i, i);
  while (i < n) {
    if (i + kLanes <= n && !any_above(scores + i, top.back().score)) {
      i += kLanes;
      continue;
    }
    for (const size_t end = std::min(n, i + kLanes); i < end; ++i)
      if (scores[i] > top.back().score) insert(i, size - 1);
  }
}

}  // namespace

SelectionMetric::SelectionMetric(const QueryIndex& queries, std::span<const int32_t> labels,
                                 std::span<const double> grades, size_t k)
    : offsets_(queries.offsets()), discounts_{0.0} {
  require(labels.size() == queries.documents(), "labels do not fit the queries");
  require(k > 0, "NDCG needs at least one rank");
  size_t longest = 0;
  for (size_t q = 0; q < queries.size(); ++q) longest = std::max(longest, queries.length(q));
  k_ = std::min(k, longest);
  for (size_t rank = 1; rank <= k_; ++rank)
    discounts_.push_back(discounts_.back() + discount_at(Discount::kLog2, rank));
  for (const int32_t label : labels) gains_.push_back(grades[static_cast<size_t>(label)]);
  std::vector<double> sorted;
  for (size_t q = 0; q < queries.size(); ++q) {
    sorted.assign(gains_.begin() + queries.begin(q), gains_.begin() + queries.end(q));
    const size_t shown = std::min(k_, sorted.size());
    std::partial_sort(sorted.begin(), sorted.begin() + shown, sorted.end(), std::greater<>());
    double ideal = 0;
    for (size_t i = 0; i < shown; ++i) ideal += sorted[i] * (discounts_[i + 1] - discounts_[i]);
    ideal_.push_back(ideal);
    for (size_t i = queries.begin(q); i < queries.end(q); ++i)
      if (gains_[i] > 0) relevant_.push_back(static_cast<uint32_t>(i));
    relevant_end_.push_back(relevant_.size());
  }
}

// Counts, for each relevant document, those that score higher and those that score the same.
double SelectionMetric::of_short_query(size_t query, const float* scores) const {
  const size_t begin = offsets_[query];
  const size_t n = offsets_[query + 1] - begin;
  const size_t shown = std::min(n, k_);
  float s[kShort];
  const size_t lanes = (n + kLanes - 1) / kLanes * kLanes;
  std::fill_n(s, lanes, std::numeric_limits<float>::quiet_NaN());  // neither higher nor the same
  std::copy_n(scores + begin, n, s);
  double gain_at[kShort] = {};  // of the documents that begin at a rank
  int32_t tied_at[kShort] = {};
  for (size_t r = query == 0 ? 0 : relevant_end_[query - 1]; r < relevant_end_[query]; ++r) {
    const float score = scores[relevant_[r]];
    int32_t above = 0;
    int32_t same = 0;
    for (size_t i = 0; i < lanes; i += kLanes)
      for (size_t l = 0; l < kLanes; ++l) {
        above += s[i + l] > score ? 1 : 0;
        same += s[i + l] == score ? 1 : 0;
      }
    gain_at[above] += gains_[relevant_[r]];
    tied_at[above] = same;
  }
  double dcg = 0;
  for (size_t rank = 0; rank < shown; ++rank) {
    if (tied_at[rank] == 0) continue;
    const size_t end = std::min(shown, rank + static_cast<size_t>(tied_at[rank]));
    dcg += gain_at[rank] / tied_at[rank] * (discounts_[end] - discounts_[rank]);
  }
  return dcg / ideal_[query];
}

// Only the best k documents matter, and those tied with the last of them.
double SelectionMetric::of_query(size_t query, const float* scores, std::vector<Scored>& top) const {
  if (ideal_[query] == 0) return 1;
  const size_t n = offsets_[query + 1] - offsets_[query];
  if (n <= kShort) return of_short_query(query, scores);
  const size_t shown = std::min(n, k_);
  const float* s = scores + offsets_[query];
  const double* gains = gains_.data() + offsets_[query];
  if (shown <= kInsertionLimit) {
    top.resize(shown);
    insert_best(s, n, top);
  } else {
    top.resize(n);
    for (size_t i = 0; i < n; ++i) top[i] = {s[i], static_cast<uint32_t>(i)};
    std::partial_sort(top.begin(), top.begin() + shown, top.end(), [](const Scored& a, const Scored& b) {
      return a.score > b.score || (a.score == b.score && a.document < b.document);
    });
  }

  double dcg = 0;
  for (size_t begin = 0, end; begin < shown; begin = end) {
    double gain = 0;
    const float score = top[begin].score;
    for (end = begin; end < shown && top[end].score == score; ++end) gain += gains[top[end].document];
    size_t tied = end - begin;
    if (end == shown && n > shown) {  // the group may go on below rank k
      const auto all = static_cast<size_t>(std::count(s, s + n, score));
      if (all > tied) {
        tied = all;
        gain = 0;
        for (size_t i = 0; i < n; ++i) gain += s[i] == score ? gains[i] : 0;
      }
    }
    dcg += gain / static_cast<double>(tied) * (discounts_[end] - discounts_[begin]);
  }
  return dcg / ideal_[query];
}

void SelectionMetric::of_queries(size_t first, size_t last, std::span<const float> scores,
                                 double* out) const {
  require(scores.size() == gains_.size(), "scores do not fit the queries");
  std::vector<Scored> top;
  for (size_t q = first; q < last; ++q) out[q] = of_query(q, scores.data(), top);
}

void SelectionMetric::per_query(std::span<const float> scores, std::span<double> out) const {
  require(out.size() == queries(), "one value a query");
  of_queries(0, queries(), scores, out.data());
}

double SelectionMetric::operator()(std::span<const float> scores) const {
  require(scores.size() == gains_.size(), "scores do not fit the queries");
  std::vector<Scored> top;
  double sum = 0;
  for (size_t q = 0; q < queries(); ++q) sum += of_query(q, scores.data(), top);
  return sum / static_cast<double>(queries());
}

double SelectionMetric::operator()(std::span<const float> scores, ThreadPool& pool) const {
  std::vector<double> values(queries());
  parallel_blocks(pool, queries(), kBlock,
                  [&](size_t first, size_t last) { of_queries(first, last, scores, values.data()); });
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(queries());
}

}  // namespace tunemix
