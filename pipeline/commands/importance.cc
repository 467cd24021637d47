#include "tunemix/export/importance.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "pipeline/commands/bundle_data.h"
#include "pipeline/commands/commands.h"
#include "pipeline/commands/output_file.h"
#include "tunemix/core/text.h"
#include "tunemix/learners/registry.h"

namespace tunemix {
namespace {

struct ImportanceCommand {
  std::filesystem::path bundle;
  std::vector<std::filesystem::path> data;
  std::vector<std::string> member_scores;
  std::filesystem::path out;
  ImportanceOptions options;
  size_t top = 20;
};

nlohmann::ordered_json describe(const ImportanceCommand& command, const Bundle& bundle,
                                const Importance& importance) {
  const auto number = [](const std::optional<double>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json json = {{"experiment", bundle.info().name}, {"bundle", bundle.info().key}};
  json["data"] = nlohmann::ordered_json::array();
  for (const auto& file : command.data) json["data"].push_back(file.string());
  json["measure"] = "NDCG@10";
  json["ndcg"] = importance.ndcg;
  json["stderr"] = number(importance.error);
  json["queries"] = importance.queries;
  json["repeats"] = command.options.repeats;
  json["features"] = nlohmann::ordered_json::array();
  for (const FeatureImportance& f : importance.features)
    json["features"].push_back({{"feature", f.feature + 1},
                                {"name", bundle.info().feature_names.label(f.feature)},
                                {"loss", f.loss},
                                {"stderr", number(f.error)}});
  return json;
}

void print_table(const ImportanceCommand& command, const Bundle& bundle, Importance importance) {
  std::stable_sort(importance.features.begin(), importance.features.end(),
                   [](const FeatureImportance& a, const FeatureImportance& b) { return a.loss > b.loss; });
  const auto error = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.5f}", *value) : std::string("-");
  };
  std::cout << fmt::format(
      "  NDCG@10 {:.4f}, std. error {}, {} queries; a feature's values shuffled {} times\n\n",
      importance.ndcg, error(importance.error), importance.queries, command.options.repeats);
  std::cout << fmt::format("  {:>10}  {:>10}  feature\n", "loss", "std. error");
  const size_t shown = std::min(command.top, importance.features.size());
  for (size_t i = 0; i < shown; ++i) {
    const FeatureImportance& f = importance.features[i];
    const std::string_view name = bundle.info().feature_names[f.feature];
    std::cout << fmt::format("  {:>10.5f}  {:>10}  {}{}\n", f.loss, error(f.error), f.feature + 1,
                             name.empty() ? "" : fmt::format(" {}", name));
  }
  if (shown < importance.features.size())
    std::cout << fmt::format("  and {} more (--top)\n", importance.features.size() - shown);
}

int run_importance(const ImportanceCommand& command, const Program& program) {
  std::vector<std::filesystem::path> inputs = command.data;
  inputs.push_back(command.bundle);
  expect_no_input(command.out, inputs);
  const auto context = program.context();
  const Bundle bundle = Bundle::load(command.bundle, registry());
  const Dataset data = read_bundle_data(command.data, bundle.info(), *context);
  const GivenScores given = read_member_scores(command.member_scores, bundle, data);
  const Importance importance = permutation_importance(bundle, data, command.options, *context, given);
  if (!command.out.empty()) write_output(command.out, describe(command, bundle, importance).dump(1) + '\n');
  if (command.out != "-") print_table(command, bundle, importance);
  return 0;
}

}  // namespace

void add_importance_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "importance",
      "Say how much NDCG@10 an ensemble loses without each feature: its values shuffled in queries");
  auto options = std::make_shared<ImportanceCommand>();
  command->add_option("--bundle", options->bundle, "The ensemble, bundle.tmx of a run or any other")
      ->required();
  command->add_option("--data", options->data, "LETOR file or files with labels; - for stdin")->required();
  command->add_option("--repeats", options->options.repeats, "Shufflings of every feature")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command->add_option("--seed", options->options.seed, "Seed of the shuffling")->capture_default_str();
  command->add_option("--top", options->top, "Features to print")->capture_default_str();
  command->add_option("--member-scores", options->member_scores,
                      "NAME=FILE: scores of these documents by a ranker that the bundle mixes");
  command->add_option("--out", options->out,
                      "Also write all features as JSON, - for stdout; as importance.json of a run's folder "
                      "it is in the report");
  add_common_options(*command, program);
  command->footer(
      "Example:\n"
      "  tunemix importance --bundle runs/quickstart/bundle-fold1.tmx --data test.txt --repeats 10");
  set_action(*command, program, options, run_importance);
}

}  // namespace tunemix
