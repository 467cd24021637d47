#include "tunemix/metric/selection.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>

#include "metric/ranked_labels.h"
#include "tunemix/core/error.h"

namespace tunemix {
namespace {

constexpr size_t kShort = 64;           // documents of a query whose ranks are counted one by one
constexpr size_t kInsertionLimit = 64;  // up to here, inserting into a short list beats a heap
constexpr size_t kLanes = 16;           // scores compared with the list's last at once
constexpr size_t kTaskQueries = 128;

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

SelectionName SelectionName::parse(std::string_view text) {
  constexpr std::string_view kNdcg = "ndcg@";
  SelectionName name;
  const size_t colon = text.find(':');
  const std::string_view measure = text.substr(0, colon);
  if (colon != std::string_view::npos) name.preset = tunemix::preset(text.substr(colon + 1)).name;
  if (measure == "err") {
    name.measure = Measure::kErr;
  } else if (measure == "map") {
    name.measure = Measure::kMap;
  } else {
    const char* end = measure.data() + measure.size();
    const bool prefixed = measure.starts_with(kNdcg);
    const auto read = prefixed ? std::from_chars(measure.data() + kNdcg.size(), end, name.k)
                               : std::from_chars_result{end, std::errc::invalid_argument};
    if (read.ec != std::errc() || read.ptr != end || name.k < 1 || name.k > 1000)
      throw_input(
          "metric is '{}'; expected ndcg@K with K from 1 to 1000, err or map, and a preset after a colon "
          "where one is meant, as in ndcg@10:letor4",
          text);
  }
  return name;
}

std::string SelectionName::text() const {
  const std::string text = measure == Measure::kErr   ? "err"
                           : measure == Measure::kMap ? "map"
                                                      : fmt::format("ndcg@{}", k);
  return preset.empty() ? text : text + ":" + preset;
}

std::string SelectionName::label() const {
  const std::string text = measure == Measure::kErr   ? "ERR"
                           : measure == Measure::kMap ? "MAP"
                                                      : fmt::format("NDCG@{}", k);
  return preset.empty() ? text : fmt::format("{} ({})", text, preset);
}

SelectionMetric::SelectionMetric(const QueryIndex& queries, std::span<const int32_t> labels,
                                 std::span<const double> grades, size_t k, std::span<const double> weights)
    : SelectionMetric(queries, labels, grades, {SelectionName::Measure::kNdcg, k, ""}, weights) {}

SelectionMetric::SelectionMetric(const QueryIndex& queries, std::span<const int32_t> labels,
                                 std::span<const double> grades, const SelectionName& name,
                                 std::span<const double> weights)
    : name_(name), offsets_(queries.offsets()), weights_(weights.begin(), weights.end()) {
  if (weights_.empty()) weights_.assign(queries.size(), 1.0);
  require(weights_.size() == queries.size(), "weights do not fit the queries");
  for (const double weight : weights_) total_ += weight;
  if (total_ == 0 && !weights.empty())
    throw InputError("every query that is measured has weight 0; expected documents of a weight above 0");
  require(labels.size() == queries.documents(), "labels do not fit the queries");
  require(name.k > 0, "NDCG needs at least one rank");
  const MetricPolicy policy = name.preset.empty() ? MetricPolicy() : preset(name.preset);
  const int max_label = labels.empty() ? 0 : *std::max_element(labels.begin(), labels.end());
  if (name.measure == SelectionName::Measure::kNdcg) {
    empty_ = policy.empty;
    short_is_zero_ = policy.short_ndcg == ShortNdcg::kZero;
    if (name.preset.empty())
      prepare_ndcg(queries, labels, grades, policy.discount, name.k);
    else
      prepare_ndcg(queries, labels, label_gains(policy, max_label), policy.discount, name.k);
    return;
  }
  labels_.assign(labels.begin(), labels.end());
  stops_ = stop_probabilities(policy, max_label);
  cut_ = policy.cut_at_k ? name.k : std::numeric_limits<size_t>::max();
  relevant_from_ = policy.relevant_from;
  empty_ = policy.empty_map;
  if (stops_.empty() && name.measure == SelectionName::Measure::kErr)
    throw_input(
        "the data has label {}, but ERR stops at a document with probability (2^label - 1) / {}; choose "
        "another metric",
        max_label, policy.err_max);
}

void SelectionMetric::prepare_ndcg(const QueryIndex& queries, std::span<const int32_t> labels,
                                   std::span<const double> grades, Discount discount, size_t k) {
  size_t longest = 0;
  for (size_t q = 0; q < queries.size(); ++q) longest = std::max(longest, queries.length(q));
  k_ = std::min(k, longest);
  discounts_ = {0.0};
  for (size_t rank = 1; rank <= k_; ++rank)
    discounts_.push_back(discounts_.back() + discount_at(discount, rank));
  for (const int32_t label : labels) gains_.push_back(grades[static_cast<size_t>(label)]);
  std::vector<double> sorted;
  for (size_t q = 0; q < queries.size(); ++q) {
    sorted.assign(gains_.begin() + queries.begin(q), gains_.begin() + queries.end(q));
    const size_t shown = std::min(k_, sorted.size());
    std::partial_sort(sorted.begin(), sorted.begin() + shown, sorted.end(), std::greater<>());
    double ideal = 0;
    for (size_t i = 0; i < shown; ++i) ideal += sorted[i] * (discounts_[i + 1] - discounts_[i]);
    ideal_.push_back(short_is_zero_ && sorted.size() < k ? 0 : ideal);
    for (size_t i = queries.begin(q); i < queries.end(q); ++i)
      if (gains_[i] > 0) relevant_.push_back(static_cast<uint32_t>(i));
    relevant_end_.push_back(relevant_.size());
  }
}

// Counts, for each relevant document, those that score higher and those that score the same.
double SelectionMetric::short_ndcg(size_t query, const float* scores) const {
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
double SelectionMetric::ndcg(size_t query, const float* scores, std::vector<Scored>& top) const {
  const size_t n = offsets_[query + 1] - offsets_[query];
  if (ideal_[query] == 0) return short_is_zero_ && n < name_.k ? 0 : empty_;
  if (n <= kShort) return short_ndcg(query, scores);
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

double SelectionMetric::err_or_map(size_t query, const float* scores, Scratch& scratch) const {
  const size_t begin = offsets_[query];
  const size_t n = offsets_[query + 1] - begin;
  scratch.top.resize(n);
  for (size_t i = 0; i < n; ++i) scratch.top[i] = {scores[begin + i], static_cast<uint32_t>(i)};
  std::sort(scratch.top.begin(), scratch.top.end(), [](const Scored& a, const Scored& b) {
    return a.score > b.score || (a.score == b.score && a.document < b.document);
  });
  scratch.labels.clear();
  scratch.group_ends.clear();
  for (size_t i = 0; i < n; ++i) {
    scratch.labels.push_back(labels_[begin + scratch.top[i].document]);
    if (i + 1 == n || scratch.top[i + 1].score != scratch.top[i].score)
      scratch.group_ends.push_back(static_cast<uint32_t>(i + 1));
  }
  const RankedLabels ranked{scratch.labels, scratch.group_ends};
  if (name_.measure == SelectionName::Measure::kMap) {
    const auto relevant = std::count_if(ranked.labels.begin(), ranked.labels.end(),
                                        [&](int32_t label) { return label >= relevant_from_; });
    return average_precision(ranked, relevant_from_, static_cast<size_t>(relevant), empty_);
  }
  return expected_reciprocal_rank(ranked, stops_, cut_, scratch.err);
}

double SelectionMetric::of_query(size_t query, const float* scores, Scratch& scratch) const {
  if (name_.measure == SelectionName::Measure::kNdcg) return ndcg(query, scores, scratch.top);
  return err_or_map(query, scores, scratch);
}

void SelectionMetric::of_queries(size_t first, size_t last, std::span<const float> scores,
                                 double* out) const {
  require(scores.size() == offsets_.back(), "scores do not fit the queries");
  Scratch scratch;
  for (size_t q = first; q < last; ++q) out[q] = of_query(q, scores.data(), scratch);
}

void SelectionMetric::per_query(std::span<const float> scores, std::span<double> out) const {
  require(out.size() == queries(), "one value a query");
  of_queries(0, queries(), scores, out.data());
}

double SelectionMetric::operator()(std::span<const float> scores) const {
  require(scores.size() == offsets_.back(), "scores do not fit the queries");
  Scratch scratch;
  double sum = 0;
  for (size_t q = 0; q < queries(); ++q) sum += weights_[q] * of_query(q, scores.data(), scratch);
  return sum / total_;
}

double SelectionMetric::operator()(std::span<const float> scores, ThreadPool& pool) const {
  std::vector<double> values(queries());
  parallel_blocks(pool, queries(), kTaskQueries,
                  [&](size_t first, size_t last) { of_queries(first, last, scores, values.data()); });
  double sum = 0;
  for (size_t q = 0; q < values.size(); ++q) sum += weights_[q] * values[q];
  return sum / total_;
}

}  // namespace tunemix
