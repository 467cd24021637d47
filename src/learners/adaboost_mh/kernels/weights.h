// What a round of boosting does to the weights of a block of documents, for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/simd.h"

namespace tunemix::trees {

// Weights are [documents][labels] without padding; a row of `factors` is that of (leaf, label of the
// document).
struct WeightKernels {
  // Each weight times its factor, but not below a least one.
  void (*multiply)(size_t labels, const float* factors, const uint8_t* leaf, const uint8_t* label,
                   float* weights, size_t count);
  // Of all weights: each label's in document order, then these in their order.
  double (*sum)(size_t labels, const float* weights, size_t count);
};
TUNEMIX_KERNELS(WeightKernels, weight_kernels)

}  // namespace tunemix::trees
