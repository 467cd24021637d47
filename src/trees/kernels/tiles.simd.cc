#include "trees/kernels/tiles.h"

#include <algorithm>
#include <cstring>

namespace tunemix::trees::TUNEMIX_SET {
namespace {

// out[t * stride + r * 8] = the 8 bytes rows[r][begin + t * 8], for four rows and four tiles.
inline void copy_four_tiles(const uint8_t* const* rows, size_t begin, size_t stride, uint8_t* out) {
  typedef uint64_t Words __attribute__((vector_size(32), aligned(1), may_alias));
  Words row[4];
  for (size_t r = 0; r < 4; ++r) row[r] = *reinterpret_cast<const Words*>(rows[r] + begin);
  const Words even_low = __builtin_shufflevector(row[0], row[1], 0, 4, 2, 6);
  const Words odd_low = __builtin_shufflevector(row[0], row[1], 1, 5, 3, 7);
  const Words even_high = __builtin_shufflevector(row[2], row[3], 0, 4, 2, 6);
  const Words odd_high = __builtin_shufflevector(row[2], row[3], 1, 5, 3, 7);
  const Words tile[4] = {__builtin_shufflevector(even_low, even_high, 0, 1, 4, 5),
                         __builtin_shufflevector(odd_low, odd_high, 0, 1, 4, 5),
                         __builtin_shufflevector(even_low, even_high, 2, 3, 6, 7),
                         __builtin_shufflevector(odd_low, odd_high, 2, 3, 6, 7)};
  for (size_t t = 0; t < 4; ++t) *reinterpret_cast<Words*>(out + t * stride) = tile[t];
}

void gather(const uint8_t* bins, size_t width, size_t tiles, const uint32_t* index, size_t begin,
            size_t count, uint8_t* out, size_t stride) {
  constexpr size_t kAhead = 32;  // documents that an indexed loop prefetches ahead
  const auto row = [=](size_t k) { return bins + (index == nullptr ? begin + k : index[k]) * width; };
  size_t k = 0;
  for (; k + 4 <= count; k += 4) {
    if (index != nullptr)
      for (size_t ahead = k + kAhead; ahead < std::min(k + kAhead + 4, count); ++ahead)
        __builtin_prefetch(bins + index[ahead] * width);
    const uint8_t* rows[4] = {row(k), row(k + 1), row(k + 2), row(k + 3)};
    size_t t = 0;
    for (; t + 4 <= tiles; t += 4) copy_four_tiles(rows, t * 8, stride, out + t * stride + k * 8);
    for (; t < tiles; ++t)
      for (size_t r = 0; r < 4; ++r) std::memcpy(out + t * stride + (k + r) * 8, rows[r] + t * 8, 8);
  }
  for (; k < count; ++k) {
    if (index != nullptr && k + kAhead < count) __builtin_prefetch(bins + index[k + kAhead] * width);
    for (size_t t = 0; t < tiles; ++t) std::memcpy(out + t * stride + k * 8, row(k) + t * 8, 8);
  }
}

template <typename Cell>
void add(Cell* to, const Cell* values, size_t count) {
  for (size_t k = 0; k < count; ++k) to[k] += values[k];
}

template <typename Cell>
void subtract(Cell* from, const Cell* values, size_t count) {
  for (size_t k = 0; k < count; ++k) from[k] -= values[k];
}

}  // namespace

const TileKernels tile_kernels_table = {gather, add<int32_t>, add<uint64_t>, subtract<int32_t>,
                                        subtract<uint64_t>};

}  // namespace tunemix::trees::TUNEMIX_SET
