// One round of boosting as every tree learner keeps it: cuts that lead documents to leaves, and what a leaf
// adds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tunemix {

// Of AdaBoost.MH. A document's weight is the same for all or 2^label. Half of it is on its own label; the
// rest is on the others alike, or, under kDistance (with 2^label), by how far they are from its own.
enum class InitialWeights { kUniform, kExponential, kDistance };

// x_feature >= threshold number `bin` of that feature, which is the same as bin(x_feature) > bin.
struct Cut {
  uint32_t feature = 0;
  uint8_t bin = 0;
};

// One round: documents fall into leaves, and a leaf votes. Tree: split k moves the documents of leaf
// `split_leaf[k]` that pass `cuts[k]` to the new leaf k + 1. Product: leaf 1 holds the documents that fail an
// odd number of the cuts, leaf 0 the others.
struct BoostRound {
  bool product = false;
  std::vector<Cut> cuts;
  std::vector<uint8_t> split_leaf;  // empty for a product
  std::vector<uint32_t> votes;      // of each leaf, bit l set for +1 on label l
  std::vector<float> values;        // of real votes, leaves x K; `votes` is empty then
  double edge = 0;
  double alpha = 0;       // before shrinkage; 1 for real votes
  double normalizer = 0;  // Z_t, of the shrunk vote

  size_t leaves() const { return product ? 2 : cuts.size() + 1; }
};

}  // namespace tunemix
