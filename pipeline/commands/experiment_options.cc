#include "pipeline/commands/experiment_options.h"

#include <algorithm>
#include <cctype>

#include "pipeline/commands/output_file.h"
#include "pipeline/stages/fold_data.h"
#include "tunemix/core/text.h"

namespace tunemix {
namespace {

// `key.path=value` rather than a file: options with several values take in what stands after them.
bool is_override(const std::string& word) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0 || std::filesystem::exists(word)) return false;
  return std::all_of(word.begin(), word.begin() + static_cast<ptrdiff_t>(equals),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
}

std::vector<std::string> take_overrides(std::vector<std::string>& files) {
  const auto first = std::stable_partition(files.begin(), files.end(),
                                           [](const std::string& word) { return !is_override(word); });
  std::vector<std::string> overrides(first, files.end());
  files.erase(first, files.end());
  return overrides;
}

// As a double-quoted item of YAML.
std::string yaml_list(const std::vector<std::string>& files) {
  std::vector<std::string> items;
  for (const std::string& file : files) {
    std::string item = "\"";
    for (const char c : file) item += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    items.push_back(item + "\"");
  }
  return "[" + join(items, ", ") + "]";
}

}  // namespace

void ExperimentOptions::add_to(CLI::App& command) {
  command.add_option("config", config, "The experiment's YAML file");
  command.add_option("overrides", overrides, "key.path=value, as many as wanted");
  command.add_option(
      "--data-train", train,
      "Files of training data, for the recommended recipe without a config; as many as wanted");
  command.add_option("--data-valid", valid,
                     "Files of validation data; without them a fifth of the training queries is taken");
  command.add_option("--data-test", test,
                     "Files of test data; without them results are those on the validation data");
  command.add_option("--runs", runs, "Folder of the runs and of the cache")->capture_default_str();
  command.add_option("--engine", engine, "local, slurm or command, instead of the config's");
}

Config ExperimentOptions::read(bool may_be_alone) const {
  std::vector<std::string> all = overrides;
  FoldFiles files{train, valid, test};
  for (std::vector<std::string>* list : {&files.train, &files.valid, &files.test})
    for (std::string& word : take_overrides(*list)) all.push_back(std::move(word));
  if (!engine.empty()) all.push_back("engine.type=" + engine);
  const bool from_files = !files.train.empty() || !files.valid.empty() || !files.test.empty();
  if (!from_files) {
    if (config.empty())
      throw_input("there is no config; expected CONFIG.yaml, or --data-train, --data-valid and --data-test");
    return read_config(config, all);
  }
  if (!config.empty()) {
    if (!is_override(config.string()))
      throw_input(
          "{} and --data-train, --data-valid, --data-test exclude each other; name the files in the config",
          config.string());
    all.insert(all.begin(), config.string());
  }
  // Without validation data a part of the training queries is taken for it.
  const std::string valid_part = files.valid.empty() ? "{from: train}" : yaml_list(files.valid);
  if (files.train.empty())
    throw_input("--data-train is missing; without a config give files of training data");
  if (files.valid.empty() && files.test.empty() && !may_be_alone)
    throw_input("--data-valid and --data-test are missing; without a config give at least one of them");
  const std::string test_part = files.test.empty() ? "" : fmt::format(", test: {}", yaml_list(files.test));
  const std::string text =
      fmt::format("name: default\ndata:\n  root: .\n  folds: [{{train: {}, valid: {}{}}}]\n",
                  yaml_list(files.train), valid_part, test_part);
  return parse_config(text, "command line", all);
}

std::vector<std::filesystem::path> ExperimentOptions::inputs(const Config& read) const {
  std::vector<std::filesystem::path> result = {config};
  const auto add = [&](const std::vector<std::filesystem::path>& files) {
    result.insert(result.end(), files.begin(), files.end());
  };
  for (const FoldFiles& files : read.data.folds) add(content_of(read, files));
  add(content_of(read, {read.data.source.files, {}, {}}));
  if (!read.data.feature_names.empty()) add(paths_of(read, {read.data.feature_names}));
  for (const LearnerSpec& spec : read.learners)
    for (const FoldFiles& files : spec.scores) add(content_of(read, files));
  return result;
}

namespace {

Config config_for(const ExperimentOptions& asked, const std::filesystem::path& out) {
  Config config = asked.read();
  expect_no_input(out, asked.inputs(config));
  return config;
}

RunOptions only_reading(const ExperimentOptions& asked) {
  RunOptions options;
  options.runs = asked.runs;
  options.only = Stage::kReport;
  options.read_only = true;
  return options;
}

}  // namespace

FinishedExperiment::FinishedExperiment(const ExperimentOptions& asked, const std::filesystem::path& out,
                                       const Program& program)
    : context(program.context()), experiment(config_for(asked, out), only_reading(asked), *context, view) {}

}  // namespace tunemix
