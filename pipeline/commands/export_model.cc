#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "pipeline/commands/commands.h"
#include "pipeline/commands/model_point.h"
#include "pipeline/commands/output_file.h"
#include "tunemix/core/binary.h"
#include "tunemix/core/text.h"
#include "tunemix/export/model_export.h"
#include "tunemix/learners/registry.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;

struct ExportModelCommand {
  fs::path model;
  std::string format;
  fs::path out = "-";
  std::string point;
  std::string name;
  fs::path feature_names;
  bool without_constant = false;
};

// Every feature by its name, or by `f` and its number; nothing where none has a name.
std::vector<std::string> full_names(const FeatureNames& known, size_t features) {
  std::vector<std::string> names;
  if (known.empty()) return names;
  for (size_t j = 0; j < features; ++j) {
    names.push_back(known[j].empty() ? fmt::format("f{}", j + 1) : std::string(known[j]));
    if (const auto other = known.find(names[j]); other && *other != j)
      throw_input("feature {} has no name and would be called '{}', as feature {} is; expected a name for it",
                  j + 1, names[j], *other + 1);
  }
  return names;
}

// What becomes of categorical features before the model sees them: for every value the two features' values.
std::string categories_text(const Categories& categories, const FeatureNames& names, size_t features) {
  nlohmann::ordered_json json = {{"categories", nlohmann::ordered_json::array()}};
  for (size_t f = 0; f < categories.size(); ++f) {
    const Categories::Feature& feature = categories.features()[f];
    nlohmann::ordered_json& entry = json["categories"].emplace_back();
    entry = {{"feature", feature.number + 1},
             {"name", names.label(feature.number)},
             {"mean_feature", feature.number + 1},
             {"count_feature", features + f + 1},
             {"unknown", {nullptr, 0}}};
    for (const Categories::Value& value : feature.values)
      entry["values"][value.name] = {static_cast<float>(value.mean), Categories::log_count(value.count)};
  }
  return json.dump(1) + '\n';
}

int run_export_model(const ExportModelCommand& command, const Program& program) {
  const ModelFormat format = parse_model_format(command.format);
  expect_no_input(command.out, {command.model, command.feature_names});
  // Messages of what is read name the file already.
  const std::string kind = read_artifact(command.model).kind;
  std::optional<Bundle> bundle;
  std::optional<LearnedModel> learned;
  if (kind == Bundle::kKind)
    bundle = Bundle::load(command.model, registry());
  else if (kind == LearnedModel::kKind)
    learned = LearnedModel::load(command.model, registry());
  else
    throw_input("{}: it is a {}; expected a model or a bundle", command.model.string(), kind);
  if (bundle && !command.point.empty())
    throw_input("--point is for a model of `train`, and this is a bundle");
  FeatureNames names = bundle ? bundle->info().feature_names : FeatureNames();
  ModelExport options;
  options.name = command.name.empty() ? command.model.stem().string() : command.name;
  options.without_constant = command.without_constant;
  PlainModel model;
  const auto explained = [&](const auto& step) {
    try {
      step();
    } catch (const InputError& error) {
      throw_input("{} cannot be exported: {}", command.model.string(), error.what());
    }
  };
  explained([&] {
    model = bundle ? plain_ranker(*bundle)
                   : plain_ranker(*learned->model, point_number(*learned->model, command.point));
  });
  const size_t features = bundle ? bundle->info().features : model.features;
  if (!command.feature_names.empty()) names = read_feature_names(command.feature_names, features);
  if (bundle && !names.empty()) names = bundle->info().categories.names(names, features);
  ExportedModel exported;
  explained([&] {
    options.feature_names = full_names(names, model.features);
    exported = export_model(format, model, options);
  });
  const Categories categories = bundle ? bundle->info().categories : Categories();
  if (!categories.empty()) {
    if (command.out == "-")
      throw_input(
          "{} has categorical features, whose values go to a file beside the model's; give --out FILE",
          command.model.string());
    const fs::path side = command.out.string() + ".categories.json";
    write_output(side, categories_text(categories, names, bundle->info().features));
    exported.notes.push_back(fmt::format("the values of its categorical features are in {}", side.string()));
  }
  write_output(command.out, exported.text);
  if (!program.quiet)
    for (const std::string& note : exported.notes) std::cerr << "note: " << note << '\n';
  return 0;
}

}  // namespace

void add_export_model_command(CLI::App& app, Program& program) {
  CLI::App* command =
      app.add_subcommand("export-model", "Write a model for XGBoost, RankLib, Solr or Elasticsearch");
  const auto options = std::make_shared<ExportModelCommand>();
  command->add_option("model", options->model, "Model of `train`, or bundle")->required();
  command->add_option("--format", options->format, join(model_format_names(), ", "))->required();
  command->add_option("--out", options->out, "File to write, - for stdout")->capture_default_str();
  command->add_option("--point", options->point,
                      "One of a model's points, as `inspect` lists them: T=100, C=0.1 (default: the last)");
  command->add_option("--name", options->name,
                      "Name of the model in Solr or Elasticsearch (default: that of the file)");
  command->add_option(
      "--feature-names", options->feature_names,
      "File of the features' names: one a line, or lines `NUMBER name` (default: the bundle's, "
      "else f1, f2, ...)");
  command->add_flag("--without-constant", options->without_constant,
                    "Leave out the constant of a linear model where the format has no place for it");
  command->add_flag("--quiet", program.quiet, "No notes on stderr");
  command->footer(
      "The exported model gives the same scores, or the export is refused with the reason. What can be "
      "exported:\n"
      "sums and averages of trees (products of stumps are expanded), linear models, and bundles of such with "
      "linear\n"
      "calibrations (rbc.linear) and normalize: none. Anything else can be distilled first.\n"
      "Example:\n"
      "  tunemix train --learner lambdamart --data train.txt --model m.tmx\n"
      "  tunemix export-model m.tmx --format solr --out m.json");
  set_action(*command, program, options, run_export_model);
}

}  // namespace tunemix
