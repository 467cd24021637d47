#include "mix/sums.h"

#include "calibrate/lanes.h"

namespace tunemix::mixing::TUNEMIX_SET {
namespace {

using lanes::Part;

void add(double weight, const double* scores, size_t count, double* sums) {
  for (size_t i = 0; i < count; ++i) sums[i] += weight * scores[i];
}

// For C values of c at once, whose sums stay in registers.
template <size_t C>
void add_some(const double* scores, size_t stride, const double* weights, size_t cs, size_t members,
              double* sums) {
  for (size_t i = 0; i < stride; i += lanes::kPartWidth) {
    Part acc[C];
    for (size_t j = 0; j < C; ++j) acc[j] = lanes::load_part(sums + j * stride + i);
    for (size_t m = 0; m < members; ++m) {
      const Part s = lanes::load_part(scores + m * stride + i);
      for (size_t j = 0; j < C; ++j) acc[j] += weights[m * cs + j] * s;
    }
    for (size_t j = 0; j < C; ++j) lanes::store_part(sums + j * stride + i, acc[j]);
  }
}

void add_members(const double* scores, size_t stride, const double* weights, size_t cs, size_t members,
                 double* sums) {
  size_t j = 0;
  for (; j + 8 <= cs; j += 8) add_some<8>(scores, stride, weights + j, cs, members, sums + j * stride);
  for (; j < cs; ++j) add_some<1>(scores, stride, weights + j, cs, members, sums + j * stride);
}

}  // namespace

const SumKernels sum_kernels_table = {add, add_members};

}  // namespace tunemix::mixing::TUNEMIX_SET
