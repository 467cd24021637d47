// What calibrations compute on blocks of documents, eight at a time, for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "calibrate/lane_width.h"
#include "calibrate/monomials.h"
#include "core/simd.h"
#include "tunemix/calibrate/spec.h"

namespace tunemix::calibrate {

constexpr size_t kMaxColumns = 64;
constexpr size_t kSmoothTargets = 4;  // ls, ewls, el, ell
constexpr size_t kMomentRows = 512;   // documents whose monomials are held at a time

// Where every |x| stays below this, no sigmoid underflows and logarithms are not needed.
constexpr double kPlainReach = 600;

// Scores of a split, column by column, standardised; `stride` documents, whole runs of eight.
struct ScoreColumns {
  size_t columns;
  size_t stride;
  const double* scores;
  const double* labels;
  const double* weights;  // 1 on the average, and 0 for the padding
  const double* grades;   // of the labels

  const double* column(size_t k) const { return scores + k * stride; }
};

// Where the targets of CPC are evaluated.
struct CpcPoint {
  double a;
  double b;
  bool plain;    // all |a(f - b)| are below kPlainReach
  bool entropy;  // ewls is wanted
};

// Parameters of each label, of the standardised scores f: z = weights f + bias (a row of K weights for each
// label), p a softmax of z; or z_l = weights_l f_l + bias_l, p(l) = s(z_l) / sum s(z).
struct LabelPoint {
  bool matrix;
  const double* weights;
  const double* bias;
  CpcTarget target;

  size_t weight_count(size_t columns) const { return matrix ? columns * columns : columns; }
};

struct CpcKernels {
  // sums[t] = value, derivative by a, by b of each smooth target over documents [begin, end); without
  // `entropy` those of ewls are 0.
  void (*smooth)(const ScoreColumns& data, size_t begin, size_t end, const CpcPoint& point,
                 double (*sums)[3]);
  // out[i] = v_i of documents [begin, end).
  void (*expected_grades)(const ScoreColumns& data, size_t begin, size_t end, const CpcPoint& point,
                          double* out);
  // gain * (sum of c_r h) / (sum of h) over [first, last), h = exp(scale (sorted_r - v)^2) with a relative
  // error of 1e-11. Reads whole runs of eight.
  double (*soft_gain)(double gain, const double* sorted, const double* discounts, size_t first, size_t last,
                      double v, double scale);
  // sums = value of the target over documents [begin, end), then its derivatives by the weights and the bias;
  // scratch of label_scratch() doubles, aligned to 64 bytes.
  void (*by_label)(const ScoreColumns& data, size_t begin, size_t end, const LabelPoint& point,
                   double* scratch, double* sums);
};
constexpr size_t label_scratch(size_t columns) { return lanes::kWidth * (columns + 6) * columns; }
TUNEMIX_KERNELS(CpcKernels, cpc_kernels)

// The cross-entropy of a logistic regression on `inputs` columns; w has one weight for each, then the
// intercept.
struct LogisticProblem {
  size_t inputs;
  size_t stride;
  const double* x;  // inputs x stride
  const double* y;
  const double* weights;
  double low;  // of y
  double range;
};
struct LogisticSums {
  double loss;
  double squares;
  double* gradient;  // inputs + 1
  double* hessian;   // (inputs + 1)^2, lower triangle
};

// Parameters of a network in one array: weights (hidden x inputs), bias, output, output bias.
struct NetworkShape {
  size_t inputs;
  size_t hidden;
  size_t size() const { return hidden * inputs + 2 * hidden + 1; }
  size_t bias() const { return hidden * inputs; }
  size_t output() const { return hidden * inputs + hidden; }
  size_t output_bias() const { return hidden * inputs + 2 * hidden; }
};
struct NetworkSamples {
  size_t stride;
  const double* inputs;  // inputs x stride
  const double* target;
  const double* weights;
};

// Scratch is aligned to 64 bytes.
struct RbcKernels {
  // sums[i][j] += the sum over `rows` documents of column i times column j, for j <= i (and some more);
  // `size` columns of kMomentRows values each.
  void (*add_products)(const double* columns, size_t rows, size_t size, double* sums);
  // Over documents [begin, end); scratch of logistic_scratch(inputs) doubles.
  void (*logistic)(const LogisticProblem& problem, const double* w, size_t begin, size_t end, double* scratch,
                   LogisticSums& sums);
  // The weighted sum of squared errors; with a gradient, that of half of it. Scratch of network_scratch()
  // doubles.
  double (*network)(const NetworkShape& shape, const double* parameters, const NetworkSamples& samples,
                    double* scratch, double* gradient);
};
TUNEMIX_KERNELS(RbcKernels, rbc_kernels)

constexpr size_t logistic_scratch(size_t inputs) { return lanes::kWidth * (inputs + 1) * (inputs + 3); }
inline size_t network_scratch(const NetworkShape& shape) {
  return lanes::kWidth * (shape.hidden + shape.size());
}

// Maps of calibrator.h as plain pointers.
struct PolynomialView {
  const double* low;
  const double* high;
  const double* mean;
  const double* scale;
  double intercept;
  const double* coefficients;
  const Monomial* terms;
  size_t term_count;
};
struct LogisticView {
  double low;
  double high;
  double intercept;
  const double* weights;
};
struct NeuralView {
  const double* mean;
  const double* scale;
  const double* weights;
  const double* bias;
  const double* output;
  double output_bias;
  size_t hidden;
};
// p(l) is in proportion to max(0, 1 + f_l/range), s(a_l (f_l - b_l)), or exp(bias_l + weights_l . f).
struct ProbabilityView {
  enum class Link : uint8_t { kShift, kSigmoid, kSoftmax } link;
  double range = 0;
  const double* weights = nullptr;  // a, or rows of as many weights as there are scores
  const double* bias = nullptr;     // b
};

// `count` rows of `columns` scores; `out` has one value a row.
struct ApplyKernels {
  // p(l) of each row: columns values a row in `out`.
  void (*probabilities)(const ProbabilityView& map, const float* rows, size_t columns, size_t count,
                        double* out);
  void (*expected_grade)(const ProbabilityView& map, const double* grades, const float* rows, size_t columns,
                         size_t count, float* out);
  // Scratch of lanes::kWidth doubles a term.
  void (*polynomial)(const PolynomialView& map, const float* rows, size_t columns, size_t count,
                     double* scratch, float* out);
  void (*logistic)(const LogisticView& map, const float* rows, size_t columns, size_t count, float* out);
  void (*neural)(const NeuralView& map, const float* rows, size_t columns, size_t count, float* out);
};
TUNEMIX_KERNELS(ApplyKernels, apply_kernels)

}  // namespace tunemix::calibrate
