#include "pipeline/config/tables.h"

#include <algorithm>
#include <charconv>

#include "tunemix/core/text.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

std::vector<std::pair<std::string, SourceUse>> source_words() {
  std::vector<std::pair<std::string, SourceUse>> words;
  for (const SourceUse use : {SourceUse::kNone, SourceUse::kJoint, SourceUse::kOnly, SourceUse::kBoth})
    words.emplace_back(to_string(use), use);
  return words;
}

template <typename Struct>
void words_choice(OptionTable<Struct>& table, const std::string& name, std::string Struct::*member,
                  const std::vector<std::string>& words, const std::string& doc) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const std::string& word : words) values.emplace_back(word, word);
  table.choice(name, member, std::move(values), doc);
}

std::vector<FeatureRange> parse_ranges(std::string_view key, std::string_view text) {
  const auto refuse = [&](std::string_view what) { throw_input("{} is '{}'; {}", key, text, what); };
  std::vector<FeatureRange> ranges;
  const std::string_view inside =
      text.starts_with('[') && text.ends_with(']') ? text.substr(1, text.size() - 2) : text;
  for (const std::string& part : split(inside, ',')) {
    const size_t begin = part.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    const std::string item = part.substr(begin, part.find_last_not_of(' ') - begin + 1);
    FeatureRange range;
    const char* end = item.data() + item.size();
    auto read = std::from_chars(item.data(), end, range.first);
    range.last = range.first;
    if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-')
      read = std::from_chars(read.ptr + 1, end, range.last);
    if (read.ec != std::errc() || read.ptr != end || range.first < 1 || range.last < range.first)
      refuse(fmt::format("'{}' is neither a number from 1 nor a range such as 1-10", item));
    ranges.push_back(range);
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const FeatureRange& a, const FeatureRange& b) { return a.first < b.first; });
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first <= ranges[i - 1].last)
      refuse(fmt::format("feature {} is named twice", ranges[i].first));
  return ranges;
}

void set_features(DataConfig& data, std::string_view text) {
  data.features.clear();
  if (text == "all") return;
  data.features = parse_ranges("features", text);
  if (data.features.empty())
    throw_input("features is '{}'; it names no feature; name one or more, or leave out the key to use all",
                text);
}

std::string ranges_text(const std::vector<FeatureRange>& ranges) {
  std::vector<std::string> items;
  for (const FeatureRange& range : ranges)
    items.push_back(range.first == range.last ? fmt::format("{}", range.first)
                                              : fmt::format("{}-{}", range.first, range.last));
  return "[" + join(items, ", ") + "]";
}

}  // namespace

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
    t.choices(
        "standardize", &DataConfig::standardize, standardize_words(),
        "What learners see of the features: as they are; standardised within each query, beside the others "
        "or "
        "in their place; cdf, the share of the training documents (of those that have the feature) with a "
        "smaller value; or context, the features, the standardised ones and the query's means side by side. "
        "A "
        "list is a grid: every learner is trained on each");
    t.number("labels", &DataConfig::labels, 0, 32,
             "Number of labels K; 0: one more than the largest label of a fold's training data");
    t.numbers("grades", &DataConfig::grades, 0, 1e9, "Grade of each label, non-decreasing; []: 2^label - 1");
    t.number("max_feature_id", &DataConfig::max_feature_id, 1, 100000000,
             "A larger feature id in a file is refused");
    t.choice("missing", &DataConfig::missing,
             {{"learn", MissingValues::kLearn}, {"refuse", MissingValues::kRefuse}},
             "Values that are written as nan: missing, of which learners learn what they tell; or an error. "
             "A feature "
             "that a line leaves out is 0");
    t.text("feature_names", &DataConfig::feature_names, "a file",
           "File of the features' names, from `root`: one a line, or lines `NUMBER name`; empty: those of "
           "`#NUMBER: name` lines at the head of the training data");
    t.custom(
        "features", "all, or a list of numbers, ranges and names such as [1-10, 15, bm25]", set_features,
        [](const DataConfig& data) { return data.features.empty() ? "all" : ranges_text(data.features); },
        "The features that learners see, by number from 1 or by name: of `feature_names`, or of the head of "
        "the first training file");
    t.custom(
        "categorical", "a list of numbers, ranges and names such as [7, brand]",
        [](DataConfig& data, std::string_view text) { data.categorical = parse_ranges("categorical", text); },
        [](const DataConfig& data) { return ranges_text(data.categorical); },
        "Features whose values, whole numbers or words, say which and not how much. Learners are given the "
        "mean "
        "grade of the value's other documents, and the logarithm of their number after all other features");
    t.flag("allow_overlap", &DataConfig::allow_overlap,
           "Run although splits of a fold share queries, or two folds their test data; the results say so");
    t.flag("allow_new_features", &DataConfig::allow_new_features,
           "Validation and test data may have features that the training data never has: it is 0 there");
    return t;
  }();
  return table;
}

