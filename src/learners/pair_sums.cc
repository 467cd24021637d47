#include "learners/pair_sums.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "learners/ranking_data.h"

namespace tunemix {
namespace {

constexpr size_t kPoints = 12;
constexpr int kReach = 80;  // cells further apart are far
using Points = std::array<double, kPoints>;

// Chebyshev's points of [0, 1].
constexpr Points kPoint = [] {
  constexpr double kCosines[] = {0.9914448613738104, 0.9238795325112867,  0.7933533402912352,
                                 0.6087614290087207, 0.38268343236508984, 0.13052619222005157};
  Points points{};
  for (size_t a = 0; a < kPoints / 2; ++a) {
    points[a] = 0.5 - 0.5 * kCosines[a];
    points[kPoints - 1 - a] = 0.5 + 0.5 * kCosines[a];
  }
  return points;
}();

constexpr Points kScale = [] {
  Points scale{};
  for (size_t a = 0; a < kPoints; ++a) {
    double product = 1;
    for (size_t b = 0; b < kPoints; ++b) product *= b == a ? 1 : kPoint[a] - kPoint[b];
    scale[a] = 1 / product;
  }
  return scale;
}();

// Lagrange's polynomials: the share of each point in the value at t.
Points shares_at(double t) {
  Points shares;
  double product = 1;
  for (size_t a = 0; a < kPoints; product *= t - kPoint[a++]) shares[a] = kScale[a] * product;
  product = 1;
  for (size_t a = kPoints; a-- > 0; product *= t - kPoint[a]) shares[a] *= product;
  return shares;
}

}  // namespace

// The occupied cells, and in each the documents that have been added.
class PairFunction::Cells {
 public:
  Cells(const PairFunction& function, std::span<const double> scores) : function_(function) {
    const double low = *std::min_element(scores.begin(), scores.end());
    for (const double s : scores) place_.push_back(s - low);
    for (const double at : place_) start_.push_back(std::floor(at));
    std::sort(start_.begin(), start_.end());
    start_.erase(std::unique(start_.begin(), start_.end()), start_.end());
    for (const double at : place_) {
      const auto next = std::upper_bound(start_.begin(), start_.end(), at);
      cell_.push_back(static_cast<size_t>(next - start_.begin()) - 1);
      shares_.push_back(shares_at(at - start_[cell_.back()]));
    }
    added_.resize(start_.size());
    count_.resize(start_.size());
    sum_.resize(start_.size());
  }

  void add(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const size_t c = cell_[i];
      for (size_t a = 0; a < kPoints; ++a) added_[c][a] += shares_[i][a];
      count_[c] += 1;
      sum_[c] += place_[i];
    }
  }

  // Of documents begin..end-1 against all that have been added.
  void sum(size_t begin, size_t end, std::vector<double>& sums) const {
    std::vector<uint8_t> wanted(start_.size(), 0);
    for (size_t i = begin; i < end; ++i) wanted[cell_[i]] = 1;
    std::vector<Points> near(start_.size());
    std::vector<double> far_count(start_.size(), 0.0);
    std::vector<double> far_sum(start_.size(), 0.0);
    double count = 0;
    double sum = 0;
    for (size_t c = start_.size(), far = c; c-- > 0;) {
      for (; start_[far - 1] > start_[c] + kReach; --far) {
        count += count_[far - 1];
        sum += sum_[far - 1];
      }
      far_count[c] = count;
      far_sum[c] = sum;
      if (wanted[c] != 0) near[c] = near_cells(c, far);
    }
    for (size_t i = begin; i < end; ++i) {
      const size_t c = cell_[i];
      for (size_t a = 0; a < kPoints; ++a) sums[i] += shares_[i][a] * near[c][a];
      sums[i] +=
          function_.constant_ * far_count[c] + function_.slope_ * (far_sum[c] - far_count[c] * place_[i]);
    }
  }

 private:
  // At the points of cell c, of the documents of cells below `end` within reach.
  Points near_cells(size_t c, size_t end) const {
    Points result{};
    for (size_t from = end; from-- > 0 && start_[c] - start_[from] <= kReach;) {
      const auto distance = static_cast<size_t>(start_[c] - start_[from] + kReach);
      const double* values = function_.table_.data() + distance * kPoints * kPoints;
      for (size_t b = 0; b < kPoints; ++b, values += kPoints)
        for (size_t a = 0; a < kPoints; ++a) result[a] += added_[from][b] * values[a];
    }
    return result;
  }

  const PairFunction& function_;
  std::vector<double> place_;   // of each document: its score above the lowest
  std::vector<size_t> cell_;    // of each document
  std::vector<Points> shares_;  // of each document
  std::vector<double> start_;   // of each cell
  std::vector<Points> added_;   // of each cell: the shares of its documents
  std::vector<double> count_;
  std::vector<double> sum_;
};

PairFunction::PairFunction(double (*value)(double x), double constant, double slope)
    : constant_(constant), slope_(slope) {
  for (int distance = -kReach; distance <= kReach; ++distance)
    for (const double worse : kPoint)
      for (const double better : kPoint) table_.push_back(value(distance + (better - worse)));
}

std::vector<double> PairFunction::over_worse(std::span<const double> scores,
                                             std::span<const int32_t> labels) const {
  std::vector<double> sums(scores.size(), 0.0);
  if (scores.empty()) return sums;
  if (!std::all_of(scores.begin(), scores.end(), [](double s) { return std::abs(s) < 1e300; })) {
    sums.assign(sums.size(), std::numeric_limits<double>::quiet_NaN());
    return sums;
  }
  Cells cells(*this, scores);
  const std::vector<uint32_t> ends = group_ends(labels);
  for (size_t g = ends.size(); g-- > 1;) {
    cells.add(ends[g - 1], ends[g]);
    cells.sum(g == 1 ? 0 : ends[g - 2], ends[g - 1], sums);
  }
  return sums;
}

// With scores and labels turned round, worse documents are better ones.
std::vector<double> PairFunction::over_better(std::span<const double> scores,
                                              std::span<const int32_t> labels) const {
  std::vector<double> turned_scores(scores.rbegin(), scores.rend());
  std::vector<int32_t> turned_labels(labels.rbegin(), labels.rend());
  for (double& s : turned_scores) s = -s;
  for (int32_t& label : turned_labels) label = -label;
  std::vector<double> sums = over_worse(turned_scores, turned_labels);
  std::reverse(sums.begin(), sums.end());
  return sums;
}

}  // namespace tunemix
