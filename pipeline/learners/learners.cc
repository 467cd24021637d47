#include "pipeline/learners/learner.h"
#include "tunemix/core/binary.h"
#include "tunemix/core/text.h"

namespace tunemix {

const std::vector<LearnerPlugin>& learner_plugins() {
  static const std::vector<LearnerPlugin> plugins = {adaboost_mh_plugin(), svm_plugin()};
  return plugins;
}

const LearnerPlugin& learner_by_name(const std::string& name) {
  std::vector<std::string> names;
  for (const LearnerPlugin& plugin : learner_plugins()) {
    if (plugin.name == name) return plugin;
    names.push_back(plugin.name);
  }
  throw_input("unknown learner '{}'{}; expected one of: {}", name, did_you_mean(name, names),
              join(names, ", "));
}

const LearnerPlugin& learner_of_model(const std::filesystem::path& model) {
  const std::string kind = read_artifact(model).kind;
  for (const LearnerPlugin& plugin : learner_plugins())
    if (plugin.model_kind == kind) return plugin;
  throw_input("{}: holds '{}', which is not a model", model.string(), kind);
}

}  // namespace tunemix
