#include "learners/svm/problem.h"

#include <algorithm>
#include <cmath>

namespace tunemix::svm {
namespace {

// Below this share of non-zero values the compressed rows cost less than the dense ones.
constexpr double kSparseBelow = 0.3;

std::vector<double> document_weights(const Dataset& data, SvmWeights kind) {
  const auto n = static_cast<double>(data.documents());
  std::vector<double> weights(data.documents(), 1.0);
  if (kind == SvmWeights::kExponential)
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = std::ldexp(1.0, data.labels()[i]);
  for (size_t i = 0; i < data.weights().size(); ++i) weights[i] *= static_cast<double>(data.weights()[i]);
  double sum = 0;
  for (const double w : weights) sum += w;
  const double mean = sum / n;
  for (double& w : weights) w = w / mean / n;
  return weights;
}

}  // namespace

size_t padded_width(size_t labels) {
  for (const size_t width : {4, 8, 16, 32})
    if (labels <= width) return width;
  throw_input("the data has {} labels; the SVM expects at most 32", labels);
}

Problem::Problem(const Dataset& data, const FeatureScaling& scaling, const SvmOptions& options, size_t labels,
                 const Context& context)
    : features_(data.features() + (options.bias ? 1 : 0)),
      classes_(labels),
      width_(padded_width(labels)),
      block_(block_size(data.documents(), 1024, 64)),
      labels_(data.labels().begin(), data.labels().end()),
      weights_(document_weights(data, options.weights)),
      norms_(data.documents()) {
  fill(data, scaling, options.bias, context);
  size_t filled = 0;
  for (const float x : values_) filled += x != 0 ? 1 : 0;
  if (static_cast<double>(filled) < kSparseBelow * static_cast<double>(values_.size())) compress();
  for (size_t i = 0; i < documents(); ++i) {
    double sum = 0;
    visit(i, [&](size_t, double x) { sum += x * x; });
    norms_[i] = sum;
  }
}

void Problem::fill(const Dataset& data, const FeatureScaling& scaling, bool bias, const Context& context) {
  values_.resize(documents() * features_);
  parallel_blocks(context.pool(), documents(), block_, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      float* out = values_.data() + i * features_;
      const std::span<const float> row = data.row(i);
      for (size_t j = 0; j < row.size(); ++j)
        out[j] = static_cast<float>((static_cast<double>(row[j]) - scaling.shift[j]) * scaling.factor[j]);
      if (bias) out[row.size()] = 1;
    }
  });
}

void Problem::compress() {
  starts_.assign(1, 0);
  size_t kept = 0;
  for (size_t i = 0; i < documents(); ++i) {
    for (size_t j = 0; j < features_; ++j) {
      const float x = values_[i * features_ + j];
      if (x == 0) continue;
      values_[kept++] = x;
      columns_.push_back(static_cast<uint32_t>(j));
    }
    starts_.push_back(kept);
  }
  values_.resize(kept);
  values_.shrink_to_fit();
}

template <size_t Width>
void Problem::scores_of_block(size_t begin, size_t end, const double* W, double* F) const {
  size_t i = begin;
  if (!sparse()) {
    // Four documents at a time: independent sums hide the latency of the additions.
    for (; i + 4 <= end; i += 4) {
      const float* x = values_.data() + i * features_;
      double sum[4][Width] = {};
      for (size_t j = 0; j < features_; ++j) {
        const double* w = W + j * Width;
        for (size_t r = 0; r < 4; ++r) {
          const auto value = static_cast<double>(x[r * features_ + j]);
          for (size_t k = 0; k < Width; ++k) sum[r][k] += value * w[k];
        }
      }
      for (size_t r = 0; r < 4; ++r) std::copy_n(sum[r], Width, F + (i + r) * Width);
    }
  }
  for (; i < end; ++i) dot<Width>(i, W, F + i * Width);
}

void Problem::scores(std::span<const double> W, std::span<double> F, const Context& context) const {
  parallel_blocks(context.pool(), documents(), block_, [&](size_t begin, size_t end) {
    with_width(width_, [&](auto width) { scores_of_block<width()>(begin, end, W.data(), F.data()); });
  });
}

void Problem::copy_row(size_t i, double factor, double* row) const {
  if (sparse()) std::fill_n(row, features_, 0.0);
  visit(i, [&](size_t j, double x) { row[j] = factor * x; });
}

bool Certificate::reached(double C, double gap) const {
  // Where C is small M = 0 has a small relative gap already; the gap must also be small beside what M gains
  // over M = 0, whose objective is C.
  constexpr double kShareOfGain = 0.01;
  constexpr double kNothing = 1e-10;
  const double difference = primal - dual;
  return difference <= gap * primal && difference <= std::max(kShareOfGain * (C - primal), kNothing * C);
}

}  // namespace tunemix::svm
