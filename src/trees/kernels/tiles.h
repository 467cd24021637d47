// Moving bins into tiles, and adding and subtracting histograms, for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/simd.h"

namespace tunemix::trees {

struct TileKernels {
  // The bins of some documents in `tiles` neighbouring tiles of 8 columns, a tile after the other:
  //
  //   bins    document i: | tile 0 | tile 1 | tile 2 | ...      `width` bytes from document to document
  //   out     | tile 0 of document 0 | of document 1 | ...      `stride` bytes from tile to tile
  //           | tile 1 of document 0 | ...
  //
  // Documents index[0..count), or `begin` and those after it without an index.
  void (*gather)(const uint8_t* bins, size_t width, size_t tiles, const uint32_t* index, size_t begin,
                 size_t count, uint8_t* out, size_t stride);
  void (*add)(int32_t* to, const int32_t* values, size_t count);
  void (*add_words)(uint64_t* to, const uint64_t* values, size_t count);
  void (*subtract)(int32_t* from, const int32_t* values, size_t count);
  void (*subtract_words)(uint64_t* from, const uint64_t* values, size_t count);
};
TUNEMIX_KERNELS(TileKernels, tile_kernels)

}  // namespace tunemix::trees
