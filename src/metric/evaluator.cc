#include "tunemix/metric/evaluator.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "metric/ranked_labels.h"
#include "tunemix/core/error.h"

namespace tunemix {
namespace {

constexpr size_t kBlock = 64;  // queries that one task evaluates

struct Entry {
  double score;
  uint32_t document;  // within the query
};

// Beyond the range of float the comparison is what it would be there: with infinity.
double rounded(double score, bool to_float) {
  if (!to_float) return score;
  if (std::abs(score) > std::numeric_limits<float>::max())
    return std::copysign(std::numeric_limits<double>::infinity(), score);
  return static_cast<float>(score);
}

// Sums by column over queries, and squares about the mean; blocks are joined in order (Chan et al. 1979).
struct Moments {
  size_t count = 0;
  std::vector<double> sum;
  std::vector<double> squares;

  static Moments of(std::span<const double> rows, size_t columns) {
    Moments result{rows.size() / columns, std::vector<double>(columns), std::vector<double>(columns)};
    const auto n = static_cast<double>(result.count);
    for (size_t at = 0; at < rows.size(); at += columns)
      for (size_t c = 0; c < columns; ++c) result.sum[c] += rows[at + c];
    for (size_t at = 0; at < rows.size(); at += columns)
      for (size_t c = 0; c < columns; ++c) {
        const double difference = rows[at + c] - result.sum[c] / n;
        result.squares[c] += difference * difference;
      }
    return result;
  }

