#include "learners/gradient_trees/grower.h"

#include <algorithm>
#include <cmath>

#include "trees/partition.h"

namespace tunemix::trees {
TreeGrower::TreeGrower(const BinnedDataset& bins, const BinCuts& cuts, const GrowthOptions& options,
                       Bandit* bandit, size_t histogram_bytes, const Context& context)
    : bins_(bins),
      cuts_(cuts),
      options_(options),
      bandit_(bandit),
      reward_scale_(bandit, bins, cuts),
      context_(context),
      search_(bins, cuts, context) {
  const size_t bytes = std::max(kLeastSlotBytes, histogram_bytes);
  const size_t open = search_.open_size() * sizeof(uint64_t);
  const size_t slot = std::max<size_t>(1, search_.kept_size() * sizeof(uint64_t));
  const size_t fit = bytes > open ? (bytes - open) / slot : 0;
  const size_t wanted = bandit != nullptr ? 0 : static_cast<size_t>(options.leaves) + 1;
  slots_.resize(std::min(wanted, std::max<size_t>(3, fit)));
  for (size_t s = slots_.size(); s > 0; --s) free_slots_.push_back(static_cast<int>(s - 1));
}

int TreeGrower::take_slot() {
  const int slot = free_slots_.back();
  free_slots_.pop_back();
  if (slots_[slot].empty()) slots_[slot].resize(search_.kept_size());
  return slot;
}

void TreeGrower::give_back(int& slot) {
  if (slot >= 0) free_slots_.push_back(slot);
  slot = -1;
}

void TreeGrower::keep_a_slot_free() {
  if (!free_slots_.empty()) return;
  Leaf* least = nullptr;
  for (Leaf& leaf : leaves_)
    if (leaf.slot >= 0 && (least == nullptr || leaf.count < least->count)) least = &leaf;
  give_back(least->slot);
}

NodeDocuments TreeGrower::documents(const Leaf& leaf) const {
  if (leaf.buffer >= 0) return {order_[leaf.buffer].data() + leaf.begin, leaf.count};
  return {root_index_, leaf.count};
}

bool TreeGrower::may_split(const Leaf& leaf) const {
  return (options_.depth == 0 || leaf.depth < options_.depth) &&
         leaf.count >= 2 * static_cast<size_t>(options_.min_documents);
}

NodeRule TreeGrower::rule(std::vector<uint8_t>& features, Random& random) const {
  NodeRule rule;
  rule.min_hessian = options_.min_hessian * scale_.hessian;
  rule.min_documents = options_.min_documents;
  rule.l2 = options_.l2 * scale_.hessian;
  if (options_.random_cuts) rule.random_cuts = random.next() | 1;
  if (options_.node_features < 1) {
    // The wanted number of features, each set equally likely.
    const double wanted = std::round(options_.node_features * static_cast<double>(usable_.size()));
    auto needed = static_cast<uint64_t>(std::max(1.0, wanted));
    features.assign(cuts_.features(), 0);
    for (size_t k = 0; k < usable_.size() && needed > 0; ++k)
      if (random.below(usable_.size() - k) < needed) {
        features[usable_[k]] = 1;
        --needed;
      }
    rule.features = features;
  }
  return rule;
}

void TreeGrower::rate(Leaf& leaf) {
  leaf.gain = 0;
  if (!leaf.best.found) return;
  const double before = NodeSearch::uncut(leaf.best.total, options_.l2 * scale_.hessian);
  const double gain = leaf.best.value - before;
  if (gain > kLeastGain * before) leaf.gain = gain;
}

void TreeGrower::search_drawn(Leaf& leaf, Random& random) {
  leaf.best = NodeCut();
  leaf.gain = 0;
  if (!may_split(leaf)) return;
  const std::vector<uint32_t> arms = bandit_->draw(options_.arms_per_pull, random);
  const std::vector<SearchedColumn> columns = reward_scale_.columns(arms, true);
  drawn_.resize(columns.size());
  const NodeRule own_rule = rule(node_features_[0], random);
  search_.search_drawn(words_, documents(leaf), own_rule, columns, drawn_);
  // In units that do not depend on the tree.
  const double unit = scale_.hessian / (static_cast<double>(scale_.gradient) * scale_.gradient);
  std::vector<double> rewards;
  for (const NodeCut& found : drawn_) {
    if (rewards.size() < arms.size() && NodeSearch::better(found, leaf.best)) leaf.best = found;
    rewards.push_back(found.found ? unit * (found.value - NodeSearch::uncut(found.total, own_rule.l2)) : 0);
  }
  reward_scale_.reward(rewards, arms.size(), leaf.count, passes_.size());
  bandit_->reward(arms, rewards, static_cast<double>(leaf.count) / static_cast<double>(passes_.size()));
  rate(leaf);
}

void TreeGrower::search_alone(Leaf& leaf, Random& random) {
  leaf.best = NodeCut();
  leaf.gain = 0;
  if (!may_split(leaf)) return;
  leaf.slot = leaf.count > kFew ? take_slot() : -1;
  const NodeRule own = rule(node_features_[0], random);
  leaf.best = search_
                  .search(words_, documents(leaf), own, leaf.slot < 0 ? nullptr : slots_[leaf.slot].data(),
                          nullptr, 0, own)
                  .first;
  rate(leaf);
  if (leaf.gain <= 0) give_back(leaf.slot);
}

void TreeGrower::search_root(Random& random) {
  if (bandit_ != nullptr)
    search_drawn(leaves_[0], random);
  else
    search_alone(leaves_[0], random);
}

void TreeGrower::search_children(size_t parent, Random& random) {
  Leaf& below = leaves_[parent];
  Leaf& above = leaves_.back();
  if (bandit_ != nullptr) {
    search_drawn(below, random);
    search_drawn(above, random);
    return;
  }
  Leaf& small = below.count <= above.count ? below : above;
  Leaf& large = below.count <= above.count ? above : below;
  int parent_slot = below.slot;
  below.slot = -1;
  above.slot = -1;
  if (parent_slot < 0 || !may_split(large)) {
    // Without the parent's histograms, or where the sibling's are not needed.
    give_back(parent_slot);
    search_alone(small, random);
    keep_a_slot_free();
    search_alone(large, random);
    keep_a_slot_free();
    return;
  }
  const bool split_small = may_split(small);
  small.slot = split_small && small.count > kFew ? take_slot() : -1;
  large.slot = parent_slot;
  const NodeRule small_rule = rule(node_features_[0], random);
  const NodeRule large_rule = rule(node_features_[1], random);
  std::tie(small.best, large.best) = search_.search(words_, documents(small), small_rule,
                                                    small.slot < 0 ? nullptr : slots_[small.slot].data(),
                                                    slots_[large.slot].data(), large.count, large_rule);
  if (!split_small) small.best = NodeCut();
  for (Leaf* leaf : {&small, &large}) {
    rate(*leaf);
    if (leaf->gain <= 0 || leaf->count <= kFew) give_back(leaf->slot);
  }
  keep_a_slot_free();
}

// Documents that pass the cut become a new leaf at the end of `leaves_`; the others stay. Both keep their
// order.
void TreeGrower::split(size_t parent) {
  Leaf& below = leaves_[parent];
  Leaf above;
  const Cut cut = below.best.cut;
  const uint32_t* from = documents(below).index;
  const int to_buffer = below.buffer == 0 ? 1 : 0;
  const size_t tree_documents = passes_.size();
  if (order_[to_buffer].size() < tree_documents) order_[to_buffer].resize(tree_documents);
  uint32_t* to = order_[to_buffer].data() + below.begin;
  uint8_t* passes = passes_.data() + below.begin;

  const size_t stay = partition(bins_, cut, from, below.count, passes, to, context_.pool());

  above.count = below.count - stay;
  above.begin = below.begin + stay;
  above.buffer = to_buffer;
  above.total = below.best.total - below.best.below;
  above.depth = below.depth + 1;
  below.total = below.best.below;
  below.count = stay;
  below.buffer = to_buffer;
  below.depth += 1;
  below.gain = 0;
  leaves_.push_back(above);
}

GrownTree TreeGrower::grow(const uint64_t* words, const WordScale& scale,
                           std::span<const uint32_t> tree_documents, bool all,
                           std::span<const uint8_t> features, Random& random) {
  words_ = words;
  scale_ = scale;
  tree_features_ = features;
  root_index_ = all ? nullptr : tree_documents.data();
  passes_.resize(all ? bins_.documents() : tree_documents.size());
  usable_.clear();
  for (uint32_t j = 0; j < cuts_.features(); ++j)
    if (cuts_.bins(j) > 1 && (features.empty() || features[j] != 0)) usable_.push_back(j);
  search_.set_features(features);
  leaves_.assign(1, Leaf());
  leaves_[0].count = passes_.size();

  GrownTree tree;
  const double unit = scale.hessian / (static_cast<double>(scale.gradient) * scale.gradient);
  search_root(random);
  while (leaves_.size() < static_cast<size_t>(options_.leaves)) {
    const auto widest = std::max_element(leaves_.begin(), leaves_.end(),
                                         [](const Leaf& a, const Leaf& b) { return a.gain < b.gain; });
    if (widest->gain <= 0) break;
    const auto parent = static_cast<size_t>(widest - leaves_.begin());
    tree.round.cuts.push_back(widest->best.cut);
    tree.round.split_leaf.push_back(static_cast<uint8_t>(parent));
    tree.gains.push_back(static_cast<float>(widest->gain * unit));
    split(parent);
    if (leaves_.size() < static_cast<size_t>(options_.leaves)) search_children(parent, random);
  }
  if (leaves_.size() == 1)  // otherwise cuts have told the totals
    for (size_t k = 0; k < leaves_[0].count; ++k)
      leaves_[0].total += words[all ? k : static_cast<size_t>(tree_documents[k])];
  tree.round.alpha = 1;
  tree.round.normalizer = 1;
  for (Leaf& leaf : leaves_) {
    give_back(leaf.slot);
    const double g = packed_gradient(leaf.total) / static_cast<double>(scale.gradient);
    const double h = packed_hessian(leaf.total) / static_cast<double>(scale.hessian) + options_.l2;
    tree.round.values.push_back(h > 0 ? static_cast<float>(-g / h) : 0.0F);
  }
  return tree;
}

void TreeGrower::for_leaves(const std::function<void(size_t, NodeDocuments)>& body) const {
  context_.pool().run(leaves_.size(), [&](size_t k) { body(k, documents(leaves_[k])); });
}

}  // namespace tunemix::trees
