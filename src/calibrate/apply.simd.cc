#include <algorithm>

#include "calibrate/kernels.h"
#include "calibrate/lanes.h"
#include "calibrate/probabilities.h"

namespace tunemix::calibrate::TUNEMIX_SET {
namespace {

using lanes::V;

TUNEMIX_LANES void shift_probabilities(double range, const V* f, size_t columns, V* p) {
  V total{};
  for (size_t k = 0; k < columns; ++k) {
    p[k] = lanes::max(1.0 + f[k] / range, 0);
    total += p[k];
  }
  const double equal = 1 / static_cast<double>(columns);
  for (size_t k = 0; k < columns; ++k) p[k] = lanes::select(0 < total, p[k] / total, equal);
}

void probabilities_of(const ProbabilityView& map, const V* f, size_t columns, V* p) {
  if (map.link == ProbabilityView::Link::kShift) return shift_probabilities(map.range, f, columns, p);
  V x[kMaxColumns];
  if (map.link == ProbabilityView::Link::kSigmoid) {
    for (size_t k = 0; k < columns; ++k) x[k] = map.weights[k] * (f[k] - map.bias[k]);
    return sigmoid_probabilities(x, columns, p);
  }
  for (size_t k = 0; k < columns; ++k) {
    V z = map.bias[k];
    for (size_t j = 0; j < columns; ++j) z += map.weights[k * columns + j] * f[j];
    x[k] = bounded(z);
  }
  softmax_probabilities(x, columns, p);
}

// Calls body(first row, how many, their scores by column) for runs of up to eight rows.
template <typename Body>
TUNEMIX_LANES void for_eights(const float* all, size_t columns, size_t count, Body body) {
  V f[kMaxColumns];
  for (size_t i = 0; i < count; i += lanes::kWidth) {
    const size_t n = std::min(lanes::kWidth, count - i);
    const float* rows = all + i * columns;
    for (size_t k = 0; k < columns; ++k) {
      double of_column[lanes::kWidth];
      for (size_t lane = 0; lane < lanes::kWidth; ++lane)
        of_column[lane] = rows[std::min(lane, n - 1) * columns + k];
      f[k] = lanes::load(of_column);
    }
    body(i, n, f);
  }
}

TUNEMIX_LANES void put(const V& values, size_t n, float* out) {
  for (size_t lane = 0; lane < n; ++lane) out[lane] = static_cast<float>(values[lane]);
}

void probabilities(const ProbabilityView& map, const float* rows, size_t columns, size_t count, double* out) {
  for_eights(rows, columns, count, [=](size_t first, size_t n, const V* f) {
    V p[kMaxColumns];
    probabilities_of(map, f, columns, p);
    for (size_t lane = 0; lane < n; ++lane)
      for (size_t k = 0; k < columns; ++k) out[(first + lane) * columns + k] = p[k][lane];
  });
}

void expected_grade(const ProbabilityView& map, const double* grades, const float* rows, size_t columns,
                    size_t count, float* out) {
  for_eights(rows, columns, count, [=](size_t first, size_t n, const V* f) {
    V p[kMaxColumns];
    probabilities_of(map, f, columns, p);
    V grade{};
    for (size_t k = 0; k < columns; ++k) grade += grades[k] * p[k];
    put(grade, n, out + first);
  });
}

void polynomial(const PolynomialView& map, const float* rows, size_t columns, size_t count, double* scratch,
                float* out) {
  V* term = reinterpret_cast<V*>(scratch);
  for_eights(rows, columns, count, [=](size_t first, size_t n, const V* f) {
    for (size_t k = 0; k < columns; ++k) {
      const V clipped = lanes::min(lanes::max(f[k], map.low[k]), map.high[k]);
      term[k] = (clipped - map.mean[k]) * map.scale[k];
    }
    V value = map.intercept;
    for (size_t t = 0; t < map.term_count; ++t) {
      if (map.terms[t].parent >= 0)
        term[t] =
            term[static_cast<size_t>(map.terms[t].parent)] * term[static_cast<size_t>(map.terms[t].input)];
      value += map.coefficients[t] * term[t];
    }
    put(value, n, out + first);
  });
}

void logistic(const LogisticView& map, const float* rows, size_t columns, size_t count, float* out) {
  for_eights(rows, columns, count, [=](size_t first, size_t n, const V* f) {
    V z = map.intercept;
    for (size_t k = 0; k < columns; ++k) z += map.weights[k] * f[k];
    put(map.low + (map.high - map.low) * lanes::sigmoid(bounded(z)), n, out + first);
  });
}

void neural(const NeuralView& map, const float* rows, size_t columns, size_t count, float* out) {
  for_eights(rows, columns, count, [=](size_t first, size_t n, const V* f) {
    V x[kMaxColumns];
    for (size_t k = 0; k < columns; ++k) x[k] = (f[k] - map.mean[k]) * map.scale[k];
    V value = map.output_bias;
    for (size_t h = 0; h < map.hidden; ++h) {
      V z = map.bias[h];
      for (size_t k = 0; k < columns; ++k) z += map.weights[h * columns + k] * x[k];
      value += map.output[h] * lanes::tanh(z);
    }
    put(value, n, out + first);
  });
}

}  // namespace

const ApplyKernels apply_kernels_table = {probabilities, expected_grade, polynomial, logistic, neural};

}  // namespace tunemix::calibrate::TUNEMIX_SET
