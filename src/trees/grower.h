// Grows a tree, best leaf first.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "trees/node_search.h"
#include "trees/partition.h"
#include "trees/statistics.h"

namespace tunemix::trees {

struct GrowthOptions {
  int leaves = 31;
  int depth = 0;          // 0: no limit
  int min_documents = 0;  // of each side of a cut
};

template <Statistics S>
class Grower {
 public:
  using Search = NodeSearch<S>;
  struct Leaf {
    size_t begin = 0;  // its documents are order[buffer][begin..begin+count)
    size_t count = 0;
    int buffer = -1;  // -1: those of the tree in their own order
    int depth = 0;
    typename S::Sum total = {};
    typename S::Bounds bounds = {};
    typename Search::Found best;
    double gain = 0;  // of cutting at `best`; 0 where that is not worth it
    int slot = -1;
  };

  // Histograms may take `bytes`, and some megabytes in any case.
  Grower(S& statistics, Search& search, const GrowthOptions& options, size_t bytes);

  // The cuts of a tree, which has no values yet. `drawn`: of features that the bandit draws.
  Tree grow(const Documents& documents, bool drawn, Random& random);

  // Of the last tree: its leaves, their documents, and the gain of each cut.
  const std::vector<Leaf>& leaves() const { return leaves_; }
  Documents documents(const Leaf& leaf) const {
    if (leaf.buffer < 0) return root_;
    return {order_[leaf.buffer].data() + leaf.begin, leaf.count};
  }
  const std::vector<double>& gains() const { return gains_; }

 private:
  // Slots hold the histograms of leaves that may still be split: a child's are then its parent's minus its
  // sibling's. There are few, so the leaves with most documents keep theirs.
  int take_slot();
  void give_back(int& slot);
  void keep_a_slot_free();
  typename S::Cell* histograms(int slot) { return slot < 0 ? nullptr : slots_[slot].data(); }

  bool may_split(const Leaf& leaf) const {
    return (options_.depth == 0 || leaf.depth < options_.depth) &&
           leaf.count >= 2 * static_cast<size_t>(options_.min_documents);
  }
  void search_alone(Leaf& leaf, Random& random);
  void search_children(size_t parent, Random& random);
  void search_both(Leaf& small, Leaf& large, Random& random);
  void rate(Leaf& leaf, const typename S::Rule& rule);
  Cut split(size_t parent);

