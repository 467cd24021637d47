// What a tree is grown by: what is summed for its documents, and what a cut of a node is worth by these sums.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "trees/tree.h"
#include "tunemix/core/random.h"

namespace tunemix::trees {

// Documents index[0..count), or 0..count-1 without an index.
struct Documents {
  const uint32_t* index = nullptr;
  size_t count = 0;

  uint32_t operator[](size_t k) const { return index == nullptr ? static_cast<uint32_t>(k) : index[k]; }
};

// The best cut of one feature.
struct BestCut {
  bool found = false;
  double value = 0;
  uint8_t bin = 0;
};

// The best cut of a node.
template <typename Sum>
struct NodeCut {
  bool found = false;
  double value = 0;
  Cut cut;
  bool side_known =
      false;  // documents without the value were weighed on both sides; else the cut has no side yet
  bool searched = false;
  Sum total = {};  // over the documents of the node, once it was searched
  Sum below = {};  // over those that fail the cut
};

// Histograms are arrays of cells. Documents add a row of cells each to the open histograms of columns, which
// are laid out for speed. Of those `take` makes kept ones, which can be added, subtracted and searched:
//
//   documents --rows--> | row | row | ... --add_tile, add_columns, add_drawn--> open --take--> kept
//
// A node is rated by a Rule, which may say more than the Statistics of the tree: what this node may be cut
// at.
template <typename S>
concept Statistics = requires(S& tree, const S& s, const typename S::Cell* from, typename S::Cell* to,
                              size_t n, const uint8_t* tile, std::span<const uint8_t* const> columns,
                              const Documents& documents, const typename S::Sum& sum,
                              const typename S::Rule& rule, const NodeCut<typename S::Sum>& cut,
                              const Cut& first, typename S::Bounds& bounds, Random& random) {
  // Nodes of so few documents are searched again faster than their histograms are kept.
  { S::kFew } -> std::convertible_to<size_t>;
  // To search a histogram is as much work as to add so many documents to it.
  { S::kSearchCost } -> std::convertible_to<size_t>;

  // The rule of the next node, whose values stay within the bounds; what to learn from the cut of the root,
  // before others are searched; the bounds of the children of a node that is cut, which had them both.
  { tree.rule(random, bounds) } -> std::same_as<typename S::Rule>;
  tree.see_root(cut);
  s.bound(cut, bounds, bounds);
  // All documents, of which a node's are a share.
  { s.documents() } -> std::same_as<size_t>;

  // Cells of the open histogram of a column; of the kept one of a feature with n bins, where a search may
  // read spare_cells() more; of a row. Documents whose rows are made at a time.
  { s.open_cells() } -> std::same_as<size_t>;
  { s.kept_cells(n) } -> std::same_as<size_t>;
  { s.spare_cells() } -> std::same_as<size_t>;
  { s.row_cells() } -> std::same_as<size_t>;
  { s.block() } -> std::same_as<size_t>;
  // The rows of n documents from number n on, in `to` or elsewhere.
  { s.rows(documents, n, n, to) } -> std::same_as<const typename S::Cell*>;
  // To the open histograms of 8 columns, from a tile of their bins; of some columns; of some columns
  // without rows.
  s.add_tile(from, tile, n, to);
  s.add_columns(from, columns, documents, n, n, to);
  s.add_drawn(columns, documents, n, n, to);
  // n bins of an open histogram, where zeros stay behind, to a kept one; to a plain array
  // [bins][plain_cells()]; and from there to a kept one.
  s.take(to, n, to);
  { s.plain_cells() } -> std::same_as<size_t>;
  s.take_plain(to, n, to);
  s.keep_plain(to, n, to);

  // The kept histogram of n - 1 bins in which the documents of bin 0 are in the last one instead; false where
  // bin 0 has none.
  { s.move_first(from, n, to) } -> std::same_as<bool>;
  // Over the first n bins of a kept histogram; of all documents but some.
  { s.sum(from, n) } -> std::same_as<typename S::Sum>;
  { s.rest(sum, sum) } -> std::same_as<typename S::Sum>;
  // Of n bins, of which the first belongs to the first cut, in a node of n documents and that sum.
  { s.best_cut(first, from, n, n, sum, rule) } -> std::same_as<BestCut>;
  // The value of a node that is not cut; what a cut must add to it to be worth it.
  { s.uncut(sum, rule) } -> std::same_as<double>;
  { s.least_gain(0.0, rule) } -> std::same_as<double>;
  // What a bandit is paid for a cut, and whether that is what the cut gains.
  { s.pay(cut, rule) } -> std::same_as<double>;
  { s.pays_gain() } -> std::same_as<bool>;
};

}  // namespace tunemix::trees
