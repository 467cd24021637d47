// The cuts of a tree as nodes.
#pragma once

#include "trees/tree.h"
#include "tunemix/data/binning.h"
#include "tunemix/learn/plain_model.h"

namespace tunemix::trees {

// Without values; leaves keep their numbers. A product becomes a tree of up to 2^terms leaves; throws
// InputError for one of more terms than kMostPlainTerms.
constexpr size_t kMostPlainTerms = 12;
PlainTree plain_tree(const Tree& grown, const BinCuts& cuts);
// The features with missing values in training.
std::set<uint32_t> features_with_missing(const BinCuts& cuts);

}  // namespace tunemix::trees
