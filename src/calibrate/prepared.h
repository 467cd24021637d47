// The calibration split as the fits want it: checked, column by column, standardised; shared by the
// calibrations of one model.
#pragma once

#include <vector>

#include "calibrate/kernels.h"
#include "tunemix/calibrate/calibrator.h"

namespace tunemix::calibrate {

// Documents of a block that partial sums are made of: the same for any number of threads.
constexpr size_t kBlock = 4096;

struct Prepared {
  size_t documents = 0;
  size_t columns = 0;
  size_t stride = 0;  // documents, rounded up to whole vectors; the padding has weight 0

  // Scores of the whole matrix standardised by one mean and deviation (CPC has one a and b for all labels).
  std::vector<double> scores;  // columns x stride
  double mean = 0;
  double deviation = 0;  // 0 where all scores are equal
  double low = 0;        // of the standardised scores
  double high = 0;
  double max_abs = 0;  // of the raw scores

  std::vector<double> labels;        // stride
  std::vector<double> weights;       // stride: 1 on the average, and 0 for the padding
  bool weighted = false;             // they are not all 1
  std::vector<double> grades;        // of the labels
  std::vector<double> gains;         // stride: z_i
  std::vector<double> ndcg_targets;  // stride: z_i / ideal DCG@10 of the query, 0 where that is 0
  std::vector<size_t> offsets;       // of the queries
  bool any_relevant = false;

  // Per column, of the raw scores.
  std::vector<double> column_mean, column_deviation, column_low, column_high;

  ScoreColumns view() const {
    return {columns, stride, scores.data(), labels.data(), weights.data(), grades.data()};
  }
  const double* column(size_t k) const { return scores.data() + k * stride; }
  const std::vector<double>& target(RbcTarget t) const { return t == RbcTarget::kRaw ? gains : ndcg_targets; }
};

// Throws InputError for what cannot be calibrated on; adds what is odd about the split to `warnings`.
Prepared prepare(const CalibrationInput& input, std::vector<std::string>& warnings);

// Documents that searches work on; the best that they find is polished on everything.
constexpr size_t kThinned = 8192;

// About `documents` documents in whole queries, evenly from all over the split; everything where it is small.
Prepared thin(const Prepared& all, size_t documents);

// Throws InputError naming the first score that is not finite.
void expect_finite(const ScoreMatrix& scores);

}  // namespace tunemix::calibrate
