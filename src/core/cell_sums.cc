#include "core/cell_sums.h"

#include <algorithm>
#include <cmath>

namespace tunemix {
namespace {

using Points = CellFunction::Points;

constexpr size_t kPoints = CellFunction::kPoints;
constexpr int kReach = 80;  // cells further apart are far

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

CellFunction::CellFunction(double (*value)(double x), double constant, double slope)
    : constant_(constant), slope_(slope) {
  for (int distance = -kReach; distance <= kReach; ++distance)
    for (const double from : kPoint)
      for (const double to : kPoint) table_.push_back(value(distance + (to - from)));
}

CellSums::CellSums(const CellFunction& function, std::span<const double> numbers) : function_(function) {
  const double low = *std::min_element(numbers.begin(), numbers.end());
  for (const double number : numbers) place_.push_back(number - low);
  for (const double at : place_) start_.push_back(std::floor(at));
  std::sort(start_.begin(), start_.end());
  start_.erase(std::unique(start_.begin(), start_.end()), start_.end());
  for (const double at : place_) {
    const auto next = std::upper_bound(start_.begin(), start_.end(), at);
    cell_.push_back(static_cast<size_t>(next - start_.begin()) - 1);
    shares_.push_back(shares_at(at - start_[cell_.back()]));
  }
  added_.resize(start_.size());
  weight_.resize(start_.size());
  moment_.resize(start_.size());
}

void CellSums::add(size_t begin, size_t end, std::span<const double> weights) {
  for (size_t i = begin; i < end; ++i) {
    const double weight = weights.empty() ? 1 : weights[i];
    const size_t c = cell_[i];
    for (size_t a = 0; a < kPoints; ++a) added_[c][a] += weight * shares_[i][a];
    weight_[c] += weight;
    moment_[c] += weight * place_[i];
  }
}

void CellSums::sum(size_t begin, size_t end, std::span<double> sums) const {
  std::vector<uint8_t> wanted(start_.size(), 0);
  for (size_t i = begin; i < end; ++i) wanted[cell_[i]] = 1;
  std::vector<Points> near(start_.size());
  std::vector<double> far_weight(start_.size(), 0.0);
  std::vector<double> far_moment(start_.size(), 0.0);
  double weight = 0;
  double moment = 0;
  for (size_t c = start_.size(), far = c; c-- > 0;) {
    for (; start_[far - 1] > start_[c] + kReach; --far) {
      weight += weight_[far - 1];
      moment += moment_[far - 1];
    }
    far_weight[c] = weight;
    far_moment[c] = moment;
    if (wanted[c] != 0) near[c] = near_cells(c, far);
  }
  for (size_t i = begin; i < end; ++i) {
    const size_t c = cell_[i];
    for (size_t a = 0; a < kPoints; ++a) sums[i] += shares_[i][a] * near[c][a];
    sums[i] +=
        function_.constant_ * far_weight[c] + function_.slope_ * (far_moment[c] - far_weight[c] * place_[i]);
  }
}

// At the points of cell c, of what was added to cells below `end` within reach.
Points CellSums::near_cells(size_t c, size_t end) const {
  Points result{};
  for (size_t from = end; from-- > 0 && start_[c] - start_[from] <= kReach;) {
    const auto distance = static_cast<size_t>(start_[c] - start_[from] + kReach);
    const double* values = function_.table_.data() + distance * kPoints * kPoints;
    for (size_t b = 0; b < kPoints; ++b, values += kPoints)
      for (size_t a = 0; a < kPoints; ++a) result[a] += added_[from][b] * values[a];
  }
  return result;
}

}  // namespace tunemix
