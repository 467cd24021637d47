// AdaBoost.MH over binned features with stumps, trees or products, searched in full or through a bandit (T&M
// appendix A).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tunemix/core/binary.h"
#include "tunemix/core/context.h"
#include "tunemix/core/options.h"
#include "tunemix/data/binning.h"
#include "tunemix/data/dataset.h"
#include "tunemix/data/score_matrix.h"
#include "tunemix/learn/plain_model.h"
#include "tunemix/learn/training_data.h"
#include "tunemix/trees/bandit.h"
#include "tunemix/trees/round.h"

namespace tunemix {

enum class BaseLearner { kStump, kTree, kProduct };
enum class Votes { kLeaf, kShared, kReal };
enum class Growth { kEdge, kEnergy };

struct AdaBoostOptions {
  BaseLearner base = BaseLearner::kTree;
  int leaves = 8;          // of a tree
  int terms = 3;           // of a product
  int passes = 3;          // most passes over the terms of a product
  int iterations = 100;    // rounds of boosting
  double shrinkage = 0.1;  // nu, times every alpha
  Votes votes = Votes::kLeaf;
  Growth growth = Growth::kEnergy;
  BanditKind bandit = BanditKind::kNone;
  int arms_per_pull = 4;           // features that a search looks at, under a bandit
  double exploration = 0;          // share of uniform draws; 0: the bandit's own
  double bandit_rate = 0;          // of exp3g, exp3a and value; 0: the bandit's own
  double bandit_power = 4;         // of value
  double bandit_confidence = 2.0;  // a of exp3p
  double bandit_horizon = 100000;  // T of exp3p
  InitialWeights weights = InitialWeights::kExponential;
  double edge_floor = 0;  // stop when a round's edge is not above this
  int max_bins = 255;
  int labels = 0;  // K; 0: one more than the largest label of the training data
};

const OptionTable<AdaBoostOptions>& adaboost_option_table();

// The bandit's probabilities after some round.
struct BanditSample {
  int round = 0;
  std::vector<float> probabilities;
};

class AdaBoostModel {
 public:
  const AdaBoostOptions& options() const { return options_; }
  size_t features() const { return cuts_.features(); }
  size_t labels() const { return labels_; }
  int rounds() const { return static_cast<int>(rounds_.size()); }
  const BoostRound& round(int t) const { return rounds_[t]; }
  std::span<const BoostRound> all_rounds() const { return rounds_; }
  const BinCuts& cuts() const { return cuts_; }
  float threshold(const Cut& cut) const { return cuts_.thresholds(cut.feature)[cut.bin]; }
  bool finished_early() const { return finished_; }  // no learner had an edge above the floor
  const std::string& id() const { return id_; }  // of the run: its options but `iterations`, data and seed
  const Hash128& trained_on() const { return trained_on_; }
  uint64_t seed() const { return seed_; }
  std::vector<size_t> feature_use() const;  // how many cuts each feature has
  const std::vector<BanditSample>& bandit_samples() const { return bandit_samples_; }
  double error_bound(int rounds) const;  // the product of the first normalizers
  double alpha_sum(int rounds) const;    // R of the `shift` calibration: the largest |f_l| there can be

  // f_l(x) after the first `rounds` rounds. Throws InputError when the data has another number of features.
  ScoreMatrix score(const Dataset& data, int rounds, const Context& context) const;
  // The same after each of several ascending numbers of rounds, in one pass.
  std::vector<ScoreMatrix> score(const Dataset& data, std::span<const int> checkpoints,
                                 const Context& context) const;

  // f_l in plain terms.
  PlainModel plain(int rounds) const;

  // The model of the first rounds alone: the same bytes however many rounds were trained.
  AdaBoostModel first_rounds(int count) const;

  void save(BinaryWriter& out) const;
  static AdaBoostModel load(BinaryReader& in);

 private:
  friend class AdaBoostTrainer;
  AdaBoostModel() = default;

  AdaBoostOptions options_;
  size_t labels_ = 0;
  BinCuts cuts_;  // only the thresholds that the rounds use
  std::vector<BoostRound> rounds_;
  bool finished_ = false;
  std::vector<BanditSample> bandit_samples_;
  uint64_t seed_ = 0;
  Hash128 trained_on_;
  std::string id_;
};

// Boosts round by round. A trainer made from a saved state goes on from it, and the result has the bytes of a
// run that had all the rounds from the start.
class AdaBoostTrainer {
 public:
  // The data outlives the trainer.
  AdaBoostTrainer(const TrainingData& data, const AdaBoostOptions& options, const Context& context);
  AdaBoostTrainer(const TrainingData& data, BinaryReader& state, const Context& context);
  // The same on all documents of a data set.
  AdaBoostTrainer(const Dataset& train, const AdaBoostOptions& options, const Context& context);
  AdaBoostTrainer(const Dataset& train, BinaryReader& state, const Context& context);
  ~AdaBoostTrainer();
  AdaBoostTrainer(const AdaBoostTrainer&) = delete;
  AdaBoostTrainer& operator=(const AdaBoostTrainer&) = delete;

  // Up to `rounds` more rounds; fewer when no learner has an edge above the floor, or when `seconds` have
  // passed (0: no limit). Returns how many were made.
  int step(int rounds, double seconds = 0);
  int rounds() const;
  bool finished() const;  // a further step would change nothing
  // The model so far. `iterations` is how many rounds the run is meant to have (0: as many as there are).
  AdaBoostModel model(int iterations = 0) const;
  // What going on needs besides the data.
  void save_state(BinaryWriter& out) const;
  // Scores of a data set after the rounds so far; every round is applied once, when the scores are next asked
  // for. The data must outlive the trainer.
  size_t follow(const Dataset& data);
  const ScoreMatrix& scores(size_t followed);
  size_t labels() const;
  // All documents x labels, of sum weight_sum(); of those that are not trained on next to nothing.
  std::span<const float> weights() const;
  double weight_sum() const;
  double seconds_binning() const;

 private:
  void resume(const TrainingData& data, BinaryReader& state, const Context& context);

  struct WholeData;
  struct Impl;
  std::unique_ptr<WholeData> whole_;
  std::unique_ptr<Impl> impl_;
};

struct BoostResult {
  AdaBoostModel model;
  std::vector<std::vector<ScoreMatrix>> scores;  // [data set][checkpoint]
};

// options.iterations rounds (of checkpoints beyond an early end, the last scores are repeated).
BoostResult train_adaboost(const Dataset& train, const AdaBoostOptions& options,
                           std::span<const Dataset* const> score_on, std::span<const int> checkpoints,
                           const Context& context);
AdaBoostModel train_adaboost(const Dataset& train, const AdaBoostOptions& options, const Context& context);

// The weight of the pairs (document, label) on whose wrong side, or on no side, the scores are.
double hamming_error(const ScoreMatrix& scores, std::span<const int32_t> labels, InitialWeights kind,
                     std::span<const float> weights = {});

}  // namespace tunemix
