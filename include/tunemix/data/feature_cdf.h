// Features as shares: each value becomes the share of the training documents whose value is smaller (Chapelle
// and Chang 2011, section 4.3). A feature that is never negative and sometimes 0 is taken for absent where it
// is 0, as files leave it out: 0 stays 0, and the others become the share of the documents that have it with
// a smaller value, of equal values half. So a rare feature keeps its scale; as a share of all documents every
// present value of it would be about 1. A missing value stays missing.
#pragma once

#include <cstdint>
#include <vector>

#include "tunemix/core/binary.h"
#include "tunemix/core/context.h"
#include "tunemix/data/dataset.h"

namespace tunemix {

// Of each feature at most kKnots values of the training data, and 0 where some are absent, with the shares of
// smaller ones and of those not above it, and straight lines in between: exact at the knots, and everywhere
// where a feature has no more values than that. Below the smallest value it is 0, above the largest 1.
class FeatureCdf {
 public:
  static constexpr size_t kKnots = 256;

  static FeatureCdf fit(const Dataset& data, const Context& context);

  size_t features() const { return ends_.size(); }
  float at(size_t feature, float value) const;
  Dataset apply(const Dataset& data, const Context& context) const;

  void save(BinaryWriter& out) const;
  static FeatureCdf load(BinaryReader& in);

 private:
  std::vector<uint64_t> ends_;  // of each feature's knots
  std::vector<float> knots_;    // ascending within a feature
  std::vector<float> below_;    // share of smaller values
  std::vector<float> up_to_;    // and of those that are not above, at most 1
};

}  // namespace tunemix
