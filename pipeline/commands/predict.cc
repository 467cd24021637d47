// Scores new documents with a finished ensemble, query by query or as a whole.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "pipeline/commands/bundle_data.h"
#include "pipeline/commands/commands.h"
#include "pipeline/commands/output_file.h"
#include "tunemix/core/file.h"
#include "tunemix/core/text.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/data/side_files.h"
#include "tunemix/export/bundle.h"
#include "tunemix/export/writers.h"
#include "tunemix/learners/registry.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;

struct PredictCommand {
  fs::path bundle;
  std::vector<fs::path> data;
  std::string format = "scores";
  fs::path out = "-";
  size_t max_feature_id = LetorOptions().max_feature_id;
  bool sparse = false;
  bool whole = false;
  std::vector<std::string> member_scores;
};

LetorOptions reading_options(const PredictCommand& command, const BundleInfo& bundle) {
  LetorOptions options;
  options.unlabelled = true;
  options.max_feature_id = command.max_feature_id;
  if (command.sparse) options.num_features = bundle.features;
  return options;
}

void expect_features(const PredictCommand& command, const BundleInfo& bundle, size_t features) {
  if (features != bundle.features)
    throw_input("{}: the data has {} features and the ensemble '{}' was trained on {}{}",
                command.data.front().string(), features, bundle.name, bundle.features,
                features < bundle.features ? "; give --sparse if the file leaves out zeros" : "");
}

// In a file that leaves zeros out, the largest id that is written says little of how many features there are.
Dataset read_for_prediction(const PredictCommand& command, const BundleInfo& bundle, const Context& context) {
  Dataset data = read_letor(command.data, reading_options(command, bundle), context);
  expect_features(command, bundle, data.features());
  return data;
}

// Standardised within a query of one, every member is 0.
class SingleDocuments {
 public:
  void count(const QueryIndex& queries) {
    for (size_t q = 0; q < queries.size(); ++q) single_ += queries.length(q) == 1 ? 1 : 0;
    queries_ += queries.size();
  }
  void warn(const Context& context) const {
    if (single_ > 0)
      context.warn(fmt::format(
          "{} of {} queries have one document, whose score is 0: scores compare the documents of one "
          "query, so give all of a query's documents together",
          single_, queries_));
  }

 private:
  size_t single_ = 0;
  size_t queries_ = 0;
};

ScoredDocuments scored(const Dataset& data, std::span<const float> scores) {
  return {data.queries(), {}, data.names(), data.source_rows(), scores};
}

// Reads, scores and writes query by query: data of any size takes little memory. `printed` tells whether
// something has gone where it cannot be taken back.
void predict_in_parts(const PredictCommand& command, ExportFormat format, const Bundle& bundle,
                      const Context& context, bool& printed) {
  const bool to_stdout = command.out == "-";
  std::optional<OutputFile> file;
  if (!to_stdout) file.emplace(command.out, Folders::kMake);
  LetorOptions options = reading_options(command, bundle.info());
  options.least_features = bundle.info().features;
  LetorParts parts(command.data, options, context);
  SingleDocuments single;
  ExportPart part;
  std::string held;
  const auto write = [&] {
    printed = printed || to_stdout || !file->replaces();
    if (to_stdout)
      std::cout << held;
    else
      file->write({reinterpret_cast<const uint8_t*>(held.data()), held.size()});
    held.clear();
  };
  const bool by_name = format == ExportFormat::kTrec || format == ExportFormat::kTsv;
  while (const std::optional<Dataset> data = parts.next()) {
    if (data->features() > bundle.info().features) expect_features(command, bundle.info(), data->features());
    single.count(data->queries());
    if (part.first)
      part.named = all_named(data->queries(), data->names());
    else if (by_name && part.named && !all_named(data->queries(), data->names()))
      throw NotInParts(
          "some documents have no name, or one that another of their query has, after others with names of "
          "their own; give --whole, which looks at all of the data before it names them");
    const std::vector<float> scores = bundle.predict(*data, context);
    // Nothing is written before the features are known to be those of the ensemble.
    if (!part.first && (command.sparse || parts.widest() == bundle.info().features)) write();
    held += export_text(format, scored(*data, scores), bundle.info().name, part);
    part.first = false;
  }
  if (!command.sparse) expect_features(command, bundle.info(), parts.widest());
  write();
  if (file) file->commit();
  if (bundle.mixture().normalize() == Normalize::kQuery) single.warn(context);
}

