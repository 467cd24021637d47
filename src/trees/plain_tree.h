// The cuts of a round as a tree of nodes.
#pragma once

#include "tunemix/data/binning.h"
#include "tunemix/learn/plain_model.h"
#include "tunemix/trees/round.h"

namespace tunemix::trees {

// The tree of a round without its values; its leaves are numbered as those of the round. A product becomes a
// tree of up to 2^terms leaves; throws InputError for one of more terms than kMostPlainTerms.
constexpr size_t kMostPlainTerms = 12;
PlainTree plain_tree(const BoostRound& round, const BinCuts& cuts);

}  // namespace tunemix::trees
