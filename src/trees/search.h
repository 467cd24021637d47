// Finds the best cut for a set of documents: over all features, or over those that a bandit draws.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "trees/histogram.h"
#include "trees/reward_scale.h"
#include "tunemix/trees/bandit.h"

namespace tunemix::trees {

struct FoundCut {
  bool found = false;
  double value = 0;  // of the criterion
  Cut cut;
  Sums total = {};  // over the documents
  Sums below = {};  // over those that fail the cut
};

// What an arm of the bandit is paid for: the edge of its best cut (T&M figure 6), or what that cut adds to
// the leaf's value of the criterion. The edge of a leaf is mostly there without any cut, so that all arms
// would look alike.
enum class Pay { kEdge, kGain };

class Searcher {
 public:
  static constexpr size_t kFew = 1024;  // so few documents are searched again faster than kept

  // `bandit` may be null; both outlive the searcher.
  Searcher(const BinnedDataset& bins, const BinCuts& cuts, const WeightTable& weights, RowKind rows,
           Bandit* bandit, size_t arms_per_pull, Random* random, const Context& context);

  const BinnedDataset& bins() const { return bins_; }
  const WeightTable& weights() const { return weights_; }
  const Kernels& kernels() const { return *kernels_; }
  const Context& context() const { return context_; }
  bool has_bandit() const { return bandit_ != nullptr; }
  // All documents that are trained on.
  Documents root() const {
    const std::span<const uint32_t> trained = weights_.trained();
    return trained.empty() ? Documents{nullptr, weights_.documents()}
                           : Documents{trained.data(), trained.size()};
  }
  // int32 of the histograms of all features: open, and packed.
  size_t open_size() const { return tiles() * 8 * kernels_->open_size(); }
  size_t packed_size() const { return packed_begin_.back() + kernels_->lanes(); }

  // Over all features. Leaves the packed histograms in `keep`, which may be null; `parent`, if any, becomes
  // parent - these, and is searched too.
  std::pair<FoundCut, FoundCut> search_all(const Documents& documents, const uint8_t* flip,
                                           const Criterion& criterion, int32_t* keep, int32_t* parent);
  // Over features drawn from the bandit, which is paid.
  FoundCut search_drawn(const Documents& documents, const uint8_t* flip, const Criterion& criterion, Pay pay);

  // The criterion's value where nothing is cut.
  double uncut(const Sums& total, const Criterion& criterion) const;

  // What the rewards of Pay::kGain are relative to; belongs to the bandit's state.
  RewardScale& reward_scale() { return reward_scale_; }

  // The edge that a cut reaches under the criterion's votes, in [0, 1].
  double edge(const FoundCut& cut, const Criterion& criterion) const;

 private:
  struct Scratch {
    AlignedVector<int32_t> rows;
    AlignedVector<uint8_t> bins;
    AlignedVector<int32_t> open;    // of one tile, where all documents are in one block, or of drawn features
    AlignedVector<int32_t> packed;  // of one feature
    AlignedVector<int32_t> joint;   // packed, of the features that share a column
  };

  size_t tiles() const { return (bins_.columns() + 7) / 8; }
  // Documents whose rows are made at a time: these stay in the L2 cache, as do their gathered bins.
  size_t row_block() const { return std::min<size_t>(4096, kRowBytes / (4 * kernels_->lanes())); }
  // Bytes of a gathered tile; not a multiple of 4096, or those of a panel would compete for the same lines.
  size_t gathered_stride() const { return (row_block() + 24) * 8; }
  void gather_tiles(size_t first, size_t last, const Documents& documents, size_t begin, size_t count,
                    uint8_t* out) const;
  void add_columns(size_t t, const int32_t* rows, const Documents& documents, size_t begin, size_t count,
                   int32_t* open) const;
  size_t tile_end(size_t t) const { return std::min(t * 8 + 8, bins_.columns()); }
  void search_feature(size_t j, const int32_t* packed, const Criterion& criterion, FoundCut& best) const;
  // Takes the packed histograms of all features of column c out of its open one, and calls body(feature,
  // packed) for each. They are in `keep`, or only for the call without it.
  template <typename Body>
  void take_column(size_t c, int32_t* open, int32_t* keep, Scratch& own, Body body) const;
  std::pair<FoundCut, FoundCut> search_group(const Documents& documents, const uint8_t* flip,
                                             const Criterion& criterion, int32_t* keep, int32_t* parent,
                                             size_t group, size_t groups);
  // Adds the documents to open histograms of the columns, in as many groups of documents as it returns; then
  // the packed histogram of the k-th of them, over all groups.
  size_t add_drawn(const Documents& documents, const uint8_t* flip, std::span<const SearchedColumn> columns);
  const int32_t* take_added(size_t k, size_t bins, size_t groups);

  static constexpr size_t kRowBytes = 256 << 10;
  static constexpr size_t kDrawnAtOnce = 16;  // columns whose open histograms exist together
  const BinnedDataset& bins_;
  const BinCuts& cuts_;
  const WeightTable& weights_;
  const Kernels* kernels_;
  Bandit* bandit_;
  size_t arms_per_pull_;
  Random* random_;
  RewardScale reward_scale_;
  const Context& context_;
  std::vector<Scratch> scratch_;  // per group
  // Open histograms are zero between searches.
  AlignedVector<int32_t> open_;       // of all features, where documents come in several blocks
  std::vector<size_t> packed_begin_;  // of each feature
};

}  // namespace tunemix::trees
