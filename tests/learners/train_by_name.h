// Trains a learner of the registry on a whole data set, for tests of what comes after.
#pragma once

#include "tunemix/learners/registry.h"

namespace tunemix::test {

inline LearnedModel train_by_name(const Dataset& data, const std::string& type, const Settings& settings,
                                  std::vector<int64_t> lengths, const Context& context,
                                  const Registry& learners = registry()) {
  const LearnerEntry& learner = learners.expect(type);
  BinCache bins(data);
  const TrainingData training(bins);
  const TrainingRequest request{training, learner.complete(settings), std::move(lengths)};
  const std::unique_ptr<Trainer> trainer = learner.start(request, context);
  while (!trainer->step(0)) {
  }
  return {&learner, trainer->model()};
}

inline LearnedModel copy_of(const LearnedModel& learned) {
  std::vector<size_t> all(learned.model->points().size());
  for (size_t p = 0; p < all.size(); ++p) all[p] = p;
  return {learned.learner, learned.model->keep(all)};
}

}  // namespace tunemix::test
