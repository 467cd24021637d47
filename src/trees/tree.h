// A tree as every learner of trees keeps it: cuts that lead documents to leaves, and what a leaf adds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tunemix {

// x_feature >= threshold number `bin` of that feature, which is the same as bin(x_feature) > bin; where the
// value is missing, what missing_above says.
struct Cut {
  uint32_t feature = 0;
  uint8_t bin = 0;
  bool missing_above = false;
};

// Documents fall into leaves, and a leaf has votes or values. Split k moves the documents of leaf
// `split_leaf[k]` that pass `cuts[k]` to the new leaf k + 1. Of a product, leaf 1 holds the documents that
// fail an odd number of the cuts, leaf 0 the others.
struct Tree {
  bool product = false;
  std::vector<Cut> cuts;
  std::vector<uint8_t> split_leaf;  // empty for a product
  std::vector<uint32_t> votes;      // of each leaf, bit l set for +1 on label l
  std::vector<float> values;        // of real votes, leaves x K; `votes` is empty then
  // Of AdaBoost.MH.
  double edge = 0;
  double alpha = 1;       // before shrinkage; 1 for real votes
  double normalizer = 1;  // Z_t, of the shrunk vote

  size_t leaves() const { return product ? 2 : cuts.size() + 1; }
};

}  // namespace tunemix
