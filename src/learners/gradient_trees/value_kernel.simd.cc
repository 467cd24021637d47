#include "learners/gradient_trees/value_kernel.h"

namespace tunemix::trees::TUNEMIX_SET {
namespace {

void add_leaf_values(const uint8_t* leaf, const float* values, size_t count, float* sums) {
  for (size_t i = 0; i < count; ++i) sums[i] += values[leaf[i]];
}

}  // namespace

const ValueKernels value_kernels_table = {add_leaf_values};

}  // namespace tunemix::trees::TUNEMIX_SET
