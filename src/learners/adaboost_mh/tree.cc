#include <algorithm>
#include <cmath>

#include "learners/adaboost_mh/round_learner.h"
#include "trees/grower.h"

namespace tunemix::trees {
namespace {

class RoundTreeLearner final : public RoundLearner {
 public:
  RoundTreeLearner(const AdaBoostOptions& options, ClassWeights& weights, ClassSearch& search, size_t bytes)
      : options_(options),
        weights_(weights),
        search_(search),
        grower_(weights, search, {.leaves = options.leaves}, bytes) {}

  Tree fit(bool full, std::span<uint8_t> leaf, Random& random) override {
    weights_.set_criterion(options_.growth == Growth::kEnergy ? CriterionKind::kEnergy : CriterionKind::kEdge,
                           options_.votes == Votes::kShared);
    Tree tree = grower_.grow(weights_.root(), search_.has_bandit() && !full, random);
    set_votes(tree);
    write_leaves(leaf);
    return tree;
  }

 private:
  void set_votes(Tree& tree) {
    switch (options_.votes) {
      case Votes::kLeaf:
        return set_leaf_votes(tree);
      case Votes::kShared:
        return set_scalar_votes(tree);
      case Votes::kReal:
        return set_real_votes(tree);
    }
  }

  double sum(size_t leaf, size_t label) const {
    return weights_.signed_sum(grower_.leaves()[leaf].total, label);
  }

  void set_leaf_votes(Tree& tree) {
    double edge = 0;
    for (size_t k = 0; k < tree.leaves(); ++k) {
      uint32_t votes = 0;
      for (size_t l = 0; l < weights_.labels(); ++l) {
        if (sum(k, l) > 0) votes |= 1U << l;
        edge += std::abs(sum(k, l));
      }
      tree.votes.push_back(votes);
    }
    tree.edge = std::min(1.0, edge / kOne);
  }

  // Leaf signs and label votes in turn, each the best for the other, until the edge stops growing.
  void set_scalar_votes(Tree& tree) {
    const size_t labels = weights_.labels();
    uint32_t votes = weights_.criterion().votes;
    const auto vote = [&](size_t l) { return (votes >> l & 1) != 0 ? 1.0 : -1.0; };
    std::vector<double> sign(tree.leaves());
    for (double before = -1;;) {
      double edge = 0;
      for (size_t k = 0; k < sign.size(); ++k) {
        double pooled = 0;
        for (size_t l = 0; l < labels; ++l) pooled += vote(l) * sum(k, l);
        sign[k] = pooled > 0 ? 1 : -1;
        edge += std::abs(pooled);
      }
      tree.edge = std::min(1.0, edge / kOne);
      if (edge <= before) break;
      before = edge;
      for (size_t l = 0; l < labels; ++l) {
        double total = 0;
        for (size_t k = 0; k < sign.size(); ++k) total += sign[k] * sum(k, l);
        votes = total > 0 ? votes | 1U << l : votes & ~(1U << l);
      }
    }
    for (const double of_leaf : sign) tree.votes.push_back(of_leaf > 0 ? votes : ~votes & label_mask(labels));
  }

  // Schapire and Singer 1999, section 4.2; the smoothing e is one pair's share of the weight.
  void set_real_votes(Tree& tree) {
    const size_t labels = weights_.labels();
    const double smoothing = 1.0 / static_cast<double>(weights_.documents() * labels);
    double edge = 0;
    for (size_t k = 0; k < tree.leaves(); ++k)
      for (size_t l = 0; l < labels; ++l) {
        const double right = weights_.positive_sum(grower_.leaves()[k].total, l) / kOne;
        const double wrong = right - sum(k, l) / kOne;
        tree.values.push_back(static_cast<float>(0.5 * std::log((right + smoothing) / (wrong + smoothing))));
        edge += std::abs(right - wrong);
      }
    tree.edge = std::min(1.0, edge);
  }

  void write_leaves(std::span<uint8_t> leaf) {
    search_.context().pool().run(grower_.leaves().size(), [&](size_t k) {
      const Documents own = grower_.documents(grower_.leaves()[k]);
      for (size_t i = 0; i < own.count; ++i) leaf[own[i]] = static_cast<uint8_t>(k);
    });
  }

  const AdaBoostOptions& options_;
  ClassWeights& weights_;
  ClassSearch& search_;
  Grower<ClassWeights> grower_;
};

}  // namespace

RowKind rows_needed(const AdaBoostOptions& options) {
  const bool split = options.base == BaseLearner::kTree &&
                     (options.growth == Growth::kEnergy || options.votes == Votes::kReal);
  return split ? RowKind::kSplit : RowKind::kSigned;
}

std::unique_ptr<RoundLearner> make_tree_learner(const AdaBoostOptions& options, ClassWeights& weights,
                                                ClassSearch& search, size_t bytes) {
  return std::make_unique<RoundTreeLearner>(options, weights, search, bytes);
}

}  // namespace tunemix::trees
