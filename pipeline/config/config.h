// An experiment as its YAML file describes it: plain structs with defaults. Read by read_config, documented
// by config_reference, written back in full by Config::resolved.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tunemix/data/standardize.h"
#include "tunemix/learn/learner.h"
#include "tunemix/mix/mixer.h"

namespace tunemix {

// The validation split of a fold that has no file of its own: whole queries of the training files.
struct ValidFromTrain {
  std::string from;  // "train"; empty: the fold has files
  double share = 0.2;
  uint64_t seed = 1;
};

struct FoldFiles {
  std::vector<std::string> train;
  std::vector<std::string> valid;  // empty where they come from the training files
  std::vector<std::string> test;
  ValidFromTrain valid_from = {};
};

struct SyntheticConfig {
  std::string preset;  // empty: the data is in files
  int queries = 0;     // 0: as many as the preset has
  int folds = 1;
};

struct DataConfig {
  std::string root;  // folder of the files; $NAME is taken from the environment
  std::vector<FoldFiles> folds;
  SyntheticConfig synthetic;
  Standardize standardize = Standardize::kNone;
  double calibration_fraction = 0.2;
  int labels = 0;              // 0: one more than the largest label of a fold's training data
  std::vector<double> grades;  // empty: 2^l - 1
  int max_feature_id = 100000;
  bool allow_overlap = false;
  bool allow_new_features = false;
};

// One learner of the config with every option fixed: a point of its grid.
struct LearnerSpec {
  const LearnerEntry* learner = nullptr;
  Settings settings;             // every option
  std::vector<int64_t> lengths;  // of its points; empty where the learner has no length
  int bags = 1;
  Standardize standardize = Standardize::kNone;
  bool own_standardize = false;   // another than the data's
  std::string name;               // of scores from elsewhere: their family and row
  std::vector<FoldFiles> scores;  // their files, by fold
  std::string place;              // in the config: "file:line:column: learners.2"

  std::string family() const;
  std::string row() const;    // prefix of the family's rows in the results
  std::string title() const;  // what tells it from others, for people: "tree leaves=8"
  // What makes a training run what it is, but for its length: the same for all that can go on from one
  // another.
  Settings identity() const;
  std::vector<Point> points() const;
};

struct CalibrateConfig {
  std::vector<std::string> cpc = {"shift", "ls", "ewls", "el", "ell", "sndcg"};
  std::vector<std::string> regressors = {"linear", "logistic", "neural", "poly2", "poly3", "poly4"};
  std::vector<std::string> targets = {"raw", "ndcg"};
};

struct EvaluateConfig {
  std::vector<std::string> tools;  // empty: those that know the data's labels
  std::string err_max = "16";
};

struct SlurmConfig {
  std::string partition;
  std::string time = "01:00:00";
  int cpus = 1;
  int memory_mb = 2000;
  int retries = 2;
  int poll_seconds = 2;
};

struct EngineConfig {
  std::string type = "local";
  SlurmConfig slurm;
};

// The text that a config was read from: read again once the recipe is known.
struct ConfigSource {
  std::string text;
  std::string name;
  std::vector<std::string> overrides;
};

struct Config {
  std::string name;
  uint64_t seed = 1;
  DataConfig data;
  std::vector<LearnerSpec> learners;  // empty until with_recipe, where the file names none
  CalibrateConfig calibrate;
  MixOptions mix;
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
Config parse_config(const std::string& text, const std::string& name,
                    const std::vector<std::string>& overrides);
// A config without `learners` completed by the recommended recipe for training data of so many documents.
Config with_recipe(const Config& config, size_t documents);

// The reference of all keys as Markdown: docs/config.md.
std::string config_reference();
// The same as a JSON Schema.
std::string config_schema();

}  // namespace tunemix