  static constexpr size_t kLeastSlotBytes = 8 << 20;
  S& statistics_;
  Search& search_;
  GrowthOptions options_;
  bool drawn_ = false;
  Documents root_;
  std::vector<Leaf> leaves_;
  std::vector<double> gains_;
  std::vector<uint32_t> order_[2];
  std::vector<uint8_t> passes_;  // whether each document passes the cut, in the order of the leaf
  std::vector<AlignedVector<typename S::Cell>> slots_;
  std::vector<int> free_slots_;
};

template <Statistics S>
Grower<S>::Grower(S& statistics, Search& search, const GrowthOptions& options, size_t bytes)
    : statistics_(statistics), search_(search), options_(options) {
  const size_t cell = sizeof(typename S::Cell);
  const size_t most = std::max(kLeastSlotBytes, bytes);
  const size_t open = search.open_size() * cell;
  const size_t fit = most > open ? (most - open) / std::max<size_t>(1, search.kept_size() * cell) : 0;
  // Under a bandit every search has its own features, so there is nothing to keep.
  const size_t wanted = search.has_bandit() ? 3 : static_cast<size_t>(options.leaves) + 1;
  slots_.resize(std::min(wanted, std::max<size_t>(3, fit)));
  for (size_t s = slots_.size(); s > 0; --s) free_slots_.push_back(static_cast<int>(s - 1));
}

template <Statistics S>
int Grower<S>::take_slot() {
  const int slot = free_slots_.back();
  free_slots_.pop_back();
  if (slots_[slot].empty()) slots_[slot].resize(search_.kept_size());
  return slot;
}

template <Statistics S>
void Grower<S>::give_back(int& slot) {
  if (slot >= 0) free_slots_.push_back(slot);
  slot = -1;
}

template <Statistics S>
void Grower<S>::keep_a_slot_free() {
  if (!free_slots_.empty()) return;
  Leaf* least = nullptr;
  for (Leaf& leaf : leaves_)
    if (leaf.slot >= 0 && (least == nullptr || leaf.count < least->count)) least = &leaf;
  give_back(least->slot);
}

template <Statistics S>
Tree Grower<S>::grow(const Documents& documents, bool drawn, Random& random) {
  root_ = documents;
  drawn_ = drawn;
  passes_.resize(documents.count);
  gains_.clear();
  leaves_.assign(1, Leaf());
  leaves_[0].count = documents.count;
  search_alone(leaves_[0], random);
  leaves_[0].total = leaves_[0].best.total;
  statistics_.see_root(leaves_[0].best);
  Tree tree;
  while (leaves_.size() < static_cast<size_t>(options_.leaves)) {
    const auto widest = std::max_element(leaves_.begin(), leaves_.end(),
                                         [](const Leaf& a, const Leaf& b) { return a.gain < b.gain; });
    if (widest->gain <= 0) break;
    const auto parent = static_cast<size_t>(widest - leaves_.begin());
    tree.split_leaf.push_back(static_cast<uint8_t>(parent));
    gains_.push_back(widest->gain);
    tree.cuts.push_back(split(parent));
    if (leaves_.size() < static_cast<size_t>(options_.leaves)) search_children(parent, random);
  }
  for (Leaf& leaf : leaves_) give_back(leaf.slot);
  return tree;
}

template <Statistics S>
void Grower<S>::rate(Leaf& leaf, const typename S::Rule& rule) {
  leaf.gain = 0;
  if (!leaf.best.found) return;
  const double before = statistics_.uncut(leaf.best.total, rule);
  const double gain = leaf.best.value - before;
  if (gain > statistics_.least_gain(before, rule)) leaf.gain = gain;
}

template <Statistics S>
void Grower<S>::search_alone(Leaf& leaf, Random& random) {
  leaf.best = {};
  leaf.gain = 0;
  if (!may_split(leaf)) return;
  const typename S::Rule rule = statistics_.rule(random, leaf.bounds);
  if (drawn_) {
    leaf.best = search_.search_drawn(documents(leaf), rule, random);
    return rate(leaf, rule);
  }
  leaf.slot = leaf.count > S::kFew ? take_slot() : -1;
  leaf.best = search_.search(documents(leaf), rule, histograms(leaf.slot));
  rate(leaf, rule);
  if (leaf.gain <= 0) give_back(leaf.slot);
}

template <Statistics S>
void Grower<S>::search_children(size_t parent, Random& random) {
  Leaf& below = leaves_[parent];
  Leaf& above = leaves_.back();
  if (drawn_) {
    search_alone(below, random);
    search_alone(above, random);
    return;
  }
  Leaf& small = below.count <= above.count ? below : above;
  Leaf& large = below.count <= above.count ? above : below;
  int parent_slot = below.slot;
  below.slot = -1;
  if (parent_slot >= 0 && may_split(large)) {
    large.slot = parent_slot;
    search_both(small, large, random);
  } else {
    give_back(parent_slot);
    search_alone(small, random);
    keep_a_slot_free();
    search_alone(large, random);
  }
  keep_a_slot_free();
}

// large.slot has the histograms of the parent.
template <Statistics S>
void Grower<S>::search_both(Leaf& small, Leaf& large, Random& random) {
  const bool split_small = may_split(small);
  small.slot = split_small && small.count > S::kFew ? take_slot() : -1;
  const typename S::Rule small_rule = statistics_.rule(random, small.bounds);
  const typename S::Rule large_rule = statistics_.rule(random, large.bounds);
  std::tie(small.best, large.best) = search_.search(documents(small), small_rule, histograms(small.slot),
                                                    histograms(large.slot), large.count, large_rule);
  if (!split_small) small.best = {};
  rate(small, small_rule);
  rate(large, large_rule);
  for (Leaf* leaf : {&small, &large})
    if (leaf->gain <= 0 || leaf->count <= S::kFew) give_back(leaf->slot);
}

// Documents that pass the cut become a new leaf at the end of `leaves_`; the others stay. Both keep their
// order. Returns the cut with its side.
template <Statistics S>
Cut Grower<S>::split(size_t parent) {
  Leaf& below = leaves_[parent];
  const uint32_t* from = documents(below).index;
  const int to_buffer = below.buffer == 0 ? 1 : 0;
  if (order_[to_buffer].size() < root_.count) order_[to_buffer].resize(root_.count);
  const size_t stay = partition(search_.bins(), below.best.cut, below.best.side_known, from, below.count,
                                passes_.data() + below.begin, order_[to_buffer].data() + below.begin,
                                search_.context().pool());
  Leaf above;
  above.count = below.count - stay;
  above.begin = below.begin + stay;
  above.buffer = to_buffer;
  above.total = S::rest(below.best.total, below.best.below);
  above.depth = below.depth + 1;
  above.bounds = below.bounds;
  statistics_.bound(below.best, below.bounds, above.bounds);
  below.total = below.best.below;
  below.count = stay;
  below.buffer = to_buffer;
  below.depth += 1;
  below.gain = 0;
  const Cut cut = below.best.cut;
  leaves_.push_back(above);
  return cut;
}

}  // namespace tunemix::trees
