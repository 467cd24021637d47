#include "learners/pair_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "learners/ranking_data.h"

namespace tunemix {

std::vector<double> sums_over_worse(const CellFunction& function, std::span<const double> scores,
                                    std::span<const int32_t> labels) {
  std::vector<double> sums(scores.size(), 0.0);
  if (scores.empty()) return sums;
  if (!std::all_of(scores.begin(), scores.end(), [](double s) { return std::abs(s) < 1e300; })) {
    sums.assign(sums.size(), std::numeric_limits<double>::quiet_NaN());
    return sums;
  }
  CellSums cells(function, scores);
  const std::vector<uint32_t> ends = group_ends(labels);
  for (size_t g = ends.size(); g-- > 1;) {
    cells.add(ends[g - 1], ends[g]);
    cells.sum(g == 1 ? 0 : ends[g - 2], ends[g - 1], sums);
  }
  return sums;
}

// With scores and labels turned round, worse documents are better ones.
std::vector<double> sums_over_better(const CellFunction& function, std::span<const double> scores,
                                     std::span<const int32_t> labels) {
  std::vector<double> turned_scores(scores.rbegin(), scores.rend());
  std::vector<int32_t> turned_labels(labels.rbegin(), labels.rend());
  for (double& s : turned_scores) s = -s;
  for (int32_t& label : turned_labels) label = -label;
  std::vector<double> sums = sums_over_worse(function, turned_scores, turned_labels);
  std::reverse(sums.begin(), sums.end());
  return sums;
}

}  // namespace tunemix
