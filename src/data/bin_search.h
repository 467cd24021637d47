// Finds the bin of a value by counting thresholds sixteen at a time.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>

namespace tunemix {

// How many of 16 ascending floats are <= x.
inline unsigned count_at_most(const float* t, float x) {
#if defined(__AVX512F__)
  return static_cast<unsigned>(
      std::popcount(_mm512_cmp_ps_mask(_mm512_loadu_ps(t), _mm512_set1_ps(x), _CMP_LE_OQ)));
#elif defined(__AVX2__)
  const __m256 v = _mm256_set1_ps(x);
  const __m256i low = _mm256_castps_si256(_mm256_cmp_ps(_mm256_loadu_ps(t), v, _CMP_LE_OQ));
  const __m256i high = _mm256_castps_si256(_mm256_cmp_ps(_mm256_loadu_ps(t + 8), v, _CMP_LE_OQ));
  // Two bits for each.
  return static_cast<unsigned>(
             std::popcount(static_cast<unsigned>(_mm256_movemask_epi8(_mm256_packs_epi32(low, high))))) /
         2;
#else
  unsigned count = 0;
  for (int k = 0; k < 16; ++k) count += t[k] <= x;
  return count;
#endif
}

// The thresholds of one feature in groups of 16, padded with what is never <= x: two counts
// find a bin without a branch.
struct SearchTable {
  std::array<float, 256> thresholds;
  std::array<float, 16> last_of_group;

  explicit SearchTable(std::span<const float> t) {
    thresholds.fill(std::numeric_limits<float>::quiet_NaN());
    std::copy(t.begin(), t.end(), thresholds.begin());
    for (size_t g = 0; g < 16; ++g) last_of_group[g] = thresholds[16 * g + 15];
  }
  uint8_t bin(float x) const {
    const unsigned group = count_at_most(last_of_group.data(), x);
    return static_cast<uint8_t>(16 * group + count_at_most(thresholds.data() + size_t{16} * group, x));
  }
};

}  // namespace tunemix
