#include "learners/ranker_kernels.h"

namespace tunemix::TUNEMIX_SET {
namespace {

constexpr size_t kLanes = RankerKernels::kLanes;

double sum_of_lanes(const double* v) {
  return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

template <typename Number>
double dot(const double* w, const Number* x, size_t n) {
  double sum[kLanes] = {};
  size_t j = 0;
  for (; j + kLanes <= n; j += kLanes)
    for (size_t k = 0; k < kLanes; ++k) sum[k] += w[j + k] * static_cast<double>(x[j + k]);
  for (size_t k = 0; j + k < n; ++k) sum[k] += w[j + k] * static_cast<double>(x[j + k]);
  return sum_of_lanes(sum);
}

void add_row(double a, const float* x, size_t n, double* sum) {
  for (size_t j = 0; j < n; ++j) sum[j] += a * static_cast<double>(x[j]);
}

// G vectors of eight sums at a time, which stay in registers.
template <size_t G>
void add_some_columns(const float* x, size_t n, const double* w, size_t stride, double* sums) {
  double sum[G * kLanes];
  for (size_t k = 0; k < G * kLanes; ++k) sum[k] = sums[k];
  for (size_t j = 0; j < n; ++j, w += stride) {
    const auto value = static_cast<double>(x[j]);
    for (size_t k = 0; k < G * kLanes; ++k) sum[k] += value * w[k];
  }
  for (size_t k = 0; k < G * kLanes; ++k) sums[k] = sum[k];
}

void add_columns(const float* x, size_t n, const double* w, size_t stride, double* sums) {
  size_t c = 0;
  for (; c + 3 * kLanes <= stride; c += 3 * kLanes) add_some_columns<3>(x, n, w + c, stride, sums + c);
  if (c + 2 * kLanes <= stride) {
    add_some_columns<2>(x, n, w + c, stride, sums + c);
    c += 2 * kLanes;
  }
  if (c < stride) add_some_columns<1>(x, n, w + c, stride, sums + c);
}

void add_square(const double* z, size_t d, double* sums) {
  for (size_t j = 0; j < d; ++j) {
    const double a = z[j];
    double* row = sums + j * d;
    for (size_t k = j; k < d; ++k) row[k] += a * z[k];
  }
}

double logistic_pairs(double mine, const double* others, size_t n, double* weights, double* products) {
  double sum[kLanes] = {};
  double product[kLanes];
  for (size_t k = 0; k < kLanes; ++k) product[k] = products[k];
  for (size_t j = 0; j < n; j += kLanes)
    for (size_t k = 0; k < kLanes; ++k) {
      const double other = others[j + k];
      const double r = (mine < other ? mine : other) / (mine < other ? other : mine);
      const double share = 1 / (1 + r);
      const double weight = mine > other ? r * share : share;
      product[k] *= 1 + r;
      sum[k] += weight;
      weights[j + k] += weight;
    }
  for (size_t k = 0; k < kLanes; ++k) products[k] = product[k];
  return sum_of_lanes(sum);
}

double fidelity_pairs(double mine, const double* others, size_t n, double* weights) {
  double sum[kLanes] = {};
  for (size_t j = 0; j < n; j += kLanes)
    for (size_t k = 0; k < kLanes; ++k) {
      const double p = mine / (mine + others[j + k]);
      const double weight = __builtin_sqrt(p) * (1 - p);
      sum[k] += weight;
      weights[j + k] += weight;
    }
  return sum_of_lanes(sum);
}

}  // namespace

const RankerKernels ranker_kernels_table = {dot<float>, dot<double>,    add_row,       add_columns,
                                            add_square, logistic_pairs, fidelity_pairs};

}  // namespace tunemix::TUNEMIX_SET
