// Removes old runs and what only they needed.
#include <fmt/format.h>

#include <iostream>

#include "pipeline/commands/commands.h"
#include "pipeline/store/store.h"
#include "tunemix/core/text.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;

struct CleanCommand {
  fs::path runs = "runs";
  size_t keep_last = 0;
  bool dry_run = false;
};

int run_clean(const CleanCommand& command, const Program& /*program*/) {
  const CleanReport report = clean_runs(command.runs, command.keep_last, command.dry_run);
  for (const RemovedRun& run : report.removed_runs)
    std::cout << fmt::format("{} run {}: {}\n", command.dry_run ? "would remove" : "removed", run.name,
                             human_bytes(static_cast<double>(run.bytes)));
  std::cout << fmt::format("{} {} artifacts ({}) and {} runs; kept {} artifacts of {} runs\n",
                           command.dry_run ? "would remove" : "removed", report.removed_files,
                           human_bytes(static_cast<double>(report.removed_bytes)), report.removed_runs.size(),
                           report.kept_files, report.kept_runs.size());
  return 0;
}

}  // namespace

void add_clean_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand("clean", "Remove old runs and what only they needed from the cache");
  auto options = std::make_shared<CleanCommand>();
  command->add_option("--runs", options->runs, "Folder of the runs and of the cache")->capture_default_str();
  command->add_option("--keep-last", options->keep_last, "How many of the newest runs stay")->required();
  command->add_flag("--dry-run", options->dry_run, "Only say what would be removed");
  command->footer("Example:\n  tunemix clean --keep-last 3");
  set_action(*command, program, options, run_clean);
}

}  // namespace tunemix
