#include <algorithm>
#include <array>

#include "learners/adaboost_mh/run.h"
#include "tunemix/learners/adaboost_mh.h"

namespace tunemix {

AdaBoostModel AdaBoostModel::first_rounds(int count) const {
  require(count >= 0 && count <= rounds(), "a model has no such number of rounds");
  AdaBoostModel model;
  model.options_ = options_;
  model.options_.iterations = std::max(1, count);
  model.labels_ = labels_;
  model.rounds_.assign(rounds_.begin(), rounds_.begin() + count);
  for (const BanditSample& sample : bandit_samples_)
    if (sample.round <= count) model.bandit_samples_.push_back(sample);
  model.seed_ = seed_;
  model.trained_on_ = trained_on_;
  model.id_ = id_;

  std::vector<std::array<bool, 256>> used(features(), std::array<bool, 256>{});
  for (const BoostRound& round : model.rounds_)
    for (const Cut& cut : round.cuts) used[cut.feature][cut.bin] = true;
  std::vector<std::vector<float>> thresholds(used.size());
  std::vector<std::array<uint8_t, 256>> number(used.size());
  for (size_t j = 0; j < used.size(); ++j)
    for (size_t b = 0; b < cuts_.thresholds(j).size(); ++b) {
      number[j][b] = static_cast<uint8_t>(thresholds[j].size());
      if (used[j][b]) thresholds[j].push_back(cuts_.thresholds(j)[b]);
    }
  for (BoostRound& round : model.rounds_)
    for (Cut& cut : round.cuts) cut.bin = number[cut.feature][cut.bin];
  model.cuts_ = BinCuts(thresholds);
  return model;
}

}  // namespace tunemix
