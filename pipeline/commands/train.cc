#include <iostream>

#include "pipeline/commands/commands.h"
#include "pipeline/learners/learner.h"
#include "tunemix/core/timer.h"
#include "tunemix/data/letor_reader.h"

namespace tunemix {
namespace {

struct TrainArguments {
  std::vector<std::filesystem::path> data;
  std::string learner;
  std::vector<std::string> settings;
  std::filesystem::path model;
  std::filesystem::path extend;
  uint64_t seed = 1;
  LetorOptions reading;
  bool json = false;
};

Settings parse_settings(const std::vector<std::string>& given) {
  Settings settings;
  for (const std::string& text : given) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) throw_input("--set {}: expected key=value", text);
    settings.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return settings;
}

// {"a": {"b": 1}} as lines "a.b: 1".
void print_lines(const nlohmann::ordered_json& json, const std::string& prefix) {
  for (const auto& [key, value] : json.items()) {
    if (value.is_object())
      print_lines(value, prefix + key + ".");
    else
      std::cout << prefix << key << ": " << value.dump() << '\n';
  }
}

int train(const TrainArguments& arguments, const Program& program) {
  const LearnerPlugin& learner = learner_by_name(arguments.learner);
  const auto context = program.context(arguments.seed);
  const Timer timer;
  const Dataset data = read_letor(arguments.data, arguments.reading, *context);
  const double load = timer.seconds();
  nlohmann::ordered_json figures =
      learner.train({data, parse_settings(arguments.settings), arguments.model, arguments.extend}, *context);
  nlohmann::ordered_json result;
  result["seconds"]["load"] = load;
  for (const auto& [key, value] : figures["seconds"].items()) result["seconds"][key] = value;
  for (const auto& [key, value] : figures.items())
    if (key != "seconds") result[key] = value;
  result["peak_rss_mb"] = peak_rss_mb();
  if (arguments.json)
    std::cout << result.dump() << '\n';
  else
    print_lines(result, "");
  return 0;
}

}  // namespace

void add_train_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand("train", "Train one model by hand");
  const auto arguments = std::make_shared<TrainArguments>();
  command->add_option("--data", arguments->data, "LETOR file or files to train on")->required();
  add_max_feature_id(*command, arguments->reading.max_feature_id);
  command->add_option("--learner", arguments->learner, "Name of the learner")->required();
  command->add_option("--set", arguments->settings, "An option of the learner, as key=value");
  command->add_option("--model", arguments->model, "Where to save the model");
  command->add_option("--extend", arguments->extend, "Go on from this model, up to --set iterations=N");
  command->add_option("--seed", arguments->seed, "Seed of all random choices (default 1)");
  command->add_flag("--json", arguments->json, "Print the figures as JSON");
  add_common_options(*command, program);
  std::string footer;
  for (const LearnerPlugin& plugin : learner_plugins())
    footer += "Options of " + plugin.name + ":\n" + plugin.options_help;
  footer +=
      "Example: tunemix train --data train.txt --learner adaboost_mh --set leaves=64 --set bandit=exp3g "
      "--model m.tmx";
  command->footer(footer);
  command->callback(
      [arguments, &program] { program.action = [=, &program] { return train(*arguments, program); }; });
}

}  // namespace tunemix
