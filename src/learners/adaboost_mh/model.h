// What AdaBoost.MH learns.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "learners/adaboost_mh/options.h"
#include "trees/block_scorer.h"
#include "trees/tree.h"
#include "tunemix/core/hash.h"
#include "tunemix/data/binning.h"
#include "tunemix/learn/learner.h"

namespace tunemix {

// The trees of a model, or of training so far.
struct AdaBoostRounds {
  AdaBoostOptions options;
  size_t labels = 0;
  BinCuts cuts;  // only the thresholds that the trees use
  std::vector<Tree> trees;
  bool finished = false;  // no learner had an edge above the floor
  std::vector<FeatureShares> bandit_samples;
  uint64_t seed = 0;
  Hash128 trained_on;
  std::string id;  // of the run: its options but `iterations`, data and seed

  int count() const { return static_cast<int>(trees.size()); }
  // The first of them alone: the same bytes however many there were.
  AdaBoostRounds first(int rounds) const;
  double error_bound() const;          // the product of the normalizers
  double alpha_sum(int rounds) const;  // R of the `shift` calibration: the largest |f_l| there can be

  void save(BinaryWriter& out) const;
  static AdaBoostRounds load(BinaryReader& in);
};

class AdaBoostModel final : public Model {
 public:
  // `lengths`: of the points, ascending. A run that ended early has the same scores at all later ones.
  AdaBoostModel(AdaBoostRounds rounds, std::vector<int64_t> lengths)
      : rounds_(std::move(rounds)), lengths_(std::move(lengths)) {}
  static std::unique_ptr<Model> load(BinaryReader& in);

  const AdaBoostRounds& rounds() const { return rounds_; }
  size_t features() const override { return rounds_.cuts.features(); }
  size_t columns() const override { return rounds_.labels; }
  std::vector<Point> points() const override;
  std::vector<ScoreMatrix> score(const Dataset& data, std::span<const size_t> points,
                                 const Context& context) const override;
  double range(size_t point) const override { return rounds_.alpha_sum(rounds_of(point)); }
  std::unique_ptr<Model> keep(std::span<const size_t> points) const override;
  Facts facts() const override;
  std::vector<double> importance() const override;  // by the number of cuts
  std::vector<FeatureShares> attention() const override { return rounds_.bandit_samples; }
  PlainModel plain(size_t point) const override;
  void save(BinaryWriter& out) const override;

 private:
  int rounds_of(size_t point) const {
    return static_cast<int>(std::min<int64_t>(lengths_.at(point), rounds_.count()));
  }

  AdaBoostRounds rounds_;
  std::vector<int64_t> lengths_;
  trees::KeptScorer scorer_;
};

}  // namespace tunemix
