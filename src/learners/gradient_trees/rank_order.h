// The ranks of some documents by descending score, of equal scores as they come.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "learners/gradient_trees/lambda_kernel.h"
#include "tunemix/core/aligned.h"

namespace tunemix::trees {

class RankOrder {
 public:
  // The rank of each document, from 0.
  std::span<const int32_t> ranks(std::span<const float> scores) {
    constexpr size_t kMany = 400;  // sorting is faster from about here
    const size_t n = scores.size();
    const size_t padded = (n + kPairLanes - 1) / kPairLanes * kPairLanes;
    if (rank_.size() < padded) {
      rank_.resize(padded);
      scores_.resize(padded);
    }
    if (n <= kMany) {
      std::copy(scores.begin(), scores.end(), scores_.begin());
      std::fill(scores_.begin() + static_cast<std::ptrdiff_t>(n),
                scores_.begin() + static_cast<std::ptrdiff_t>(padded), 0.0F);
      lambda_kernels().count_ranks(scores_.data(), n, rank_.data());
    } else {
      keys_.resize(n);
      for (size_t i = 0; i < n; ++i) {
        // Bits that ascend as the score descends; + 0 makes one zero of two.
        const auto bits = std::bit_cast<uint32_t>(scores[i] + 0.0F);
        const uint32_t ascending = (bits >> 31) != 0 ? ~bits : bits | 1U << 31;
        keys_[i] = static_cast<uint64_t>(~ascending) << 32 | i;
      }
      std::sort(keys_.begin(), keys_.end());
      for (size_t r = 0; r < n; ++r) rank_[static_cast<uint32_t>(keys_[r])] = static_cast<int32_t>(r);
    }
    return {rank_.data(), n};
  }

  // The document at each rank.
  std::span<const uint32_t> order(std::span<const float> scores) {
    const std::span<const int32_t> rank = ranks(scores);
    order_.resize(scores.size());
    for (size_t i = 0; i < rank.size(); ++i) order_[rank[i]] = static_cast<uint32_t>(i);
    return order_;
  }

 private:
  AlignedVector<float> scores_;
  AlignedVector<int32_t> rank_;
  std::vector<uint64_t> keys_;
  std::vector<uint32_t> order_;
};

}  // namespace tunemix::trees
