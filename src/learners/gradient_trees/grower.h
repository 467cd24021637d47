// Grows one regression tree, best leaf first, from packed gradients.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "learners/gradient_trees/node_search.h"
#include "learners/gradient_trees/words.h"
#include "trees/reward_scale.h"
#include "tunemix/core/random.h"
#include "tunemix/trees/bandit.h"

namespace tunemix::trees {

struct GrowthOptions {
  int leaves = 31;
  int depth = 0;  // 0: no limit
  int min_documents = 20;
  double min_hessian = 1e-3;
  double l2 = 0;
  double node_features = 1;  // share of the features that each node looks at
  bool random_cuts = false;  // one random cut a feature instead of the best
  size_t arms_per_pull = 0;  // features that each node draws from the bandit
};

struct GrownTree {
  BoostRound round;          // values: -G / (H + l2) of each leaf, not shrunk
  std::vector<float> gains;  // of each cut
};

class TreeGrower {
 public:
  // `bandit` may be null. Histograms may take `histogram_bytes`, and some megabytes in any case.
  TreeGrower(const BinnedDataset& bins, const BinCuts& cuts, const GrowthOptions& options, Bandit* bandit,
             size_t histogram_bytes, const Context& context);

  // What the bandit's rewards are relative to; belongs to its state.
  RewardScale& reward_scale() { return reward_scale_; }

  // On the given documents (ascending; all those binned where empty is told by `all`). `features`: 1 for
  // those of this tree; empty: all.
  GrownTree grow(const uint64_t* words, const WordScale& scale, std::span<const uint32_t> documents, bool all,
                 std::span<const uint8_t> features, Random& random);

  // Calls body(leaf, documents) for every leaf of the last tree.
  void for_leaves(const std::function<void(size_t, NodeDocuments)>& body) const;

 private:
  struct Leaf {
    size_t begin = 0;  // its documents are order[buffer][begin..begin+count)
    size_t count = 0;
    int buffer = -1;  // -1: those of the tree in their own order
    int depth = 0;
    uint64_t total = 0;
    NodeCut best;
    double gain = 0;  // of cutting at `best`; 0 where that is not worth it
    int slot = -1;
  };

  NodeDocuments documents(const Leaf& leaf) const;
  bool may_split(const Leaf& leaf) const;
  NodeRule rule(std::vector<uint8_t>& features, Random& random) const;
  void search_root(Random& random);
  void search_children(size_t parent, Random& random);
  void search_drawn(Leaf& leaf, Random& random);
  void search_alone(Leaf& leaf, Random& random);
  void rate(Leaf& leaf);
  void split(size_t parent);
  int take_slot();
  void give_back(int& slot);
  void keep_a_slot_free();

  static constexpr size_t kFew = 512;  // searching so few documents again costs less than keeping histograms
  static constexpr size_t kLeastSlotBytes = 8 << 20;
  static constexpr double kLeastGain = 1e-9;  // of a node's own value: below is only rounding

  const BinnedDataset& bins_;
  const BinCuts& cuts_;
  GrowthOptions options_;
  Bandit* bandit_;
  RewardScale reward_scale_;
  const Context& context_;
  NodeSearch search_;
  const uint64_t* words_ = nullptr;
  WordScale scale_;
  std::span<const uint8_t> tree_features_;
  std::vector<uint32_t> usable_;  // features of the tree with two bins or more
  const uint32_t* root_index_ = nullptr;
  std::vector<Leaf> leaves_;
  std::vector<uint32_t> order_[2];
  std::vector<uint8_t> passes_;
  std::vector<AlignedVector<uint64_t>> slots_;
  std::vector<int> free_slots_;
  std::vector<uint8_t> node_features_[2];
  std::vector<NodeCut> drawn_;
};

}  // namespace tunemix::trees
