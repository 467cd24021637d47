#include "pipeline/config/config.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

#include "pipeline/config/yaml_reader.h"
#include "tunemix/core/binary.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

// The tables of all sections: the reader, the resolved config and the reference are made from them.
struct Header {
  std::string name;
  uint64_t seed = 1;
};

const OptionTable<Header>& header_table() {
  static const OptionTable<Header> table = [] {
    OptionTable<Header> t;
    t.text("name", &Header::name, "letters, digits, '.', '_' and '-'",
           "Name of the experiment and of its folder in runs/");
    t.number("seed", &Header::seed, uint64_t{0}, UINT64_MAX / 2, "Seed of every random choice");
    return t;
  }();
  return table;
}

const OptionTable<DataConfig>& data_table() {
  static const OptionTable<DataConfig> table = [] {
    OptionTable<DataConfig> t;
    t.text("root", &DataConfig::root, "a folder",
           "Folder of the files, from the current folder; $NAME and ${NAME} are taken from the environment");
    t.choice(
        "standardize", &DataConfig::standardize,
        {{"none", Standardize::kNone}, {"append", Standardize::kAppend}, {"replace", Standardize::kReplace}},
        "Standardise features within each query: leave them, add the standardised ones, or replace by them");
    t.number("labels", &DataConfig::labels, 0, 32,
             "Number of labels K; 0: one more than the largest label of a fold's training data");
    t.numbers("grades", &DataConfig::grades, 0, 1e9, "Grade of each label, non-decreasing; []: 2^label - 1");
    t.number("max_feature_id", &DataConfig::max_feature_id, 1, 100000000,
             "A larger feature id in a file is refused");
    return t;
  }();
  return table;
}

const OptionTable<DataConfig>& calibration_split_table() {
  static const OptionTable<DataConfig> table = [] {
    OptionTable<DataConfig> t;
    t.number("fraction", &DataConfig::calibration_fraction, 0.01, 0.9,
             "Share of the training queries that calibration is fitted on");
    return t;
  }();
  return table;
}

const OptionTable<SyntheticConfig>& synthetic_table() {
  static const OptionTable<SyntheticConfig> table = [] {
    OptionTable<SyntheticConfig> t;
    t.text("preset", &SyntheticConfig::preset, "quickstart or mslr10k",
           "Built-in data instead of files: a preset of `tunemix synth`");
    t.number("queries", &SyntheticConfig::queries, 0, 1000000,
             "Queries of a fold; 0: as many as the preset has");
    t.number("folds", &SyntheticConfig::folds, 1, 100,
             "Number of folds, each generated with a seed of its own");
    return t;
  }();
  return table;
}

const OptionTable<LearnerSpec>& bags_table() {
  static const OptionTable<LearnerSpec> table = [] {
    OptionTable<LearnerSpec> t;
    t.number(
        "bags", &LearnerSpec::bags, 1, 1000,
        "Trained this often, each time on another random train/calibration split and seed; all are members");
    return t;
  }();
  return table;
}

const OptionTable<LearnerSpec>& checkpoints_table() {
  static const OptionTable<LearnerSpec> table = [] {
    OptionTable<LearnerSpec> t;
    t.numbers("checkpoints", &LearnerSpec::checkpoints, 1, 1e7,
              "Numbers of rounds whose models are calibrated; []: 10, 20, 50, 100, ... and the last");
    return t;
  }();
  return table;
}

const OptionTable<LearnerSpec>& path_table() {
  static const OptionTable<LearnerSpec> table = [] {
    OptionTable<LearnerSpec> t;
    t.numbers("C", &LearnerSpec::C, 1e-12, 1e12,
              "Values of C (of the whole loss, divided by n), solved as one path");
    return t;
  }();
  return table;
}

const OptionTable<CalibrateConfig>& calibrate_table() {
  static const OptionTable<CalibrateConfig> table = [] {
    OptionTable<CalibrateConfig> t;
    t.words("cpc", &CalibrateConfig::cpc, {"shift", "ls", "ewls", "el", "ell", "sndcg"},
            "Targets of the sigmoid class-probability calibration");
    return t;
  }();
  return table;
}

