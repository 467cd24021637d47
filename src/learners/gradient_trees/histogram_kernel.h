// The inner loops of gradient histograms: adding documents, cumulating bins, and the best cut of a feature.
//
// An open histogram has kOpenStride words a column; a tile is the open histograms of 8 neighbouring columns:
//
//   column 0: | bin 0 | bin 1 | ... | bin 255 | 8 words unused |     the gap keeps equal bins of two columns
//   column 1: | bin 0 | bin 1 | ... | bin 255 | 8 words unused |     from being 4096 bytes apart, which would
//   ...                                                              make loads wait for unrelated stores
//
// A kept histogram is cumulative: word b is the sum over bins 0..b. Each feature has its bins rounded up to
// kCutLanes, the words behind its last bin repeating the total, so that a cut there has nothing above it.
// Cumulative histograms are subtracted like plain ones, and a cut reads its sums without adding anything up.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/simd.h"

namespace tunemix::trees {

constexpr size_t kOpenStride = 256 + 8;
constexpr size_t kCutLanes = 16;

struct CutRule {
  float l2 = 0;     // in units of the hessian
  float least = 1;  // least hessian on each side, in units
};

struct GradientKernels {
  // out[k] = words[index[k]].
  void (*gather_words)(const uint64_t* words, const uint32_t* index, size_t count, uint64_t* out);
  // open[8 columns] += words[k] in the bins tile[k * 8 .. k * 8 + 8).
  void (*add_tile)(const uint64_t* words, const uint8_t* tile, size_t count, uint64_t* open);
  // The same for one column, the bin of document index[k], or first + k.
  void (*add_column)(const uint64_t* words, const uint8_t* column, const uint32_t* index, size_t first,
                     size_t count, uint64_t* open);
  // Cumulates `bins` words of an open histogram into `kept`, filled up to `padded` words; zeros stay behind.
  void (*take_cumulative)(uint64_t* open, size_t bins, size_t padded, uint64_t* kept);
  // The bin after which GL^2 / (HL + l2) + GR^2 / (HR + l2) is highest, the lowest of equal ones; -1 where no
  // cut keeps the rule.
  int (*best_cut)(const uint64_t* kept, size_t padded, uint64_t total, const CutRule& rule);
  // Packs raw words of documents first..first+count in place, rounding down after adding an even offset.
  void (*pack_words)(uint64_t* words, size_t first, size_t count, float gradient_scale, float hessian_scale);
};
TUNEMIX_KERNELS(GradientKernels, gradient_kernels)

}  // namespace tunemix::trees
