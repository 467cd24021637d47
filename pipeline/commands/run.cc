#include <fmt/format.h>

#include <iostream>

#include "pipeline/commands/commands.h"
#include "pipeline/commands/experiment_options.h"
#include "pipeline/commands/facts.h"
#include "pipeline/commands/output_file.h"
#include "pipeline/stages/fold_data.h"
#include "pipeline/store/json_text.h"
#include "tunemix/core/file.h"
#include "tunemix/core/text.h"

namespace tunemix {
namespace {

using Json = nlohmann::ordered_json;

struct RunCommand {
  ExperimentOptions experiment;
  std::string only;
  std::string from;
  bool force = false;
  bool dry_run = false;
  bool detach = false;
  bool final_model = false;
  bool help_config = false;
  std::string format = "markdown";  // of the reference
  bool yes = false;
  bool json = false;
};

int print_status(Experiment& experiment, bool json) {
  const std::vector<StageStatus> stages = experiment.status();
  if (json) {
    Json out = Json::array();
    for (const StageStatus& stage : stages)
      out.push_back({{"stage", to_string(stage.stage)},
                     {"cached", stage.cached},
                     {"missing", stage.missing},
                     {"reasons", stage.reasons},
                     {"jobs", stage.missing_jobs},
                     {"tasks", stage.tasks}});
    std::cout << json_text(out) << '\n';
    return 0;
  }
  for (const StageStatus& stage : stages) {
    std::string line = fmt::format("{:<10} ", to_string(stage.stage));
    if (stage.missing == 0)
      line += fmt::format("cached ({})", stage.cached);
    else
      line += fmt::format("to compute: {} of {}; {}", stage.missing, stage.cached + stage.missing,
                          join(stage.reasons, "; "));
    std::cout << line << '\n';
    if (!stage.tasks.empty()) std::cout << "             " << stage.tasks << '\n';
    constexpr size_t kShown = 5;
    if (stage.cached > 0 && stage.missing > 0)
      for (size_t i = 0; i < stage.missing_jobs.size(); ++i) {
        if (i == kShown) {
          std::cout << fmt::format("             ... and {} more\n", stage.missing_jobs.size() - kShown);
          break;
        }
        std::cout << "             " << stage.missing_jobs[i] << '\n';
      }
  }
  return 0;
}

// "data 2 of 2, train 5 of 12, ...": what the next run takes from the cache.
std::string kept_so_far(Experiment& experiment) {
  std::vector<std::string> words;
  for (const StageStatus& stage : experiment.status())
    if (stage.stage != Stage::kReport)
      words.push_back(
          fmt::format("{} {} of {}", to_string(stage.stage), stage.cached, stage.cached + stage.missing));
  return join(words, ", ");
}

// As Experiment::run(); an interrupted run says what it has kept.
bool run_to_end(Experiment& experiment, ProgressView& view) {
  try {
    return experiment.run();
  } catch (const Interrupted&) {
    view.interrupted();
    std::cerr << "kept: " << kept_so_far(experiment) << '\n';
    throw;
  }
}

void print_results(Experiment& experiment) {
  const Results results = experiment.results(experiment.evaluation());
  std::cout << '\n' << results_table(results, false) << '\n';
  std::string timing;
  for (const StageTiming& stage : results.timing)
    timing += fmt::format("{}{} {}", timing.empty() ? "" : ", ", stage.stage, human_seconds(stage.seconds));
  std::cout << "  time: " << timing << '\n';
  std::cout << "  results in " << experiment.directory().string()
            << "/ (results.md, results.json, report.html)\n";
}

// A list too many in a grid multiplies: nobody trains so many models by mistake.
void expect_wanted(const Config& config) {
  constexpr size_t kManyJobs = 100000;
  size_t jobs = 0;
  for (const LearnerSpec& learner : config.learners) jobs += static_cast<size_t>(learner.bags);
  jobs *= fold_count(config.data);
  if (jobs > kManyJobs)
    throw_input(
        "{} has {} learners with their bags in {} folds, {} models to train; give --yes if they are wanted",
        config.name, config.learners.size(), fold_count(config.data), jobs);
}

int run_run(const RunCommand& command, const Program& program) {
  if (command.help_config) {
    std::cout << (command.format == "schema" ? config_schema() : config_reference());
    return 0;
  }
  RunOptions options;
  options.runs = command.experiment.runs;
  if (!command.only.empty() && !command.from.empty()) throw_input("--only and --from exclude each other");
  if (!command.only.empty()) options.only = parse_stage(command.only);
  if (!command.from.empty()) options.from = parse_stage(command.from);
  if (command.force && !options.only && !options.from)
    throw_input(
        "--force needs --only STAGE or --from STAGE, so that not everything is computed again by mistake");
  if (command.final_model && (options.only || options.from || command.detach || command.dry_run))
    throw_input("--final trains after a whole run; leave out --only, --from, --detach and --dry-run");
  options.force = command.force;
  options.final_model = command.final_model;
  options.read_only = command.dry_run;
  options.detach = command.detach;
  ProgressView view(program.quiet);
  const auto context = program.context();
  context->on_log = [&](LogLevel level, const std::string& message) { view.log(level, message); };
  // Results on data of which nothing was held back by the user would be taken for more than they are.
  Config config = command.experiment.read(command.final_model);
  if (!command.yes && !command.dry_run) expect_wanted(config);
  Experiment experiment(std::move(config), options, *context, view);
  if (command.dry_run) return print_status(experiment, command.json);
  if (!run_to_end(experiment, view)) {
    std::cout << "the tasks are left to Slurm; 'tunemix status' shows them, and 'tunemix run' with the "
                 "same config waits "
                 "for them and does the rest\n";
    return 0;
  }
  const bool evaluated = !options.only || *options.only >= Stage::kEvaluate;
  if (!evaluated) return 0;
  if (command.json)
    std::cout << json_text(results_json(experiment.results(experiment.evaluation()))) << '\n';
  else
    print_results(experiment);
  if (command.final_model && !command.json)
    std::cout << "  final model in " << (experiment.directory() / "bundle.tmx").string() << '\n';
  return 0;
}

struct JobCommand {
  ExperimentOptions experiment;
  size_t job = 0;
};

int run_job(const JobCommand& command, const Program& program) {
  ProgressView view(program.quiet);
  const auto context = program.context();
  RunOptions options;
  options.runs = command.experiment.runs;
  Experiment(command.experiment.read(), options, *context, view).jobs().run(command.job);
  return 0;
}

struct FitCommand {
  ExperimentOptions experiment;
  std::filesystem::path out;
  bool json = false;
};

int fit(const FitCommand& command, const Program& program) {
  expect_file_name(command.out, "--out", "bundle");
  Config config = command.experiment.read();
  expect_no_input(command.out, command.experiment.inputs(config));
  RunOptions options;
  options.runs = command.experiment.runs;
  options.final_model = true;
  ProgressView view(program.quiet);
  const auto context = program.context();
  context->on_log = [&](LogLevel level, const std::string& message) { view.log(level, message); };
  Experiment experiment(std::move(config), options, *context, view);
  run_to_end(experiment, view);
  const std::filesystem::path file = experiment.directory() / "bundle.tmx";
  if (!command.out.empty()) write_user_file(command.out, read_file(file), Folders::kMake);
  const BundleInfo info = experiment.final_info();
  if (command.json) {
    std::cout << describe_bundle_info(info).dump(1) << '\n';
    return 0;
  }
  std::cout << '\n' << results_table(experiment.results(experiment.evaluation()), false) << '\n';
  std::cout << fmt::format("  final model: {} on {} queries, {} documents of {}\n", info.row, info.queries,
                           info.documents, join(info.trained_on, ", "));
  std::cout << fmt::format("  expected {}: {:.4f}{} ({})\n", info.expected.measure, info.expected.value,
                           info.expected.error ? fmt::format(" +- {:.4f}", *info.expected.error) : "",
                           info.expected.data);
  std::cout << "  written to " << (command.out.empty() ? file : command.out).string() << '\n';
  return 0;
}

int status(const RunCommand& command, const Program& program) {
  ProgressView view(true);
  const auto context = program.context();
  RunOptions options;
  options.runs = command.experiment.runs;
  options.read_only = true;
  Experiment experiment(command.experiment.read(), options, *context, view);
  return print_status(experiment, command.json);
}

}  // namespace

void add_run_command(CLI::App& app, Program& program) {
  CLI::App* command =
      app.add_subcommand("run", "Run an experiment; what is done already is taken from the cache");
  auto options = std::make_shared<RunCommand>();
  options->experiment.add_to(*command);
  command->add_option("--only", options->only,
                      "Run this stage alone: data, train, calibrate, mix, evaluate, report");
  command->add_option("--from", options->from, "Run this stage and those after it");
  command->add_flag("--force", options->force, "With --only or --from: compute again what is in the cache");
  command->add_flag("--dry-run", options->dry_run, "Say what would be computed, and why");
  command->add_flag("--detach", options->detach,
                    "With Slurm: submit the training tasks and leave; the next run takes them up");
  command->add_flag("--final", options->final_model,
                    "Then train on all the data what the folds have chosen: bundle.tmx, as `fit` makes it");
  command->add_flag("--help-config", options->help_config, "Print the reference of all config keys");
  command
      ->add_option("--format", options->format,
                   "Of --help-config: markdown, or schema for a JSON Schema that editors check configs by")
      ->check(CLI::IsMember({"markdown", "schema"}))
      ->capture_default_str();
  command->add_flag("--yes", options->yes, "Train more than 100000 models");
  command->add_flag("--json", options->json, "Print the results as JSON");
  add_common_options(*command, program);
  command->footer(
      "Examples:\n"
      "  tunemix run configs/quickstart.yaml\n"
      "  tunemix run configs/quickstart.yaml --only mix mix.families=pooled\n"
      "  tunemix run --data-train train.txt --data-valid vali.txt --data-test test.txt name=first-try");
  set_action(*command, program, options, run_run);
}

void add_fit_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "fit", "Run an experiment, then train what it chose on all its data: one bundle to use");
  auto options = std::make_shared<FitCommand>();
  options->experiment.add_to(*command);
  command->add_option("--out", options->out, "Also write the bundle to this file");
  command->add_flag("--json", options->json, "Print what the bundle says of itself as JSON");
  add_common_options(*command, program);
  command->footer(
      "Example:\n"
      "  tunemix fit configs/quickstart.yaml --out ranker.tmx\n"
      "  tunemix predict --bundle ranker.tmx --data new.txt --out new.scores");
  set_action(*command, program, options, fit);
}

void add_status_command(CLI::App& app, Program& program) {
  CLI::App* command =
      app.add_subcommand("status", "Say for every stage whether it is cached, and if not, why");
  auto options = std::make_shared<RunCommand>();
  options->experiment.add_to(*command);
  command->add_flag("--json", options->json, "Print JSON");
  command->footer("Example:\n  tunemix status configs/quickstart.yaml calibrate.cpc=[shift]");
  set_action(*command, program, options, status);
}

void add_job_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand(
      "job", "Run one job of an experiment by its number: training jobs, then calibrations");
  auto options = std::make_shared<JobCommand>();
  options->experiment.add_to(*command);
  command->add_option("--job", options->job, "Number of the job, from 0")->required();
  add_common_options(*command, program);
  command->footer("Example:\n  tunemix job configs/quickstart.yaml --job 3");
  set_action(*command, program, options, run_job);
}

}  // namespace tunemix
