// The subcommands of `tunemix`: each adds itself to the command line and sets the action to run.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

#include "tunemix/core/context.h"

namespace tunemix {

struct Program {
  int threads = 0;  // 0: all cores
  bool quiet = false;
  std::function<int()> action;  // set by the subcommand that was chosen; returns the exit code

  // A context with the program's threads, log and Ctrl-C flag.
  std::unique_ptr<Context> context(uint64_t seed = 1) const;
};

// One function per subcommand, in the order of `tunemix --help`.
void add_run_command(CLI::App& app, Program& program);
void add_fit_command(CLI::App& app, Program& program);
void add_status_command(CLI::App& app, Program& program);
void add_export_command(CLI::App& app, Program& program);
void add_export_model_command(CLI::App& app, Program& program);
void add_predict_command(CLI::App& app, Program& program);
void add_serve_command(CLI::App& app, Program& program);
void add_importance_command(CLI::App& app, Program& program);
void add_distill_command(CLI::App& app, Program& program);
void add_report_command(CLI::App& app, Program& program);
void add_clean_command(CLI::App& app, Program& program);
void add_job_command(CLI::App& app, Program& program);
void add_task_command(CLI::App& app, Program& program);
void add_eval_command(CLI::App& app, Program& program);
void add_synth_command(CLI::App& app, Program& program);
void add_clicks_command(CLI::App& app, Program& program);
void add_compare_command(CLI::App& app, Program& program);
void add_train_command(CLI::App& app, Program& program);
void add_score_command(CLI::App& app, Program& program);
void add_inspect_command(CLI::App& app, Program& program);
void add_completions_command(CLI::App& app, Program& program);

// Makes a command line that names `command` do run(*options, program).
template <typename Options, typename Run>
void set_action(CLI::App& command, Program& program, std::shared_ptr<Options> options, Run run) {
  command.callback([=, &program] { program.action = [=, &program] { return run(*options, program); }; });
}

// `--threads` and `--quiet`, for commands that compute.
void add_common_options(CLI::App& command, Program& program);
// `--max-feature-id`, for commands that read data of any number of features.
void add_max_feature_id(CLI::App& command, size_t& max_feature_id);

}  // namespace tunemix
