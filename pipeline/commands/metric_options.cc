#include "pipeline/commands/metric_options.h"

#include <charconv>
#include <cmath>

#include "tunemix/core/text.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/metric/evaluator.h"

namespace tunemix {

size_t rank_of(std::string_view metric) {
  const size_t at = metric.find('@');
  if (at == std::string_view::npos) return 10;
  size_t rank = 0;
  const char* end = metric.data() + metric.size();
  const auto result = std::from_chars(metric.data() + at + 1, end, rank);
  if (result.ec != std::errc() || result.ptr != end || rank < 1 || rank > 10000)
    throw_input("metric is '{}'; expected a rank from 1 to 10000 after the @", metric);
  return rank;
}

std::vector<double> column_of(const Evaluation& evaluation, size_t column) {
  std::vector<double> values;
  for (size_t q = 0; q < evaluation.queries; ++q)
    values.push_back(evaluation.per_query[q * evaluation.measures.columns() + column]);
  return values;
}

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

std::vector<MetricPolicy> named_policies(const std::string& tools, const PolicyOverrides& overrides) {
  std::vector<MetricPolicy> policies;
  for (const std::string& name : tools == "all" ? preset_names() : split(tools, ',')) {
    for (const MetricPolicy& other : policies)
      if (other.name == name) throw_input("the tool '{}' is named twice in --tool {}", name, tools);
    policies.push_back(make_policy(name, overrides));
  }
  return policies;
}

ToolChoice fit_to_data(const std::vector<MetricPolicy>& policies, const std::string& tools,
                       const PolicyOverrides& overrides, const Dataset& data) {
  ToolChoice choice;
  for (const MetricPolicy& policy : policies) {
    check_err_max(policy, overrides, data);
    if (tools == "all" && data.max_label() > largest_label(policy))
      choice.skipped.emplace_back(policy.name,
                                  fmt::format("knows labels 0 to {} only, and the data has label {}",
                                              largest_label(policy), data.max_label()));
    else
      choice.policies.push_back(policy);
  }
  if (choice.policies.empty()) throw_input("no tool fits the data's labels 0 to {}", data.max_label());
  return choice;
}

PairedTest compare_scores(const Dataset& data, std::span<const double> a, std::span<const double> b,
                          const MetricPolicy& policy, const PolicyOverrides& overrides,
                          const std::string& metric, ThreadPool& pool) {
  check_err_max(policy, overrides, data);
  const size_t k = rank_of(metric);
  const size_t column = MeasureTable(k).column(metric);
  const Evaluator evaluator(data, {policy}, k);
  const auto values = [&](std::span<const double> scores) {
    return column_of(evaluator(scores, pool, true).front(), column);
  };
  const std::vector<double> of_a = values(a);
  if (std::isnan(of_a.front()))
    throw_input("label {} does not fit err-max {}; try --err-max auto", data.max_label(), policy.err_max);
  return paired_t_test(of_a, values(b));
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