const OptionTable<CalibrateConfig>& rbc_table() {
  static const OptionTable<CalibrateConfig> table = [] {
    OptionTable<CalibrateConfig> t;
    t.words("regressors", &CalibrateConfig::regressors,
            {"linear", "logistic", "neural", "poly2", "poly3", "poly4"}, "Regressors of the grade");
    t.words("targets", &CalibrateConfig::targets, {"raw", "ndcg"},
            "What they regress: the grade, or the grade over the query's ideal DCG");
    return t;
  }();
  return table;
}

template <typename Struct>
void words_choice(OptionTable<Struct>& table, const std::string& name, std::string Struct::*member,
                  const std::vector<std::string>& words, const std::string& doc) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const std::string& word : words) values.emplace_back(word, word);
  table.choice(name, member, std::move(values), doc);
}

const OptionTable<MixOptions>& mix_table() {
  static const OptionTable<MixOptions> table = [] {
    OptionTable<MixOptions> t;
    t.choice("choose", &MixOptions::choice, {{"grid", MixChoice::kGrid}, {"fixed", MixChoice::kFixed}},
             "How c and the boosting length are chosen: by validation over the grid, or as `fixed` says");
    t.custom(
        "metric", "ndcg@K, err or map, and :PRESET where a tool's conventions are meant",
        [](MixOptions& o, std::string_view text) { o.metric = SelectionName::parse(text).text(); },
        [](const MixOptions& o) { return o.metric; },
        "What members are weighted and choices made by, averaged over the orders of tied documents; for "
        "example ndcg@10:letor4");
    t.number("parts", &MixOptions::parts, 1, 1000,
             "c and the length are chosen by cross-validation over so many parts of the validation queries: "
             "weights by "
             "the other parts; 1: weights and choice by the same queries, as in the paper");
    t.choice("normalize", &MixOptions::normalize, {{"none", Normalize::kNone}, {"query", Normalize::kQuery}},
             "Members as they are, or standardised within each query before summing");
    t.choice("families", &MixOptions::families,
             {{"weighted", Families::kWeighted}, {"equal", Families::kEqual}, {"pooled", Families::kPooled}},
             "The total weight of a family: by how good its mixture is, exp(2 sqrt(n) quality) with n "
             "validation queries; the same for each; or no families, all members in one sum");
    t.choice("checkpoints", &MixOptions::checkpoints,
             {{"chosen", Checkpoints::kChosen}, {"all", Checkpoints::kAll}},
             "Boosted members up to one chosen length, or of every checkpoint");
    return t;
  }();
  return table;
}

const OptionTable<MixOptions>& mix_c_table() {
  static const OptionTable<MixOptions> table = [] {
    OptionTable<MixOptions> t;
    t.number("from", &MixOptions::c_from, 0.0, 1e6, "Smallest c of the grid (0: uniform weights)");
    t.number("to", &MixOptions::c_to, 0.0, 1e6, "Largest c of the grid");
    t.number("step", &MixOptions::c_step, 1e-6, 1e6, "Step of the grid");
    return t;
  }();
  return table;
}

const OptionTable<MixOptions>& mix_fixed_table() {
  static const OptionTable<MixOptions> table = [] {
    OptionTable<MixOptions> t;
    t.number("c", &MixOptions::fixed_c, 0.0, 1e6, "c, with `choose: fixed`");
    t.number("iterations", &MixOptions::fixed_checkpoint, int64_t{0}, int64_t{10000000},
             "Boosting length, with `choose: fixed`; 0: the longest");
    return t;
  }();
  return table;
}

const OptionTable<EvaluateConfig>& evaluate_table() {
  static const OptionTable<EvaluateConfig> table = [] {
    OptionTable<EvaluateConfig> t;
    t.words("tools", &EvaluateConfig::tools, {"yahoo", "ranklib", "trec", "letor3", "letor4", "mslr"},
            "Presets to evaluate under; the first is the headline");
    t.text("err_max", &EvaluateConfig::err_max, "auto or a number from 1",
           "Denominator of ERR's stop probability; auto: 2^(K-1)");
    return t;
  }();
  return table;
}

const OptionTable<EngineConfig>& engine_table() {
  static const OptionTable<EngineConfig> table = [] {
    OptionTable<EngineConfig> t;
    words_choice(t, "type", &EngineConfig::type, {"local", "slurm"},
                 "Where training jobs run; results are the same bytes");
    return t;
  }();
  return table;
}

