#include "trees/partition.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace tunemix::trees {
namespace {

constexpr size_t kPartitionBlock = 4096;  // documents

// Sets passes[k] for documents begin..end of those in `index` (all, without one), and counts them. Its
// arguments are values because bytes may alias anything.
size_t mark_passing(const uint8_t* column, size_t width, const uint8_t* byte_passes, const uint32_t* index,
                    size_t begin, size_t end, uint8_t* __restrict passes) {
  constexpr size_t kAhead = 32;
  size_t passing = 0;
  const auto mark = [&](size_t k, size_t i) {
    const uint8_t pass = byte_passes[column[i * width]];
    passes[k] = pass;
    passing += pass;
  };
  if (index == nullptr) {
    for (size_t k = begin; k < end; ++k) mark(k, k);
  } else {
    for (size_t k = begin; k + kAhead < end; ++k) {
      __builtin_prefetch(column + index[k + kAhead] * width);
      mark(k, index[k]);
    }
    for (size_t k = end - std::min(kAhead, end - begin); k < end; ++k) mark(k, index[k]);
  }
  return passing;
}

// How many pass before each block of documents, and in all; marks them.
std::vector<size_t> passing_before(const BinnedDataset& bins, const Cut& cut, const uint32_t* from,
                                   size_t count, uint8_t* passes, ThreadPool& pool) {
  const BinnedDataset::Place& place = bins.place(cut.feature);
  const uint8_t* column = bins.column(place.column);
  const size_t width = bins.width(place.column);
  const std::array<uint8_t, 256> byte_passes = place.above(cut.bin, cut.missing_above);
  std::vector<size_t> before((count + kPartitionBlock - 1) / kPartitionBlock + 1, 0);
  parallel_blocks(pool, count, kPartitionBlock, [&](size_t begin, size_t end) {
    before[begin / kPartitionBlock + 1] =
        mark_passing(column, width, byte_passes.data(), from, begin, end, passes);
  });
  std::partial_sum(before.begin(), before.end(), before.begin());
  return before;
}

}  // namespace

size_t count_passing(const BinnedDataset& bins, const Cut& cut, const uint32_t* index, size_t count,
                     ThreadPool& pool) {
  std::vector<uint8_t> passes(count);
  return passing_before(bins, cut, index, count, passes.data(), pool).back();
}

size_t partition(const BinnedDataset& bins, Cut& cut, bool side_known, const uint32_t* from, size_t count,
                 uint8_t* passes, uint32_t* to, ThreadPool& pool) {
  std::vector<size_t> above_before = passing_before(bins, cut, from, count, passes, pool);
  if (!side_known && larger_above(above_before.back(), count)) {
    cut.missing_above = true;
    // There may be some without weight.
    if (bins.place(cut.feature).missing) above_before = passing_before(bins, cut, from, count, passes, pool);
  }
  const size_t below = count - above_before.back();
  parallel_blocks(pool, count, kPartitionBlock, [&](size_t begin, size_t end) {
    size_t high = above_before[begin / kPartitionBlock];
    size_t low = begin - high;
    high += below;
    for (size_t k = begin; k < end; ++k) {
      const uint32_t i = from == nullptr ? static_cast<uint32_t>(k) : from[k];
      const size_t pass = passes[k];
      to[pass != 0 ? high : low] = i;
      high += pass;
      low += 1 - pass;
    }
  });
  return below;
}

}  // namespace tunemix::trees
