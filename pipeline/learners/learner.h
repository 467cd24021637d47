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

struct LearnerPlugin {
  std::string name;        // --learner NAME, `type:` in a config
  std::string model_kind;  // of the artifact that it saves (core/binary.h)
  // Trains on `data`, saves to `model` (unless empty) and tells the figures that `train --json` prints.
  std::function<nlohmann::ordered_json(const Dataset& data, const Settings&,
                                       const std::filesystem::path& model, const Context&)>
      train;
  std::function<ScoreMatrix(const std::filesystem::path& model, const Dataset&, const Context&)> score;
  std::function<nlohmann::ordered_json(const std::filesystem::path& model)> inspect;
  std::string options_help;  // the table of --set keys
};

LearnerPlugin adaboost_mh_plugin();  // pipeline/learners/adaboost_mh.cc
LearnerPlugin svm_plugin();          // pipeline/learners/svm.cc
// All learners, in pipeline/learners/learners.cc.
const std::vector<LearnerPlugin>& learner_plugins();

}  // namespace tunemix
