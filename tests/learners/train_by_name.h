// Learners of the registry for tests: trained on a whole data set, listed, compared byte by byte.
#pragma once

#include "tunemix/core/binary.h"
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

// Those that a test can train.
inline std::vector<std::string> trained_types() {
  std::vector<std::string> types;
  for (const auto& entry : registry().entries())
    if (entry->start) types.push_back(entry->type);
  return types;
}

inline std::vector<uint8_t> bytes_of(const Model& model) {
  BinaryWriter out;
  model.save(out);
  return {out.bytes().begin(), out.bytes().end()};
}

inline std::vector<uint8_t> bytes_of(const LearnedModel& learned) {
  BinaryWriter out;
  learned.save(out);
  return {out.bytes().begin(), out.bytes().end()};
}

inline LearnedModel load_model(std::span<const uint8_t> bytes) {
  BinaryReader in(bytes, "the model");
  LearnedModel learned = LearnedModel::load(in, registry());
  in.expect_end();
  return learned;
}

}  // namespace tunemix::test
