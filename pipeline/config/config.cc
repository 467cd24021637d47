#include "pipeline/config/config.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

#include "pipeline/config/sections.h"
#include "pipeline/config/tables.h"
#include "tunemix/core/binary.h"
#include "tunemix/core/file.h"
#include "tunemix/learners/recipe.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

// It becomes a line of the batch script.
void expect_slurm_word(const YamlSection& section, const std::string& key, const std::string& word,
                       const char* also = "._:,-") {
  const bool good = std::all_of(word.begin(), word.end(), [&](unsigned char c) {
    return std::isalnum(c) != 0 || (c != 0 && std::strchr(also, c) != nullptr);
  });
  if (!good) section.fail(key, fmt::format("is '{}'; expected letters, digits and any of {}", word, also));
}

void read_engine(const YamlSection& engine, EngineConfig& config, ResolvedLog& log) {
  engine.expect_keys(engine_table().names() + std::vector<std::string>{"slurm", "command"});
  engine.read(engine_table(), config, log);
  const YamlSection slurm = engine.section("slurm");
  slurm.expect_keys(slurm_table().names());
  slurm.read(slurm_table(), config.slurm, log);
  expect_slurm_word(slurm, "partition", config.slurm.partition);
  expect_slurm_word(slurm, "account", config.slurm.account);
  expect_slurm_word(slurm, "qos", config.slurm.qos);
  expect_slurm_word(slurm, "time", config.slurm.time);
  expect_slurm_word(slurm, "constraint", config.slurm.constraint, "._:,-&|()[]*@");
  if (config.slurm.options.find_first_of("\r\n") != std::string::npos)
    slurm.fail("options", "has several lines; expected options of sbatch in one line");
  const YamlSection command = engine.section("command");
  command.expect_keys(command_table().names());
  command.read(command_table(), config.command, log);
  if (config.type != "command") return;
  const std::string& run = config.command.run;
  if (run.find("{commands}") == std::string::npos && run.find("{script}") == std::string::npos)
    command.fail("run", run.empty() ? "is missing; expected a command such as parallel -j 8 < {commands}"
                                    : fmt::format("is '{}'; expected {{commands}} or {{script}} in it", run));
}

// `own_features`: whether entries that choose their own standardisation are read too.
void read_learners(const YamlSection& root, bool own_features, Config& config, ResolvedLog& log) {
  const YAML::Node list = root.child("learners");
  if (!list.IsSequence() || list.size() == 0)
    root.fail(
        "learners",
        "expected a list of learners, each with a 'type'; without the key the recommended recipe is used");
  for (size_t i = 0; i < list.size(); ++i) {
    const YamlSection entry(root.document(), list[i], fmt::format("learners.{}", i));
    if (own_features || !entry.has("standardize")) read_learner(entry, config.data, config.learners, log);
  }
  expect_distinct(config.learners);
}

// Without queries that bags leave out, calibrations are fitted on training scores: those of one score can
// only change its scale.
void expect_no_calibration_data(const Config& config) {
  const auto refuse = [](const std::string& what) {
    throw_input(
        "data.calibration.parts is 0, which leaves no queries for calibration, and {}; write 2 parts or more",
        what);
  };
  for (const LearnerSpec& spec : config.learners)
    if (!spec.learner->one_column && !spec.learner->external)
      refuse(fmt::format("{} ({}) gives a score for each label, which has to be calibrated on others",
                         spec.place, spec.learner->type));
  for (const std::string& regressor : config.calibrate.regressors)
    if (regressor != "linear" && regressor != "logistic")
      refuse(
          fmt::format("calibrate.rbc.regressors has {}, which may change the order of scores (linear and "
                      "logistic do not)",
                      regressor));
}

void read_mix(const YamlSection& mix, Config& config, ResolvedLog& log) {
  mix.expect_keys(mix_table().names() + mix_choice_table().names() + std::vector<std::string>{"c", "fixed"});
  mix.read(mix_table(), config.mix, log);
  mix.read(mix_choice_table(), config.choice, log);
  if (config.choice.by == ChooseBy::kAll && config.data.calibration_parts == 0)
    mix.fail("choose_by", "is all, and data.calibration.parts is 0: no bag leaves training queries out");
  const YamlSection c = mix.section("c");
  c.expect_keys(mix_c_table().names());
  c.read(mix_c_table(), config.mix, log);
  if (config.mix.c_to < config.mix.c_from) c.fail("to", "is below 'from'");
  if ((config.mix.c_to - config.mix.c_from) / config.mix.c_step > 10000)
    c.fail("step", "makes a grid of more than 10000 values");
  const YamlSection fixed = mix.section("fixed");
  fixed.expect_keys(mix_fixed_table().names());
  fixed.read(mix_fixed_table(), config.mix, log);
}

