// Weighted sums of members over a run of documents, for each instruction set.
#pragma once

#include <cstddef>

#include "core/simd.h"

namespace tunemix::mixing {

struct SumKernels {
  // sums[i] += weight * scores[i].
  void (*add)(double weight, const double* scores, size_t count, double* sums);
  // sums[j][i] += sum over members m, in their order, of weights[m][j] * scores[m][i], for `cs` values of c;
  // rows of `stride` documents, whole runs of eight.
  void (*add_members)(const double* scores, size_t stride, const double* weights, size_t cs, size_t members,
                      double* sums);
};
TUNEMIX_KERNELS(SumKernels, sum_kernels)

}  // namespace tunemix::mixing
