// Leads blocks of documents to their leaves, and adds the leaves' votes, for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/simd.h"

namespace tunemix::trees {

constexpr size_t kScoredTogether =
    128;  // documents of a block: its columns of a hundred features stay in the L1 cache
constexpr size_t kTablesTogether = 8;  // trees, at most, whose votes are added at once

// K rounded up to 4, 8, 16 or 32: rows of as many values fill vectors.
constexpr size_t padded_labels(size_t labels) {
  size_t stride = 4;
  while (stride < labels) stride *= 2;
  return stride;
}

// Calls body.operator()<P>() for a padded number of labels.
template <typename Body>
auto with_stride(size_t stride, Body body) {
  switch (stride) {
    case 4:
      return body.template operator()<4>();
    case 8:
      return body.template operator()<8>();
    case 16:
      return body.template operator()<16>();
    default:
      return body.template operator()<32>();
  }
}

// One cut of a tree.
struct ScoringStep {
  uint32_t column;  // where it begins
  int8_t above;     // the lowest bin that passes the cut, less 128
  uint8_t parent;   // the leaf that is split
  uint8_t missing;  // 1 where a missing value passes the cut, else 0
};

struct ScorerKernels {
  // The leaf of each document of a block. Columns hold bins less 128, kScoredTogether of a feature; bin 0 is
  // that of missing values, and `missing` tells whether there are any. `leaf` is aligned to 64 bytes.
  void (*leaves)(const ScoringStep* steps, size_t count, bool product, bool missing, const int8_t* columns,
                 uint8_t* leaf);
  // scores[documents][stride] += tables[r][leaf[r * documents ..]][stride] of `count` trees, in their order.
  void (*add_votes)(size_t stride, size_t count, const float* const* tables, const uint8_t* leaf,
                    size_t documents, float* scores);
};
TUNEMIX_KERNELS(ScorerKernels, scorer_kernels)

}  // namespace tunemix::trees