const OptionTable<ValidFromTrain>& valid_from_table() {
  static const OptionTable<ValidFromTrain> table = [] {
    OptionTable<ValidFromTrain> t;
    words_choice(t, "from", &ValidFromTrain::from, {"train"}, "Where the queries are taken from");
    t.number("share", &ValidFromTrain::share, 0.001, 0.9, "Share of the training queries that are taken");
    t.number("seed", &ValidFromTrain::seed, uint64_t{0}, UINT64_MAX / 2,
             "Seed of the draw; it does not depend on the experiment's seed");
    return t;
  }();
  return table;
}

const OptionTable<DataConfig>& calibration_split_table() {
  static const OptionTable<DataConfig> table = [] {
    OptionTable<DataConfig> t;
    t.number(
        "parts", &DataConfig::calibration_parts, 0, 1000,
        "The training queries are cut at random into so many parts; bag b of a learner is trained without "
        "part b mod `parts` (each time round it is another cut), and calibrations are fitted on what bags "
        "have not seen; 0: nothing is left out, for learners of one score with calibrations that keep its "
        "order (rbc: linear, logistic)");
    return t;
  }();
  return table;
}

const OptionTable<SyntheticConfig>& synthetic_table() {
  static const OptionTable<SyntheticConfig> table = [] {
    OptionTable<SyntheticConfig> t;
    t.text("preset", &SyntheticConfig::preset, "quickstart, mslr10k or web2",
           "Built-in data instead of files: a preset of `tunemix synth`");
    t.number("queries", &SyntheticConfig::queries, 0, 1000000,
             "Queries of a fold; 0: as many as the preset has");
    t.number("folds", &SyntheticConfig::folds, 1, 100,
             "Number of folds, each generated with a seed of its own");
    return t;
  }();
  return table;
}

const OptionTable<SourceConfig>& source_table() {
  static const OptionTable<SourceConfig> table = [] {
    OptionTable<SourceConfig> t;
    t.number(
        "weight", &SourceConfig::weight, 1e-6, 1e6,
        "Weight of the source's documents beside the fold's own, times their `.weight` if they have one; for "
        "learners that train on both");
    t.choice(
        "use", &SourceConfig::use, source_words(),
        "How learners train: not on the source; on both sets as one (joint); on the source alone, calibrated "
        "and weighted on the fold's own data (only); or once on the fold's data and once on the source "
        "(both)");
    return t;
  }();
  return table;
}

const OptionTable<CalibrateConfig>& calibrate_table() {
  static const OptionTable<CalibrateConfig> table = [] {
    OptionTable<CalibrateConfig> t;
    t.words("cpc", &CalibrateConfig::cpc, cpc_names(),
            "Targets of the class-probability calibration, by one sigmoid for all labels, one for each label "
            "(each.TARGET), or a multinomial logistic map of all scores (matrix.TARGET)");
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
    t.choice(
        "families", &MixOptions::families,
        {{"learned", Families::kLearned},
         {"weighted", Families::kWeighted},
         {"equal", Families::kEqual},
         {"pooled", Families::kPooled}},
        "The total weight of a family. learned: as weighted, and in the mixture of all members moved, model "
        "by model, towards what is best together on validation; weighted: by how good its own mixture is, "
        "exp(2 sqrt(n) quality) with n validation queries; equal: the same for each; pooled: no families, "
        "all members in one sum");
    t.choice("checkpoints", &MixOptions::checkpoints,
             {{"chosen", Checkpoints::kChosen}, {"all", Checkpoints::kAll}},
             "Boosted members up to one chosen length, or of every checkpoint");
    return t;
  }();
  return table;
}

const OptionTable<ChoiceConfig>& mix_choice_table() {
  static const OptionTable<ChoiceConfig> table = [] {
    OptionTable<ChoiceConfig> t;
    t.choice(
        "choose_by", &ChoiceConfig::by, {{"validation", ChooseBy::kValidation}, {"all", ChooseBy::kAll}},
        "Queries that c, the length, weights and OneBest are chosen by: those of validation; or the training "
        "queries beside them that bags of every learner have left out, scored by these bags");
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
    t.words("tools", &EvaluateConfig::tools, preset_names(),
            "Presets to evaluate under; the first is that of bundles, `compare` and the top of the report; "
            "[]: yahoo, ranklib, trec, and letor4 or mslr, "
            "whichever knows the data's labels");
    t.text("err_max", &EvaluateConfig::err_max, "auto or a number from 1",
           "D of ERR's stop probability (2^label - 1)/D; auto: 2^(K-1), as in the paper's tables");
    return t;
  }();
  return table;
}

const OptionTable<EngineConfig>& engine_table() {
  static const OptionTable<EngineConfig> table = [] {
    OptionTable<EngineConfig> t;
    words_choice(t, "type", &EngineConfig::type, {"local", "slurm", "command"},
                 "Where training jobs run; results are the same bytes");
    return t;
  }();
  return table;
}

