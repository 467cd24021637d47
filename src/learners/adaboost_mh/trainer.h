// Boosts round by round. A trainer made from a saved state goes on from it, and the result has the bytes of a
// run that had all the rounds from the start.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "learners/adaboost_mh/model.h"
#include "learners/adaboost_mh/round_learner.h"
#include "tunemix/core/random.h"
#include "tunemix/learn/learner.h"

namespace tunemix {

class AdaBoostTrainer : public Trainer {
 public:
  // The options' iterations are the last of `lengths`. `state` is null for a new run. The data outlives the
  // trainer.
  AdaBoostTrainer(const TrainingData& data, const AdaBoostOptions& options, std::vector<int64_t> lengths,
                  BinaryReader* state, const Context& context);

  // False where no learner has an edge above the floor: a further round would change nothing.
  bool add_round();
  // The rounds so far.
  AdaBoostRounds rounds() const;
  size_t labels() const { return labels_; }
  // All documents x labels, of sum weight_sum(); documents outside training have almost no weight.
  std::span<const float> weights();
  double weight_sum();

  bool step(double seconds) override;
  std::unique_ptr<Model> model() const override;
  void save_state(BinaryWriter& out) const override;
  Facts facts() const override;

 private:
  void make_learner();
  void load_state(BinaryReader& in);
  size_t histogram_bytes() const;
  void replay();

  const TrainingData& training_;
  const Dataset& data_;
  AdaBoostOptions options_;
  std::vector<int64_t> lengths_;
  const Context& context_;
  size_t labels_;
  uint64_t seed_;
  std::string id_;
  Random random_;
  std::shared_ptr<const BinCuts> cuts_;
  std::shared_ptr<const BinnedDataset> bins_;
  double seconds_binning_ = 0;
  std::unique_ptr<trees::WeightTable> weights_;
  std::unique_ptr<Bandit> bandit_;
  std::unique_ptr<trees::ClassWeights> sums_;
  std::unique_ptr<trees::ClassSearch> search_;
  std::unique_ptr<trees::RoundLearner> learner_;
  std::vector<uint8_t> leaf_;
  std::vector<Tree> trees_;
  bool replayed_ = true;  // the weights are those after `trees_`
  bool finished_ = false;
  std::vector<FeatureShares> samples_;
};

// The weight of the pairs (document, label) on whose wrong side, or on no side, the scores are.
double hamming_error(const ScoreMatrix& scores, std::span<const int32_t> labels, InitialWeights kind,
                     std::span<const float> weights = {});

}  // namespace tunemix
