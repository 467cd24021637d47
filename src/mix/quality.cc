#include "mix/quality.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace tunemix::mixing {
namespace {

constexpr double kNoWeight = 1e-9;  // of queries whose sum is rounding alone

// Of how each document compares with the next of its query: much cheaper than the ranks, and as hard to meet
// by chance.
uint64_t fingerprint(std::span<const float> scores, const QueryIndex& queries) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;  // odd, with its bits well spread
  uint64_t hash = 0;
  uint64_t word = 1;  // the one marks where the comparisons begin
  for (size_t q = 0; q < queries.size(); ++q)
    for (size_t i = queries.begin(q); i + 1 < queries.end(q); ++i) {
      word = word << 2 | (scores[i] < scores[i + 1] ? 1U : 0U) | (scores[i] == scores[i + 1] ? 2U : 0U);
      if (word >> 62 == 0) continue;
      hash = (hash ^ word) * kMultiplier;
      hash ^= hash >> 32;
      word = 1;
    }
  return (hash ^ word) * kMultiplier;
}

// A member's documents of each query, best first.
std::vector<uint32_t> ranked(std::span<const float> scores, const QueryIndex& queries) {
  std::vector<uint32_t> documents(scores.size());
  std::iota(documents.begin(), documents.end(), uint32_t{0});
  for (size_t q = 0; q < queries.size(); ++q)
    std::sort(documents.begin() + queries.begin(q), documents.begin() + queries.end(q),
              [&](uint32_t a, uint32_t b) { return scores[a] > scores[b]; });
  return documents;
}

// Whether `other` falls where `scores` fall and is level where they are, going down their ranking.
bool alike(std::span<const float> scores, std::span<const uint32_t> ranking, std::span<const float> other,
           const QueryIndex& queries) {
  for (size_t q = 0; q < queries.size(); ++q)
    for (size_t i = queries.begin(q); i + 1 < queries.end(q); ++i) {
      const uint32_t here = ranking[i];
      const uint32_t next = ranking[i + 1];
      if (scores[here] == scores[next] ? other[here] != other[next] : !(other[here] > other[next]))
        return false;
    }
  return true;
}

}  // namespace

std::vector<double> relative_weights(const ValidationData& validation) {
  std::vector<double> weights(validation.weights.begin(), validation.weights.end());
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto count = static_cast<double>(weights.size());
  for (double& weight : weights) weight *= count / total;
  return weights;
}

std::vector<size_t> part_bounds(size_t queries, int parts) {
  const size_t count = std::clamp<size_t>(static_cast<size_t>(parts), 1, queries);
  std::vector<size_t> bounds;
  for (size_t p = 0; p <= count; ++p) bounds.push_back(p * queries / count);
  return bounds;
}

Qualities member_qualities(std::span<const Member> members, const MemberSource& source,
                           const ValidationData& validation, const SelectionName& metric_name,
                           std::span<const size_t> bounds, const Context& context) {
  const SelectionMetric metric(validation.queries, validation.labels, validation.grades, metric_name,
                               validation.weights);
  std::vector<double> weights = relative_weights(validation);
  if (weights.empty()) weights.assign(metric.queries(), 1.0);
  const size_t parts = bounds.size() > 2 ? bounds.size() - 1 : 0;
  Qualities result;
  result.omega.assign(1 + parts, std::vector<double>(members.size()));
  result.fingerprints.resize(members.size());
  context.pool().run(members.size(), [&](size_t m) {
    context.check_stop();
    const std::span<const float> scores = source(m);
    for (size_t i = 0; i < scores.size(); ++i)
      if (!std::isfinite(scores[i]))
        throw_input("the score of validation document {} by member '{}' is {}; expected a finite number",
                    i + 1, members[m].name(), scores[i]);
    std::vector<double> values(metric.queries());
    metric.per_query(scores, values);
    for (size_t q = 0; q < values.size(); ++q) values[q] *= weights[q];
    const double all = std::accumulate(values.begin(), values.end(), 0.0);
    const auto count = static_cast<double>(values.size());
    result.omega[0][m] = all / count;
    for (size_t p = 0; p < parts; ++p) {
      const auto first = values.begin() + static_cast<ptrdiff_t>(bounds[p]);
      const auto last = values.begin() + static_cast<ptrdiff_t>(bounds[p + 1]);
      const double outside = count - std::accumulate(weights.begin() + (first - values.begin()),
                                                     weights.begin() + (last - values.begin()), 0.0);
      // The other parts may have no weight at all.
      result.omega[1 + p][m] =
          outside > kNoWeight ? (all - std::accumulate(first, last, 0.0)) / outside : result.omega[0][m];
    }
    result.fingerprints[m] = fingerprint(scores, validation.queries);
  });
  return result;
}

std::vector<size_t> first_alike(std::span<const size_t> order, std::span<const uint64_t> fingerprints,
                                const MemberSource& source, const QueryIndex& queries,
                                const Context& context) {
  std::unordered_map<uint64_t, std::vector<size_t>> by_fingerprint;
  for (const size_t m : order) by_fingerprint[fingerprints[m]].push_back(m);
  std::vector<std::vector<size_t>> suspects;
  std::vector<size_t> first(order.size());
  for (auto& [fingerprint, members] : by_fingerprint) {
    for (const size_t m : members) first[m] = m;
    if (members.size() > 1) suspects.push_back(std::move(members));
  }
  context.pool().run(suspects.size(), [&](size_t index) {
    context.check_stop();
    const std::vector<size_t>& members = suspects[index];
    std::vector<std::pair<size_t, std::vector<uint32_t>>> distinct;  // member, its ranking
    for (const size_t m : members) {
      const auto found = std::find_if(distinct.begin(), distinct.end(), [&](const auto& earlier) {
        return alike(source(earlier.first), earlier.second, source(m), queries);
      });
      if (found != distinct.end())
        first[m] = found->first;
      else
        distinct.emplace_back(m, ranked(source(m), queries));
    }
  });
  return first;
}

}  // namespace tunemix::mixing
