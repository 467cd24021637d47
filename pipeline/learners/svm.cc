#include "tunemix/learners/svm.h"

#include "pipeline/learners/learner.h"
#include "tunemix/core/timer.h"

namespace tunemix {
namespace {

nlohmann::ordered_json figures(const SvmModel& model) {
  const SvmModel::Solution& solution = model.solution();
  return {{"model", model.id()},
          {"C", solution.C},
          {"labels", model.labels()},
          {"features", model.features()},
          {"primal", solution.primal},
          {"dual", solution.dual},
          {"relative_gap", solution.gap()},
          {"epochs", solution.epochs}};
}

nlohmann::ordered_json train(const TrainRequest& request, const Context& context) {
  if (!request.extend.empty()) throw InputError("a model of svm cannot be extended");
  SvmOptions options;
  for (const auto& [key, value] : request.settings) svm_option_table().set(options, key, value);
  const Timer timer;
  const SvmModel model = train_svm(request.data, options, context);
  nlohmann::ordered_json result = figures(model);
  result["seconds"]["fit"] = timer.seconds();
  if (!request.model.empty()) model.save(request.model);
  return result;
}

LoadedModel load(const std::filesystem::path& path) {
  const auto model = std::make_shared<const SvmModel>(SvmModel::load(path));
  LoadedModel result;
  result.features = model->features();
  result.score = [model](const Dataset& data, int, const Context& context) {
    return model->score(data, context);
  };
  result.description = figures(*model);
  return result;
}

}  // namespace

LearnerPlugin svm_plugin() {
  return {"svm", SvmModel::kKind, train, load, describe_options(svm_option_table(), SvmOptions())};
}

}  // namespace tunemix
