#include "trees/plain_tree.h"

#include <algorithm>

#include "tunemix/core/error.h"

namespace tunemix::trees {
namespace {

float threshold_of(const Cut& cut, const BinCuts& cuts) { return cuts.thresholds(cut.feature)[cut.bin]; }

// Expands a product cut by cut. A cut that the path has decided already needs no node.
class ProductExpander {
 public:
  ProductExpander(const Tree& grown, const BinCuts& cuts, PlainTree& tree)
      : grown_(grown), cuts_(cuts), tree_(tree) {}

  // From the node, which is there already.
  void expand(size_t node, size_t k, bool odd) {
    if (k == grown_.cuts.size()) {
      tree_.nodes[node].leaf = odd ? 1 : 0;
      return;
    }
    const Cut& cut = grown_.cuts[k];
    bool missing = true;  // values may have come this way
    for (const auto& [seen, passed] : path_)
      if (seen.feature == cut.feature) missing = missing && seen.missing_above == passed;
    for (const auto& [seen, passed] : path_)
      if (seen.feature == cut.feature && (passed ? seen.bin >= cut.bin : seen.bin <= cut.bin) &&
          (!missing || cut.missing_above == passed))
        return expand(node, k + 1, odd != !passed);
    const size_t below = tree_.nodes.size();
    tree_.nodes.resize(below + 2);
    tree_.nodes[node] = {
        cut.feature, threshold_of(cut, cuts_), static_cast<int32_t>(below), static_cast<int32_t>(below) + 1,
        0,           cut.missing_above};
    path_.push_back({cut, false});
    expand(below, k + 1, !odd);
    path_.back().passed = true;
    expand(below + 1, k + 1, odd);
    path_.pop_back();
  }

 private:
  struct Decided {
    Cut cut;
    bool passed;
  };
  const Tree& grown_;
  const BinCuts& cuts_;
  PlainTree& tree_;
  std::vector<Decided> path_;
};

}  // namespace

std::set<uint32_t> features_with_missing(const BinCuts& cuts) {
  std::set<uint32_t> result;
  for (uint32_t j = 0; j < cuts.features(); ++j)
    if (cuts.has_missing(j)) result.insert(j);
  return result;
}

PlainTree plain_tree(const Tree& grown, const BinCuts& cuts) {
  PlainTree tree;
  if (grown.product) {
    if (grown.cuts.size() > kMostPlainTerms)
      throw_input("a product of {} terms is a tree of up to 2^{} leaves; at most {} terms are expanded",
                  grown.cuts.size(), grown.cuts.size(), kMostPlainTerms);
    tree.nodes.emplace_back();
    ProductExpander(grown, cuts, tree).expand(0, 0, false);
    return tree;
  }
  tree.nodes.emplace_back();
  std::vector<size_t> node_of = {0};  // of every leaf
  for (size_t k = 0; k < grown.cuts.size(); ++k) {
    const uint32_t split = grown.split_leaf[k];
    const size_t node = node_of[split];
    const auto below = static_cast<int32_t>(tree.nodes.size());
    tree.nodes[node] = {grown.cuts[k].feature,      threshold_of(grown.cuts[k], cuts), below, below + 1, 0,
                        grown.cuts[k].missing_above};
    tree.nodes.emplace_back().leaf = split;
    tree.nodes.emplace_back().leaf = static_cast<uint32_t>(k + 1);
    node_of[split] = static_cast<size_t>(below);
    node_of.push_back(static_cast<size_t>(below) + 1);
  }
  return tree;
}

}  // namespace tunemix::trees
