// Numbers in place of missing values, for learners that take nothing else: the median of the feature, and one
// more feature, an indicator, for each one that was missing somewhere in training: 1 where it is missing,
// else 0.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tunemix/core/binary.h"
#include "tunemix/core/context.h"
#include "tunemix/data/dataset.h"
#include "tunemix/data/standardize.h"

namespace tunemix {

// A median is that of the documents that have the feature, the lower one of two; 0 where none has it.
class FeatureFill {
 public:
  // By the training documents. The median of a feature that is standardised within queries is that of a
  // document's own query.
  static FeatureFill fit(const Dataset& data, FeatureSpan standardized, const Context& context);

  size_t features() const { return medians_.size(); }                      // that come in
  size_t columns() const { return medians_.size() + indicators_.size(); }  // that go out: indicators last
  std::span<const uint32_t> indicators() const { return indicators_; }     // their features, ascending
  Dataset apply(const Dataset& data, const Context& context) const;

  void save(BinaryWriter& out) const;
  static FeatureFill load(BinaryReader& in);

 private:
  std::vector<float> medians_;  // missing: of the query
  std::vector<uint32_t> indicators_;
};

}  // namespace tunemix
