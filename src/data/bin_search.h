// Finds the bins of values by counting thresholds sixteen at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "core/simd.h"

namespace tunemix {

// The thresholds of one feature in groups of 16, padded with what is never <= x: two counts find a bin
// without a branch.
//
//   thresholds     t0 .. t15 | t16 .. t31 | ... | t240 .. t254 NaN
//   last_of_group        t15          t31                      NaN
struct SearchTable {
  std::array<float, 256> thresholds;
  std::array<float, 16> last_of_group;
  size_t groups;  // that have a threshold

  explicit SearchTable(std::span<const float> t) : groups((t.size() + 15) / 16) {
    thresholds.fill(std::numeric_limits<float>::quiet_NaN());
    std::copy(t.begin(), t.end(), thresholds.begin());
    for (size_t g = 0; g < 16; ++g) last_of_group[g] = thresholds[16 * g + 15];
  }
};

struct BinKernels {
  // bins[i * bins_stride] = the bin of x[i * stride], for `count` values.
  void (*find)(const SearchTable& table, const float* x, size_t stride, size_t count, uint8_t* bins,
               size_t bins_stride);
};
TUNEMIX_KERNELS(BinKernels, bin_kernels)

}  // namespace tunemix
