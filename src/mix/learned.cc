#include "mix/learned.h"

#include <algorithm>
#include <numeric>

#include "mix/sums.h"
#include "tunemix/core/random.h"

namespace tunemix::mixing {
namespace {

constexpr size_t kSamples = 300;
constexpr double kTie = 1e-9;         // sums of qualities closer than that are rounding apart
constexpr double kHalfLearned = 120;  // queries

// How often a sample of as many queries as there are has each of them.
std::vector<double> draw_counts(size_t sample, size_t queries) {
  Random random(sample, "queries that masses are learned from");
  std::vector<double> counts(queries);
  for (size_t i = 0; i < queries; ++i) ++counts[random.below(queries)];
  return counts;
}

// The mean of the candidates whose sum is the highest.
void add_best(std::span<const double> sums, std::span<const Candidate> candidates, double* masses) {
  const double highest = *std::max_element(sums.begin(), sums.end()) - kTie;
  const auto best = static_cast<double>(
      std::count_if(sums.begin(), sums.end(), [&](double sum) { return sum >= highest; }));
  for (size_t k = 0; k < sums.size(); ++k) {
    if (sums[k] < highest) continue;
    masses[candidates[k].first] += 0.5 / best;
    masses[candidates[k].second] += 0.5 / best;
  }
}

}  // namespace

std::vector<Candidate> make_candidates(size_t units) {
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < units; ++i)
    for (size_t j = 0; j <= i; ++j) candidates.push_back({i, j});
  return candidates;
}

std::vector<std::vector<double>> learn_masses(size_t units, std::span<const Candidate> candidates,
                                              std::span<const double> values, std::span<const size_t> bounds,
                                              const Context& context) {
  const size_t parts = bounds.size() - 1;
  const size_t count = candidates.size();
  std::vector<std::vector<double>> by_sample(kSamples);  // parts and all x units
  context.pool().run(kSamples, [&](size_t sample) {
    context.check_stop();
    const std::vector<double> counts = draw_counts(sample, bounds.back());
    std::vector<double> of_part(parts * count);
    for (size_t p = 0; p < parts; ++p)
      for (size_t q = bounds[p]; q < bounds[p + 1]; ++q)
        if (counts[q] > 0) sum_kernels().add(counts[q], &values[q * count], count, &of_part[p * count]);
    by_sample[sample].resize((parts + 1) * units);
    std::vector<double> sums(count);
    for (size_t p = 0; p <= parts; ++p) {
      std::fill(sums.begin(), sums.end(), 0.0);
      for (size_t other = 0; other < parts; ++other)
        if (other != p || parts == 1) sum_kernels().add(1, &of_part[other * count], count, sums.data());
      add_best(sums, candidates, &by_sample[sample][p * units]);
    }
  });
  std::vector<std::vector<double>> masses(parts + 1, std::vector<double>(units));
  for (const std::vector<double>& sample : by_sample)
    for (size_t p = 0; p <= parts; ++p)
      for (size_t u = 0; u < units; ++u) masses[p][u] += sample[p * units + u] / kSamples;
  return masses;
}

double learned_share(size_t queries, std::span<const double> weights) {
  auto squared = static_cast<double>(queries * queries);
  if (!weights.empty()) {
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    const double squares = std::inner_product(weights.begin(), weights.end(), weights.begin(), 0.0);
    squared = sum / squares * sum;  // queries that tell as much
    squared *= squared;
  }
  return squared / (squared + kHalfLearned * kHalfLearned);
}

}  // namespace tunemix::mixing
