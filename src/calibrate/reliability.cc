#include "tunemix/calibrate/reliability.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tunemix {
namespace {

constexpr double kLeastProbability = 1e-15;  // `shift` can give 0

double log_loss(const Calibrator& calibrator, const ScoreMatrix& scores, std::span<const int32_t> labels,
                const Context& context) {
  constexpr size_t kBlock = 4096;
  std::vector<double> partial((scores.documents() + kBlock - 1) / kBlock);
  parallel_blocks(context.pool(), scores.documents(), kBlock, [&](size_t begin, size_t end) {
    std::vector<double> p(scores.columns());
    for (size_t i = begin; i < end; ++i) {
      calibrator.probabilities(scores.row(i), p);
      partial[begin / kBlock] -= std::log(std::max(p[static_cast<size_t>(labels[i])], kLeastProbability));
    }
  });
  return std::accumulate(partial.begin(), partial.end(), 0.0) / static_cast<double>(scores.documents());
}

}  // namespace

Reliability reliability(std::span<const float> predicted, std::span<const int32_t> labels,
                        std::span<const double> grades, bool in_grades, size_t bins) {
  require(predicted.size() == labels.size() && bins > 0, "labels do not fit the predictions");
  const size_t n = predicted.size();
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t i, uint32_t j) { return predicted[i] < predicted[j]; });
  Reliability result;
  double error = 0;
  for (size_t begin = 0; begin < n;) {
    // Up to the next multiple of n / bins, then on while predictions are equal.
    const size_t part = begin * bins / n + 1;
    size_t end = std::max(begin + 1, (part * n + bins - 1) / bins);
    while (end < n && predicted[order[end]] == predicted[order[end - 1]]) ++end;
    ReliabilityBin bin;
    bin.documents = end - begin;
    bin.low = predicted[order[begin]];
    bin.high = predicted[order[end - 1]];
    for (size_t i = begin; i < end; ++i) {
      bin.predicted += predicted[order[i]];
      bin.observed += grades[static_cast<size_t>(labels[order[i]])];
    }
    bin.predicted /= static_cast<double>(bin.documents);
    bin.observed /= static_cast<double>(bin.documents);
    error += std::abs(bin.predicted - bin.observed) * static_cast<double>(bin.documents);
    result.bins.push_back(bin);
    begin = end;
  }
  if (in_grades && n > 0) result.expected_error = error / static_cast<double>(n);
  return result;
}

Reliability reliability(const Calibrator& calibrator, const ScoreMatrix& scores,
                        std::span<const int32_t> labels, std::span<const double> grades,
                        const Context& context, size_t bins) {
  std::vector<float> predicted(scores.documents());
  calibrator.apply(scores, predicted, context);
  const bool in_grades = calibrator.gives_probabilities() || calibrator.spec().regressed == RbcTarget::kRaw;
  Reliability result = reliability(predicted, labels, grades, in_grades, bins);
  if (calibrator.gives_probabilities() && scores.documents() > 0)
    result.log_loss = log_loss(calibrator, scores, labels, context);
  return result;
}

}  // namespace tunemix
