#include "trees/kernels/scoring.h"

#include <algorithm>

namespace tunemix::trees::TUNEMIX_SET {
namespace {

typedef uint8_t Bytes __attribute__((vector_size(kVectorBytes), may_alias));
typedef int8_t SignedBytes __attribute__((vector_size(kVectorBytes), may_alias));
constexpr size_t kVectors = kScoredTogether / sizeof(Bytes);
constexpr size_t kTogether = std::min<size_t>(8, kVectors);  // vectors of leaf ids that stay in registers

// Whether each document fails a cut. Bins are less 128: there are no comparisons of unsigned bytes before
// AVX-512. One less, bin 0 becomes the highest, which passes.
template <bool kMissing>
[[gnu::always_inline]] inline Bytes failing(SignedBytes column, SignedBytes above, SignedBytes less) {
  if constexpr (kMissing)
    column = reinterpret_cast<SignedBytes>(reinterpret_cast<Bytes>(column) - reinterpret_cast<Bytes>(less));
  return reinterpret_cast<Bytes>(column < above);
}

template <bool kMissing>
void leaves_of(const ScoringStep* steps, size_t count, bool product, const int8_t* columns, uint8_t* leaf) {
  for (size_t first = 0; first < kVectors; first += kTogether) {
    Bytes id[kTogether];
    for (size_t v = 0; v < kTogether; ++v) id[v] = Bytes{};
    for (size_t k = 0; k < count; ++k) {
      const auto* column = reinterpret_cast<const SignedBytes*>(columns + steps[k].column) + first;
      const auto back = static_cast<int8_t>(kMissing ? steps[k].missing : 0);
      const SignedBytes less = SignedBytes{} + back;
      const SignedBytes above = SignedBytes{} + static_cast<int8_t>(steps[k].above - back);
      if (product) {
        for (size_t v = 0; v < kTogether; ++v) id[v] ^= failing<kMissing>(column[v], above, less) & 1;
        continue;
      }
      const Bytes parent = Bytes{} + steps[k].parent;
      const Bytes child = Bytes{} + static_cast<uint8_t>(k + 1);
      // A child's number is above all before it.
      for (size_t v = 0; v < kTogether; ++v) {
        const Bytes moved =
            ~failing<kMissing>(column[v], above, less) & reinterpret_cast<Bytes>(id[v] == parent) & child;
        id[v] = id[v] > moved ? id[v] : moved;
      }
    }
    for (size_t v = 0; v < kTogether; ++v) reinterpret_cast<Bytes*>(leaf)[first + v] = id[v];
  }
}

void leaves(const ScoringStep* steps, size_t count, bool product, bool missing, const int8_t* columns,
            uint8_t* leaf) {
  (missing ? leaves_of<true> : leaves_of<false>)(steps, count, product, columns, leaf);
}

template <size_t P, size_t R>
void add_rows(const float* const* tables, const uint8_t* leaf, size_t documents, float* scores) {
  constexpr size_t kBytes = std::min(P * 4, kVectorBytes);
  constexpr size_t kParts = P * 4 / kBytes;
  typedef float Vector __attribute__((vector_size(kBytes), aligned(16), may_alias));
  const float* table[R];
  std::copy_n(tables, R, table);
  for (size_t i = 0; i < documents; ++i) {
    Vector* to = reinterpret_cast<Vector*>(scores + i * P);
    Vector sum[kParts];
    for (size_t v = 0; v < kParts; ++v) sum[v] = to[v];
    for (size_t r = 0; r < R; ++r) {
      const Vector* added = reinterpret_cast<const Vector*>(table[r] + leaf[r * documents + i] * P);
      for (size_t v = 0; v < kParts; ++v) sum[v] += added[v];
    }
    for (size_t v = 0; v < kParts; ++v) to[v] = sum[v];
  }
}

void add_votes(size_t stride, size_t count, const float* const* tables, const uint8_t* leaf, size_t documents,
               float* scores) {
  with_stride(stride, [=]<size_t P>() {
    if (count == kTablesTogether) return add_rows<P, kTablesTogether>(tables, leaf, documents, scores);
    for (size_t r = 0; r < count; ++r) add_rows<P, 1>(tables + r, leaf + r * documents, documents, scores);
  });
}

}  // namespace

const ScorerKernels scorer_kernels_table = {leaves, add_votes};

}  // namespace tunemix::trees::TUNEMIX_SET
