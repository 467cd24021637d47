// Finds the best cut of a node from histograms of packed gradients, over all features or those that a bandit
// draws.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "learners/gradient_trees/histogram_kernel.h"
#include "trees/chance_columns.h"
#include "trees/kernels/tiles.h"
#include "tunemix/core/aligned.h"
#include "tunemix/core/context.h"
#include "tunemix/data/binning.h"
#include "tunemix/trees/round.h"

namespace tunemix::trees {

// Documents index[0..count), or first..first+count-1 without an index.
struct NodeDocuments {
  const uint32_t* index = nullptr;
  size_t count = 0;
  size_t first = 0;

  NodeDocuments part(size_t begin, size_t end) const {
    return {index == nullptr ? nullptr : index + begin, end - begin, first + begin};
  }
};

struct NodeCut {
  bool found = false;
  double value = 0;  // GL^2 / (HL + l2) + GR^2 / (HR + l2), in units
  Cut cut;
  uint64_t total = 0;  // of the node
  uint64_t below = 0;  // of the documents that fail the cut
};

// What one node may be cut at.
struct NodeRule {
  double min_hessian = 0;             // of each side, in units
  double min_documents = 1;           // of each side; counted by the share of the hessian
  double l2 = 0;                      // in units
  std::span<const uint8_t> features;  // 1 for those that may be cut; empty: all
  uint64_t random_cuts = 0;           // not 0: one random cut a feature, by this seed
};

class NodeSearch {
 public:
  NodeSearch(const BinnedDataset& bins, const BinCuts& cuts, const Context& context);

  // Words of the cumulative histograms of all features.
  size_t kept_size() const { return begin_.back(); }
  size_t open_size() const { return tiles() * 8 * kOpenStride; }

  // Histograms outside `features` (1 for those of the tree) are neither made nor kept.
  void set_features(std::span<const uint8_t> features);

  // The best cut of `small`, whose histograms go to `keep` (may be null). Where `parent` is given it becomes
  // parent - small, the histograms of the sibling, which is searched too.
  std::pair<NodeCut, NodeCut> search(const uint64_t* words, const NodeDocuments& small,
                                     const NodeRule& small_rule, uint64_t* keep, uint64_t* parent,
                                     size_t sibling_count, const NodeRule& sibling_rule);

  // Only over the given columns, the best of each in `found`.
  void search_drawn(const uint64_t* words, const NodeDocuments& documents, const NodeRule& rule,
                    std::span<const SearchedColumn> columns, std::span<NodeCut> found);

  static bool better(const NodeCut& a, const NodeCut& b) {
    if (!a.found || !b.found) return a.found;
    return a.value > b.value || (a.value == b.value && a.cut.feature < b.cut.feature);
  }
  // G^2 / (H + l2).
  static double uncut(uint64_t total, double l2);

 private:
  struct Scratch {
    AlignedVector<uint64_t> words;
    AlignedVector<uint8_t> tiles;   // gathered bins of a block of documents
    AlignedVector<uint64_t> joint;  // open, of the features that share a column
    AlignedVector<uint64_t> kept;   // of one feature
    AlignedVector<uint64_t> part;   // open, of a tile whose first documents another thread adds
  };
  struct Request {
    const uint64_t* words;
    NodeDocuments small;
    const NodeRule& small_rule;
    uint64_t* keep;
    uint64_t* parent;
    size_t sibling_count;
    const NodeRule& sibling_rule;
  };
  using Found = std::pair<NodeCut, NodeCut>;

  size_t tiles() const { return (bins_.columns() + 7) / 8; }
  bool used(size_t feature) const { return features_.empty() || features_[feature] != 0; }
  void add_documents(const uint64_t* words, const NodeDocuments& documents, size_t first_tile,
                     size_t last_tile, uint64_t* open, Scratch& own);
  void add_share(const uint64_t* words, const NodeDocuments& documents, size_t from, size_t to, Scratch& own);
  void search_tile(const Request& request, size_t tile, Scratch& own, Found& found);
  template <typename Body>
  void take_column(size_t c, uint64_t* keep, Scratch& own, Body body);
  void search_feature(size_t j, const uint64_t* kept, size_t count, const NodeRule& rule,
                      NodeCut& best) const;

  static constexpr size_t kBlock = 2048;  // documents whose words and gathered bins stay in the cache
  // Not a multiple of 4096, or the tiles would compete for the same cache lines.
  static constexpr size_t kTileStride = (kBlock + 24) * 8;
  const GradientKernels& kernels_ = gradient_kernels();
  const TileKernels& tile_kernels_ = tile_kernels();
  const BinnedDataset& bins_;
  const BinCuts& cuts_;
  const Context& context_;
  std::vector<size_t> begin_;  // of each feature in a kept histogram
  std::vector<uint8_t> features_;
  std::vector<size_t> used_tiles_;
  AlignedVector<uint64_t> open_;  // zero between searches
  std::vector<Scratch> scratch_;  // per group
};

}  // namespace tunemix::trees
