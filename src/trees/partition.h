// Divides the documents of a tree's leaf by a cut.
#pragma once

#include <cstdint>

#include "trees/tree.h"
#include "tunemix/core/parallel.h"
#include "tunemix/data/binning.h"

namespace tunemix::trees {

// Writes the `count` documents of `from` (0, 1, ... where it is null) to `to`: first those that fail the cut,
// then those that pass it, both in their order. Returns how many fail. `passes` is scratch of `count` bytes.
size_t partition(const BinnedDataset& bins, const Cut& cut, const uint32_t* from, size_t count,
                 uint8_t* passes, uint32_t* to, ThreadPool& pool);

}  // namespace tunemix::trees
