// Divides documents by a cut.
#pragma once

#include <cstdint>

#include "trees/tree.h"
#include "tunemix/core/parallel.h"
#include "tunemix/data/binning.h"

namespace tunemix::trees {

// How many of the documents index[0..count) (0, 1, ... where it is null) pass the cut.
size_t count_passing(const BinnedDataset& bins, const Cut& cut, const uint32_t* index, size_t count,
                     ThreadPool& pool);

// Without knowledge from training a missing value goes where most of the documents go, of which so many pass;
// below, if both sides have as many.
inline bool larger_above(size_t passing, size_t count) { return 2 * passing > count; }

// Writes the `count` documents of `from` (0, 1, ... where it is null) to `to`: first those that fail the cut,
// then those that pass it, both in their order. Returns how many fail. `passes` is scratch of `count` bytes.
// A cut whose side is not known yet is given that of the larger child.
size_t partition(const BinnedDataset& bins, Cut& cut, bool side_known, const uint32_t* from, size_t count,
                 uint8_t* passes, uint32_t* to, ThreadPool& pool);

}  // namespace tunemix::trees
