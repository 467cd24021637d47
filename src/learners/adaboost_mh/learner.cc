#include "learners/adaboost_mh/learner.h"

#include "learners/adaboost_mh/trainer.h"

namespace tunemix {
namespace {

std::unique_ptr<Trainer> trainer(const TrainingRequest& request, BinaryReader* state,
                                 const Context& context) {
  AdaBoostOptions options = parse_settings(adaboost_option_table(), request.settings);
  options.labels = request.data.label_count();
  return std::make_unique<AdaBoostTrainer>(request.data, options, request.lengths, state, context);
}

// The base learner, its size, and what is not default.
std::string title(const std::vector<OptionInfo>& options, const Settings& settings) {
  const std::string& base = setting(settings, "base");
  std::string result = base;
  for (const OptionInfo& option : options) {
    if (option.role != OptionRole::kGrid || option.name == "base") continue;
    const std::string& value = setting(settings, option.name);
    const bool size =
        (base == "tree" && option.name == "leaves") || (base == "product" && option.name == "terms");
    if (size || value != option.default_value) result += fmt::format(" {}={}", option.name, value);
  }
  return result;
}

}  // namespace

LearnerEntry adaboost_mh_learner() {
  LearnerEntry entry;
  entry.type = "adaboost_mh";
  entry.family = "boosting";
  entry.row = "AB";
  entry.version = 6;
  entry.takes_missing = true;
  entry.doc = "AdaBoost.MH with trees, stumps or decision products, searched in full or through a bandit.";
  entry.citation = "Schapire and Singer 1999; Kégl and Busa-Fekete 2009; Busa-Fekete and Kégl 2010";
  entry.resumable = true;
  entry.reads_columns = true;
  describe_options(entry, adaboost_option_table(), {{"iterations", OptionRole::kLength}}, {"labels"});
  entry.title = [options = entry.options](const Settings& settings) { return title(options, settings); };
  entry.start = [](const TrainingRequest& request, const Context& context) {
    return trainer(request, nullptr, context);
  };
  entry.resume = [](const TrainingRequest& request, BinaryReader& state, const Context& context) {
    return trainer(request, &state, context);
  };
  entry.load = AdaBoostModel::load;
  return entry;
}

}  // namespace tunemix
