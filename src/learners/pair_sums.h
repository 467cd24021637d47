// Sums over all pairs of a query's documents with different labels, in n log n steps: for queries so long
// that going through the pairs takes too long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tunemix {

constexpr size_t kManyDocuments = 2048;  // of a query: with more, its pairs are summed in this way

// A function of x = s_i - s_j, the scores of the better and the worse document of a pair. Scores are put into
// cells of length 1. Within a pair of cells the function is interpolated between 12 points of each, which is
// exact to some 1e-13 of its value if it has no singularity nearer to the real line than pi.
class PairFunction {
 public:
  // value(x) is as good as 0 for x > 79 and as constant - slope * x for x < -79.
  PairFunction(double (*value)(double x), double constant, double slope);

  // For each document, labels descending, the sum over all documents with a lower label; NaN for scores that
  // are not finite.
  std::vector<double> over_worse(std::span<const double> scores, std::span<const int32_t> labels) const;
  // The same over all documents with a higher label.
  std::vector<double> over_better(std::span<const double> scores, std::span<const int32_t> labels) const;

 private:
  class Cells;

  std::vector<double> table_;  // by the distance of two cells: the value between all their points
  double constant_;
  double slope_;
};

}  // namespace tunemix
