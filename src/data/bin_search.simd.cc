#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "data/bin_search.h"

namespace tunemix::TUNEMIX_SET {
namespace {

// How many of 16 ascending floats are <= x; of the first 8 of them.
#if defined(__AVX512F__)
inline unsigned count_of_16(const float* t, float x) {
  return static_cast<unsigned>(
      __builtin_popcount(_mm512_cmp_ps_mask(_mm512_loadu_ps(t), _mm512_set1_ps(x), _CMP_LE_OQ)));
}
inline unsigned count_of_8(const float* t, float x) { return count_of_16(t, x); }
#elif defined(__AVX2__)
inline __m256 at_most(const float* t, float x) {
  return _mm256_cmp_ps(_mm256_loadu_ps(t), _mm256_set1_ps(x), _CMP_LE_OQ);
}
inline unsigned count_of_16(const float* t, float x) {
  const __m256i low = _mm256_castps_si256(at_most(t, x));
  const __m256i high = _mm256_castps_si256(at_most(t + 8, x));
  // Two bits for each.
  return static_cast<unsigned>(
             __builtin_popcount(static_cast<unsigned>(_mm256_movemask_epi8(_mm256_packs_epi32(low, high))))) /
         2;
}
inline unsigned count_of_8(const float* t, float x) {
  return static_cast<unsigned>(__builtin_popcount(static_cast<unsigned>(_mm256_movemask_ps(at_most(t, x)))));
}
#else
template <int kCount>
inline unsigned count_of(const float* t, float x) {
  unsigned count = 0;
  for (int k = 0; k < kCount; ++k) count += t[k] <= x;
  return count;
}
inline unsigned count_of_16(const float* t, float x) { return count_of<16>(t, x); }
inline unsigned count_of_8(const float* t, float x) { return count_of<8>(t, x); }
#endif

void find(const SearchTable& table, const float* x, size_t stride, size_t count, uint8_t* bins,
          size_t bins_stride) {
  const float* thresholds = table.thresholds.data();
  const float* last_of_group = table.last_of_group.data();
  if (table.groups <= 1) {
    for (size_t i = 0; i < count; ++i)
      bins[i * bins_stride] = static_cast<uint8_t>(count_of_16(thresholds, x[i * stride]));
    return;
  }
  const auto find_by = [=](auto count_groups) {
    for (size_t i = 0; i < count; ++i) {
      const float value = x[i * stride];
      const unsigned group = count_groups(last_of_group, value);
      bins[i * bins_stride] =
          static_cast<uint8_t>(16 * group + count_of_16(thresholds + size_t{16} * group, value));
    }
  };
  if (table.groups <= 8)
    find_by([](const float* t, float value) { return count_of_8(t, value); });
  else
    find_by([](const float* t, float value) { return count_of_16(t, value); });
}

}  // namespace

const BinKernels bin_kernels_table = {find};

}  // namespace tunemix::TUNEMIX_SET
