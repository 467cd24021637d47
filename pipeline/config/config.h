// An experiment as its YAML file describes it: plain structs with defaults. Read by read_config, documented
// by config_reference, written back in full by Config::resolved.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tunemix/data/dataset.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/data/standardize.h"
#include "tunemix/learn/label_groups.h"
#include "tunemix/learn/learner.h"
#include "tunemix/mix/mixer.h"

namespace tunemix {

// The validation split of a fold that has no file of its own: whole queries of the training files.
struct ValidFromTrain {
  std::string from = "train";
  double share = 0.2;
  uint64_t seed = 1;
};

struct FoldFiles {
  std::vector<std::string> train;
  std::vector<std::string> valid;  // empty where they come from the training files
  std::vector<std::string> test;   // may be empty, in all folds alike
  ValidFromTrain valid_from = {};
};

struct SyntheticConfig {
  std::string preset;  // empty: the data is in files
  int queries = 0;     // 0: as many as the preset has
  int folds = 1;
};

// Whether a learner trains on data.source: not; on it and the fold's own data; on it alone; or once without
// and once on it alone.
enum class SourceUse : uint8_t { kNone, kJoint, kOnly, kBoth };
std::string_view to_string(SourceUse use);

// Another set to learn from, with features in part the same.
struct SourceConfig {
  std::vector<std::string> files;     // empty: there is none
  std::vector<std::string> features;  // "3", "1-10" or "5:7"; empty: those with the same numbers
  double weight = 1;                  // of its documents beside the fold's own
  SourceUse use = SourceUse::kBoth;

  // (number there, number in the folds) from 1; throws InputError.
  std::vector<std::pair<size_t, size_t>> feature_pairs() const;
};

// Numbers of features from 1: "15" or "1-10".
struct FeatureRange {
  size_t first = 0;
  size_t last = 0;
  bool operator==(const FeatureRange&) const = default;
};

// The data of one fold in memory.
struct FoldFeatures {
  Dataset train;
  Dataset valid;
  Dataset test;
  std::optional<Dataset> source = std::nullopt;  // data.source
};

struct DataConfig {
  std::string root;  // folder of the files; $NAME is taken from the environment
  std::vector<FoldFiles> folds;
  SyntheticConfig synthetic;
  SourceConfig source;
  std::vector<std::shared_ptr<const FoldFeatures>> given;       // by the calling program, in place of files
  std::vector<Standardize> standardize = {Standardize::kNone};  // every learner sees each of them
  int calibration_parts = 5;   // bag b of a learner leaves out part b mod parts; 0: none leaves any out
  int labels = 0;              // 0: one more than the largest label of a fold's training data
  std::vector<double> grades;  // empty: 2^l - 1
  int max_feature_id = 100000;
  MissingValues missing = MissingValues::kLearn;
  std::string feature_names;  // file of the features' names, from root; empty: as the data's head says
  std::vector<FeatureRange> features;     // that learners see; empty: all
  std::vector<FeatureRange> categorical;  // of these, those whose values are names of something
  bool allow_overlap = false;
  bool allow_new_features = false;

  // Without test data the validation data stands in for it, and only its results are told.
  bool has_test() const {
    if (!given.empty()) return given[0]->test.fingerprint() != given[0]->valid.fingerprint();
    return folds.empty() || !folds[0].test.empty();
  }
};

// One learner of the config with every option fixed: a point of its grid.
struct LearnerSpec {
  const LearnerEntry* learner = nullptr;
  Settings settings;             // every option
  std::vector<int64_t> lengths;  // of its points; empty where the learner has no length
  int bags = 1;
  Standardize standardize = Standardize::kNone;
  bool own_standardize = false;         // not the only one of the data
  SourceUse source = SourceUse::kNone;  // never kBoth
  std::optional<LabelGroups> labels;    // what it is taught instead of the labels
  bool ordinal = false;                 // K-1 problems "label above l" instead of K classes
  int copies = 0;                       // of every training query, with documents left out
  double leave_out = 0.2;
  std::string name;               // of scores from elsewhere: their family and row
  std::vector<FoldFiles> scores;  // their files, by fold
  std::string place;              // in the config: "file:line:column: learners.2"