  void join(const Moments& other) {
    if (count == 0) {
      *this = other;
      return;
    }
    const auto a = static_cast<double>(count);
    const auto b = static_cast<double>(other.count);
    for (size_t c = 0; c < sum.size(); ++c) {
      const double difference = other.sum[c] / b - sum[c] / a;
      squares[c] += other.squares[c] + difference * difference * a * b / (a + b);
      sum[c] += other.sum[c];
    }
    count += other.count;
  }
};

// Weighted means over queries, and the errors of these.
void weigh(std::span<const double> rows, std::span<const double> weights, Evaluation& result) {
  const size_t columns = result.measures.columns();
  double total = 0;
  double count = 0;
  for (const double weight : weights) {
    total += weight;
    count += weight > 0 ? 1 : 0;
  }
  for (size_t c = 0; c < columns; ++c) {
    double sum = 0;
    for (size_t q = 0; q < weights.size(); ++q) sum += weights[q] * rows[q * columns + c];
    const double mean = sum / total;
    double squares = 0;
    for (size_t q = 0; q < weights.size(); ++q) {
      const double off = weights[q] * (rows[q * columns + c] - mean);
      squares += off * off;
    }
    result.mean.push_back(mean);
    result.standard_error.push_back(count < 2 ? std::numeric_limits<double>::quiet_NaN()
                                              : std::sqrt(squares * count / (count - 1)) / total);
  }
}

// "ndcg@7" -> 7 for prefix "ndcg@"; 0 where it does not fit.
size_t rank_after(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return 0;
  name.remove_prefix(prefix.size());
  size_t rank = 0;
  const auto result = std::from_chars(name.data(), name.data() + name.size(), rank);
  return result.ec == std::errc() && result.ptr == name.data() + name.size() ? rank : 0;
}

}  // namespace

size_t MeasureTable::column(std::string_view name) const {
  if (name == "mean_ndcg") return mean_ndcg();
  if (name == "map") return map();
  if (name == "err") return err();
  if (name == "mrr") return mrr();
  if (const size_t rank = rank_after(name, "ndcg@"); rank >= 1 && rank <= k_) return ndcg(rank);
  if (const size_t rank = rank_after(name, "dcg@"); rank >= 1 && rank <= k_) return dcg(rank);
  if (const size_t rank = rank_after(name, "p@"); rank >= 1 && rank <= k_) return precision(rank);
  throw_input(
      "unknown measure '{}'; expected ndcg@R, dcg@R or p@R with R from 1 to {}, mean_ndcg, map, err or mrr",
      name, k_);
}

std::string MeasureTable::name(size_t column) const {
  if (column < k_) return fmt::format("ndcg@{}", column + 1);
  if (column < 2 * k_) return fmt::format("dcg@{}", column - k_ + 1);
  if (column < 3 * k_) return fmt::format("p@{}", column - 2 * k_ + 1);
  const char* names[] = {"mean_ndcg", "map", "err", "mrr"};
  return names[column - 3 * k_];
}

std::string MeasureTable::trec_name(size_t column) const {
  if (column < k_) return fmt::format("ndcg_cut_{}", column + 1);
  if (column < 2 * k_) return fmt::format("dcg_cut_{}", column - k_ + 1);
  if (column < 3 * k_) return fmt::format("P_{}", column - 2 * k_ + 1);
  return column == mrr() ? "recip_rank" : name(column);
}

// Of one thread: the current query ranked under every rule.
struct Evaluator::Scratch {
  struct Ranking {
    std::vector<int32_t> labels;
    std::vector<uint32_t> group_ends;
    RankedLabels view() const { return {labels, group_ends}; }
  };
  std::vector<Entry> order;
  std::vector<Entry> regrouped;
  std::vector<size_t> label_counts;
  std::vector<Ranking> rankings;
  std::vector<double> gains;
  std::vector<double> err;
};

Evaluator::Evaluator(const QueryIndex& queries, std::span<const int32_t> labels, const NameTable& names,
                     std::vector<MetricPolicy> policies, size_t k, std::span<const float> weights)
    : queries_(queries),
      labels_(labels),
      names_(names),
      weights_(query_weights(queries, weights)),
      measures_(k) {
  require(k > 0, "measures need at least one rank");
  require(queries.size() > 0, "measures need at least one query");
  require(labels.size() == queries.documents(), "labels do not fit the queries");
  require(names.size() == 0 || names.size() == labels.size(), "names do not fit the documents");
  require(weights.empty() || weights.size() == labels.size(), "weights do not fit the documents");
  if (!weights_.empty() && *std::max_element(weights_.begin(), weights_.end()) == 0)
    throw InputError("every query that is measured has weight 0; expected documents of a weight above 0");
  for (const int32_t label : labels) max_label_ = std::max(max_label_, label);
  size_t longest = 0;
  for (size_t q = 0; q < queries.size(); ++q) longest = std::max(longest, queries.length(q));
  for (MetricPolicy& policy : policies) {
    Compiled compiled{.policy = std::move(policy), .gains = {}, .stops = {}, .discounts = {}, .ranking = 0};
    compiled.gains = label_gains(compiled.policy, max_label_);
    compiled.stops = stop_probabilities(compiled.policy, max_label_);
    for (size_t rank = 1; rank <= longest; ++rank)
      compiled.discounts.push_back(discount_at(compiled.policy.discount, rank));
    const RankingRule rule{compiled.policy.ties, compiled.policy.float_scores};
    const auto found = std::find(rankings_.begin(), rankings_.end(), rule);
    compiled.ranking = static_cast<size_t>(found - rankings_.begin());
    if (found == rankings_.end()) rankings_.push_back(rule);
    policies_.push_back(std::move(compiled));
  }
}

// Sorts once by score and file order; rounding keeps that order, so that the other rules only rearrange or
// mark the runs of documents that they find equal.
void Evaluator::rank_query(size_t query, std::span<const double> scores, Scratch& scratch) const {
  const size_t begin = queries_.begin(query);
  auto& order = scratch.order;
  order.clear();
  for (size_t i = 0; i < queries_.length(query); ++i)
    if (scores[begin + i] != kNotRanked) order.push_back({scores[begin + i], static_cast<uint32_t>(i)});
  const size_t n = order.size();
  const auto by_file = [](const Entry& a, const Entry& b) {
    return a.score > b.score || (a.score == b.score && a.document < b.document);
  };
  std::sort(order.begin(), order.end(), by_file);
  scratch.label_counts.assign(static_cast<size_t>(max_label_) + 1, 0);
  for (const int32_t label : labels_.subspan(begin, queries_.length(query)))
    ++scratch.label_counts[static_cast<size_t>(label)];

  const auto by_name = [&](const Entry& a, const Entry& b) {
    const int compared = names_[begin + a.document].compare(names_[begin + b.document]);
    return compared > 0 || (compared == 0 && a.document < b.document);
  };
  for (size_t r = 0; r < rankings_.size(); ++r) {
    const RankingRule& rule = rankings_[r];
    Scratch::Ranking& ranking = scratch.rankings[r];
    ranking.group_ends.clear();
    const std::vector<Entry>* ranked = &order;
    if (rule.float_scores || rule.ties != Ties::kFile) {
      auto& entries = scratch.regrouped;
      entries = order;
      for (size_t i = 0; i < n;) {
        size_t end = i + 1;
        const double score = rounded(entries[i].score, rule.float_scores);
        while (end < n && rounded(entries[end].score, rule.float_scores) == score) ++end;
        if (rule.ties == Ties::kAverage) ranking.group_ends.push_back(static_cast<uint32_t>(end));
        if (end - i > 1) {
          const auto first = entries.begin() + static_cast<std::ptrdiff_t>(i);
          const auto last = entries.begin() + static_cast<std::ptrdiff_t>(end);
          if (rule.ties == Ties::kName && names_.size() > 0)
            std::sort(first, last, by_name);
          else
            std::sort(first, last, [](const Entry& a, const Entry& b) { return a.document < b.document; });
        }
        i = end;
      }
      ranked = &entries;
    }
    ranking.labels.resize(n);
    for (size_t i = 0; i < n; ++i) ranking.labels[i] = labels_[begin + (*ranked)[i].document];
  }
}

void Evaluator::evaluate_query(size_t query, const Compiled& compiled, Scratch& scratch, double* row) const {
  const MetricPolicy& policy = compiled.policy;
  const size_t n = queries_.length(query);
  const size_t k = measures_.k();
  const size_t shown = std::min(n, k);
  const RankedLabels ranked = scratch.rankings[compiled.ranking].view();

  gains_by_rank(ranked, compiled.gains, scratch.gains);
  double dcg = 0;
  double ideal = 0;
  double sum = 0;
  size_t best = scratch.label_counts.size();  // the label at this rank of the ideal order
  size_t left = 0;
  for (size_t i = 0; i < n; ++i) {
    while (left == 0) left = scratch.label_counts[--best];
    --left;
    ideal += compiled.gains[best] * compiled.discounts[i];
    if (i < ranked.size()) dcg += scratch.gains[i] * compiled.discounts[i];
    const double ndcg = ideal > 0 ? dcg / ideal : policy.empty;
    sum += ndcg;
    if (i < k) {
      row[measures_.ndcg(i + 1)] = ndcg;
      row[measures_.dcg(i + 1)] = dcg;
    }
  }
  row[measures_.mean_ndcg()] = sum / static_cast<double>(n);

  const std::span<double> precision(row + measures_.precision(1), k);
  const size_t ranked_shown = std::min(ranked.size(), k);
  relevant_by_rank(ranked, policy.relevant_from, precision.first(ranked_shown));
  const double relevant = ranked_shown == 0 ? 0 : precision[ranked_shown - 1];
  std::fill(precision.begin() + static_cast<std::ptrdiff_t>(ranked_shown),
            precision.begin() + static_cast<std::ptrdiff_t>(shown), relevant);
  for (size_t i = 0; i < shown; ++i) precision[i] /= static_cast<double>(i + 1);

  for (size_t rank = n + 1; rank <= k; ++rank) {
    const bool zero = policy.short_ndcg == ShortNdcg::kZero;
    row[measures_.ndcg(rank)] = zero ? 0 : row[measures_.ndcg(n)];
    row[measures_.dcg(rank)] = zero ? 0 : row[measures_.dcg(n)];
    switch (policy.short_precision) {
      case ShortPrecision::kPad:
        precision[rank - 1] = relevant / static_cast<double>(rank);
        break;
      case ShortPrecision::kCut:
        precision[rank - 1] = relevant / static_cast<double>(n);
        break;
      case ShortPrecision::kZero:
        precision[rank - 1] = 0;
        break;
    }
  }

  const size_t cut = policy.cut_at_k ? k : n;
  size_t all_relevant = 0;
  for (size_t label = static_cast<size_t>(policy.relevant_from); label < scratch.label_counts.size(); ++label)
    all_relevant += scratch.label_counts[label];
  row[measures_.map()] = average_precision(ranked, policy.relevant_from, all_relevant, policy.empty_map);
  row[measures_.mrr()] = reciprocal_rank(ranked, policy.relevant_from, cut);
  row[measures_.err()] = compiled.stops.empty()
                             ? std::numeric_limits<double>::quiet_NaN()
                             : expected_reciprocal_rank(ranked, compiled.stops, cut, scratch.err);
}

std::vector<Evaluation> Evaluator::operator()(std::span<const double> scores, ThreadPool& pool,
                                              bool keep_per_query) const {
  require(scores.size() == labels_.size(), "scores do not fit the documents");
  const size_t queries = queries_.size();
  const size_t columns = measures_.columns();
  const size_t blocks = (queries + kBlock - 1) / kBlock;
  std::vector<Evaluation> results(policies_.size());
  for (size_t p = 0; p < policies_.size(); ++p) {
    results[p].policy = policies_[p].policy;
    results[p].measures = measures_;
    results[p].queries = queries;
    if (keep_per_query || !weights_.empty()) results[p].per_query.resize(queries * columns);
  }

  std::vector<std::vector<Moments>> moments(policies_.size(), std::vector<Moments>(blocks));
  std::vector<Scratch> scratches(static_cast<size_t>(pool.threads()));
  pool.run_with_thread(blocks, [&](size_t block, int thread) {
    Scratch& scratch = scratches[static_cast<size_t>(thread)];
    scratch.rankings.resize(rankings_.size());
    const size_t first = block * kBlock;
    const size_t last = std::min(queries, first + kBlock);
    std::vector<std::vector<double>> rows(policies_.size(), std::vector<double>((last - first) * columns));
    for (size_t q = first; q < last; ++q) {
      require(queries_.length(q) > 0, "a query without documents");
      rank_query(q, scores, scratch);
      for (size_t p = 0; p < policies_.size(); ++p)
        evaluate_query(q, policies_[p], scratch, rows[p].data() + (q - first) * columns);
    }
    for (size_t p = 0; p < policies_.size(); ++p) {
      moments[p][block] = Moments::of(rows[p], columns);
      if (!results[p].per_query.empty())
        std::copy(rows[p].begin(), rows[p].end(), results[p].per_query.begin() + first * columns);
    }
  });

  for (size_t p = 0; p < policies_.size(); ++p) {
    Moments all;
    for (const Moments& block : moments[p]) all.join(block);
    const auto n = static_cast<double>(queries);
    if (!weights_.empty()) {
      weigh(results[p].per_query, weights_, results[p]);
      if (!keep_per_query) results[p].per_query.clear();
    }
    for (size_t c = 0; c < columns && weights_.empty(); ++c) {
      results[p].mean.push_back(all.sum[c] / n);
      results[p].standard_error.push_back(queries < 2 ? std::numeric_limits<double>::quiet_NaN()
                                                      : std::sqrt(all.squares[c] / (n - 1) / n));
    }
    for (size_t q = 0; q < queries; ++q) {
      const auto of_query = labels_.subspan(queries_.begin(q), queries_.length(q));
      const auto& gains = policies_[p].gains;
      const bool relevant = std::any_of(of_query.begin(), of_query.end(),
                                        [&](int32_t label) { return gains[static_cast<size_t>(label)] > 0; });
      results[p].empty_queries += relevant ? 0 : 1;
      results[p].short_queries += queries_.length(q) < measures_.k() ? 1 : 0;
    }
  }
  return results;
}

}  // namespace tunemix
