// What the base learners of AdaBoost.MH sum: the weights of every label.
#pragma once

#include "learners/adaboost_mh/histogram.h"
#include "trees/node_search.h"

namespace tunemix::trees {

// What an arm of the bandit is paid for: the edge of its best cut (T&M figure 6), or what that cut adds to
// the leaf's value of the criterion. The edge of a leaf is mostly there without any cut, so that all arms
// would look alike.
enum class Pay { kEdge, kGain };

class ClassWeights {
 public:
  using Cell = int32_t;
  using Sum = Sums;
  using Rule = Criterion;
  struct Bounds {};  // votes have none
  static constexpr size_t kFew = 1024;
  static constexpr size_t kSearchCost = 600;

  ClassWeights(const WeightTable& weights, RowKind rows, Pay pay)
      : weights_(weights), kernels_(kernels_for(weights.labels(), rows)), pay_(pay) {}

  // Those with flip != 0 have their y negated; null: none. Only without the energy.
  void set_flip(const uint8_t* flip) { flip_ = flip; }
  // `shared`: the best stump, by which the root is cut, sets the votes of all leaves.
  void set_criterion(CriterionKind kind, bool shared) {
    kind_ = kind;
    criterion_ = {shared ? CriterionKind::kStump : kind, false, 0};
  }
  const Criterion& criterion() const { return criterion_; }

  size_t labels() const { return weights_.labels(); }
  // All documents that are trained on.
  Documents root() const {
    const std::span<const uint32_t> trained = weights_.trained();
    return trained.empty() ? Documents{nullptr, documents()} : Documents{trained.data(), trained.size()};
  }
  // S_l, the sum of w y, and the sum of w where y = +1.
  double signed_sum(const Sums& sums, size_t label) const { return kernels_.signed_sum(sums, label); }
  double positive_sum(const Sums& sums, size_t label) const { return kernels_.positive_sum(sums, label); }
  // Of a cut under the stump's criterion, in [0, 1].
  static double edge(const NodeCut<Sums>& cut) { return std::min(1.0, cut.value / kOne); }

  Criterion rule(Random& /*random*/, const Bounds& /*bounds*/) const { return criterion_; }
  void see_root(const NodeCut<Sums>& cut);
  void bound(const NodeCut<Sums>& /*cut*/, Bounds& /*below*/, Bounds& /*above*/) const {}
  size_t documents() const { return weights_.documents(); }

  size_t open_cells() const { return kernels_.open_size(); }
  size_t kept_cells(size_t bins) const { return bins * kernels_.packed_lanes(); }
  size_t spare_cells() const { return kernels_.lanes(); }
  size_t row_cells() const { return kernels_.lanes(); }
  // These rows stay in the L2 cache, as do the gathered bins.
  size_t block() const { return std::min<size_t>(4096, (256 << 10) / (4 * kernels_.lanes())); }
  const int32_t* rows(const Documents& documents, size_t begin, size_t count, int32_t* out) const {
    kernels_.rows(weights_, flip_, documents, begin, count, out);
    return out;
  }
  void add_tile(const int32_t* rows, const uint8_t* tile, size_t count, int32_t* open) const {
    kernels_.add_tile(rows, tile, count, open);
  }
  void add_columns(const int32_t* rows, std::span<const uint8_t* const> columns, const Documents& documents,
                   size_t begin, size_t count, int32_t* open) const {
    kernels_.add_columns(rows, columns, documents, begin, count, open);
  }
  void add_drawn(std::span<const uint8_t* const> columns, const Documents& documents, size_t begin,
                 size_t count, int32_t* open) const {
    kernels_.add_drawn(weights_, flip_, columns, documents, begin, count, open);
  }
  void take(int32_t* open, size_t bins, int32_t* kept) const { kernels_.take(open, bins, kept); }
  size_t plain_cells() const { return kernels_.packed_lanes(); }
  void take_plain(int32_t* open, size_t bins, int32_t* plain) const { take(open, bins, plain); }
  void keep_plain(const int32_t* plain, size_t bins, int32_t* kept) const {
    std::copy_n(plain, kept_cells(bins), kept);
  }

  bool move_first(const int32_t* kept, size_t bins, int32_t* moved) const;
  Sums sum(const int32_t* kept, size_t bins) const { return kernels_.total(kept, bins); }
  static Sums rest(const Sums& all, const Sums& some) {
    Sums rest;
    for (size_t k = 0; k < kMostLanes; ++k) rest[k] = all[k] - some[k];
    return rest;
  }
  BestCut best_cut(const Cut& /*first*/, const int32_t* kept, size_t bins, size_t /*documents*/,
                   const Sums& total, const Criterion& criterion) const {
    return kernels_.best_cut(kept, bins, total, criterion);
  }
  double uncut(const Sums& total, const Criterion& criterion) const;
  // More than what rounding can pretend.
  double least_gain(double before, const Criterion& criterion) const {
    return criterion.kind == CriterionKind::kStump ? 0 : 1e-6 * std::abs(before);
  }
  bool pays_gain() const { return pay_ == Pay::kGain; }
  double pay(const NodeCut<Sums>& cut, const Criterion& criterion) const {
    return pays_gain() ? cut.value - uncut(cut.total, criterion) : bandit_reward(edge(cut));
  }

 private:
  const WeightTable& weights_;
  const Kernels& kernels_;
  Pay pay_;
  const uint8_t* flip_ = nullptr;
  CriterionKind kind_ = CriterionKind::kStump;
  Criterion criterion_;
};

}  // namespace tunemix::trees
