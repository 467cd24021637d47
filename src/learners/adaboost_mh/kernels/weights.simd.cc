#include "learners/adaboost_mh/kernels/weights.h"

#include "learners/adaboost_mh/weights.h"

namespace tunemix::trees::TUNEMIX_SET {
namespace {

// No weight falls below this: it keeps clear of denormals, and a document can always come back.
constexpr float kLeast = 1e-30F;

template <size_t K>
double sum_of(const float* weights, size_t count) {
  double lanes[K] = {};
  for (size_t i = 0; i < count; ++i)
    for (size_t l = 0; l < K; ++l) lanes[l] += static_cast<double>(weights[i * K + l]);
  double sum = 0;
  for (size_t l = 0; l < K; ++l) sum += lanes[l];
  return sum;
}

template <size_t K>
void multiply_of(const float* factors, const uint8_t* leaf, const uint8_t* label, float* weights,
                 size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const float* f = factors + (leaf[i] * (K + 1) + label[i]) * K;
    float* w = weights + i * K;
    for (size_t l = 0; l < K; ++l) {
      const float product = w[l] * f[l];
      w[l] = product > kLeast ? product : kLeast;
    }
  }
}

void multiply(size_t labels, const float* factors, const uint8_t* leaf, const uint8_t* label, float* weights,
              size_t count) {
  with_labels(labels, [=]<size_t K>() { multiply_of<K>(factors, leaf, label, weights, count); });
}

double sum(size_t labels, const float* weights, size_t count) {
  double result = 0;
  with_labels(labels, [&]<size_t K>() { result = sum_of<K>(weights, count); });
  return result;
}

}  // namespace

const WeightKernels weight_kernels_table = {multiply, sum};

}  // namespace tunemix::trees::TUNEMIX_SET
