// Calibrators: fitted on the calibration split, they turn a model's score vector into one real score (spec,
// section 4).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tunemix/calibrate/spec.h"
#include "tunemix/core/binary.h"
#include "tunemix/core/context.h"
#include "tunemix/data/query_index.h"
#include "tunemix/data/score_matrix.h"

namespace tunemix {

struct CalibrationInput {
  const ScoreMatrix& scores;  // K columns of a classifier, or one of a plain ranker
  std::span<const int32_t> labels;
  const QueryIndex& queries;
  std::span<const double> grades;  // z_l of every label
  double shift_range = 0;          // R of `shift`: the sum of the alphas of boosting; 0: max|f|
  // Of the documents; empty: 1. Sums over documents are weighted; soft NDCG, of queries, by their means.
  std::span<const float> weights = {};
};

// The truth about a fit.
struct FitReport {
  double value = 0;       // of the target function at the optimum; mean squared error for RBC
  int evaluations = 0;    // of the target function; batches for `neural`, Newton steps for `logistic`
  bool converged = true;  // by the optimiser's own test, not by running out of evaluations
  std::string bound_hit;  // "a upper", "b lower", ... or empty
  bool fallback = false;  // another fit stands in: shift for CPC, a lower degree for a polynomial
  std::vector<std::string> warnings;
};

// p(l) = f'_l / sum f', f' = max(0, 1 + f/R)
struct ShiftMap {
  double range = 1;
};
// p(l) = s_l(f_l) / sum s_l'(f_l'), s_l(f) = 1/(1 + exp(-a_l (f - b_l))); one sigmoid: all a and b are equal
struct SigmoidMap {
  std::vector<double> a, b;
};
// p = softmax(weights f + bias), weights K x K, row by row
struct SoftmaxMap {
  std::vector<double> weights, bias;
};
// intercept + sum of coefficients times monomials of the inputs, which are clipped to [low, high] and
// standardised
struct PolynomialMap {
  int degree = 1;
  std::vector<double> low, high, mean, scale;  // of each input; x = (clip(f) - mean) * scale
  double intercept = 0;
  std::vector<double> coefficients;  // monomials by degree, then lexicographically
};
// low + (high - low) / (1 + exp(-(intercept + weights . f)))
struct LogisticMap {
  double low = 0;
  double high = 1;
  double intercept = 0;
  std::vector<double> weights;
};
// output_bias + sum_h output_h tanh(bias_h + sum_k weight_hk x_k), x = (f - mean) * scale
struct NeuralMap {
  std::vector<double> mean, scale;
  std::vector<double> weights;  // hidden x inputs
  std::vector<double> bias;
  std::vector<double> output;
  double output_bias = 0;
};

class Calibrator {
 public:
  using Map = std::variant<ShiftMap, SigmoidMap, SoftmaxMap, PolynomialMap, LogisticMap, NeuralMap>;

  Calibrator(CalibrationSpec spec, size_t columns, std::vector<double> grades, Map map, FitReport report);

  // Throws InputError for scores that are not finite, labels without a grade or column, CPC of one column.
  static Calibrator fit(const CalibrationSpec& spec, const CalibrationInput& input,
                        const CalibrationOptions& options, uint64_t seed, const Context& context);

  // One score a document; the scores need as many columns as those it was fitted on, all finite.
  void apply(const ScoreMatrix& scores, std::span<float> out, const Context& context) const;
  // CPC only: p(l|x) of one document.
  void probabilities(std::span<const float> row, std::span<double> out) const;
  // CPC only: documents x K, row by row.
  std::vector<float> probabilities(const ScoreMatrix& scores, const Context& context) const;

  // The score as a weighted sum of the columns, where it is one for all scores.
  struct Linear {
    double constant = 0;
    std::vector<double> weights;  // of the columns
  };
  std::optional<Linear> linear() const;
  // Of one column: whether the score surely never falls as the column rises.
  bool never_falls() const;

  const CalibrationSpec& spec() const { return spec_; }
  const FitReport& report() const { return report_; }
  const Map& map() const { return map_; }
  size_t columns() const { return columns_; }
  bool gives_probabilities() const { return spec_.kind == CalibrationKind::kCpc; }

  void save(BinaryWriter& out) const;
  static Calibrator load(BinaryReader& in);

 private:
  CalibrationSpec spec_;
  size_t columns_;
  std::vector<double> grades_;
  Map map_;
  FitReport report_;
};

// Several calibrations of one model at once: the same results as one by one, but they share what they can.
std::vector<Calibrator> fit_calibrators(std::span<const CalibrationSpec> specs, const CalibrationInput& input,
                                        const CalibrationOptions& options, uint64_t seed,
                                        const Context& context);

}  // namespace tunemix
