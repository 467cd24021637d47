// Applies rounds to blocks of documents: bins by column, leaf ids as bytes updated split by split, votes from
// a table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/bin_search.h"
#include "trees/kernels/scoring.h"
#include "tunemix/core/aligned.h"
#include "tunemix/core/context.h"
#include "tunemix/data/binning.h"
#include "tunemix/data/dataset.h"
#include "tunemix/data/score_matrix.h"
#include "tunemix/trees/round.h"

namespace tunemix::trees {

class BlockScorer {
 public:
  static constexpr size_t kBlock = kScoredTogether;
  static constexpr size_t kRoundsTogether = kTablesTogether;  // at most, in add_votes

  // Of some adjacent rounds, which outlive the scorer; their cuts are numbered by `cuts`.
  BlockScorer(const BinCuts& cuts, std::span<const BoostRound> rounds);

  // Bytes of the columns, which begin at a cache line.
  size_t columns_size() const { return features_.size() * kBlock; }
  // The bins of documents begin..begin+count, count <= kBlock, in the features that the rounds use.
  void fill(const Dataset& data, size_t begin, size_t count, int8_t* columns) const;
  void fill(const BinnedDataset& data, size_t begin, size_t count, int8_t* columns) const;
  // The leaf of each document of the block in round t; `leaf` is aligned as vectors are.
  void leaves(size_t t, const int8_t* columns, uint8_t* leaf) const;
  // scores[documents][padded_labels(labels)] += nu * h of rounds t..t+count; leaf[r * documents + i] is that
  // of document i in round t + r. `tables` is scratch.
  void add_votes(size_t t, size_t count, double shrinkage, size_t labels, const uint8_t* leaf,
                 size_t documents, AlignedVector<float>& tables, float* scores) const;

 private:
  using Step = ScoringStep;
  std::span<const BoostRound> rounds_;
  std::vector<uint32_t> features_;   // used ones, ascending
  std::vector<SearchTable> tables_;  // of their thresholds
  std::vector<Step> steps_;          // the cuts of all rounds
  std::vector<size_t> first_step_;   // of each round
};

// Scores the documents of `data`, from those of `start` (null: from 0) on; out[c] are the scores after the
// first checkpoints[c] of `rounds`, the checkpoints ascending.
void add_scores(const BinCuts& cuts, std::span<const BoostRound> rounds, double shrinkage,
                const Dataset& data, const ScoreMatrix* start, std::span<const int> checkpoints,
                std::span<ScoreMatrix> out, const Context& context);

}  // namespace tunemix::trees
