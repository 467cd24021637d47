#include <fmt/format.h>

#include "pipeline/commands/commands.h"
#include "pipeline/engine/manifest.h"
#include "pipeline/run/experiment.h"
#include "tunemix/core/timer.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;

struct TaskCommand {
  fs::path manifest;
  size_t number = 0;
};

// In the folder and with the files of the run, whatever the launcher's are.
int run_task(const TaskCommand& command, Program& program) {
  const size_t number = command.number;
  const StoredManifest stored = read_manifest(fs::absolute(command.manifest));
  const TaskManifest& manifest = stored.manifest;
  if (number >= manifest.tasks.size())
    throw_input("--number is {}; the manifest has tasks 0 to {}", number, manifest.tasks.size() - 1);
  expect_unchanged(manifest);
  fs::current_path(manifest.folder);
  program.threads = manifest.threads;
  ProgressView view(program.quiet);
  const auto context = program.context();
  RunOptions options;
  options.runs = manifest.runs;
  options.planned_files = manifest.files;
  Experiment experiment(read_config(manifest.config, {}), options, *context, view);
  const Plan& plan = manifest.final_model ? experiment.final_plan() : experiment.plan();
  FoldJobs& jobs = manifest.final_model ? experiment.final_jobs() : experiment.jobs();
  if (plan.id() != manifest.plan)
    throw_run(
        "{}: the config makes other jobs here than where the run was planned; stop the run and start it "
        "again",
        manifest.config.string());
  for (const size_t job : manifest.tasks[number]) {
    const Timer timer;
    jobs.run(job);
    note_seconds(stored, number, job, timer.seconds());
    context->log(LogLevel::kInfo, fmt::format("{}: {:.1f} s", jobs.numbered_job(job).name, timer.seconds()));
  }
  return 0;
}

}  // namespace

void add_task_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand("task", "Run one task of a run on a cluster; its scripts call it");
  auto options = std::make_shared<TaskCommand>();
  command->add_option("manifest", options->manifest, "The manifest.json that the run has written")
      ->required();
  command->add_option("--number", options->number, "Number of the task, from 0")->required();
  command->add_flag("--quiet", program.quiet, "Only warnings and errors on stderr");
  command->footer("Example:\n  tunemix task runs/quickstart/tasks/0123456789ab/manifest.json --number 3");
  set_action(*command, program, options, run_task);
}

}  // namespace tunemix
