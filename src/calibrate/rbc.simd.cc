#include <algorithm>

#include "calibrate/kernels.h"
#include "calibrate/lanes.h"

namespace tunemix::calibrate::TUNEMIX_SET {
namespace {

using lanes::Part;
using lanes::V;

// Adds the products of columns i..i+R and j..j+C over `rows` documents.
template <size_t R, size_t C>
void add_tile(const double* left, const double* right, size_t rows, double* sums, size_t size) {
  V total[R][C];
  // Part by part, so that all sums stay in registers.
  for (size_t k = 0; k < lanes::kParts; ++k) {
    Part acc[R][C] = {};
    for (size_t d = k * lanes::kPartWidth; d < rows; d += lanes::kWidth)
      for (size_t r = 0; r < R; ++r) {
        const Part x = lanes::load_part(left + r * kMomentRows + d);
        for (size_t c = 0; c < C; ++c) acc[r][c] += x * lanes::load_part(right + c * kMomentRows + d);
      }
    for (size_t r = 0; r < R; ++r)
      for (size_t c = 0; c < C; ++c) total[r][c].part[k] = acc[r][c];
  }
  for (size_t r = 0; r < R; ++r)
    for (size_t c = 0; c < C; ++c) sums[r * size + c] += lanes::sum(total[r][c]);
}

void add_products(const double* columns, size_t rows, size_t size, double* sums) {
  constexpr size_t kTile = 4;
  for (size_t i = 0; i < size; i += kTile)
    for (size_t j = 0; j <= i; j += kTile) {
      const double* left = columns + i * kMomentRows;
      const double* right = columns + j * kMomentRows;
      double* out = sums + i * size + j;
      if (i + kTile <= size && j + kTile <= size) {
        add_tile<kTile, kTile>(left, right, rows, out, size);
        continue;
      }
      for (size_t r = 0; r < std::min(kTile, size - i); ++r)
        for (size_t c = 0; c < std::min(kTile, size - j); ++c)
          add_tile<1, 1>(left + r * kMomentRows, right + c * kMomentRows, rows, out + r * size + c, size);
    }
}

void logistic(const LogisticProblem& problem, const double* w, size_t begin, size_t end, double* scratch,
              LogisticSums& sums) {
  const size_t K = problem.inputs;
  const size_t size = K + 1;
  V* in = reinterpret_cast<V*>(scratch);
  V* gradient = in + size;
  V* hessian = gradient + size;
  for (size_t k = 0; k < size; ++k) gradient[k] = 0;
  for (size_t k = 0; k < size * size; ++k) hessian[k] = 0;
  V loss{}, squares{};
  for (size_t i = begin; i < end; i += lanes::kWidth) {
    V z = w[K];
    for (size_t k = 0; k < K; ++k) {
      in[k] = lanes::load(problem.x + k * problem.stride + i);
      z += w[k] * in[k];
    }
    in[K] = 1;
    const V weight = lanes::load(problem.weights + i);
    const V t = (lanes::load(problem.y + i) - problem.low) / problem.range;
    const V e = lanes::exp(-lanes::abs(z));
    const V s1 = lanes::select(z < 0, e, 1) / (1.0 + e);
    // -t log s(z) - (1-t) log(1 - s(z)) = log(1 + exp(-|z|)) + max(z, 0) - t z
    loss += weight * (lanes::log(1.0 + e) + lanes::max(z, 0) - t * z);
    squares += weight * (s1 - t) * (s1 - t);
    const V slope = weight * (s1 - t);
    const V curve = weight * s1 * (1.0 - s1);
    for (size_t k = 0; k < size; ++k) {
      gradient[k] += slope * in[k];
      const V c = curve * in[k];
      for (size_t j = 0; j <= k; ++j) hessian[k * size + j] += c * in[j];
    }
  }
  sums.loss = lanes::sum(loss);
  sums.squares = lanes::sum(squares);
  for (size_t k = 0; k < size; ++k) sums.gradient[k] = lanes::sum(gradient[k]);
  for (size_t k = 0; k < size * size; ++k) sums.hessian[k] = lanes::sum(hessian[k]);
}

double network(const NetworkShape& shape, const double* parameters, const NetworkSamples& samples,
               double* scratch, double* gradient) {
  const size_t K = shape.inputs;
  const size_t H = shape.hidden;
  const size_t bias = H * K;
  const size_t output = bias + H;
  const size_t output_bias = output + H;
  const double* w = parameters;
  V* hidden = reinterpret_cast<V*>(scratch);
  V* g = hidden + H;
  if (gradient != nullptr)
    for (size_t k = 0; k <= output_bias; ++k) g[k] = 0;
  V total{};
  for (size_t i = 0; i < samples.stride; i += lanes::kWidth) {
    V out = w[output_bias];
    for (size_t h = 0; h < H; ++h) {
      V z = w[bias + h];
      for (size_t k = 0; k < K; ++k) z += w[h * K + k] * lanes::load(samples.inputs + k * samples.stride + i);
      hidden[h] = lanes::tanh(z);
      out += w[output + h] * hidden[h];
    }
    const V off = out - lanes::load(samples.target + i);
    const V error = lanes::load(samples.weights + i) * off;
    total += error * off;
    if (gradient == nullptr) continue;
    g[output_bias] += error;
    for (size_t h = 0; h < H; ++h) {
      g[output + h] += error * hidden[h];
      const V back = error * w[output + h] * (1.0 - hidden[h] * hidden[h]);
      g[bias + h] += back;
      for (size_t k = 0; k < K; ++k)
        g[h * K + k] += back * lanes::load(samples.inputs + k * samples.stride + i);
    }
  }
  if (gradient != nullptr)
    for (size_t k = 0; k <= output_bias; ++k) gradient[k] = lanes::sum(g[k]);
  return lanes::sum(total);
}

}  // namespace

const RbcKernels rbc_kernels_table = {add_products, logistic, network};

}  // namespace tunemix::calibrate::TUNEMIX_SET
