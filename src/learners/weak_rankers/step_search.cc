#include "learners/weak_rankers/step_search.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tunemix::weak {
namespace {

constexpr size_t kTogether = 4;  // features that share one reading of the potentials

}  // namespace

StepSearch::StepSearch(const TrainingData& data, const RankedQueries& queries, size_t max_bins,
                       const Context& context)
    : data_(data.all()),
      queries_(queries),
      context_(context),
      shared_(data.cache().bins(max_bins, BinLayout::kColumns, context)) {}

std::optional<StepSearch::Step> StepSearch::best(std::span<const double> potentials) const {
  const size_t d = data_.features();
  const size_t tasks = (d + kTogether - 1) / kTogether;
  std::vector<std::optional<Step>> found(tasks);
  context_.pool().run(tasks, [&](size_t task) {
    // Every histogram is summed by one thread in the order of documents.
    std::array<std::array<double, 256>, kTogether> sums = {};
    std::array<const uint8_t*, kTogether> columns;
    for (size_t k = 0; k < kTogether; ++k)
      columns[k] = shared_.data->column(std::min(d - 1, task * kTogether + k));
    for (size_t i = 0; i < potentials.size(); ++i)
      for (size_t k = 0; k < kTogether; ++k) sums[k][columns[k][queries_.rows[i]]] += potentials[i];
    for (size_t j = task * kTogether; j < std::min(d, (task + 1) * kTogether); ++j) {
      double gain = 0;
      const std::span<const float> thresholds = shared_.cuts->thresholds(j);
      for (size_t b = thresholds.size(); b-- > 0;) {
        gain += sums[j % kTogether][b + 1];
        if (!found[task] || std::abs(gain) > std::abs(found[task]->gain))
          found[task] = {{static_cast<uint32_t>(j), thresholds[b], 0, 1}, gain};
      }
    }
  });
  std::optional<Step> best;
  for (const std::optional<Step>& step : found)
    if (step && (!best || std::abs(step->gain) > std::abs(best->gain))) best = step;
  return best;
}

void StepSearch::apply(const WeakRanker& step, std::span<uint8_t> out) const {
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = data_.row(queries_.rows[i])[step.feature] >= step.threshold ? 1 : 0;
}

}  // namespace tunemix::weak