  std::string family() const;
  std::string row() const;    // prefix of the family's rows in the results
  std::string title() const;  // what tells it from others, for people: "tree leaves=8"
  // What makes a training run what it is, but for its length: the same for all that can go on from one
  // another.
  Settings identity() const;
  // Of identity(), what is not an option of its learner but of every entry, where it is not the default.
  Settings own_settings() const;
  // Whether it is trained on other documents or labels than the fold's.
  bool derives_data() const { return labels || ordinal || copies > 0; }
  std::vector<Point> points() const;
};

struct CalibrateConfig {
  std::vector<std::string> cpc = {"shift", "ls", "ewls", "el", "ell", "sndcg"};
  std::vector<std::string> regressors = {"linear", "logistic", "neural", "poly2", "poly3", "poly4"};
  std::vector<std::string> targets = {"raw", "ndcg"};
};

// What c, the boosting length, weights and OneBest are chosen by: the validation queries; or the training
// queries beside them, by the scores of bags that have not seen them.
enum class ChooseBy : uint8_t { kValidation, kAll };

struct ChoiceConfig {
  ChooseBy by = ChooseBy::kValidation;
};

struct EvaluateConfig {
  std::vector<std::string> tools;  // empty: those that know the data's labels
  std::string err_max = "16";
};

struct SlurmConfig {
  std::string partition;
  std::string account;
  std::string qos;
  std::string constraint;
  std::string options;  // more of sbatch's
  std::string setup;    // lines of the task's script before the program starts
  std::string time = "01:00:00";
  int cpus = 1;
  int memory_mb = 2000;
  int throttle = 0;       // tasks of an array at once; 0: any number
  int jobs_per_task = 0;  // 0: as many as take task_minutes
  double task_minutes = 10;
  int retries = 2;
  int poll_seconds = 30;
  int wait_seconds = 60;
};

struct CommandConfig {
  std::string run;  // a shell's command line with placeholders
  std::string setup;
  int cpus = 1;
  int jobs_per_task = 1;
  int retries = 2;
  int wait_seconds = 60;
};

struct EngineConfig {
  std::string type = "local";
  SlurmConfig slurm;
  CommandConfig command;
};

// What a config is read from: read again once the recipe is known.
struct ConfigSource {
  std::string text;  // YAML, or JSON
  std::string name;  // of the file; empty: of a calling program, and messages name keys and no lines
  std::vector<std::string> overrides;
  std::vector<std::shared_ptr<const FoldFeatures>> given = {};  // data in memory: `data` names no files then
};

struct Config {
  std::string name;
  uint64_t seed = 1;
  DataConfig data;
  std::vector<LearnerSpec> learners;  // empty until with_recipe, where the file names none
  CalibrateConfig calibrate;
  MixOptions mix;
  ChoiceConfig choice;
  EvaluateConfig evaluate;
  EngineConfig engine;

  // Every value with a comment on where it came from; enough to repeat the run.
  std::string resolved;
  // The same flattened: "mix.normalize" -> "query"; what `status` compares to say what changed.
  std::map<std::string, std::string> values;
  ConfigSource source;
};

// Reads a config and applies overrides `a.b=c`. Throws InputError "file:line:column: key: what; expected
// ...".
Config read_config(const std::filesystem::path& file, const std::vector<std::string>& overrides);
Config parse_config(const ConfigSource& source);
inline Config parse_config(const std::string& text, const std::string& name,
                           const std::vector<std::string>& overrides) {
  return parse_config(ConfigSource{text, name, overrides});
}
// A config without `learners` completed by the recommended recipe for training data of so many documents.
Config with_recipe(const Config& config, size_t documents);
size_t fold_count(const DataConfig& data);

// The reference of all keys as Markdown: docs/config.md.
std::string config_reference();
// The same as a JSON Schema.
std::string config_schema();

}  // namespace tunemix
