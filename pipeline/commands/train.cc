#include <algorithm>
#include <iostream>
#include <numeric>

#include "pipeline/commands/commands.h"
#include "pipeline/commands/facts.h"
#include "pipeline/commands/output_file.h"
#include "pipeline/config/yaml_reader.h"
#include "pipeline/store/json_text.h"
#include "tunemix/core/timer.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/learners/registry.h"

namespace tunemix {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kStateKind = "training";
constexpr uint32_t kStateVersion = 1;

struct TrainArguments {
  std::vector<std::filesystem::path> data;
  std::vector<std::filesystem::path> valid;
  std::string learner;
  std::vector<std::string> settings;
  std::filesystem::path model;
  std::filesystem::path save_state;
  std::filesystem::path extend;
  uint64_t seed = 1;
  LetorOptions reading;
  bool json = false;
};

Settings given_settings(const std::vector<std::string>& given) {
  Settings settings;
  for (const std::string& text : given) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) throw_input("--set {}: expected key=value", text);
    settings.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return settings;
}

// {"a": {"b": 1}} as lines "a.b: 1".
void print_lines(const Json& json, const std::string& prefix) {
  for (const auto& [key, value] : json.items()) {
    if (value.is_object())
      print_lines(value, prefix + key + ".");
    else
      std::cout << prefix << key << ": " << json_text(value, -1) << '\n';
  }
}

// What a training state must agree in with the run that goes on from it.
void put_identity(BinaryWriter& out, const LearnerEntry& learner, const Settings& settings, uint64_t seed,
                  const Dataset& data) {
  out.put(learner.type);
  out.put(learner.version);
  out.put(seed);
  out.put(data.fingerprint().hex());
  for (const auto& [key, value] : settings)
    if (learner.option(key).role != OptionRole::kLength) {
      out.put(key);
      out.put(value);
    }
}

// The settings of a saved run with those given on top; only the length may differ.
struct SavedState {
  Artifact artifact;
  BinaryReader in;
  explicit SavedState(const std::filesystem::path& path)
      : artifact(read_artifact(path, kStateKind, kStateVersion)), in(artifact.payload, path.string()) {}
};

void expect_identity(SavedState& state, const LearnerEntry& learner, const Settings& settings, uint64_t seed,
                     const Dataset& data) {
  if (const std::string type = state.in.get_string(); type != learner.type)
    throw_input("{}: a training of {}; --learner is {}", state.in.source(), type, learner.type);
  if (state.in.get<uint32_t>() != learner.version)
    throw_input("{}: a training by another version of {}; train from the start", state.in.source(),
                learner.type);
  if (const auto saved = state.in.get<uint64_t>(); saved != seed)
    throw_input("{}: a training with --seed {}; here it is {}", state.in.source(), saved, seed);
  if (state.in.get_string() != data.fingerprint().hex())
    throw_input("{}: a training on other data; only the same data can extend it", state.in.source());
  for (const auto& [key, value] : settings)
    if (learner.option(key).role != OptionRole::kLength) {
      state.in.get_string();
      if (const std::string saved = state.in.get_string(); saved != value)
        throw_input("{} is '{}'; the training to extend has {} (only {} may change)", key, value, saved,
                    learner.length_option() != nullptr ? learner.length_option()->name : "nothing");
    }
}

