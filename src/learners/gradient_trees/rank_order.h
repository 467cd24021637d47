// The order of some documents by descending score, of equal scores as they come.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace tunemix::trees {

class RankOrder {
 public:
  std::span<const uint32_t> sort(std::span<const float> scores) {
    keys_.resize(scores.size());
    order_.resize(scores.size());
    for (size_t i = 0; i < scores.size(); ++i) {
      // Bits that ascend as the score descends; + 0 makes one zero of two.
      const auto bits = std::bit_cast<uint32_t>(scores[i] + 0.0F);
      const uint32_t ascending = (bits >> 31) != 0 ? ~bits : bits | 1U << 31;
      keys_[i] = static_cast<uint64_t>(~ascending) << 32 | i;
    }
    std::sort(keys_.begin(), keys_.end());
    for (size_t r = 0; r < scores.size(); ++r) order_[r] = static_cast<uint32_t>(keys_[r]);
    return order_;
  }

 private:
  std::vector<uint64_t> keys_;
  std::vector<uint32_t> order_;
};

}  // namespace tunemix::trees
