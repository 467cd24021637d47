// Applies trees to blocks of documents: bins by column, leaf ids as bytes updated split by split, votes from
// a table.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "data/bin_search.h"
#include "trees/kernels/scoring.h"
#include "trees/tree.h"
#include "tunemix/core/aligned.h"
#include "tunemix/core/context.h"
#include "tunemix/data/binning.h"
#include "tunemix/data/dataset.h"
#include "tunemix/data/score_matrix.h"

namespace tunemix::trees {

class BlockScorer {
 public:
  static constexpr size_t kBlock = kScoredTogether;
  static constexpr size_t kTreesTogether = kTablesTogether;  // at most, in add_votes

  // Of some adjacent trees, which outlive the scorer; their cuts are numbered by `cuts`.
  BlockScorer(const BinCuts& cuts, std::span<const Tree> trees);

  // Bytes of the columns, which begin at a cache line.
  size_t columns_size() const { return features_.size() * kBlock; }
  // Makes the tables that add_votes needs, of all trees.
  void keep_tables(double shrinkage, size_t labels);
  // The bins of documents begin..begin+count, count <= kBlock, in the features that the trees use: 0 for a
  // missing value. Returns whether there is one. The bins of `data` are those of the cuts, where each feature
  // may have one for missing values besides.
  bool fill(const Dataset& data, size_t begin, size_t count, int8_t* columns) const;
  bool fill(const BinnedDataset& data, size_t begin, size_t count, int8_t* columns) const;
  // The leaf of each document of the block in tree t; `leaf` is aligned as vectors are.
  void leaves(size_t t, const int8_t* columns, bool missing, uint8_t* leaf) const;
  // scores[documents][padded_labels(labels)] += nu * h of trees t..t+count; leaf[r * documents + i] is that
  // of document i in tree t + r.
  void add_votes(size_t t, size_t count, size_t labels, const uint8_t* leaf, size_t documents,
                 float* scores) const;

 private:
  using Step = ScoringStep;
  std::span<const Tree> trees_;
  std::vector<uint32_t> features_;   // used ones, ascending
  std::vector<SearchTable> tables_;  // of their thresholds
  std::vector<Step> steps_;          // the cuts of all trees
  std::vector<size_t> first_step_;   // of each tree
  AlignedVector<float> kept_tables_;
  std::vector<size_t> first_kept_;  // of each tree
};

// The scorer of a model, which is made when it first scores.
class KeptScorer {
 public:
  // The trees and cuts are those of the model, the same at every call.
  template <typename Make>
  const BlockScorer& get(Make make) const {
    const std::lock_guard lock(mutex_);
    if (scorer_ == nullptr) scorer_ = std::make_unique<const BlockScorer>(make());
    return *scorer_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::unique_ptr<const BlockScorer> scorer_;
};

// Scores the documents of `data` by a scorer that keeps tables; out[c] are the scores after the first
// checkpoints[c] of its trees, the checkpoints ascending.
void add_scores(const BlockScorer& scorer, const Dataset& data, std::span<const int> checkpoints,
                std::span<ScoreMatrix> out, const Context& context);

}  // namespace tunemix::trees
