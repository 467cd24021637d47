// Trees as bytes, and the thresholds that they use.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "tunemix/core/binary.h"
#include "tunemix/data/binning.h"
#include "tunemix/trees/round.h"

namespace tunemix::trees {

// `gains` has one value a cut of all trees.
void write_trees(BinaryWriter& out, std::span<const BoostRound> trees, std::span<const float> gains);
std::pair<std::vector<BoostRound>, std::vector<float>> read_trees(BinaryReader& in, const BinCuts& cuts);

// Only the thresholds that the trees use; their cuts are numbered by the result afterwards.
BinCuts keep_used_cuts(const BinCuts& cuts, std::span<BoostRound> trees);

}  // namespace tunemix::trees
