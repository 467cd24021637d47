#include "pipeline/learners/learner.h"
#include "tunemix/core/timer.h"
#include "tunemix/svm/crammer_singer.h"

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

nlohmann::ordered_json train(const Dataset& data, const Settings& settings, const std::filesystem::path& file,
                             const Context& context) {
  SvmOptions options;
  for (const auto& [key, value] : settings) svm_option_table().set(options, key, value);
  const Timer timer;
  const SvmModel model = train_svm(data, options, context);
  nlohmann::ordered_json result = figures(model);
  result["seconds"] = timer.seconds();
  if (!file.empty()) model.save(file);
  return result;
}

std::string options_help() {
  std::string text;
  const SvmOptions defaults;
  for (const auto& entry : svm_option_table().entries())
    text += fmt::format("  {}: {} ({}; default {})\n", entry.name, entry.doc, entry.expected,
                        entry.get(defaults));
  return text;
}

}  // namespace

LearnerPlugin svm_plugin() {
  return {"svm",
          SvmModel::kKind,
          train,
          [](const std::filesystem::path& file, const Dataset& data, const Context& context) {
            return SvmModel::load(file).score(data, context);
          },
          [](const std::filesystem::path& file) { return figures(SvmModel::load(file)); },
          options_help()};
}

}  // namespace tunemix
