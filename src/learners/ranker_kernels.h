// The inner loops of the classic rankers, for the instruction set in use.
#pragma once

#include <cstddef>

#include "core/simd.h"

namespace tunemix {

struct RankerKernels {
  static constexpr size_t kLanes = 8;  // independent parts of every sum, whatever the set

  // The sum of w[j] x[j].
  double (*dot)(const double* w, const float* x, size_t n);
  double (*dot_doubles)(const double* w, const double* x, size_t n);
  // sum[j] += a x[j]
  void (*add_row)(double a, const float* x, size_t n, double* sum);
  // sums[c] += x[0] w[0][c], then += x[1] w[1][c], ...; rows of `stride` columns, a multiple of kLanes.
  void (*add_columns)(const float* x, size_t n, const double* w, size_t stride, double* sums);
  // The upper half of sums (d x d) += z z^T.
  void (*add_square)(const double* z, size_t d, double* sums);
  // One better document against n worse ones, n a multiple of kLanes; exps of scores, 0 in the padding. Adds
  // each pair's weight to the worse document and returns their sum.
  // Logistic: weight 1 / (1 + r), r = mine / other. products[k] is multiplied by 1 + min(r, 1/r).
  double (*logistic_pairs)(double mine, const double* others, size_t n, double* weights, double* products);
  // Fidelity: weight sqrt(p) (1 - p), p = mine / (mine + other).
  double (*fidelity_pairs)(double mine, const double* others, size_t n, double* weights);
};
TUNEMIX_KERNELS(RankerKernels, ranker_kernels)

}  // namespace tunemix
