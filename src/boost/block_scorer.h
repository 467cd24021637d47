// Applies rounds to blocks of 256 documents: bins by column, leaf ids as bytes updated split by split, votes
// from a table.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/bin_search.h"
#include "tunemix/boost/adaboost_mh.h"

namespace tunemix::boost {

class BlockScorer {
 public:
  static constexpr size_t kBlock = 256;

  // Of some adjacent rounds, which outlive the scorer; their cuts are numbered by `cuts`.
  BlockScorer(const BinCuts& cuts, std::span<const BoostRound> rounds);

  // Bytes of the columns, which begin at a cache line.
  size_t columns_size() const { return features_.size() * kBlock; }
  // The bins of documents begin..begin+count, count <= kBlock, in the features that the rounds use.
  void fill(const Dataset& data, size_t begin, size_t count, uint8_t* columns) const;
  void fill(const BinnedDataset& data, size_t begin, size_t count, uint8_t* columns) const;
  // The leaf of each document of the block in round t.
  void leaves(size_t t, const uint8_t* columns, uint8_t* leaf) const;
  // scores[label][kBlock] += nu * h_label of round t.
  void add_votes(size_t t, double shrinkage, size_t labels, const uint8_t* leaf, float* scores) const;

 private:
  std::span<const BoostRound> rounds_;
  std::vector<uint32_t> features_;             // used ones, ascending
  std::vector<SearchTable> tables_;            // of their thresholds
  std::vector<std::vector<uint32_t>> column_;  // of each cut of each round: where in features_ it is
};

// Scores the documents of `data`, from those of `start` (null: from 0) on; out[c] are the scores after the
// first checkpoints[c] of `rounds`, the checkpoints ascending.
void add_scores(const BinCuts& cuts, std::span<const BoostRound> rounds, double shrinkage,
                const Dataset& data, const ScoreMatrix* start, std::span<const int> checkpoints,
                std::span<ScoreMatrix> out, const Context& context);

}  // namespace tunemix::boost
