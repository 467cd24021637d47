// Grows one regression tree from packed gradients.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learners/gradient_trees/gradients.h"

namespace tunemix::trees {

struct GrownTree {
  Tree tree;                 // values: -G / (H + l2) of each leaf, not shrunk
  std::vector<float> gains;  // of each cut
};

class TreeGrower {
 public:
  // `bandit` may be null; with it each node draws so many features. Histograms may take `bytes`.
  TreeGrower(const BinnedDataset& bins, const BinCuts& cuts, const GradientGrowth& options, Bandit* bandit,
             size_t arms_per_pull, size_t bytes, const Context& context)
      : gradients_(options, cuts),
        search_(gradients_, bins, cuts, bandit, arms_per_pull, context),
        grower_(gradients_, search_, options, bytes) {}
  TreeGrower(const TreeGrower&) = delete;
  TreeGrower& operator=(const TreeGrower&) = delete;

  RewardScale& reward_scale() { return search_.reward_scale(); }

  // `features`: 1 for those of this tree; empty: all.
  GrownTree grow(const uint64_t* words, const WordScale& scale, const Documents& documents,
                 std::span<const uint8_t> features, Random& random);

  // Calls body(leaf, documents) for every leaf of the last tree.
  template <typename Body>
  void for_leaves(Body body) const {
    search_.context().pool().run(grower_.leaves().size(),
                                 [&](size_t k) { body(k, grower_.documents(grower_.leaves()[k])); });
  }

 private:
  Gradients gradients_;
  NodeSearch<Gradients> search_;
  Grower<Gradients> grower_;
};

}  // namespace tunemix::trees
