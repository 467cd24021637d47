#include "learners/gradient_trees/histogram_kernel.h"

#include <cstring>
#include <utility>

#include "learners/gradient_trees/words.h"

namespace tunemix::trees::TUNEMIX_SET {
namespace {

[[gnu::always_inline]] inline void add_document(uint64_t word, const uint8_t* bytes, uint64_t* open) {
  uint64_t bins;
  std::memcpy(&bins, bytes, sizeof bins);
  for (size_t f = 0; f < 8; ++f) open[f * kOpenStride + (bins >> (8 * f) & 255)] += word;
}

constexpr size_t kLanes = kVectorBytes / 4;
typedef uint64_t Words __attribute__((vector_size(kVectorBytes), aligned(8), may_alias));
typedef int32_t Ints __attribute__((vector_size(kVectorBytes), may_alias));
typedef float Floats __attribute__((vector_size(kVectorBytes), may_alias));

// The hessians (even lanes) and gradients (odd lanes) of two vectors of words.
template <size_t... kLane>
[[gnu::always_inline]] inline void split_halves(Ints a, Ints b, Ints& gradients, Ints& hessians,
                                                std::index_sequence<kLane...>) {
  hessians = __builtin_shufflevector(a, b, 2 * kLane...);
  gradients = __builtin_shufflevector(a, b, (2 * kLane + 1)...);
}

void gather_words(const uint64_t* words, const uint32_t* index, size_t count, uint64_t* out) {
  constexpr size_t kAhead = 24;
  for (size_t k = 0; k < count; ++k) {
    if (k + kAhead < count) __builtin_prefetch(words + index[k + kAhead]);
    out[k] = words[index[k]];
  }
}

void add_tile(const uint64_t* words, const uint8_t* tile, size_t count, uint64_t* open) {
  for (size_t k = 0; k < count; ++k) add_document(words[k], tile + k * 8, open);
}

void add_column(const uint64_t* words, const uint8_t* column, const uint32_t* index, size_t first,
                size_t count, uint64_t* open) {
  constexpr size_t kAhead = 32;
  if (index == nullptr) {
    for (size_t k = 0; k < count; ++k) open[column[first + k]] += words[k];
    return;
  }
  for (size_t k = 0; k < count; ++k) {
    if (k + kAhead < count) __builtin_prefetch(column + index[k + kAhead]);
    open[column[index[k]]] += words[k];
  }
}

void take_cumulative(uint64_t* open, size_t bins, size_t padded, uint64_t* kept) {
  uint64_t sum = 0;
  for (size_t b = 0; b < bins; ++b) {
    sum += open[b];
    kept[b] = sum;
  }
  for (size_t b = bins; b < padded; ++b) kept[b] = sum;
  std::memset(open, 0, bins * sizeof *open);
}

int best_cut(const uint64_t* kept, size_t padded, uint64_t total, const CutRule& rule) {
  const Ints total_gradient = Ints{} + packed_gradient(total);
  const Ints total_hessian = Ints{} + packed_hessian(total);
  const Floats l2 = Floats{} + rule.l2;
  const Floats least = Floats{} + rule.least;
  Floats highest = Floats{} - 1.0F;  // of each lane; values are not negative
  Ints bin = Ints{} - 1;
  for (size_t b = 0; b < padded; b += kLanes) {
    const auto* at = reinterpret_cast<const Words*>(kept + b);
    Ints gradient;
    Ints hessian;
    split_halves(reinterpret_cast<Ints>(at[0]), reinterpret_cast<Ints>(at[1]), gradient, hessian,
                 std::make_index_sequence<kLanes>());
    const Floats gl = __builtin_convertvector(gradient, Floats);
    const Floats gr = __builtin_convertvector(total_gradient - gradient, Floats);
    const Floats below = __builtin_convertvector(hessian, Floats);
    const Floats above = __builtin_convertvector(total_hessian - hessian, Floats);
    const Floats hl = below + l2;
    const Floats hr = above + l2;
    const Floats value = (gl * gl * hr + gr * gr * hl) / (hl * hr);
    const Ints better = (below >= least) & (above >= least) & (value > highest);
    highest = better ? value : highest;
    bin = better ? Ints{} + static_cast<int32_t>(b) : bin;
  }
  float best = -1;
  int best_bin = -1;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    if (bin[lane] < 0) continue;
    const int own = bin[lane] + static_cast<int>(lane);
    if (highest[lane] > best || (highest[lane] == best && own < best_bin)) {
      best = highest[lane];
      best_bin = own;
    }
  }
  return best_bin;
}

void pack_words(uint64_t* words, size_t first, size_t count, float gradient_scale, float hessian_scale) {
  for (size_t k = 0; k < count; ++k) {
    const auto document = static_cast<uint32_t>(first + k);
    const float offset = static_cast<float>(document * 0x9e3779b9U >> 8) * 0x1.0p-24F;
    const float g = raw_gradient(words[first + k]) * gradient_scale + offset;
    const float h = raw_hessian(words[first + k]) * hessian_scale + offset;
    int32_t gradient = static_cast<int32_t>(g);
    gradient -= static_cast<float>(gradient) > g ? 1 : 0;  // down, not towards zero
    words[first + k] = static_cast<uint64_t>(static_cast<uint32_t>(gradient)) << 32 |
                       static_cast<uint32_t>(static_cast<int32_t>(h));
  }
}

}  // namespace

const GradientKernels gradient_kernels_table = {gather_words,    add_tile, add_column,
                                                take_cumulative, best_cut, pack_words};

}  // namespace tunemix::trees::TUNEMIX_SET
