// The training problem as the solvers see it: scaled features, labels, document weights, and the two kernels
// that touch features.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "learners/svm/svm.h"
#include "tunemix/core/context.h"
#include "tunemix/data/dataset.h"

namespace tunemix::svm {

// Entries of a weight row: K padded so that one feature's weights are whole vector registers.
size_t padded_width(size_t labels);

// Calls f(std::integral_constant<size_t, width>) for a width that padded_width returns.
template <typename F>
decltype(auto) with_width(size_t width, F&& f) {
  switch (width) {
    case 4:
      return f(std::integral_constant<size_t, 4>{});
    case 8:
      return f(std::integral_constant<size_t, 8>{});
    case 16:
      return f(std::integral_constant<size_t, 16>{});
    default:
      return f(std::integral_constant<size_t, 32>{});
  }
}

class Problem {
 public:
  Problem(const Dataset& data, const FeatureScaling& scaling, const SvmOptions& options, size_t labels,
          const Context& context);

  size_t documents() const { return labels_.size(); }
  size_t features() const { return features_; }  // the bias among them
  size_t classes() const { return classes_; }    // K
  size_t width() const { return width_; }        // K padded
  size_t stored_values() const { return values_.size(); }
  bool sparse() const { return !starts_.empty(); }
  size_t label(size_t i) const { return labels_[i]; }
  double weight(size_t i) const { return weights_[i]; }  // omega_i / n: times C, a document's bound
  double norm2(size_t i) const { return norms_[i]; }     // |x_i|^2
  size_t block() const { return block_; }                // documents of a block of a parallel loop
  size_t blocks() const { return (documents() + block_ - 1) / block_; }

  // Starts to fetch a row that is wanted soon.
  void prefetch(size_t i) const {
    const size_t begin = starts_.empty() ? i * features_ : starts_[i];
    const size_t end = starts_.empty() ? begin + features_ : starts_[i + 1];
    for (size_t e = begin; e < end; e += 16) __builtin_prefetch(values_.data() + e);
  }
  // out[k] = sum_j x_ij W[j * Width + k]
  template <size_t Width>
  void dot(size_t i, const double* W, double* out) const {
    double sum[Width] = {};
    visit(i, [&](size_t j, double x) {
      const double* w = W + j * Width;
      for (size_t k = 0; k < Width; ++k) sum[k] += x * w[k];
    });
    for (size_t k = 0; k < Width; ++k) out[k] = sum[k];
  }
  // W[j * Width + k] += x_ij a[k]
  template <size_t Width>
  void add(size_t i, const double* a, double* W) const {
    double step[Width];
    for (size_t k = 0; k < Width; ++k) step[k] = a[k];
    visit(i, [&](size_t j, double x) {
      double* w = W + j * Width;
      for (size_t k = 0; k < Width; ++k) w[k] += x * step[k];
    });
  }
  // F (documents x width) = X W, in parallel.
  void scores(std::span<const double> W, std::span<double> F, const Context& context) const;
  // row[j] = factor x_ij, densely
  void copy_row(size_t i, double factor, double* row) const;

 private:
  template <typename F>
  void visit(size_t i, F&& f) const {
    if (starts_.empty()) {
      const float* x = values_.data() + i * features_;
      for (size_t j = 0; j < features_; ++j) f(j, static_cast<double>(x[j]));
    } else {
      for (size_t e = starts_[i]; e < starts_[i + 1]; ++e) f(columns_[e], static_cast<double>(values_[e]));
    }
  }
  template <size_t Width>
  void scores_of_block(size_t begin, size_t end, const double* W, double* F) const;
  void fill(const Dataset& data, const FeatureScaling& scaling, bool bias, const Context& context);
  void compress();

  size_t features_;
  size_t classes_;
  size_t width_;
  size_t block_;
  std::vector<uint32_t> labels_;
  std::vector<double> weights_;
  std::vector<double> norms_;
  std::vector<float> values_;   // row by row; all of them, or the non-zero ones
  std::vector<size_t> starts_;  // of each row in values_ and columns_; empty where dense
  std::vector<uint32_t> columns_;
};

// What a solver starts from and leaves behind. The dual variables of document i are its bound times
// (e_{l_i} - u_i), u_i a point of the simplex; so u outlives a change of C.
struct State {
  std::vector<double> M;  // features x width
  std::vector<double> u;  // documents x width
};

// A certificate: M and u give a primal and a dual value, and all else follows from their difference.
struct Certificate {
  double primal = 0;
  double dual = 0;
  double relative_gap() const { return primal > 0 ? (primal - dual) / primal : 0; }
  bool reached(double C, double gap) const;
};

// z_l = f_l - f_y + [l != y]: the loss is max_l z_l.
inline void margins(const double* f, size_t y, size_t K, double* z) {
  const double own = f[y];
  for (size_t l = 0; l < K; ++l) z[l] = f[l] - own + 1;
  z[y] = 0;
}

}  // namespace tunemix::svm
