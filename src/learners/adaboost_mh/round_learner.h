// The base learners: each fits one round to the current weights and tells which leaf every document is in.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "learners/adaboost_mh/class_weights.h"
#include "learners/adaboost_mh/options.h"

namespace tunemix::trees {

using ClassSearch = NodeSearch<ClassWeights>;

class RoundLearner {
 public:
  virtual ~RoundLearner() = default;
  // Sets cuts, leaves, votes and edge of a round; `leaf` of every document that is trained on. `full`
  // searches all features, also with a bandit.
  virtual Tree fit(bool full, std::span<uint8_t> leaf, Random& random) = 0;
};

RowKind rows_needed(const AdaBoostOptions& options);
// Histograms may take `bytes`.
std::unique_ptr<RoundLearner> make_tree_learner(const AdaBoostOptions& options, ClassWeights& weights,
                                                ClassSearch& search, size_t bytes);
// A stump is a product of one term.
std::unique_ptr<RoundLearner> make_product_learner(int terms, int passes, ClassWeights& weights,
                                                   ClassSearch& search);

// 0 or 1 where a document passes or fails the cut is xor-ed to `leaf`.
void xor_failing(const BinnedDataset& bins, const Cut& cut, std::span<uint8_t> leaf, const Context& context);

// All of the labels' bits.
uint32_t label_mask(size_t labels);

}  // namespace tunemix::trees