const OptionTable<SlurmConfig>& slurm_table() {
  static const OptionTable<SlurmConfig> table = [] {
    OptionTable<SlurmConfig> t;
    t.text("partition", &SlurmConfig::partition, "a partition", "Partition to submit to; empty: the default");
    t.text("time", &SlurmConfig::time, "a Slurm time limit", "Time limit of a task");
    t.number("cpus", &SlurmConfig::cpus, 1, 4096, "Cores (and threads) of a task");
    t.number("memory_mb", &SlurmConfig::memory_mb, 1, 10000000, "Memory of a task in MB");
    t.number("retries", &SlurmConfig::retries, 0, 100, "How often a failed task is submitted again");
    t.number("poll_seconds", &SlurmConfig::poll_seconds, 1, 3600, "How often the scheduler is asked");
    return t;
  }();
  return table;
}

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<std::string> without(std::vector<std::string> names, const std::vector<std::string>& left_out) {
  std::erase_if(names, [&](const std::string& name) {
    return std::find(left_out.begin(), left_out.end(), name) != left_out.end();
  });
  return names;
}

// Options of the learners that an experiment sets by itself: K comes from the data, C from the path.
const std::vector<std::string> kBoostingLeftOut = {"labels"};
const std::vector<std::string> kSvmLeftOut = {"labels", "C"};

std::string expand_environment(const YamlSection& section, const std::string& key, const std::string& text) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '$') {
      result += text[i++];
      continue;
    }
    const bool braces = i + 1 < text.size() && text[i + 1] == '{';
    size_t begin = i + (braces ? 2 : 1);
    size_t end = begin;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_'))
      ++end;
    const std::string name = text.substr(begin, end - begin);
    const char* value = std::getenv(name.c_str());
    if (name.empty() || value == nullptr)
      section.fail(key, fmt::format("the environment has no ${}; set it or write the folder itself", name));
    result += value;
    i = end + (braces ? 1 : 0);
  }
  return result;
}

void read_folds(const YamlSection& section, DataConfig& data, ResolvedLog& log) {
  const YAML::Node list = section.child("folds");
  if (!list.IsSequence() || list.size() == 0)
    section.fail("folds", "expected a list of {train: ..., valid: ..., test: ...}");
  for (size_t i = 0; i < list.size(); ++i) {
    const YamlSection fold(section.document(), list[i], fmt::format("{}.{}", section.path_of("folds"), i));
    fold.expect_keys({"train", "valid", "test"});
    FoldFiles files;
    for (const auto& [key, target] : {std::pair{"train", &files.train}, std::pair{"valid", &files.valid},
                                      std::pair{"test", &files.test}}) {
      if (!fold.has(key))
        section.document().fail(list[i], fold.path(),
                                fmt::format("no '{}'; a fold has train, valid and test", key));
      *target = fold.items(key);
      if (target->empty()) fold.fail(key, "expected at least one file");
      log.add_texts(fold.path_of(key), *target, fold.origin(key));
    }
    data.folds.push_back(std::move(files));
  }
}

void read_data(const YamlSection& section, DataConfig& data, ResolvedLog& log) {
  section.expect_keys(data_table().names() + std::vector<std::string>{"folds", "synthetic", "calibration"});
  if (section.has("folds") == section.has("synthetic"))
    section.fail("folds", "expected either 'folds' with files or 'synthetic' with a preset");
  if (section.has("root")) {
    data_table().set(data, "root", section.text("root"));
    data.root = expand_environment(section, "root", data.root);
    data.root = std::filesystem::absolute(data.root).lexically_normal().string();
  }
  for (const auto& entry : data_table().entries()) {
    if (entry.name == "root") {
      if (section.has("folds")) log.add(section.path_of("root"), data.root, section.origin("root"));
      continue;
    }
    if (section.has(entry.name)) section.set(entry, data);
    log.add(section.path_of(entry.name), entry.get(data), section.origin(entry.name));
  }
  if (data.labels == 1) section.fail("labels", "is 1; expected 0 or 2 to 32");
  if (!std::is_sorted(data.grades.begin(), data.grades.end()))
    section.fail("grades", "expected grades that do not fall");
  const YamlSection calibration = section.section("calibration");
  calibration.expect_keys(calibration_split_table().names());
  calibration.read(calibration_split_table(), data, log);
  if (section.has("folds")) {
    read_folds(section, data, log);
  } else {
    const YamlSection synthetic = section.section("synthetic");
    synthetic.expect_keys(synthetic_table().names());
    synthetic.read(synthetic_table(), data.synthetic, log);
    if (data.synthetic.preset != "quickstart" && data.synthetic.preset != "mslr10k")
      synthetic.fail("preset", fmt::format("is '{}'; expected quickstart or mslr10k", data.synthetic.preset));
  }
}

