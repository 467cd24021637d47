// Adds up the values of trees over blocks of documents; tree t adds to score column t % columns.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "learners/gradient_trees/value_kernel.h"
#include "trees/block_scorer.h"
#include "tunemix/core/context.h"

namespace tunemix::trees {

// `scorer`: of these trees. For every block of documents of `data` (a Dataset, or a BinnedDataset with the
// same cuts): calls begin_block(first, count, sums), then for each of `stops` (ascending numbers of trees)
// visit(stop number, first, count, sums) once those trees are added. sums[column * BlockScorer::kBlock + i]
// is that of document first + i.
template <typename Data, typename Begin, typename Visit>
void score_blocks(const BlockScorer& scorer, std::span<const Tree> trees, size_t columns, const Data& data,
                  std::span<const size_t> stops, const Context& context, Begin begin_block, Visit visit) {
  if (stops.empty()) return;
  constexpr size_t kBlock = BlockScorer::kBlock;
  const ValueKernels& kernels = value_kernels();
  struct Scratch {
    AlignedVector<int8_t> bins;
    AlignedVector<float> sums;
  };
  std::vector<Scratch> scratch(static_cast<size_t>(context.threads()));
  context.pool().run_with_thread((data.documents() + kBlock - 1) / kBlock, [&](size_t block, int thread) {
    Scratch& own = scratch[static_cast<size_t>(thread)];
    own.bins.resize(scorer.columns_size());
    own.sums.assign(columns * kBlock, 0.0F);
    const size_t first = block * kBlock;
    const size_t count = std::min(kBlock, data.documents() - first);
    const bool missing = scorer.fill(data, first, count, own.bins.data());
    begin_block(first, count, own.sums.data());
    alignas(64) uint8_t leaf[kBlock];
    size_t t = 0;
    for (size_t s = 0; s < stops.size(); ++s) {
      for (; t < stops[s]; ++t) {
        scorer.leaves(t, own.bins.data(), missing, leaf);
        kernels.add_leaf_values(leaf, trees[t].values.data(), kBlock, own.sums.data() + t % columns * kBlock);
      }
      visit(s, first, count, own.sums.data());
    }
  });
}

// scores[column][document] += all trees.
template <typename Data>
void add_trees(const BinCuts& cuts, std::span<const Tree> trees, const Data& data,
               std::span<std::vector<float>> scores, const Context& context) {
  constexpr size_t kBlock = BlockScorer::kBlock;
  const size_t stops[1] = {trees.size()};
  score_blocks(
      BlockScorer(cuts, trees), trees, scores.size(), data, stops, context,
      [&](size_t first, size_t count, float* sums) {
        for (size_t c = 0; c < scores.size(); ++c) std::copy_n(&scores[c][first], count, sums + c * kBlock);
      },
      [&](size_t, size_t first, size_t count, const float* sums) {
        for (size_t c = 0; c < scores.size(); ++c) std::copy_n(sums + c * kBlock, count, &scores[c][first]);
      });
}

}  // namespace tunemix::trees
