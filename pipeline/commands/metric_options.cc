#include "pipeline/commands/metric_options.h"

#include "tunemix/data/letor_reader.h"

namespace tunemix {

void add_policy_options(CLI::App& command, PolicyOverrides& overrides) {
  for (const auto& entry : policy_options().entries())
    command
        .add_option_function<std::string>(
            "--" + entry.name,
            [&overrides, name = entry.name](const std::string& text) { overrides[name] = text; },
            fmt::format("{} ({}; default: the tool's)", entry.doc, entry.expected))
        ->group("Policies, in place of the tool's own");
}

MetricPolicy make_policy(const std::string& preset_name, const PolicyOverrides& overrides) {
  MetricPolicy policy = preset(preset_name);
  for (const auto& [name, text] : overrides) policy_options().set(policy, name, text);
  return policy;
}

Dataset read_for_evaluation(std::span<const std::filesystem::path> files, size_t max_feature_id,
                            const Context& context) {
  LetorOptions options;
  options.max_feature_id = max_feature_id;
  options.labels_only = true;
  return read_letor(files, options, context);
}

void check_err_max(const MetricPolicy& policy, const PolicyOverrides& overrides, const Dataset& data) {
  if (overrides.contains("err-max") && stop_probabilities(policy, data.max_label()).empty())
    throw_input("err-max is {}, but the data has label {}; expected at least {:.0f}, or auto", policy.err_max,
                data.max_label(), exponential_grades(data.max_label() + 1).back());
}

}  // namespace tunemix
