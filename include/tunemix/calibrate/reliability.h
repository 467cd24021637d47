// How far predictions can be believed: calibration curve, expected calibration error, log-loss.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tunemix/calibrate/calibrator.h"

namespace tunemix {

struct ReliabilityBin {
  double low = 0;  // smallest and largest prediction in the bin
  double high = 0;
  double predicted = 0;  // means over the bin
  double observed = 0;   // grade
  size_t documents = 0;
};

struct Reliability {
  std::vector<ReliabilityBin> bins;  // ascending; of about equal size, equal predictions kept together
  // Mean |predicted - observed| over the documents by bins; nothing where predictions are not in grades.
  std::optional<double> expected_error;
  std::optional<double> log_loss;  // CPC: mean of -ln p(true)
};

// Predictions of RBC on `ndcg` targets and normalised mixtures are not in grades: they have a curve, but no
// error.
Reliability reliability(std::span<const float> predicted, std::span<const int32_t> labels,
                        std::span<const double> grades, bool in_grades, size_t bins = 10);

// The same for a calibrator on the given scores, with the log-loss for CPC.
Reliability reliability(const Calibrator& calibrator, const ScoreMatrix& scores,
                        std::span<const int32_t> labels, std::span<const double> grades,
                        const Context& context, size_t bins = 10);

}  // namespace tunemix
