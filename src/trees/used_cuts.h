// The thresholds that trees use.
#pragma once

#include <span>

#include "trees/tree.h"
#include "tunemix/data/binning.h"

namespace tunemix::trees {

// Only the thresholds that the trees use, and those that tell where training had missing values; their cuts
// are numbered by the result afterwards.
BinCuts keep_used_cuts(const BinCuts& cuts, std::span<Tree> trees);

}  // namespace tunemix::trees
