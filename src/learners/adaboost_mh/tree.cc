#include <algorithm>
#include <array>
#include <cmath>

#include "learners/adaboost_mh/round_learner.h"
#include "trees/partition.h"

namespace tunemix::trees {
namespace {

// Full-search histograms of leaves that may still be split: a child's is then its parent's minus its
// sibling's. There are few, so the leaves with most documents keep theirs.
class HistogramSlots {
 public:
  HistogramSlots(size_t size, size_t slots) : size_(size), slots_(slots) {
    for (size_t s = slots; s > 0; --s) free_.push_back(static_cast<int>(s - 1));
  }
  bool any_free() const { return !free_.empty(); }
  int take() {
    const int slot = free_.back();
    free_.pop_back();
    if (slots_[slot].empty()) slots_[slot].resize(size_);
    return slot;
  }
  void give_back(int& slot) {
    if (slot >= 0) free_.push_back(slot);
    slot = -1;
  }
  int32_t* operator[](int slot) { return slot < 0 ? nullptr : slots_[slot].data(); }

 private:
  size_t size_;
  std::vector<AlignedVector<int32_t>> slots_;
  std::vector<int> free_;
};

struct Leaf {
  size_t begin = 0;  // its documents are order[buffer][begin..begin+count)
  size_t count = 0;
  int buffer = -1;  // -1: all that are trained on, in their own order
  Sums total = {};
  FoundCut best;
  double gain = 0;  // of splitting at `best`; 0 where that is not worth it
  int slot = -1;
};

class TreeLearner final : public RoundLearner {
 public:
  TreeLearner(const AdaBoostOptions& options, Searcher& searcher)
      : options_(options),
        searcher_(searcher),
        slots_(searcher.packed_size(), slot_count(options, searcher)) {}

  BoostRound fit(bool full, std::span<uint8_t> leaf) override {
    full_ = full || !searcher_.has_bandit();
    leaves_.assign(1, Leaf());
    leaves_[0].count = searcher_.root().count;
    passes_ = leaf;  // its bytes are free until the leaves are known
    criterion_ = {options_.growth == Growth::kEnergy ? CriterionKind::kEnergy : CriterionKind::kEdge, false,
                  0};
    BoostRound round;
    search_root();
    while (leaves_.size() < static_cast<size_t>(options_.leaves)) {
      const auto widest = std::max_element(leaves_.begin(), leaves_.end(),
                                           [](const Leaf& a, const Leaf& b) { return a.gain < b.gain; });
      if (widest->gain <= 0) break;
      const auto parent = static_cast<size_t>(widest - leaves_.begin());
      round.cuts.push_back(leaves_[parent].best.cut);
      round.split_leaf.push_back(static_cast<uint8_t>(parent));
      split(parent);
      if (leaves_.size() < static_cast<size_t>(options_.leaves)) search_children(parent);
    }
    for (Leaf& l : leaves_) slots_.give_back(l.slot);
    set_votes(round);
    write_leaves(leaf);
    return round;
  }

 private:
  // Bins, weights and histograms together may take 1.2 bytes a (document, feature) and 52 a document; open
  // histograms come first. Under a bandit every search has its own features, so there is nothing to keep.
  static size_t slot_count(const AdaBoostOptions& options, const Searcher& searcher) {
    const size_t documents = searcher.bins().documents();
    const size_t limit = documents * searcher.bins().features() * 6 / 5 + documents * 52;
    const size_t taken = searcher.bins().bytes() + searcher.weights().values().size_bytes();
    const size_t bytes = std::max(kLeastSlotBytes, limit - std::min(limit, taken));
    const size_t open = searcher.open_size() * sizeof(int32_t);
    const size_t fit = bytes > open ? (bytes - open) / (searcher.packed_size() * sizeof(int32_t)) : 0;
    const size_t wanted = searcher.has_bandit() ? 3 : static_cast<size_t>(options.leaves) + 1;
    return std::min(wanted, std::max<size_t>(3, fit));
  }

  Documents documents(const Leaf& leaf) const {
    if (leaf.buffer < 0) return searcher_.root();
    return {order_[leaf.buffer].data() + leaf.begin, leaf.count};
  }

