// Trees as bytes.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "trees/tree.h"
#include "tunemix/core/binary.h"
#include "tunemix/data/binning.h"

namespace tunemix::trees {

// `gains` has one value a cut of all trees.
void write_trees(BinaryWriter& out, std::span<const Tree> trees, std::span<const float> gains);
std::pair<std::vector<Tree>, std::vector<float>> read_trees(BinaryReader& in, const BinCuts& cuts);

}  // namespace tunemix::trees