// What cannot be read part by part: scores or group sizes of all documents in files of their own.
bool needs_all(const PredictCommand& command) {
  return command.whole || !command.member_scores.empty() ||
         std::any_of(command.data.begin(), command.data.end(),
                     [](const fs::path& file) { return !group_file_of(file).empty(); });
}

void expect_bundle(const fs::path& bundle) {
  std::error_code ignored;
  if (fs::is_directory(bundle, ignored))
    throw_input("{}: it is a folder; expected a bundle in it, such as {}", bundle.string(),
                (bundle / "bundle-fold1.tmx").string());
  if (!fs::exists(bundle, ignored))
    throw_input(
        "{}: there is no such file; a run that has come to its end has a bundle for each fold in its folder: "
        "run 'tunemix run' first, then give runs/NAME/bundle-fold1.tmx",
        bundle.string());
}

ExportFormat prediction_format(const std::string& name) {
  std::vector<std::string> names = export_format_names();
  std::erase(names, "qrels");
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw_input("format is '{}'{}; expected one of: {}{}", name,
                name == "qrels" ? ", which holds labels and no predictions" : "", join(names, ", "),
                did_you_mean(name, names));
  return parse_export_format(name);
}

int run_predict(const PredictCommand& command, const Program& program) {
  const ExportFormat format = prediction_format(command.format);
  std::vector<fs::path> inputs = command.data;
  inputs.push_back(command.bundle);
  for (const std::string& text : command.member_scores) inputs.push_back(text.substr(text.find('=') + 1));
  expect_no_input(command.out, inputs);
  const auto context = program.context();
  expect_bundle(command.bundle);
  const Bundle bundle = Bundle::load(command.bundle, registry());
  if (!needs_all(command) && bundle.external_scores().empty()) {
    bool printed = false;
    try {
      predict_in_parts(command, format, bundle, *context, printed);
      return 0;
    } catch (const NotInParts&) {  // read again, as a whole, where that can be done
      const bool again = std::all_of(command.data.begin(), command.data.end(),
                                     [](const fs::path& file) { return fs::is_regular_file(file); });
      if (printed || !again) throw;
    }
  }
  const Dataset data = read_for_prediction(command, bundle.info(), *context);
  SingleDocuments single;
  single.count(data.queries());
  if (bundle.mixture().normalize() == Normalize::kQuery) single.warn(*context);
  const std::vector<float> scores =
      bundle.predict(data, *context, read_member_scores(command.member_scores, bundle, data));
  write_output(command.out, export_text(format, scored(data, scores), bundle.info().name));
  return 0;
}

}  // namespace

void add_predict_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand("predict", "Score new documents with a finished ensemble");
  auto options = std::make_shared<PredictCommand>();
  command->add_option("--bundle", options->bundle, "bundle-foldN.tmx of a run")->required();
  command->add_option("--data", options->data, "LETOR files, - for stdin; labels are not read (0 or -1)")
      ->required();
  command->add_option("--format", options->format, "scores, yahoo, trec, ranklib or tsv")
      ->capture_default_str();
  command->add_option("--out", options->out, "File to write, - for stdout")->capture_default_str();
  add_max_feature_id(*command, options->max_feature_id);
  command->add_flag("--sparse", options->sparse, "Features that the files never write are 0");
  command->add_flag(
      "--whole", options->whole,
      "Read all of the data before scoring, instead of query by query: for rows of a query that are "
      "not adjacent");
  command->add_option(
      "--member-scores", options->member_scores,
      "NAME=FILE: scores of these documents by a ranker that the ensemble mixes (type: scores)");
  add_common_options(*command, program);
  command->footer(
      "Scores compare the documents of one query. An ensemble with 'normalize: query' (the default) "
      "standardises\n"
      "within the query, so a document's score depends on the others of its query: give all documents of a "
      "query\n"
      "together. A document alone gets 0.\n"
      "Example:\n  tunemix predict --bundle runs/quickstart/bundle-fold1.tmx --data new.txt --out "
      "new.scores");
  set_action(*command, program, options, run_predict);
}

}  // namespace tunemix
