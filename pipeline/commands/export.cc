// Writes a finished run's scores for other tools.
#include <fmt/format.h>

#include <iostream>

#include "pipeline/commands/commands.h"
#include "pipeline/commands/experiment_options.h"
#include "pipeline/commands/output_file.h"
#include "tunemix/core/text.h"
#include "tunemix/export/writers.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;

struct ExportCommand {
  ExperimentOptions experiment;
  std::string format = "scores";
  std::string split = "test";
  size_t fold = 0;
  std::string row;
  fs::path out;
};

const MixRow& find_row(const std::vector<MixRow>& rows, const std::string& name) {
  if (name.empty()) return main_row(rows);
  std::vector<std::string> names;
  for (const MixRow& row : rows) {
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  throw_input("row is '{}'; expected one of: {}{}", name, join(names, ", "), did_you_mean(name, names));
}

int run_export(const ExportCommand& command, const Program& program) {
  const ExportFormat format = parse_export_format(command.format);
  if (command.split != "test" && command.split != "valid")
    throw_input("split is '{}'; expected test or valid", command.split);
  FinishedExperiment finished(command.experiment, command.out, program);
  Experiment& experiment = finished.experiment;
  const size_t folds = experiment.plan().fold_keys.size();
  if (command.fold > folds) throw_input("fold is {}; the experiment has folds 1 to {}", command.fold, folds);
  const size_t first = command.fold == 0 ? 0 : command.fold - 1;
  const size_t last = command.fold == 0 ? folds : command.fold;
  if (last - first > 1 && !command.out.empty())
    throw_input("--out names one file and there are {} folds; give --fold, or leave out --out", folds);
  for (size_t fold = first; fold < last; ++fold) {
    const MixRow& row = find_row(experiment.mix_rows(fold), command.row);
    const FoldInfo& info = experiment.fold_info(fold);
    const bool test = command.split == "test";
    const SplitInfo& split = test ? info.test : info.valid;
    const ScoredDocuments documents{split.queries, split.labels, split.names, split.source_rows,
                                    test ? row.test : row.valid};
    fs::path file = command.out;
    if (file.empty())
      file = experiment.directory() / "exports" /
             fmt::format("{}-fold{}-{}.{}", row.name, fold + 1, command.split, command.format);
    write_output(file, export_text(format, documents, experiment.plan().config.name));
    if (file != "-") std::cerr << file.string() << '\n';
  }
  return 0;
}

}  // namespace

void add_export_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand("export", "Write a finished run's scores for other tools");
  auto options = std::make_shared<ExportCommand>();
  options->experiment.add_to(*command);
  command->add_option("--format", options->format, "yahoo, trec, qrels, scores, ranklib or tsv")
      ->capture_default_str();
  command->add_option("--split", options->split, "test or valid")->capture_default_str();
  command->add_option("--fold", options->fold, "Number of the fold, from 1 (default: all)")
      ->check(CLI::Range(size_t{1}, size_t{1000000}));
  command->add_option("--row", options->row, "Row of the results (default: the full mixture)");
  command->add_option("--out", options->out, "File to write, - for stdout (default: in the run's exports/)");
  add_common_options(*command, program);
  command->footer("Example:\n  tunemix export configs/quickstart.yaml --format trec --fold 1 --out run.trec");
  set_action(*command, program, options, run_export);
}

}  // namespace tunemix
