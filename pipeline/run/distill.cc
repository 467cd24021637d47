#include "pipeline/run/distill.h"

#include <algorithm>

#include "tunemix/export/student.h"
#include "tunemix/learners/registry.h"
#include "tunemix/metric/policy.h"

namespace tunemix {
namespace {

// The learner that regresses real numbers.
const LearnerEntry& taught_learner() {
  for (const auto& entry : registry().entries())
    if (entry->takes_targets) return *entry;
  throw InternalError("no learner takes targets");
}

}  // namespace

Bundle distill(const Bundle& teacher, const Dataset& data, std::span<const float> scores,
               const std::vector<std::string>& files, const DistillOptions& options, const Context& context) {
  const LearnerEntry& learner = taught_learner();
  const int iterations = options.iterations > 0 ? options.iterations : data.documents() < 50000 ? 300 : 600;
  const int min_documents = options.min_documents > 0
                                ? options.min_documents
                                : static_cast<int>(std::clamp<size_t>(data.documents() / 500, 20, 200));
  const Settings settings = learner.complete({{"leaves", fmt::format("{}", options.leaves)},
                                              {"iterations", fmt::format("{}", iterations)},
                                              {"shrinkage", fmt::format("{}", options.shrinkage)},
                                              {"min_documents", fmt::format("{}", min_documents)}});
  const Dataset documents = teacher.info().categories.apply(data);
  BinCache bins(documents);
  const int labels = std::max({2, data.max_label() + 1, static_cast<int>(teacher.info().labels)});
  std::vector<size_t> queries(data.queries().size());
  for (size_t q = 0; q < queries.size(); ++q) queries[q] = q;
  const TrainingData training(bins, std::move(queries), labels, exponential_grades(labels));
  const TrainingRequest request{training, settings, {iterations}, nullptr, scores};
  const std::unique_ptr<Trainer> trainer = learner.start(request, context);
  while (!trainer->step(1)) context.check_stop();
  BundleInfo info = teacher.info();
  info.row = fmt::format("student of {}", teacher.info().row);
  info.key.clear();  // of no run
  info.trained_on = files;
  info.queries = data.queries().size();
  info.documents = data.documents();
  info.expected = {};
  return bundle_of_model(std::move(info), {&learner, trainer->model()}, learner.title(settings));
}

}  // namespace tunemix
