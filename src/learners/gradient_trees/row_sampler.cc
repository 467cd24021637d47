#include "learners/gradient_trees/row_sampler.h"

#include <algorithm>
#include <cmath>

namespace tunemix::trees {

void RowSampler::draw(Random& random) {
  const bool by_query = options_.sample == RowSample::kQuery;
  const size_t units = by_query ? data_.queries().size() : data_.documents().size();
  const double share = std::round(options_.row_fraction * static_cast<double>(units));
  auto wanted = static_cast<size_t>(std::max(1.0, share));
  times_.assign(units, 0);
  if (options_.bootstrap) {
    for (size_t k = 0; k < wanted; ++k) {
      uint8_t& times = times_[random.below(units)];
      if (times < 255) ++times;
    }
  } else {
    for (size_t k = 0; k < units && wanted > 0; ++k)
      if (random.below(units - k) < wanted) {
        times_[k] = 1;
        --wanted;
      }
  }
  chosen_.clear();
  copies_.clear();
  const auto add = [&](size_t document, uint8_t times) {
    if (times == 0) return;
    chosen_.push_back(data_.documents()[document]);
    if (options_.bootstrap) copies_.push_back(times);
  };
  for (size_t k = 0; k < units; ++k) {
    if (!by_query) {
      add(k, times_[k]);
      continue;
    }
    for (size_t i = data_.queries().begin(k); i < data_.queries().end(k); ++i) add(i, times_[k]);
  }
}

}  // namespace tunemix::trees
