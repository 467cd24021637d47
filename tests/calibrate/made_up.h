// Made-up classifier scores: queries of varying length whose scores know something of the labels.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "calibrate/prepared.h"
#include "tunemix/calibrate/calibrator.h"
#include "tunemix/core/random.h"
#include "tunemix/metric/selection.h"

namespace tunemix::test {

struct MadeUp {
  ScoreMatrix scores;
  std::vector<int32_t> labels;
  QueryIndex queries;
  std::vector<double> grades;

  CalibrationInput input(double shift_range = 0) const {
    return {scores, labels, queries, grades, shift_range};
  }
};

struct MadeUpOptions {
  size_t documents = 600;
  size_t labels = 3;
  size_t columns = 0;  // 0: one per label
  double scale = 1;    // of the scores
  double offset = 0;
  double noise = 1;
  size_t longest = 30;
  uint64_t seed = 1;
};

inline MadeUp make_up(const MadeUpOptions& options = {}) {
  Random random(options.seed, "made up");
  MadeUp result;
  const size_t columns = options.columns == 0 ? options.labels : options.columns;
  result.scores = ScoreMatrix(options.documents, columns, "made-up");
  result.grades = exponential_grades(static_cast<int>(options.labels));
  std::vector<size_t> offsets{0};
  std::vector<std::string> ids;
  for (size_t at = 0; at < options.documents;) {
    at = std::min(options.documents, at + 1 + random.below(options.longest));
    offsets.push_back(at);
    ids.push_back(fmt::format("q{}", ids.size()));
  }
  result.queries = QueryIndex(offsets, ids);
  for (size_t i = 0; i < options.documents; ++i) {
    const double quality = random.normal();
    size_t label = 0;
    while (label + 1 < options.labels && random.uniform() < 1 / (1 + std::exp(-1.5 * (quality - 0.3))))
      ++label;
    result.labels.push_back(static_cast<int32_t>(label));
    for (size_t k = 0; k < columns; ++k) {
      const double centre =
          columns == 1 ? 0 : 2.0 * static_cast<double>(k) / static_cast<double>(columns - 1) - 1;
      const double f = quality * (columns == 1 ? 1 : centre) - 0.7 * static_cast<double>(k) +
                       options.noise * random.normal();
      result.scores.row(i)[k] = static_cast<float>(options.offset + options.scale * f);
    }
  }
  return result;
}

inline calibrate::Prepared prepare(const MadeUp& data) {
  std::vector<std::string> warnings;
  return calibrate::prepare(data.input(), warnings);
}

}  // namespace tunemix::test
