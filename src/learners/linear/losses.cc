#include "learners/linear/losses.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/portable_math.h"
#include "learners/pair_sums.h"
#include "learners/ranker_kernels.h"

namespace tunemix::linear {
namespace {

constexpr size_t kLanes = RankerKernels::kLanes;
constexpr size_t kMostLabels = 32;

// The logistic loss of a query of many documents.
double logistic_of_many(std::span<const double> scores, std::span<const int32_t> labels,
                        std::span<double> gradient) {
  static const CellFunction weight([](double x) { return 1 / (1 + portable_exp(x)); }, 1, 0);
  static const CellFunction cost(
      [](double x) { return std::max(0.0, -x) + portable_log(1 + portable_exp(-std::abs(x))); }, 0, 1);
  const std::vector<double> better = sums_over_worse(weight, scores, labels);
  const std::vector<double> worse = sums_over_better(weight, scores, labels);
  for (size_t i = 0; i < scores.size(); ++i) gradient[i] = worse[i] - better[i];
  double loss = 0;
  for (const double of_better : sums_over_worse(cost, scores, labels)) loss += of_better;
  return loss;
}

}  // namespace

double squared_hinge_loss(std::span<const double> scores, std::span<const int32_t> labels,
                          std::span<double> gradient, LossScratch& scratch) {
  const size_t n = scores.size();
  // Centred, so that the sums of squares below lose no digits.
  double mean = 0;
  for (const double s : scores) mean += s;
  mean /= static_cast<double>(n);
  auto& sorted = scratch.sorted;
  sorted.resize(n);
  for (size_t i = 0; i < n; ++i) sorted[i] = {scores[i] - mean, static_cast<uint32_t>(i)};
  std::sort(sorted.begin(), sorted.end());

  // For each label, of the documents that are within the margin: how many, their scores, squared scores.
  struct Within {
    double count = 0;
    double sum = 0;
    double squares = 0;
    void add(double s) {
      count += 1;
      sum += s;
      squares += s * s;
    }
  };
  double loss = 0;
  // Downwards: i is the better document; j above s_i - 1 costs (1 - s_i + s_j)^2. The set only grows.
  std::array<Within, kMostLabels> within;
  for (size_t at = n, next = n; at-- > 0;) {
    const auto [s, i] = sorted[at];
    for (; next > 0 && sorted[next - 1].first > s - 1; --next)
      within[static_cast<size_t>(labels[sorted[next - 1].second])].add(sorted[next - 1].first);
    Within worse;
    for (int32_t l = 0; l < labels[i]; ++l) {
      worse.count += within[static_cast<size_t>(l)].count;
      worse.sum += within[static_cast<size_t>(l)].sum;
      worse.squares += within[static_cast<size_t>(l)].squares;
    }
    loss += worse.count * (1 - s) * (1 - s) + 2 * (1 - s) * worse.sum + worse.squares;
    gradient[i] = -2 * (worse.count * (1 - s) + worse.sum);
  }
  // Upwards: j is the worse document of the pair, among the better ones below s_j + 1.
  within = {};
  for (size_t at = 0, next = 0; at < n; ++at) {
    const auto [s, j] = sorted[at];
    for (; next < n && sorted[next].first < s + 1; ++next)
      within[static_cast<size_t>(labels[sorted[next].second])].add(sorted[next].first);
    double count = 0;
    double sum = 0;
    for (int32_t l = labels[j] + 1; l <= labels[0]; ++l) {
      count += within[static_cast<size_t>(l)].count;
      sum += within[static_cast<size_t>(l)].sum;
    }
    gradient[j] += 2 * (count * (1 + s) - sum);
  }
  return loss;
}

double pair_logistic_loss(std::span<const double> scores, std::span<const int32_t> labels,
                          std::span<double> gradient, LossScratch& scratch) {
  if (scores.size() > kManyDocuments) return logistic_of_many(scores, labels, gradient);
  // With e = exp(s), all of a pair follows from the ratio r of the smaller to the larger e: no exp or log
  // for each pair. Padding has e = 0, hence r = 0, and adds nothing.
  const size_t n = scores.size();
  const size_t padded = (n + kLanes - 1) / kLanes * kLanes + kLanes;
  auto& e = scratch.exps;
  auto& g = scratch.padded_gradient;
  e.assign(padded, 0.0);
  g.assign(padded, 0.0);
  const double top = *std::max_element(scores.begin(), scores.end());
  for (size_t i = 0; i < n; ++i) e[i] = portable_exp(std::max(-600.0, scores[i] - top));

  constexpr size_t kFlush = 512 * kLanes;  // factors below 2 that a product can take
  double loss = 0;
  size_t end = 0;
  for (size_t i = 0; i < n; ++i) {
    if (i == end)
      while (end < n && labels[end] == labels[i]) ++end;
    if (end == n) break;  // no worse document is left
    double pull = 0;
    for (size_t chunk = end; chunk < n; chunk += kFlush) {
      const size_t count = (std::min(n - chunk, kFlush) + kLanes - 1) / kLanes * kLanes;
      double products[kLanes];
      std::fill_n(products, kLanes, 1.0);
      pull += ranker_kernels().logistic_pairs(e[i], e.data() + chunk, count, g.data() + chunk, products);
      for (const double p : products) loss += portable_log(p);
    }
    for (size_t j = end; j < n; ++j) loss += std::max(0.0, scores[j] - scores[i]);
    g[i] -= pull;
  }
  std::copy_n(g.begin(), n, gradient.begin());
  return loss;
}

double list_entropy_loss(std::span<const double> scores, std::span<const int32_t> labels,
                         std::span<double> gradient, LossScratch& scratch) {
  const size_t n = scores.size();
  auto& e = scratch.exps;
  e.resize(2 * n);
  const double top = *std::max_element(scores.begin(), scores.end());
  double wanted_sum = 0;
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    e[i] = portable_exp(scores[i] - top);
    e[n + i] = portable_exp(labels[i] - labels[0]);
  }
  for (size_t i = 0; i < n; ++i) {
    sum += e[i];
    wanted_sum += e[n + i];
  }
  double loss = portable_log(sum) + top;
  for (size_t i = 0; i < n; ++i) {
    const double wanted = e[n + i] / wanted_sum;
    loss -= wanted * scores[i];
    gradient[i] = e[i] / sum - wanted;
  }
  return loss;
}

}  // namespace tunemix::linear