// `recipe`: stands for what the document leaves open where it has no learners; null: not known yet.
Config build(const ConfigSource& source, const YamlDocument* recipe) {
  const YamlDocument document(source.text, source.name, source.overrides);
  Config config;
  config.source = source;
  config.data.given = source.given;
  ResolvedLog log;
  const YamlSection root(document, document.root(), "");
  root.expect_keys(header_table().names() +
                   std::vector<std::string>{"data", "learners", "calibrate", "mix", "evaluate", "engine"});
  Header header;
  root.read(header_table(), header, log);
  const bool good_name = !header.name.empty() && header.name.front() != '.' && header.name.size() <= 100 &&
                         std::all_of(header.name.begin(), header.name.end(), [](unsigned char c) {
                           return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
                         });
  if (!good_name)
    root.fail("name", header.name.empty()
                          ? "is missing; expected a name of the experiment, as in 'name: first-try'"
                          : fmt::format("is '{}'; expected letters, digits, '.', '_' and '-'", header.name));
  config.name = header.name;
  config.seed = header.seed;

  if (!root.has("data") && config.data.given.empty())
    root.fail("data", "is missing; expected 'folds' with files or 'synthetic' with a preset");
  const YamlSection recipe_root(recipe == nullptr ? document : *recipe,
                                recipe == nullptr ? YAML::Node() : recipe->root(), "");
  read_data(root.section("data"), recipe_root.section("data"), config.data, log);
  if (root.has("learners"))
    read_learners(root, true, config, log);
  else if (recipe != nullptr)
    read_learners(recipe_root, !root.section("data").has("standardize"), config, log);

  const YamlSection calibrate =
      root.has("calibrate") ? root.section("calibrate") : recipe_root.section("calibrate");
  calibrate.expect_keys(calibrate_table().names() + std::vector<std::string>{"rbc"});
  calibrate.read(calibrate_table(), config.calibrate, log);
  const YamlSection rbc = calibrate.section("rbc");
  rbc.expect_keys(rbc_table().names());
  rbc.read(rbc_table(), config.calibrate, log);
  const bool any_rbc = !config.calibrate.regressors.empty() && !config.calibrate.targets.empty();
  if (config.calibrate.cpc.empty() && !any_rbc) root.fail("calibrate", "expected at least one calibration");
  for (const LearnerSpec& spec : config.learners)
    if (spec.learner->one_column && !any_rbc)
      throw_input(
          "{}: {} has one score a document, which only regression calibrates; name regressors and targets "
          "under calibrate.rbc",
          spec.place, spec.learner->type);

  if (config.data.calibration_parts == 0) expect_no_calibration_data(config);

  read_mix(root.section("mix"), config, log);

  const YamlSection evaluate = root.section("evaluate");
  evaluate.expect_keys(evaluate_table().names());
  evaluate.read(evaluate_table(), config.evaluate, log);
  double err_max = 0;
  const std::string& text = config.evaluate.err_max;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), err_max);
  if (text != "auto" &&
      (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !(err_max >= 1)))
    evaluate.fail("err_max", fmt::format("is '{}'; expected auto or a number from 1", text));

  read_engine(root.section("engine"), config.engine, log);

  config.resolved = log.yaml();
  config.values = log.values();
  return config;
}

}  // namespace

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

size_t fold_count(const DataConfig& data) {
  if (!data.given.empty()) return data.given.size();
  return data.folds.empty() ? static_cast<size_t>(data.synthetic.folds) : data.folds.size();
}

Config parse_config(const ConfigSource& source) {
  try {
    return build(source, nullptr);
  } catch (const YAML::Exception& error) {  // of a node that is not what it looks like
    const std::string place = source.name.empty() ? "config"
                                                  : fmt::format("{}:{}:{}", source.name, error.mark.line + 1,
                                                                error.mark.column + 1);
    throw_input("{}: a value is not of the kind that is expected here; see 'tunemix run --help-config'",
                place);
  }
}

Config with_recipe(const Config& config, size_t documents) {
  require(config.learners.empty(), "a config with learners needs no recipe");
  const YamlDocument recipe(recommended_recipe(documents).yaml, "recipe", {});
  return build(config.source, &recipe);
}

Config read_config(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  expect_readable(file);
  return parse_config(read_text_file(file), file.string(), overrides);
}

}  // namespace tunemix
