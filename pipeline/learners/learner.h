// What `train`, `score` and `inspect` need of a learner; each learner is one entry of learner_plugins().
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tunemix/core/context.h"
#include "tunemix/data/dataset.h"
#include "tunemix/data/score_matrix.h"

namespace tunemix {

using Settings = std::vector<std::pair<std::string, std::string>>;  // `--set key=value`, in order

struct TrainRequest {
  const Dataset& data;
  Settings settings;
  std::filesystem::path model;   // where to save; empty: nowhere
  std::filesystem::path extend;  // a model to go on from; empty: start anew
};

// A model read from a file.
struct LoadedModel {
  size_t features = 0;  // that it was trained on; data to score is read with as many
  int rounds = 0;       // whose scores can be had; 0: the model is not made of rounds
  std::function<ScoreMatrix(const Dataset&, int rounds, const Context&)> score;
  nlohmann::ordered_json description;  // what `inspect` shows
};

struct LearnerPlugin {
  std::string name;        // --learner NAME, `type:` in a config
  std::string model_kind;  // of the artifact that it saves (core/binary.h)
  // Trains, saves, and tells the figures that `train --json` prints.
  std::function<nlohmann::ordered_json(const TrainRequest&, const Context&)> train;
  std::function<LoadedModel(const std::filesystem::path&)> load;
  std::string options_help;  // the table of --set keys
};

LearnerPlugin adaboost_mh_plugin();  // pipeline/learners/adaboost_mh.cc
LearnerPlugin svm_plugin();          // pipeline/learners/svm.cc
// All learners, in pipeline/learners/learners.cc.
const std::vector<LearnerPlugin>& learner_plugins();
// Throw InputError when there is none.
const LearnerPlugin& learner_by_name(const std::string& name);
// By the kind of artifact in the file.
const LearnerPlugin& learner_of_model(const std::filesystem::path& model);

// The --set keys with defaults and docs, one a line.
template <typename Table, typename Options>
std::string describe_options(const Table& table, const Options& defaults) {
  std::string text;
  for (const auto& entry : table.entries())
    text += fmt::format("  {:<18} {} (default {}; {})\n", entry.name, entry.doc, entry.get(defaults),
                        entry.expected);
  return text;
}

}  // namespace tunemix
