#include "tunemix/data/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tunemix/core/error.h"

namespace tunemix {

QuerySplit split_queries(const QueryIndex& queries, double fraction, Random random) {
  const size_t n = queries.size();
  if (n < 2) throw_input("a calibration split needs at least 2 queries; the training data has {}", n);
  if (!(fraction > 0 && fraction < 1))
    throw_input("calibration fraction is {}; expected between 0 and 1", fraction);
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  random.shuffle(std::span<size_t>(order));
  const auto wanted = static_cast<size_t>(std::lround(fraction * static_cast<double>(n)));
  const size_t count = std::clamp<size_t>(wanted, 1, n - 1);
  QuerySplit split;
  split.calibration.assign(order.begin(), order.begin() + count);
  split.train.assign(order.begin() + count, order.end());
  std::sort(split.calibration.begin(), split.calibration.end());
  std::sort(split.train.begin(), split.train.end());
  return split;
}

}  // namespace tunemix
