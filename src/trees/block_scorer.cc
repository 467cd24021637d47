#include "trees/block_scorer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "tunemix/core/aligned.h"

namespace tunemix::trees {
namespace {

// Columns hold bins less 128: there are no comparisons of unsigned bytes before AVX-512.
int8_t biased(int bin) { return static_cast<int8_t>(bin - 128); }

// Whether one of the bins is that of missing values.
bool has_missing(const int8_t* column, size_t count) {
  uint32_t missing = 0;
  for (size_t i = 0; i < count; ++i) missing |= static_cast<uint32_t>(column[i] == biased(0));
  return missing != 0;
}

typedef uint32_t Signs __attribute__((vector_size(16)));

// The sign bits of four votes: set where a vote's bit is not.
constexpr std::array<Signs, 16> kSigns = [] {
  std::array<Signs, 16> signs{};
  for (uint32_t votes = 0; votes < 16; ++votes)
    signs[votes] = Signs{~votes << 31, ~votes << 30, ~votes << 29, ~votes << 28} & 1U << 31;
  return signs;
}();

// table[leaf][stride] = step * (the leaf's votes).
void fill_table(const Tree& tree, float step, size_t labels, size_t stride, float* table) {
  if (tree.values.empty()) {
    const Signs up = Signs{} + std::bit_cast<uint32_t>(step);
    const std::span<const uint32_t> votes = tree.votes;
    for (size_t k = 0; k < votes.size(); ++k)
      for (size_t l = 0; l < stride; l += 4) {
        const Signs signed_steps = up ^ kSigns[votes[k] >> l & 15];
        std::memcpy(table + k * stride + l, &signed_steps, sizeof signed_steps);
      }
  } else {
    for (size_t k = 0; k < tree.leaves(); ++k)
      for (size_t l = 0; l < stride; ++l)
        table[k * stride + l] = l < labels ? step * tree.values[k * labels + l] : 0;
  }
}

}  // namespace

BlockScorer::BlockScorer(const BinCuts& cuts, std::span<const Tree> trees) : trees_(trees) {
  std::vector<uint32_t> column(cuts.features(), 0);  // of a feature, plus one; 0 for an unused one
  for (const Tree& tree : trees)
    for (const Cut& cut : tree.cuts) column[cut.feature] = 1;
  for (uint32_t j = 0; j < column.size(); ++j) {
    if (column[j] == 0) continue;
    features_.push_back(j);
    std::vector<float> thresholds;
    if (!cuts.has_missing(j)) thresholds.push_back(BinCuts::kLowest);
    thresholds.insert(thresholds.end(), cuts.thresholds(j).begin(), cuts.thresholds(j).end());
    tables_.emplace_back(thresholds);
    column[j] = static_cast<uint32_t>(features_.size());
  }
  for (const Tree& tree : trees) {
    first_step_.push_back(steps_.size());
    for (size_t k = 0; k < tree.cuts.size(); ++k) {
      const Cut& cut = tree.cuts[k];
      steps_.push_back({(column[cut.feature] - 1) * static_cast<uint32_t>(kBlock),
                        biased(cut.bin + (cuts.has_missing(cut.feature) ? 1 : 2)),
                        tree.product ? uint8_t{0} : tree.split_leaf[k],
                        static_cast<uint8_t>(cut.missing_above ? 1 : 0)});
    }
  }
}

void BlockScorer::keep_tables(double shrinkage, size_t labels) {
  const size_t stride = padded_labels(labels);
  size_t size = 0;
  for (const Tree& tree : trees_) {
    first_kept_.push_back(size);
    size += tree.leaves() * stride;
  }
  kept_tables_.resize(size);
  for (size_t t = 0; t < trees_.size(); ++t)
    fill_table(trees_[t], static_cast<float>(shrinkage * trees_[t].alpha), labels, stride,
               kept_tables_.data() + first_kept_[t]);
}

bool BlockScorer::fill(const Dataset& data, size_t begin, size_t count, int8_t* columns) const {
  bool missing = false;
  const BinKernels& kernels = bin_kernels();
  float scratch[kBlock];
  for (size_t u = 0; u < features_.size(); ++u) {
    int8_t* column = columns + u * kBlock;
    uint8_t bins[kBlock];
    const FeatureColumn values = data.column(features_[u], begin, count, scratch);
    kernels.find(tables_[u], values.values, values.stride, count, bins, 1);
    for (size_t i = 0; i < count; ++i) column[i] = biased(bins[i]);
    missing |= has_missing(column, count);
  }
  return missing;
}

bool BlockScorer::fill(const BinnedDataset& data, size_t begin, size_t count, int8_t* columns) const {
  bool missing = false;
  for (size_t u = 0; u < features_.size(); ++u, columns += kBlock) {
    const BinnedDataset::Place& place = data.place(features_[u]);
    const size_t width = data.width(place.column);
    const uint8_t* from = data.column(place.column) + begin * width;
    const int first = place.missing ? 0 : 1;  // without missing values bin 0 is that of the lowest others
    if (data.features_of(place.column).size() == 1)
      for (size_t i = 0; i < count; ++i) columns[i] = biased(from[i * width] + first);
    else
      for (size_t i = 0; i < count; ++i) columns[i] = biased(place.bin(from[i * width]) + first);
    missing |= place.missing && has_missing(columns, count);
  }
  return missing;
}

void BlockScorer::leaves(size_t t, const int8_t* columns, bool missing, uint8_t* leaf) const {
  scorer_kernels().leaves(steps_.data() + first_step_[t], trees_[t].cuts.size(), trees_[t].product, missing,
                          columns, leaf);
}

void BlockScorer::add_votes(size_t t, size_t count, size_t labels, const uint8_t* leaf, size_t documents,
                            float* scores) const {
  const float* table_of[kTreesTogether];
  for (size_t r = 0; r < count; ++r) table_of[r] = kept_tables_.data() + first_kept_[t + r];
  scorer_kernels().add_votes(padded_labels(labels), count, table_of, leaf, documents, scores);
}

void add_scores(const BlockScorer& scorer, const Dataset& data, std::span<const int> checkpoints,
                std::span<ScoreMatrix> out, const Context& context) {
  if (checkpoints.empty()) return;
  constexpr size_t kBlock = BlockScorer::kBlock;
  constexpr size_t kBlocks = 8;  // that get their votes from the same tables
  const size_t labels = out[0].columns();
  const size_t stride = padded_labels(labels);
  struct Scratch {
    AlignedVector<int8_t> columns;
    AlignedVector<float> scores;
  };
  std::vector<Scratch> scratch(static_cast<size_t>(context.threads()));
  const size_t groups = (data.documents() + kBlocks * kBlock - 1) / (kBlocks * kBlock);
  context.pool().run_with_thread(groups, [&](size_t group, int thread) {
    Scratch& own = scratch[static_cast<size_t>(thread)];
    const size_t begin = group * kBlocks * kBlock;
    const size_t count = std::min(kBlocks * kBlock, data.documents() - begin);
    const size_t blocks = (count + kBlock - 1) / kBlock;
    own.columns.resize(kBlocks * scorer.columns_size(), 0);
    own.scores.assign(blocks * kBlock * stride, 0.0F);
    const auto columns = [&](size_t block) { return own.columns.data() + block * scorer.columns_size(); };
    bool missing[kBlocks] = {};
    for (size_t b = 0; b < blocks; ++b)
      missing[b] = scorer.fill(data, begin + b * kBlock, std::min(kBlock, count - b * kBlock), columns(b));
    alignas(64) uint8_t leaf[BlockScorer::kTreesTogether * kBlocks * kBlock];
    size_t t = 0;
    for (size_t c = 0; c < checkpoints.size(); ++c) {
      const auto end = static_cast<size_t>(checkpoints[c]);
      while (t < end) {
        const size_t trees_now = std::min(BlockScorer::kTreesTogether, end - t);
        for (size_t b = 0; b < blocks; ++b)
          for (size_t r = 0; r < trees_now; ++r)
            scorer.leaves(t + r, columns(b), missing[b], leaf + (r * blocks + b) * kBlock);
        scorer.add_votes(t, trees_now, labels, leaf, blocks * kBlock, own.scores.data());
        t += trees_now;
      }
      for (size_t i = 0; i < count; ++i)
        std::copy_n(&own.scores[i * stride], labels, out[c].row(begin + i).data());
    }
  });
}

}  // namespace tunemix::trees
