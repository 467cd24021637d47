#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "data/bin_search.h"

namespace tunemix::TUNEMIX_SET {
namespace {

// How many of 16 ascending floats are <= x.
inline unsigned count_at_most(const float* t, float x) {
#if defined(__AVX512F__)
  return static_cast<unsigned>(
      __builtin_popcount(_mm512_cmp_ps_mask(_mm512_loadu_ps(t), _mm512_set1_ps(x), _CMP_LE_OQ)));
#elif defined(__AVX2__)
  const __m256 v = _mm256_set1_ps(x);
  const __m256i low = _mm256_castps_si256(_mm256_cmp_ps(_mm256_loadu_ps(t), v, _CMP_LE_OQ));
  const __m256i high = _mm256_castps_si256(_mm256_cmp_ps(_mm256_loadu_ps(t + 8), v, _CMP_LE_OQ));
  // Two bits for each.
  return static_cast<unsigned>(
             __builtin_popcount(static_cast<unsigned>(_mm256_movemask_epi8(_mm256_packs_epi32(low, high))))) /
         2;
#else
  unsigned count = 0;
  for (int k = 0; k < 16; ++k) count += t[k] <= x;
  return count;
#endif
}

void find(const SearchTable& table, const float* x, size_t stride, size_t count, uint8_t* bins,
          size_t bins_stride) {
  const float* last_of_group = table.last_of_group.data();
  const float* thresholds = table.thresholds.data();
  for (size_t i = 0; i < count; ++i) {
    const float value = x[i * stride];
    const unsigned group = count_at_most(last_of_group, value);
    bins[i * bins_stride] =
        static_cast<uint8_t>(16 * group + count_at_most(thresholds + size_t{16} * group, value));
  }
}

}  // namespace

const BinKernels bin_kernels_table = {find};

}  // namespace tunemix::TUNEMIX_SET
