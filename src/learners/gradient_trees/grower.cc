#include "learners/gradient_trees/grower.h"

namespace tunemix::trees {

GrownTree TreeGrower::grow(const uint64_t* words, const WordScale& scale, const Documents& documents,
                           std::span<const uint8_t> features, Random& random) {
  gradients_.set_tree(words, scale, documents.count, features);
  search_.set_features(features);
  GrownTree tree;
  tree.tree = grower_.grow(documents, search_.has_bandit(), random);
  for (const double gain : grower_.gains())
    tree.gains.push_back(static_cast<float>(gain * gradients_.unit()));
  for (const auto& leaf : grower_.leaves())
    tree.tree.values.push_back(gradients_.value(leaf.total, leaf.bounds));
  if (tree.gains.empty()) {  // nobody may have looked at the root
    uint64_t total = 0;
    for (size_t k = 0; k < documents.count; ++k) total += words[documents[k]];
    tree.tree.values = {gradients_.value(total, {})};
  }
  return tree;
}

}  // namespace tunemix::trees