// All points of the grid that the section spans over a table's options.
template <typename Options>
std::vector<Options> expand_grid(const YamlSection& section, const OptionTable<Options>& table,
                                 const std::vector<std::string>& left_out, ResolvedLog& log) {
  std::vector<Options> points(1);
  for (const auto& entry : table.entries()) {
    if (std::find(left_out.begin(), left_out.end(), entry.name) != left_out.end()) continue;
    if (!section.has(entry.name)) {
      log.add(section.path_of(entry.name), entry.get(points[0]), "default");
      continue;
    }
    const std::vector<std::string> items = section.items(entry.name);
    if (items.empty()) section.fail(entry.name, "expected a value or a list of values");
    std::vector<Options> next;
    std::vector<std::string> texts;
    for (const std::string& item : items) {
      for (const Options& point : points) {
        next.push_back(point);
        section.set_text(entry, next.back(), item);
      }
      texts.push_back(entry.get(next.back()));
    }
    points = std::move(next);
    log.add(section.path_of(entry.name), texts.size() == 1 ? texts[0] : "[" + join(texts, ", ") + "]",
            section.origin(entry.name));
  }
  return points;
}

void read_learner(const YamlSection& section, std::vector<LearnerSpec>& learners, ResolvedLog& log) {
  const std::vector<std::string> types = {"adaboost_mh", "svm"};
  if (!section.has("type")) section.fail("type", "expected one of: " + join(types, ", "));
  const std::string type = section.text("type");
  if (type != "adaboost_mh" && type != "svm")
    section.fail("type", fmt::format("is '{}'; expected one of: {}{}", type, join(types, ", "),
                                     did_you_mean(type, types)));
  LearnerSpec base;
  base.type = type;
  log.add(section.path_of("type"), type, section.origin("type"));
  const std::vector<std::string> common = std::vector<std::string>{"type"} + bags_table().names();
  std::vector<LearnerSpec> grid;
  if (type == "adaboost_mh") {
    section.expect_keys(common + checkpoints_table().names() +
                        without(adaboost_option_table().names(), kBoostingLeftOut));
    section.read(bags_table(), base, log);
    section.read(checkpoints_table(), base, log);
    for (double& c : base.checkpoints) c = std::floor(c);
    std::sort(base.checkpoints.begin(), base.checkpoints.end());
    for (AdaBoostOptions& options : expand_grid(section, adaboost_option_table(), kBoostingLeftOut, log)) {
      grid.push_back(base);
      grid.back().boosting = options;
    }
  } else {
    section.expect_keys(common + path_table().names() + without(svm_option_table().names(), kSvmLeftOut));
    section.read(bags_table(), base, log);
    base.C = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10};
    section.read(path_table(), base, log);
    std::sort(base.C.begin(), base.C.end());
    if (base.C.empty()) section.fail("C", "expected at least one value");
    for (SvmOptions& options : expand_grid(section, svm_option_table(), kSvmLeftOut, log)) {
      grid.push_back(base);
      grid.back().svm = options;
    }
  }
  for (LearnerSpec& spec : grid) {
    for (const LearnerSpec& other : learners)
      if (other.type == spec.type && other.options(true) == spec.options(true))
        section.fail("type", fmt::format("the same learner twice ({}); raise 'bags' to train it more often",
                                         spec.title()));
    learners.push_back(std::move(spec));
  }
}

// It becomes a line of the batch script.
void expect_slurm_word(const YamlSection& section, const std::string& key, const std::string& word) {
  const bool good = std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || (c != 0 && std::strchr("._:,-", c) != nullptr);
  });
  if (!good) section.fail(key, fmt::format("is '{}'; expected letters, digits and any of ._:,-", word));
}

