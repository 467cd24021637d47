// Turns what cuts gain into rewards in [0, 1] that stay of the same size as gains shrink.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "tunemix/core/binary.h"

namespace tunemix::trees {

constexpr size_t kSizeClasses = 16;

// The number of halvings that lead from all documents to so few.
inline size_t size_class(size_t documents, size_t all) {
  size_t halvings = 0;
  while (halvings + 1 < kSizeClasses && documents * 2 <= all) {
    documents *= 2;
    ++halvings;
  }
  return halvings;
}

// A reward is the gain over twice a running high quantile of recent gains in leaves of about the same share
// of the documents: a leaf of a hundredth of them gains less than the root whatever the feature.
class GainScale {
 public:
  // Makes rewards of the gains of one search.
  void reward(std::vector<double>& gains, size_t documents, size_t all) {
    for (double& gain : gains)
      if (!(gain > 0)) gain = 0;
    double& high = high_[size_class(documents, all)];
    const bool first = high == 0;
    if (first) high = quantile(gains);
    const double scale = 2 * high;
    for (double& gain : gains) {
      // In the long run the share kQuantile of gains is below `high`.
      if (!first) high *= gain > high ? 1 + kStep * kQuantile : 1 - kStep * (1 - kQuantile);
      gain = scale > 0 ? std::min(1.0, gain / scale) : 0;
    }
  }

  // The running quantile; 0 before the first search in leaves of that size.
  double high(size_t documents, size_t all) const { return high_[size_class(documents, all)]; }

  void save(BinaryWriter& out) const {
    for (const double high : high_) out.put(high);
  }
  void load(BinaryReader& in) {
    for (double& high : high_) {
      high = in.get<double>();
      if (!(high >= 0) || !std::isfinite(high)) in.fail("the scale of the bandit's rewards is wrong");
    }
  }

 private:
  static double quantile(std::vector<double> gains) {
    if (gains.empty()) return 0;
    const auto at =
        gains.begin() + static_cast<std::ptrdiff_t>(kQuantile * static_cast<double>(gains.size()));
    std::nth_element(gains.begin(), at, gains.end());
    return *at;
  }

  static constexpr double kQuantile = 0.9;
  static constexpr double kStep = 0.1;
  std::array<double, kSizeClasses> high_ = {};
};

}  // namespace tunemix::trees
