#include "tunemix/data/clicks.h"

#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "pipeline/commands/commands.h"
#include "pipeline/commands/output_file.h"
#include "tunemix/data/letor_reader.h"

namespace tunemix {
namespace {

struct ClickArguments {
  std::filesystem::path log;
  std::filesystem::path features;
  std::filesystem::path out;
  ClickModelOptions model;
  ClickGradeOptions grading;
  size_t max_feature_id = 100000;
  bool json = false;
};

void print_model(const ClickCounts& counts, const ClickModel& model, const Dataset& data, size_t missing) {
  std::vector<size_t> labels(static_cast<size_t>(data.max_label()) + 1, 0);
  for (const int32_t label : data.labels()) ++labels[static_cast<size_t>(label)];
  const nlohmann::ordered_json root = {
      {"sessions", counts.sessions},      {"clicks", counts.clicks},
      {"queries", data.queries().size()}, {"documents", data.documents()},
      {"without_features", missing},      {"labels", labels},
      {"examination", model.examination}, {"log_likelihood", model.log_likelihood},
      {"iterations", model.iterations},   {"converged", model.converged}};
  std::cout << root.dump(2) << '\n';
}

int clicks(ClickArguments arguments, const Program& program) {
  const std::filesystem::path weights = std::filesystem::path(arguments.out) += ".weight";
  for (const std::filesystem::path& out : {arguments.out, weights})
    expect_no_input(out, {arguments.log, arguments.features});
  arguments.grading.prior = arguments.model.prior;
  const auto context = program.context();
  const ClickCounts counts = read_clicks(arguments.log);
  const ClickModel model = fit_click_model(counts, arguments.model, *context);
  if (!model.converged)
    context->warn(
        fmt::format("the click model still moves after {} steps; raise --iterations", model.iterations));
  std::optional<Dataset> features;
  if (!arguments.features.empty()) {
    LetorOptions options;
    options.unlabelled = true;
    options.max_feature_id = arguments.max_feature_id;
    features = read_letor(arguments.features, options, *context);
  }
  size_t missing = 0;
  const Dataset data =
      grade_clicks(counts, model, arguments.grading, features ? &*features : nullptr, missing);
  if (missing > 0)
    context->warn(fmt::format("{} of the documents shown have no features and are left out", missing));
  // The weights first: data that stands without them would count everything the same.
  write_weights(data, weights);
  write_letor(data, arguments.out);
  context->log(
      LogLevel::kInfo,
      fmt::format("{}: {} documents of {} queries from {} sessions with {} clicks; rank 1 is looked at "
                  "always, rank {} by {:.0f} %",
                  arguments.out.string(), data.documents(), data.queries().size(), counts.sessions,
                  counts.clicks, model.examination.size(), 100 * model.examination.back()));
  if (arguments.json) print_model(counts, model, data, missing);
  return 0;
}

}  // namespace

void add_clicks_command(CLI::App& app, Program& program) {
  CLI::App* command =
      app.add_subcommand("clicks", "Turn a click log into graded data, by a position-based click model");
  auto arguments = std::make_shared<ClickArguments>();
  command
      ->add_option(
          "LOG", arguments->log,
          "A session a line: QUERY <tab> documents as ranked <tab> clicked ranks; '-': standard input")
      ->required();
  command->add_option(
      "--features", arguments->features,
      "LETOR file with the features of the documents, joined by qid (or qid:*) and docid; the "
      "labels are not read");
  command->add_option("--out", arguments->out, "LETOR file to write; the weights go to FILE.weight beside it")
      ->required();
  command->add_option("--grades", arguments->grading.grades, "Number of grades")
      ->check(CLI::Range(2, 32))
      ->capture_default_str();
  command
      ->add_option("--top", arguments->grading.top,
                   "Attraction that earns the highest grade (default: the largest that is found)")
      ->check(CLI::Range(1e-6, 1.0));
  command
      ->add_option("--prior", arguments->model.prior,
                   "Examinations of average attraction that every document is given beforehand")
      ->check(CLI::Range(1e-6, 1e6))
      ->capture_default_str();
  command->add_option("--iterations", arguments->model.iterations, "Most steps of expectation maximisation")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "Print what the model found as JSON");
  add_max_feature_id(*command, arguments->max_feature_id);
  add_common_options(*command, program);
  command->footer(
      "Example:\n"
      "  tunemix clicks log.tsv --features documents.txt --out train.txt");
  set_action(*command, program, arguments, clicks);
}

}  // namespace tunemix