  void search_root() {
    Leaf& root = leaves_[0];
    if (options_.votes == Votes::kShared) {
      // The best stump splits the root, and its votes hold for the whole tree.
      const Criterion stump = {CriterionKind::kStump, false, 0};
      root.best = search(root, stump);
      root.total = root.best.total;
      set_shared_votes(root.best);
      if (root.best.found) root.gain = root.best.value - searcher_.uncut(root.total, stump);
      return;
    }
    root.best = search(root, criterion_);
    root.total = root.best.total;
    rate(root);
  }

  FoundCut search(Leaf& leaf, const Criterion& criterion) {
    if (!full_) return searcher_.search_drawn(documents(leaf), nullptr, criterion, Pay::kGain);
    leaf.slot = slot_for(leaf);
    return searcher_.search_all(documents(leaf), nullptr, criterion, slots_[leaf.slot], nullptr).first;
  }

  int slot_for(const Leaf& leaf) { return leaf.count > Searcher::kFew ? slots_.take() : -1; }

  void set_shared_votes(const FoundCut& stump) {
    criterion_.pooled = true;
    criterion_.votes = 0;
    for (size_t l = 0; l < searcher_.weights().labels(); ++l)
      if (searcher_.kernels().signed_sum(stump.total, l) >
          2LL * searcher_.kernels().signed_sum(stump.below, l))
        criterion_.votes |= 1U << l;
  }

  // A split must gain more than what rounding can pretend.
  void rate(Leaf& leaf) {
    leaf.gain = 0;
    if (!leaf.best.found) return;
    const double before = searcher_.uncut(leaf.total, criterion_);
    const double gain = leaf.best.value - before;
    if (gain > kLeastGain * std::abs(before)) leaf.gain = gain;
  }

  // Documents that pass the cut become a new leaf at the end of `leaves_`; the others stay. Both keep their
  // order.
  void split(size_t parent) {
    Leaf& below = leaves_[parent];
    Leaf above;
    const Cut cut = below.best.cut;
    const uint32_t* from = documents(below).index;
    const int to_buffer = below.buffer == 0 ? 1 : 0;
    if (order_[to_buffer].empty()) order_[to_buffer].resize(searcher_.root().count);
    uint32_t* to = order_[to_buffer].data() + below.begin;
    uint8_t* passes = passes_.data() + below.begin;
    const size_t stay =
        partition(searcher_.bins(), cut, from, below.count, passes, to, searcher_.context().pool());

    above.count = below.count - stay;
    above.begin = below.begin + stay;
    above.buffer = to_buffer;
    for (size_t k = 0; k < kMostLanes; ++k) above.total[k] = below.best.total[k] - below.best.below[k];
    below.total = below.best.below;
    below.count = stay;
    below.buffer = to_buffer;
    below.gain = 0;
    leaves_.push_back(above);
  }

  void search_children(size_t parent) {
    Leaf& below = leaves_[parent];
    Leaf& above = leaves_.back();
    if (!full_) {
      below.best = search(below, criterion_);
      above.best = search(above, criterion_);
    } else {
      search_both(below.count <= above.count ? below : above, below.count <= above.count ? above : below,
                  below.slot);
    }
    rate(below);
    rate(above);
    for (Leaf* leaf : {&below, &above})
      if (leaf->gain <= 0 || leaf->count <= Searcher::kFew) slots_.give_back(leaf->slot);
    keep_a_slot_free();
  }

  // By value: the parent's slot is that of one of the two.
  void search_both(Leaf& small, Leaf& large, const int parent_slot) {
    small.slot = -1;
    large.slot = -1;
    if (parent_slot < 0) {
      small.best = search(small, criterion_);
      keep_a_slot_free();
      large.best = search(large, criterion_);
      return;
    }
    small.slot = slot_for(small);
    large.slot = parent_slot;
    std::tie(small.best, large.best) =
        searcher_.search_all(documents(small), nullptr, criterion_, slots_[small.slot], slots_[large.slot]);
  }

  void keep_a_slot_free() {
    if (slots_.any_free()) return;
    Leaf* least = nullptr;
    for (Leaf& leaf : leaves_)
      if (leaf.slot >= 0 && (least == nullptr || leaf.count < least->count)) least = &leaf;
    slots_.give_back(least->slot);
  }

