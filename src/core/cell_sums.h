// Sums over pairs of numbers, of a smooth function of their difference, in n log n steps. Numbers are put
// into cells of length 1. Within a pair of cells the function is interpolated between 12 points of each,
// which is exact to some 1e-13 of its value if it has no singularity nearer to the real line than pi.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tunemix {

constexpr size_t kManyDocuments = 2048;  // of a query: with more, its pairs are summed in this way

class CellFunction {
 public:
  static constexpr size_t kPoints = 12;
  using Points = std::array<double, kPoints>;

  // value(x) is as good as 0 for x > 79 and as constant - slope * x for x < -79.
  CellFunction(double (*value)(double x), double constant, double slope);

 private:
  friend class CellSums;

  std::vector<double> table_;  // by the distance of two cells: the value between all their points
  double constant_;
  double slope_;
};

// Of finite numbers, some of which are added, with a weight.
class CellSums {
 public:
  CellSums(const CellFunction& function, std::span<const double> numbers);

  // Numbers begin..end-1; `weights` are those of all numbers, 1 if empty.
  void add(size_t begin, size_t end, std::span<const double> weights = {});
  // sums[i] grows by the sum of weight * value(numbers[i] - other) over all others added, for i =
  // begin..end-1.
  void sum(size_t begin, size_t end, std::span<double> sums) const;

 private:
  using Points = CellFunction::Points;

  Points near_cells(size_t c, size_t end) const;

  const CellFunction& function_;
  std::vector<double> place_;   // of each number: what it is above the lowest
  std::vector<size_t> cell_;    // of each number
  std::vector<Points> shares_;  // of each number: of the points in the value there
  std::vector<double> start_;   // of each cell; empty cells are left out
  std::vector<Points> added_;   // of each cell: the weighted shares
  std::vector<double> weight_;  // of each cell
  std::vector<double> moment_;  // of each cell: weights times places
};

}  // namespace tunemix
