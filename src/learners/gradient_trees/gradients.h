// What gradient trees sum: a gradient and a hessian in one word.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
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
  std::vector<int8_t> monotone =
      {};  // of each feature: 1, values only rise with it, -1, only fall; empty: all free
};

// Values of leaves lie within.
struct ValueBounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  bool any() const { return std::isfinite(low) || std::isfinite(high); }
  double clamp(double value) const { return std::min(std::max(value, low), high); }
};

// What one node may be cut at.
struct NodeRule {
  std::vector<uint8_t> features;  // 1 for those that may be cut; empty: all
  uint64_t random_cuts = 0;       // not 0: one random cut a feature, by this seed
  ValueBounds bounds;
};

class Gradients {
 public:
  using Cell = uint64_t;
  using Sum = uint64_t;
  using Rule = NodeRule;
  using Bounds = ValueBounds;
  static constexpr size_t kFew = 512;
  static constexpr size_t kSearchCost = 150;

  Gradients(const GradientGrowth& options, const BinCuts& cuts) : options_(options), cuts_(cuts) {}

  // Packed words by document, for a tree of so many documents and of the features with 1 (empty: all).
  void set_tree(const uint64_t* words, const WordScale& scale, size_t documents,
                std::span<const uint8_t> features);
  // -G / (H + l2) within the bounds.
  float value(uint64_t sum, const ValueBounds& bounds) const {
    return static_cast<float>(bounds.clamp(free_value(sum)));
  }
  // Of a gain, in what does not depend on the tree.
  double unit() const { return scale_.hessian / (static_cast<double>(scale_.gradient) * scale_.gradient); }

  NodeRule rule(Random& random, const ValueBounds& bounds) const;
  void see_root(const NodeCut<uint64_t>& /*cut*/) {}
  // Where values may only rise or fall, those of the children's children lie on their side of the middle.
  void bound(const NodeCut<uint64_t>& cut, ValueBounds& below, ValueBounds& above) const;
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
  // By GL^2 / (HL + l2) + GR^2 / (HR + l2), in units; less where the bounds change a value.
  BestCut best_cut(const Cut& first, const uint64_t* kept, size_t bins, size_t documents, uint64_t total,
                   const NodeRule& rule) const;
  double uncut(uint64_t total, const NodeRule& rule) const { return worth(total, rule.bounds); }
  // Below is only rounding.
  double least_gain(double before, const NodeRule& /*rule*/) const { return 1e-9 * before; }
  bool pays_gain() const { return true; }
  double pay(const NodeCut<uint64_t>& cut, const NodeRule& rule) const {
    return unit() * (cut.value - uncut(cut.total, rule));
  }

 private:
  double free_value(uint64_t sum) const;
  double worth(uint64_t sum, const ValueBounds& bounds) const;
  bool keeps_order(const Cut& cut, uint64_t below, uint64_t above, const ValueBounds& bounds) const;
  int best_bounded(const Cut& first, const uint64_t* kept, size_t bins, uint64_t total, float least,
                   const ValueBounds& bounds) const;

  const GradientKernels& kernels_ = gradient_kernels();
  GradientGrowth options_;
  const BinCuts& cuts_;
  const uint64_t* words_ = nullptr;
  WordScale scale_;
  size_t documents_ = 0;
  std::vector<uint32_t> usable_;  // features of the tree with two bins or more
};

}  // namespace tunemix::trees
