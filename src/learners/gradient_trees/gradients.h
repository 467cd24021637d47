// What gradient trees sum: a gradient and a hessian in one word.
#pragma once

#include <span>
#include <vector>

#include "learners/gradient_trees/histogram_kernel.h"
#include "learners/gradient_trees/words.h"
#include "trees/grower.h"

namespace tunemix::trees {

struct GradientGrowth : GrowthOptions {
  double min_hessian = 1e-3;
  double l2 = 0;
  double node_features = 1;  // share of the features that each node looks at
  bool random_cuts = false;  // one random cut a feature instead of the best
};

// What one node may be cut at.
struct NodeRule {
  std::vector<uint8_t> features;  // 1 for those that may be cut; empty: all
  uint64_t random_cuts = 0;       // not 0: one random cut a feature, by this seed
};

class Gradients {
 public:
  using Cell = uint64_t;
  using Sum = uint64_t;
  using Rule = NodeRule;
  static constexpr size_t kFew = 512;
  static constexpr size_t kSearchCost = 150;

  Gradients(const GradientGrowth& options, const BinCuts& cuts) : options_(options), cuts_(cuts) {}

  // Packed words by document, for a tree of so many documents and of the features with 1 (empty: all).
  void set_tree(const uint64_t* words, const WordScale& scale, size_t documents,
                std::span<const uint8_t> features);
  // -G / (H + l2).
  float value(uint64_t sum) const;
  // Of a gain, in what does not depend on the tree.
  double unit() const { return scale_.hessian / (static_cast<double>(scale_.gradient) * scale_.gradient); }

  NodeRule rule(Random& random) const;
  void see_root(const NodeCut<uint64_t>& /*cut*/) {}
  size_t documents() const { return documents_; }

  size_t open_cells() const { return kOpenStride; }
  size_t kept_cells(size_t bins) const { return (bins + kCutLanes - 1) / kCutLanes * kCutLanes; }
  size_t spare_cells() const { return 0; }
  size_t row_cells() const { return 1; }
  size_t block() const { return 2048; }
  const uint64_t* rows(const Documents& documents, size_t begin, size_t count, uint64_t* out) const {
    if (documents.index == nullptr) return words_ + begin;
    kernels_.gather_words(words_, documents.index + begin, count, out);
    return out;
  }
  void add_tile(const uint64_t* rows, const uint8_t* tile, size_t count, uint64_t* open) const {
    kernels_.add_tile(rows, tile, count, open);
  }
  void add_columns(const uint64_t* rows, std::span<const uint8_t* const> columns, const Documents& documents,
                   size_t begin, size_t count, uint64_t* open) const;
  void add_drawn(std::span<const uint8_t* const> columns, const Documents& documents, size_t begin,
                 size_t count, uint64_t* open) const;
  void take(uint64_t* open, size_t bins, uint64_t* kept) const {
    kernels_.take_cumulative(open, bins, kept_cells(bins), kept);
  }
  size_t plain_cells() const { return 1; }
  void take_plain(uint64_t* open, size_t bins, uint64_t* plain) const {
    std::copy_n(open, bins, plain);
    std::fill_n(open, bins, uint64_t{0});
  }
  void keep_plain(uint64_t* plain, size_t bins, uint64_t* kept) const { take(plain, bins, kept); }

  bool move_first(const uint64_t* kept, size_t bins, uint64_t* moved) const;
  uint64_t sum(const uint64_t* kept, size_t bins) const { return kept[bins - 1]; }
  static uint64_t rest(uint64_t all, uint64_t some) { return all - some; }
  // By GL^2 / (HL + l2) + GR^2 / (HR + l2), in units.
  BestCut best_cut(uint32_t feature, const uint64_t* kept, size_t bins, size_t documents, uint64_t total,
                   const NodeRule& rule) const;
  double uncut(uint64_t total, const NodeRule& rule) const;
  // Below is only rounding.
  double least_gain(double before, const NodeRule& /*rule*/) const { return 1e-9 * before; }
  bool pays_gain() const { return true; }
  double pay(const NodeCut<uint64_t>& cut, const NodeRule& rule) const {
    return unit() * (cut.value - uncut(cut.total, rule));
  }

 private:
  const GradientKernels& kernels_ = gradient_kernels();
  GradientGrowth options_;
  const BinCuts& cuts_;
  const uint64_t* words_ = nullptr;
  WordScale scale_;
  size_t documents_ = 0;
  std::vector<uint32_t> usable_;  // features of the tree with two bins or more
};

}  // namespace tunemix::trees
