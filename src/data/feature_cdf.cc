#include "tunemix/data/feature_cdf.h"

#include <algorithm>
#include <cmath>

#include "tunemix/core/error.h"
#include "tunemix/data/missing.h"

namespace tunemix {
namespace {

// The distinct values; where they are too many, those at equal steps of rank, the smallest and the largest
// among them.
std::vector<float> knots_of(const std::vector<float>& sorted) {
  std::vector<float> knots = sorted;
  knots.erase(std::unique(knots.begin(), knots.end()), knots.end());
  if (knots.size() <= FeatureCdf::kKnots) return knots;
  knots.clear();
  for (size_t k = 0; k < FeatureCdf::kKnots; ++k)
    knots.push_back(sorted[k * (sorted.size() - 1) / (FeatureCdf::kKnots - 1)]);
  knots.erase(std::unique(knots.begin(), knots.end()), knots.end());
  return knots;
}

}  // namespace

FeatureCdf FeatureCdf::fit(const Dataset& data, const Context& context) {
  const size_t n = data.documents();
  require(n > 0, "shares of no documents");
  std::vector<std::vector<float>> knots(data.features());
  std::vector<std::vector<float>> below(data.features());
  std::vector<std::vector<float>> up_to(data.features());
  context.pool().run(data.features(), [&](size_t j) {
    context.check_stop();
    std::vector<float> sorted;
    sorted.reserve(n);
    for (size_t i = 0; i < n; ++i)
      if (const float x = data.row(i)[j]; !is_missing(x)) sorted.push_back(x);
    if (sorted.empty()) sorted = {0};
    std::sort(sorted.begin(), sorted.end());
    // Where nothing is below 0, documents with a 0 do not have the feature.
    const bool some_absent = sorted.front() == 0;
    if (some_absent) {
      sorted.erase(sorted.begin(), std::upper_bound(sorted.begin(), sorted.end(), 0.0F));
      knots[j] = {0};
      below[j] = {0};
      up_to[j] = {0};
    }
    const double most = static_cast<double>(std::max<size_t>(1, sorted.size() - (some_absent ? 0 : 1)));
    for (const float knot : knots_of(sorted)) {
      const auto smaller = std::lower_bound(sorted.begin(), sorted.end(), knot) - sorted.begin();
      const auto not_above = std::upper_bound(sorted.begin(), sorted.end(), knot) - sorted.begin();
      const double from =
          some_absent ? 0.5 * static_cast<double>(smaller + not_above) : static_cast<double>(smaller);
      const double to = some_absent ? from : static_cast<double>(not_above);
      knots[j].push_back(knot);
      below[j].push_back(static_cast<float>(from / most));
      up_to[j].push_back(static_cast<float>(std::min(1.0, to / most)));
    }
  });
  FeatureCdf cdf;
  for (size_t j = 0; j < knots.size(); ++j) {
    cdf.knots_.insert(cdf.knots_.end(), knots[j].begin(), knots[j].end());
    cdf.below_.insert(cdf.below_.end(), below[j].begin(), below[j].end());
    cdf.up_to_.insert(cdf.up_to_.end(), up_to[j].begin(), up_to[j].end());
    cdf.ends_.push_back(cdf.knots_.size());
  }
  return cdf;
}

float FeatureCdf::at(size_t feature, float value) const {
  if (is_missing(value)) return value;
  const size_t first = feature == 0 ? 0 : ends_[feature - 1];
  const size_t last = ends_[feature];
  const auto begin = knots_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = knots_.begin() + static_cast<std::ptrdiff_t>(last);
  const auto above = static_cast<size_t>(std::upper_bound(begin, end, value) - knots_.begin());
  if (above == first) return 0;
  const size_t last_below = above - 1;
  if (value == knots_[last_below]) return below_[last_below];
  if (above == last) return 1;
  const double from = up_to_[last_below];
  const double step = (static_cast<double>(value) - knots_[last_below]) /
                      (static_cast<double>(knots_[above]) - knots_[last_below]);
  return static_cast<float>(from + step * (below_[above] - from));
}

Dataset FeatureCdf::apply(const Dataset& data, const Context& context) const {
  require(data.features() == features(), "shares of other features");
  FloatBuffer values(data.values().size());
  parallel_blocks(context.pool(), data.documents(), 1024, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      for (size_t j = 0; j < features(); ++j) values.data()[i * features() + j] = at(j, data.row(i)[j]);
  });
  return data.with_features(std::move(values), features());
}

void FeatureCdf::save(BinaryWriter& out) const {
  out.put(ends_);
  out.put(knots_);
  out.put(below_);
  out.put(up_to_);
}

FeatureCdf FeatureCdf::load(BinaryReader& in) {
  FeatureCdf cdf;
  cdf.ends_ = in.get_vector<uint64_t>();
  cdf.knots_ = in.get_vector<float>();
  cdf.below_ = in.get_vector<float>();
  cdf.up_to_ = in.get_vector<float>();
  uint64_t last = 0;
  for (const uint64_t end : cdf.ends_) {
    if (end <= last || end > cdf.knots_.size()) in.fail("the shares of a feature are missing");
    for (size_t k = last; k < end; ++k)
      if (!std::isfinite(cdf.knots_[k]) || (k > last && cdf.knots_[k] <= cdf.knots_[k - 1]))
        in.fail("the values of a feature do not ascend");
    last = end;
  }
  if (last != cdf.knots_.size() || cdf.below_.size() != last || cdf.up_to_.size() != last)
    in.fail("the shares do not fit the values");
  for (const std::vector<float>* shares : {&cdf.below_, &cdf.up_to_})
    for (const float share : *shares)
      if (!(share >= 0 && share <= 1)) in.fail("a share is not between 0 and 1");
  return cdf;
}

}  // namespace tunemix
