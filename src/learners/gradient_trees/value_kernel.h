// The inner loop of scoring with one column: leaf numbers to values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/simd.h"

namespace tunemix::trees {

struct ValueKernels {
  // sums[i] += values[leaf[i]].
  void (*add_leaf_values)(const uint8_t* leaf, const float* values, size_t count, float* sums);
};
TUNEMIX_KERNELS(ValueKernels, value_kernels)

}  // namespace tunemix::trees
