// Data with missing values for tests.
#pragma once

#include "tunemix/core/random.h"
#include "tunemix/data/dataset.h"
#include "tunemix/data/missing.h"

namespace tunemix::test {

// The same documents, in which each value is missing with this probability.
inline Dataset with_missing(const Dataset& data, double share, uint64_t seed) {
  Random random(seed);
  FloatBuffer values(data.values());
  for (size_t k = 0; k < values.size(); ++k)
    if (random.uniform() < share) values.data()[k] = kMissing;
  return data.with_features(std::move(values), data.features());
}

}  // namespace tunemix::test