Config build(const YamlDocument& document) {
  Config config;
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
    root.fail("name", fmt::format("is '{}'; expected letters, digits, '.', '_' and '-'", header.name));
  config.name = header.name;
  config.seed = header.seed;

  if (!root.has("data"))
    root.fail("data", "is missing; expected 'folds' with files or 'synthetic' with a preset");
  read_data(root.section("data"), config.data, log);

  const YAML::Node learners = root.has("learners") ? root.child("learners") : YAML::Node();
  if (!learners.IsSequence() || learners.size() == 0)
    root.fail("learners", "expected a list of learners, each with a 'type'");
  for (size_t i = 0; i < learners.size(); ++i)
    read_learner(YamlSection(document, learners[i], fmt::format("learners.{}", i)), config.learners, log);

  const YamlSection calibrate = root.section("calibrate");
  calibrate.expect_keys(calibrate_table().names() + std::vector<std::string>{"rbc"});
  calibrate.read(calibrate_table(), config.calibrate, log);
  const YamlSection rbc = calibrate.section("rbc");
  rbc.expect_keys(rbc_table().names());
  rbc.read(rbc_table(), config.calibrate, log);
  const bool any_rbc = !config.calibrate.regressors.empty() && !config.calibrate.targets.empty();
  if (config.calibrate.cpc.empty() && !any_rbc) root.fail("calibrate", "expected at least one calibration");

  const YamlSection mix = root.section("mix");
  mix.expect_keys(mix_table().names() + std::vector<std::string>{"c", "fixed"});
  mix.read(mix_table(), config.mix, log);
  const YamlSection c = mix.section("c");
  c.expect_keys(mix_c_table().names());
  c.read(mix_c_table(), config.mix, log);
  if (config.mix.c_to < config.mix.c_from) c.fail("to", "is below 'from'");
  if ((config.mix.c_to - config.mix.c_from) / config.mix.c_step > 10000)
    c.fail("step", "makes a grid of more than 10000 values");
  const YamlSection fixed = mix.section("fixed");
  fixed.expect_keys(mix_fixed_table().names());
  fixed.read(mix_fixed_table(), config.mix, log);

  const YamlSection evaluate = root.section("evaluate");
  evaluate.expect_keys(evaluate_table().names());
  evaluate.read(evaluate_table(), config.evaluate, log);
  if (config.evaluate.tools.empty()) evaluate.fail("tools", "expected at least one preset");
  double err_max = 0;
  const std::string& text = config.evaluate.err_max;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), err_max);
  if (text != "auto" &&
      (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !(err_max >= 1)))
    evaluate.fail("err_max", fmt::format("is '{}'; expected auto or a number from 1", text));

  const YamlSection engine = root.section("engine");
  engine.expect_keys(engine_table().names() + std::vector<std::string>{"slurm"});
  engine.read(engine_table(), config.engine, log);
  const YamlSection slurm = engine.section("slurm");
  slurm.expect_keys(slurm_table().names());
  slurm.read(slurm_table(), config.engine.slurm, log);
  expect_slurm_word(slurm, "partition", config.engine.slurm.partition);
  expect_slurm_word(slurm, "time", config.engine.slurm.time);

  config.resolved = log.yaml();
  config.values = log.values();
  return config;
}

template <typename Struct>
void describe(std::string& out, const std::string& title, const std::string& intro,
              const OptionTable<Struct>& table, const Struct& defaults,
              const std::vector<std::string>& left_out = {}) {
  if (!title.empty())
    out += fmt::format("\n## `{}`\n\n{}\n\n| key | default | expected | what it is |\n|---|---|---|---|\n",
                       title, intro);
  for (const auto& entry : table.entries()) {
    if (std::find(left_out.begin(), left_out.end(), entry.name) != left_out.end()) continue;
    const std::string value = entry.get(defaults);
    out += fmt::format("| `{}` | {} | {} | {} |\n", entry.name, value.empty() ? "" : "`" + value + "`",
                       entry.expected, entry.doc);
  }
}

}  // namespace

std::string LearnerSpec::family() const { return type == "svm" ? "svm" : "boosting"; }

