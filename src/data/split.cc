#include "tunemix/data/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tunemix/core/error.h"

namespace tunemix {

namespace {

std::vector<size_t> shuffled(size_t count, Random& random) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  random.shuffle(std::span<size_t>(order));
  return order;
}

// The queries order[begin..end) go to calibration.
QuerySplit cut(const std::vector<size_t>& order, size_t begin, size_t end) {
  QuerySplit split;
  for (size_t i = 0; i < order.size(); ++i)
    (i >= begin && i < end ? split.calibration : split.train).push_back(order[i]);
  std::sort(split.calibration.begin(), split.calibration.end());
  std::sort(split.train.begin(), split.train.end());
  return split;
}

}  // namespace

QuerySplit split_queries(const QueryIndex& queries, double fraction, Random random) {
  const size_t n = queries.size();
  if (n < 2) throw_input("a split needs at least 2 queries; the training data has {}", n);
  if (!(fraction > 0 && fraction < 1)) throw_input("a fraction is {}; expected between 0 and 1", fraction);
  const auto wanted = static_cast<size_t>(std::lround(fraction * static_cast<double>(n)));
  return cut(shuffled(n, random), 0, std::clamp<size_t>(wanted, 1, n - 1));
}

QuerySplit leave_out_part(size_t queries, size_t parts, size_t part, Random random) {
  require(part < parts && parts <= queries, "a part that does not exist");
  return cut(shuffled(queries, random), part * queries / parts, (part + 1) * queries / parts);
}

}  // namespace tunemix
