#include "boost/block_scorer.h"

#include <algorithm>
#include <cstring>

#include "tunemix/core/aligned.h"

namespace tunemix::boost {
namespace {

typedef uint8_t Bytes __attribute__((vector_size(64), may_alias));
constexpr size_t kVectors = BlockScorer::kBlock / sizeof(Bytes);

}  // namespace

BlockScorer::BlockScorer(const BinCuts& cuts, std::span<const BoostRound> rounds) : rounds_(rounds) {
  for (const BoostRound& round : rounds)
    for (const Cut& cut : round.cuts) features_.push_back(cut.feature);
  std::sort(features_.begin(), features_.end());
  features_.erase(std::unique(features_.begin(), features_.end()), features_.end());
  for (const uint32_t j : features_) tables_.emplace_back(cuts.thresholds(j));
  for (const BoostRound& round : rounds) {
    std::vector<uint32_t>& columns = column_.emplace_back();
    for (const Cut& cut : round.cuts)
      columns.push_back(static_cast<uint32_t>(
          std::lower_bound(features_.begin(), features_.end(), cut.feature) - features_.begin()));
  }
}

void BlockScorer::fill(const Dataset& data, size_t begin, size_t count, uint8_t* columns) const {
  const float* rows = data.row(begin).data();
  for (size_t u = 0; u < features_.size(); ++u) {
    for (size_t i = 0; i < count; ++i)
      columns[u * kBlock + i] = tables_[u].bin(rows[i * data.features() + features_[u]]);
  }
}

void BlockScorer::fill(const BinnedDataset& data, size_t begin, size_t count, uint8_t* columns) const {
  for (size_t u = 0; u < features_.size(); ++u) {
    const size_t width = data.width(features_[u]);
    const uint8_t* from = data.feature(features_[u]) + begin * width;
    for (size_t i = 0; i < count; ++i) columns[u * kBlock + i] = from[i * width];
  }
}

void BlockScorer::leaves(size_t t, const uint8_t* columns, uint8_t* leaf) const {
  const BoostRound& round = rounds_[t];
  // The ids of all documents stay in registers, and a cut's vectors do not wait for each other.
  Bytes id[kVectors] = {};
  for (size_t k = 0; k < round.cuts.size(); ++k) {
    const auto* column = reinterpret_cast<const Bytes*>(columns + column_[t][k] * kBlock);
    const uint8_t bin = round.cuts[k].bin;
    if (round.product) {
      for (size_t v = 0; v < kVectors; ++v) id[v] ^= (column[v] <= bin) & 1;
      continue;
    }
    const uint8_t parent = round.split_leaf[k];
    const Bytes child = Bytes{} + static_cast<uint8_t>(k + 1);
    for (size_t v = 0; v < kVectors; ++v) id[v] = ((column[v] > bin) & (id[v] == parent)) ? child : id[v];
  }
  std::memcpy(leaf, id, sizeof id);
}

void BlockScorer::add_votes(size_t t, double shrinkage, size_t labels, const uint8_t* leaf,
                            float* __restrict scores) const {
  const BoostRound& round = rounds_[t];
  const auto step = static_cast<float>(shrinkage * round.alpha);
  if (!round.values.empty()) {
    for (size_t l = 0; l < labels; ++l)
      for (size_t i = 0; i < kBlock; ++i) scores[l * kBlock + i] += step * round.values[leaf[i] * labels + l];
    return;
  }
  uint32_t votes[kBlock];
  for (size_t i = 0; i < kBlock; ++i) votes[i] = round.votes[leaf[i]];
  for (size_t l = 0; l < labels; ++l)
    for (size_t i = 0; i < kBlock; ++i) scores[l * kBlock + i] += (votes[i] >> l & 1) != 0 ? step : -step;
}

void add_scores(const BinCuts& cuts, std::span<const BoostRound> rounds, double shrinkage,
                const Dataset& data, const ScoreMatrix* start, std::span<const int> checkpoints,
                std::span<ScoreMatrix> out, const Context& context) {
  if (checkpoints.empty()) return;
  constexpr size_t kBlock = BlockScorer::kBlock;
  const size_t labels = out[0].columns();
  const BlockScorer scorer(cuts, rounds.first(static_cast<size_t>(checkpoints.back())));
  struct Scratch {
    AlignedVector<uint8_t> columns;
    std::vector<float> scores;
  };
  std::vector<Scratch> scratch(static_cast<size_t>(context.threads()));
  const size_t blocks = (data.documents() + kBlock - 1) / kBlock;
  context.pool().run_with_thread(blocks, [&](size_t block, int thread) {
    Scratch& own = scratch[static_cast<size_t>(thread)];
    own.columns.resize(scorer.columns_size());
    own.scores.assign(labels * kBlock, 0.0F);
    const size_t begin = block * kBlock;
    const size_t count = std::min(kBlock, data.documents() - begin);
    if (start != nullptr)
      for (size_t i = 0; i < count; ++i)
        for (size_t l = 0; l < labels; ++l) own.scores[l * kBlock + i] = start->row(begin + i)[l];
    scorer.fill(data, begin, count, own.columns.data());
    uint8_t leaf[kBlock];
    size_t t = 0;
    for (size_t c = 0; c < checkpoints.size(); ++c) {
      for (; t < static_cast<size_t>(checkpoints[c]); ++t) {
        scorer.leaves(t, own.columns.data(), leaf);
        scorer.add_votes(t, shrinkage, labels, leaf, own.scores.data());
      }
      for (size_t i = 0; i < count; ++i)
        for (size_t l = 0; l < labels; ++l) out[c].row(begin + i)[l] = own.scores[l * kBlock + i];
    }
  });
}

}  // namespace tunemix::boost