std::vector<std::pair<std::string, std::string>> LearnerSpec::options(bool with_length) const {
  std::vector<std::pair<std::string, std::string>> result;
  if (type == "svm") {
    for (const auto& entry : svm_option_table().entries())
      if (entry.name != "C" && entry.name != "labels") result.emplace_back(entry.name, entry.get(svm));
    result.emplace_back("C", path_table().entry("C").get(*this));
    return result;
  }
  for (const auto& entry : adaboost_option_table().entries())
    if (entry.name != "labels" && (with_length || entry.name != "iterations"))
      result.emplace_back(entry.name, entry.get(boosting));
  if (with_length) result.emplace_back("checkpoints", checkpoints_table().entry("checkpoints").get(*this));
  return result;
}

std::string LearnerSpec::title() const {
  const bool is_svm = type == "svm";
  std::string result = is_svm ? "svm" : adaboost_option_table().entry("base").get(boosting);
  const LearnerSpec defaults = [&] {
    LearnerSpec d;
    d.type = type;
    return d;
  }();
  const auto mine = options(false);
  const auto theirs = defaults.options(false);
  for (size_t i = 0; i < mine.size(); ++i) {
    const auto& [key, value] = mine[i];
    const bool shape = !is_svm && ((result.starts_with("tree") && key == "leaves") ||
                                   (result.starts_with("product") && key == "terms"));
    if (key == "base" || key == "C") continue;
    if (shape || value != theirs[i].second) result += " " + key + "=" + value;
  }
  return result;
}

Config parse_config(const std::string& text, const std::string& name,
                    const std::vector<std::string>& overrides) {
  try {
    return build(YamlDocument(text, name, overrides));
  } catch (const YAML::Exception& error) {  // of a node that is not what it looks like
    throw_input("{}: {}", name, error.what());
  }
}

Config read_config(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  return parse_config(read_text_file(file), file.string(), overrides);
}

std::string config_reference() {
  std::string out =
      "# The config\n\n"
      "Every key of an experiment's YAML file. `tunemix run --help-config` prints this page. A list where "
      "one value is\n"
      "expected under `learners` is a grid: one learner for each combination. `key.path=value` on the "
      "command line\n"
      "overrides a key (`mix.c.to=100`, `learners.0.leaves=[8,16]`). Unknown keys are errors.\n";
  describe(out, "(top level)", "Beside these: `data`, `learners`, `calibrate`, `mix`, `evaluate`, `engine`.",
           header_table(), Header{});
  describe(out, "data",
           "Either `folds`, a list of `{train: FILES, valid: FILES, test: FILES}`, or `synthetic`. A split "
           "may be a list of files; `.gz` and `.zst` are read as they are.",
           data_table(), DataConfig{});
  describe(out, "data.calibration", "The calibration split: whole training queries, at random.",
           calibration_split_table(), DataConfig{});
  describe(out, "data.synthetic", "Built-in data, for trying things out.", synthetic_table(),
           SyntheticConfig{});
  describe(out, "learners[]: type: adaboost_mh", "AdaBoost.MH with a bandit over the features.", bags_table(),
           LearnerSpec{});
  describe(out, "", "", checkpoints_table(), LearnerSpec{});
  describe(out, "", "", adaboost_option_table(), AdaBoostOptions{}, kBoostingLeftOut);
  LearnerSpec svm;
  svm.C = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10};
  describe(out, "learners[]: type: svm", "The linear multi-class SVM of Crammer and Singer.", bags_table(),
           svm);
  describe(out, "", "", path_table(), svm);
  describe(out, "", "", svm_option_table(), SvmOptions{}, kSvmLeftOut);
  describe(out, "calibrate", "Class-probability calibration; `[]` for none.", calibrate_table(),
           CalibrateConfig{});
  describe(out, "calibrate.rbc", "Regression-based calibration: every regressor with every target.",
           rbc_table(), CalibrateConfig{});
  describe(out, "mix", "Weights exp(c * validation quality) over the members of a family.", mix_table(),
           MixOptions{});
  describe(out, "mix.c", "The grid that c is chosen from.", mix_c_table(), MixOptions{});
  describe(out, "mix.fixed", "What is used instead of a choice.", mix_fixed_table(), MixOptions{});
  describe(out, "evaluate", "What is reported.", evaluate_table(), EvaluateConfig{});
  describe(out, "engine", "Does not change results.", engine_table(), EngineConfig{});
  describe(out, "engine.slurm", "Resources of the job array's tasks.", slurm_table(), SlurmConfig{});
  return out;
}

}  // namespace tunemix