int train(const TrainArguments& arguments, const Program& program) {
  const LearnerEntry& learner = registry().expect(arguments.learner);
  if (!learner.start) throw_input("--learner {}: there is nothing to train", learner.type);
  if (!learner.resumable && !(arguments.extend.empty() && arguments.save_state.empty()))
    throw_input("a training of {} cannot be extended; leave out --extend and --save-state", learner.type);
  const Settings given = given_settings(arguments.settings);
  std::vector<std::string> known;
  for (const OptionInfo& option : learner.options) known.push_back(option.name);
  for (const auto& [key, value] : given)
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw_input("--set {}={}: {} has no such option{}; expected one of: {}", key, value, learner.type,
                  suggestion(key, known), join(known, ", "));
  const Settings settings = learner.complete(given);
  expect_file_name(arguments.model, "--model", "model");
  std::vector<std::filesystem::path> inputs = arguments.data;
  inputs.insert(inputs.end(), arguments.valid.begin(), arguments.valid.end());
  expect_no_input(arguments.save_state, inputs);
  inputs.push_back(arguments.extend);
  expect_no_input(arguments.model, inputs);
  if (!arguments.model.empty() && arguments.model == arguments.save_state)
    throw_input("--model and --save-state name the same file; give two");
  const auto context = program.context(arguments.seed);
  Timer timer;
  const Dataset data = read_letor(arguments.data, arguments.reading, *context);
  std::optional<Dataset> valid;
  if (!arguments.valid.empty()) {
    LetorOptions reading = arguments.reading;
    reading.num_features = data.features();
    valid.emplace(read_letor(arguments.valid, reading, *context));
  }
  const double load = timer.seconds();
  expect_several_labels(data);
  timer.restart();
  BinCache bins(data);
  const TrainingData training(bins);
  std::vector<uint32_t> columns(data.features());
  std::iota(columns.begin(), columns.end(), 0U);
  TrainingRequest request{
      training, learner.for_columns(settings, data.feature_names(), columns), {}, valid ? &*valid : nullptr};
  if (const OptionInfo* length = learner.length_option())
    request.lengths.push_back(std::stoll(setting(settings, length->name)));
  std::unique_ptr<Trainer> trainer;
  std::optional<size_t> first_round;
  context->on_progress = [&](const Progress& progress) {
    if (!first_round) first_round = progress.done;
  };
  if (arguments.extend.empty()) {
    trainer = learner.start(request, *context);
  } else {
    SavedState state(arguments.extend);
    expect_identity(state, learner, settings, arguments.seed, data);
    trainer = learner.resume(request, state.in, *context);
    state.in.expect_end();
  }
  while (!trainer->step(0)) context->check_stop();
  const double fit = timer.seconds();
  const LearnedModel model{&learner, trainer->model()};
  if (!arguments.model.empty()) model.save(arguments.model);
  if (!arguments.save_state.empty()) {
    BinaryWriter out;
    put_identity(out, learner, settings, arguments.seed, data);
    trainer->save_state(out);
    write_artifact(arguments.save_state, kStateKind, kStateVersion, out.bytes());
  }
  Json result;
  result["seconds"]["load"] = load;
  result["seconds"]["fit"] = fit;
  add_facts(result, trainer->facts());
  if (!arguments.extend.empty() && first_round) result["extended_from"] = *first_round - 1;
  if (result["seconds"].contains("bin"))
    result["seconds"]["fit"] = fit - result["seconds"]["bin"].get<double>();
  result["peak_rss_mb"] = peak_rss_mb();
  if (arguments.json)
    std::cout << json_text(result, -1) << '\n';
  else
    print_lines(result, "");
  return 0;
}

std::string options_help(const LearnerEntry& learner) {
  std::string text = fmt::format("Options of {} ({})\n", learner.type, learner.doc);
  for (const OptionInfo& option : learner.options)
    text += fmt::format("  {:<18} {} (default {}; {})\n", option.name, option.doc, option.default_value,
                        option.expected);
  return text;
}

}  // namespace

void add_train_command(CLI::App& app, Program& program) {
  CLI::App* command = app.add_subcommand("train", "Train one model by hand");
  const auto arguments = std::make_shared<TrainArguments>();
  command->add_option("--data", arguments->data, "LETOR file or files to train on")->required();
  command->add_option("--valid", arguments->valid,
                      "LETOR file or files for learners that stop early by them");
  add_max_feature_id(*command, arguments->reading.max_feature_id);
  command->add_option("--learner", arguments->learner, "Name of the learner")->required();
  command->add_option("--set", arguments->settings, "An option of the learner, as key=value");
  command->add_option("--model", arguments->model, "Where to save the model");
  command->add_option("--save-state", arguments->save_state, "Where to save what --extend goes on from");
  std::vector<std::string> lengths;
  for (const auto& learner : registry().entries())
    if (const OptionInfo* length = learner->length_option();
        learner->resumable && length != nullptr &&
        std::find(lengths.begin(), lengths.end(), length->name) == lengths.end())
      lengths.push_back(length->name);
  command->add_option("--extend", arguments->extend,
                      fmt::format("Go on from this saved state with a larger number of rounds ({}, as the "
                                  "learner calls it); all else as it was",
                                  join(lengths, " or ")));
  command->add_option("--seed", arguments->seed, "Seed of all random choices (default 1)");
  command->add_flag("--json", arguments->json, "Print the figures as JSON");
  add_common_options(*command, program);
  std::string footer;
  std::string example;
  for (const auto& learner : registry().entries()) {
    if (!learner->start) continue;
    footer += options_help(*learner);
    if (!example.empty()) continue;
    example = learner->type;
    if (const OptionInfo* length = learner->length_option())
      example += fmt::format(" --set {}=200", length->name);
  }
  footer += fmt::format("Example: tunemix train --data train.txt --learner {} --model m.tmx", example);
  command->footer(footer);
  set_action(*command, program, arguments, train);
}

}  // namespace tunemix
