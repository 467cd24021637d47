// Writes a finished run's report.
#include "pipeline/report/report.h"

#include <iostream>

#include "pipeline/commands/commands.h"
#include "pipeline/commands/experiment_options.h"
#include "pipeline/commands/output_file.h"
#include "pipeline/store/json_text.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;

struct ReportCommand {
  ExperimentOptions experiment;
  fs::path out;
  bool json = false;
};

int run_report(const ReportCommand& command, const Program& program) {
  FinishedExperiment finished(command.experiment, command.out, program);
  Experiment& experiment = finished.experiment;
  const auto data = experiment.report_data(experiment.evaluation());
  if (command.json) {
    write_output(command.out.empty() ? "-" : command.out, json_text(report_json(data)) + '\n');
    return 0;
  }
  const fs::path file = command.out.empty() ? experiment.directory() / "report.html" : command.out;
  write_output(file, render_report(data));
  if (file != "-") std::cerr << file.string() << '\n';
  return 0;
}

}  // namespace

void add_report_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand("report", "Write a finished run's report: one HTML page");
  auto options = std::make_shared<ReportCommand>();
  options->experiment.add_to(*command);
  command->add_option("--out", options->out, "File to write, - for stdout (default: the run's report.html)");
  command->add_flag("--json", options->json,
                    "Write the data of the page as JSON instead, to stdout unless --out is given");
  add_common_options(*command, program);
  command->footer("Example:\n  tunemix report configs/quickstart.yaml --out report.html");
  set_action(*command, program, options, run_report);
}

}  // namespace tunemix