  void set_votes(BoostRound& round) {
    switch (options_.votes) {
      case Votes::kLeaf:
        return set_leaf_votes(round);
      case Votes::kShared:
        return set_scalar_votes(round);
      case Votes::kReal:
        return set_real_votes(round);
    }
  }

  double sum(size_t leaf, size_t label) const {
    return searcher_.kernels().signed_sum(leaves_[leaf].total, label);
  }

  void set_leaf_votes(BoostRound& round) {
    double edge = 0;
    for (size_t k = 0; k < leaves_.size(); ++k) {
      uint32_t votes = 0;
      for (size_t l = 0; l < searcher_.weights().labels(); ++l) {
        if (sum(k, l) > 0) votes |= 1U << l;
        edge += std::abs(sum(k, l));
      }
      round.votes.push_back(votes);
    }
    round.edge = std::min(1.0, edge / kOne);
  }

  // Leaf signs and label votes in turn, each the best for the other, until the edge stops growing.
  void set_scalar_votes(BoostRound& round) {
    const size_t labels = searcher_.weights().labels();
    uint32_t votes = criterion_.votes;
    const auto vote = [&](size_t l) { return (votes >> l & 1) != 0 ? 1.0 : -1.0; };
    std::vector<double> sign(leaves_.size());
    for (double before = -1;;) {
      double edge = 0;
      for (size_t k = 0; k < leaves_.size(); ++k) {
        double pooled = 0;
        for (size_t l = 0; l < labels; ++l) pooled += vote(l) * sum(k, l);
        sign[k] = pooled > 0 ? 1 : -1;
        edge += std::abs(pooled);
      }
      round.edge = std::min(1.0, edge / kOne);
      if (edge <= before) break;
      before = edge;
      for (size_t l = 0; l < labels; ++l) {
        double total = 0;
        for (size_t k = 0; k < leaves_.size(); ++k) total += sign[k] * sum(k, l);
        votes = total > 0 ? votes | 1U << l : votes & ~(1U << l);
      }
    }
    for (size_t k = 0; k < leaves_.size(); ++k)
      round.votes.push_back(sign[k] > 0 ? votes : ~votes & label_mask(labels));
  }

  // Schapire and Singer 1999, section 4.2; the smoothing e is one pair's share of the weight.
  void set_real_votes(BoostRound& round) {
    const size_t labels = searcher_.weights().labels();
    const double smoothing = 1.0 / static_cast<double>(searcher_.bins().documents() * labels);
    double edge = 0;
    for (size_t k = 0; k < leaves_.size(); ++k)
      for (size_t l = 0; l < labels; ++l) {
        const double right = searcher_.kernels().positive_sum(leaves_[k].total, l) / kOne;
        const double wrong = right - sum(k, l) / kOne;
        round.values.push_back(static_cast<float>(0.5 * std::log((right + smoothing) / (wrong + smoothing))));
        edge += std::abs(right - wrong);
      }
    round.edge = std::min(1.0, edge);
  }

  void write_leaves(std::span<uint8_t> leaf) {
    if (leaves_.size() == 1) {
      std::fill(leaf.begin(), leaf.end(), uint8_t{0});
      return;
    }
    searcher_.context().pool().run(leaves_.size(), [&](size_t k) {
      const Documents own = documents(leaves_[k]);
      for (size_t i = 0; i < own.count; ++i) leaf[own.index[i]] = static_cast<uint8_t>(k);
    });
  }

  static constexpr size_t kLeastSlotBytes = 8 << 20;
  static constexpr double kLeastGain = 1e-6;
  const AdaBoostOptions& options_;
  Searcher& searcher_;
  HistogramSlots slots_;
  bool full_ = true;
  Criterion criterion_;
  std::vector<Leaf> leaves_;
  std::vector<uint32_t> order_[2];
  std::span<uint8_t> passes_;  // whether each document passes the cut, in the order of the leaf that is split
};

}  // namespace

RowKind rows_needed(const AdaBoostOptions& options) {
  const bool split = options.base == BaseLearner::kTree &&
                     (options.growth == Growth::kEnergy || options.votes == Votes::kReal);
  return split ? RowKind::kSplit : RowKind::kSigned;
}

std::unique_ptr<RoundLearner> make_tree_learner(const AdaBoostOptions& options, Searcher& searcher) {
  return std::make_unique<TreeLearner>(options, searcher);
}

}  // namespace tunemix::trees
