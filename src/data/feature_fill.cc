#include "tunemix/data/feature_fill.h"

#include <algorithm>
#include <cmath>

#include "tunemix/core/error.h"
#include "tunemix/data/missing.h"

namespace tunemix {
namespace {

// Of the documents begin..end that have the feature; leaves how many in `values`.
float median_of(const Dataset& data, size_t feature, size_t begin, size_t end, std::vector<float>& values) {
  values.clear();
  for (size_t i = begin; i < end; ++i)
    if (const float x = data.row(i)[feature]; !is_missing(x)) values.push_back(x);
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

FeatureFill FeatureFill::fit(const Dataset& data, FeatureSpan standardized, const Context& context) {
  FeatureFill fill;
  fill.medians_.assign(data.features(), kMissing);
  std::vector<uint8_t> missing(data.features(), 0);
  context.pool().run(data.features(), [&](size_t j) {
    context.check_stop();
    std::vector<float> values;
    const float median = median_of(data, j, 0, data.documents(), values);
    if (!standardized.contains(j)) fill.medians_[j] = median;
    missing[j] = values.size() < data.documents() ? 1 : 0;
  });
  for (size_t j = 0; j < missing.size(); ++j)
    if (missing[j] != 0) fill.indicators_.push_back(static_cast<uint32_t>(j));
  return fill;
}

Dataset FeatureFill::apply(const Dataset& data, const Context& context) const {
  require(data.features() == features(), "medians of other features");
  if (indicators_.empty() && !any_missing(data.values())) return data;
  const size_t d = features();
  FloatBuffer filled(data.documents() * columns());
  context.pool().run(data.queries().size(), [&](size_t q) {
    const size_t begin = data.queries().begin(q);
    const size_t end = data.queries().end(q);
    std::vector<float> medians = medians_;
    std::vector<float> scratch;
    for (size_t i = begin; i < end; ++i) {
      const float* x = data.row(i).data();
      float* to = filled.data() + i * columns();
      for (size_t j = 0; j < d; ++j) {
        to[j] = x[j];
        if (!is_missing(x[j])) continue;
        if (is_missing(medians[j])) medians[j] = median_of(data, j, begin, end, scratch);
        to[j] = medians[j];
      }
      for (size_t k = 0; k < indicators_.size(); ++k) to[d + k] = is_missing(x[indicators_[k]]) ? 1.0F : 0.0F;
    }
  });
  return data.with_features(std::move(filled), columns());
}

void FeatureFill::save(BinaryWriter& out) const {
  out.put(medians_);
  out.put(indicators_);
}

FeatureFill FeatureFill::load(BinaryReader& in) {
  FeatureFill fill;
  fill.medians_ = in.get_vector<float>();
  fill.indicators_ = in.get_vector<uint32_t>();
  for (const float median : fill.medians_)
    if (std::isinf(median)) in.fail("the median of a feature is infinite");
  if (std::adjacent_find(fill.indicators_.begin(), fill.indicators_.end(), std::greater_equal<>()) !=
          fill.indicators_.end() ||
      (!fill.indicators_.empty() && fill.indicators_.back() >= fill.features()))
    in.fail("the features with missing values do not ascend");
  return fill;
}

}  // namespace tunemix