const OptionTable<SlurmConfig>& slurm_table() {
  static const OptionTable<SlurmConfig> table = [] {
    OptionTable<SlurmConfig> t;
    t.text("partition", &SlurmConfig::partition, "a partition", "Partition to submit to; empty: the default");
    t.text("account", &SlurmConfig::account, "an account", "Account to charge; empty: the default");
    t.text("qos", &SlurmConfig::qos, "a quality of service", "Quality of service; empty: the default");
    t.text("constraint", &SlurmConfig::constraint, "features of nodes",
           "Nodes to run on, as in `--constraint`; empty: any");
    t.text("options", &SlurmConfig::options, "options of sbatch",
           "Further options, as on a `#SBATCH` line: `--exclusive --gres=gpu:1`");
    t.text("setup", &SlurmConfig::setup, "lines of bash",
           "Run by every task before the program: `module load ...`, `export ...`");
    t.text("time", &SlurmConfig::time, "a Slurm time limit", "Time limit of a task");
    t.number("cpus", &SlurmConfig::cpus, 1, 4096, "Cores (and threads) of a task");
    t.number("memory_mb", &SlurmConfig::memory_mb, 1, 10000000, "Memory of a task in MB");
    t.number("throttle", &SlurmConfig::throttle, 0, 1000000,
             "Tasks of an array that run at once; 0: any number");
    t.number("jobs_per_task", &SlurmConfig::jobs_per_task, 0, 1000000,
             "Jobs of a fold that a task runs one after the other; 0: as many as take `task_minutes`");
    t.number("task_minutes", &SlurmConfig::task_minutes, 0.0, 10000.0,
             "Wanted length of a task: one job of each learner is timed first; 0, or up to 100 jobs: one job "
             "a task");
    t.number("retries", &SlurmConfig::retries, 0, 100, "How often a failed job is submitted again");
    t.number("poll_seconds", &SlurmConfig::poll_seconds, 1, 3600,
             "Longest time between two questions to the scheduler, which begin at every second");
    t.number("wait_seconds", &SlurmConfig::wait_seconds, 0, 3600,
             "How long the results of a task that went well may take to be seen on the shared file system");
    return t;
  }();
  return table;
}

const OptionTable<CommandConfig>& command_table() {
  static const OptionTable<CommandConfig> table = [] {
    OptionTable<CommandConfig> t;
    t.text("run", &CommandConfig::run, "a shell's command line",
           "Runs all tasks and ends when they have ended. `{commands}`: a file with a command for each task, "
           "`{script}`: a script that runs the task of an array index from 1, `{count}`: number of tasks, "
           "`{cpus}`: threads of each, `{logs}`: folder of their logs");
    t.text("setup", &CommandConfig::setup, "lines of bash", "Run by every task before the program");
    t.number("cpus", &CommandConfig::cpus, 1, 4096, "Threads of a task");
    t.number("jobs_per_task", &CommandConfig::jobs_per_task, 1, 1000000,
             "Jobs of a fold that a task runs one after the other");
    t.number("retries", &CommandConfig::retries, 0, 100, "How often a failed job is run again");
    t.number("wait_seconds", &CommandConfig::wait_seconds, 0, 3600,
             "How long the results of a task that went well may take to be seen on a shared file system");
    return t;
  }();
  return table;
}

const OptionTable<CommonLearnerOptions>& common_learner_table(const LearnerEntry& learner) {
  using O = CommonLearnerOptions;
  const auto make = [](bool length, bool trained) {
    OptionTable<O> t;
    t.number(
        "bags", &O::bags, 1, 1000,
        "Trained this often, each time with another seed and without another part of the training queries "
        "(data.calibration.parts); members are calibrated means of all bags' scores");
    if (trained) {
      t.choices("standardize", &O::standardize, standardize_words(),
                "Overrides data.standardize for this learner (default: as there); a list is a grid");
      t.choice("source", &O::source, source_words(),
               "Overrides data.source.use for this learner (default: as there; none without a data.source)");
      t.number("copies", &O::copies, 0, 100,
               "So many copies of every training query, with documents left out, are trained on beside it");
      t.number("leave_out", &O::leave_out, 0.01, 0.99, "Chance of a document to be left out of such a copy");
    }
    if (length)
      t.numbers("checkpoints", &O::checkpoints, 1, 10000000,
                "Numbers of rounds, up to the last, whose models are calibrated; []: 10, 20, 50, 100, ... "
                "and the last");
    return t;
  };
  static const OptionTable<O> external = make(false, false);
  static const OptionTable<O> without = make(false, true);
  static const OptionTable<O> with = make(true, true);
  if (learner.external) return external;
  return learner.length_option() != nullptr ? with : without;
}

std::vector<GridKey> common_grid_keys(const LearnerEntry& learner) {
  std::vector<GridKey> keys;
  if (learner.external) return keys;
  keys.push_back({"labels", "[]", "groups of labels such as [[0], [1, 2]], or a list of such groupings",
                  "Labels that it is taught as one; [] keeps them apart, and a list of groupings is a grid"});
  if (!learner.one_column)
    keys.push_back({"classes", "multi", "one of: multi, ordinal, or a list of them",
                    "multi: each label is a class; ordinal: K-1 problems 'label above l', whose chances, "
                    "fitted on the calibration split, make the class probabilities"});
  return keys;
}

}  // namespace tunemix
