#include "tunemix/learners/adaboost_mh.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "pipeline/learners/learner.h"
#include "tunemix/core/timer.h"

namespace tunemix {
namespace {

using Json = nlohmann::ordered_json;

AdaBoostOptions parse_options(const Settings& settings) {
  AdaBoostOptions options;
  for (const auto& [key, value] : settings) adaboost_option_table().set(options, key, value);
  return options;
}

// The options of a model to extend, of which only `iterations` may change.
AdaBoostOptions extended_options(const AdaBoostModel& model, const Settings& settings) {
  AdaBoostOptions options = model.options();
  for (const auto& [key, value] : settings) {
    const auto& entry = adaboost_option_table().entry(key);
    AdaBoostOptions changed = options;
    entry.set(changed, value);
    if (key != "iterations" && entry.get(changed) != entry.get(options))
      throw_input("{} is '{}'; the model to extend has {} (only iterations may change)", key, value,
                  entry.get(options));
    options = changed;
  }
  return options;
}

Json train(const TrainRequest& request, const Context& context) {
  Timer timer;
  std::optional<AdaBoostTrainer> trainer;
  AdaBoostOptions options;
  if (request.extend.empty()) {
    options = parse_options(request.settings);
    trainer.emplace(request.data, options, context);
  } else {
    const AdaBoostModel model = AdaBoostModel::load(request.extend);
    options = extended_options(model, request.settings);
    trainer.emplace(request.data, model, context);
  }
  trainer->step(options.iterations - trainer->rounds());
  const AdaBoostModel model = trainer->model(options.iterations);
  const double bin = trainer->seconds_binning();
  const double fit = timer.seconds() - bin;
  trainer.reset();
  if (!request.model.empty()) model.save(request.model);
  const ScoreMatrix scores = model.score(request.data, model.rounds(), context);
  Json result;
  result["seconds"] = {{"bin", bin}, {"fit", fit}};
  result["rounds"] = model.rounds();
  result["hamming_error"] = hamming_error(scores, request.data.labels(), options.weights);
  result["error_bound"] = model.error_bound(model.rounds());
  return result;
}

Json describe(const AdaBoostModel& model) {
  Json json;
  json["id"] = model.id();
  for (const auto& entry : adaboost_option_table().entries())
    json["options"][entry.name] = entry.get(model.options());
  json["features"] = model.features();
  json["labels"] = model.labels();
  json["seed"] = model.seed();
  json["trained_on"] = model.trained_on().hex();
  json["rounds"] = model.rounds();
  json["finished_early"] = model.finished_early();
  json["error_bound"] = model.error_bound(model.rounds());
  json["alpha_sum"] = model.alpha_sum(model.rounds());
  Json edges = Json::array();
  Json alphas = Json::array();
  Json normalizers = Json::array();
  Json leaves = Json::array();
  for (int t = 0; t < model.rounds(); ++t) {
    edges.push_back(model.round(t).edge);
    alphas.push_back(model.round(t).alpha);
    normalizers.push_back(model.round(t).normalizer);
    leaves.push_back(model.round(t).leaves());
  }
  json["edges"] = edges;
  json["alphas"] = alphas;
  json["normalizers"] = normalizers;
  json["leaves"] = leaves;
  const std::vector<size_t> use = model.feature_use();
  std::vector<size_t> order(use.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return use[a] > use[b]; });
  Json feature_use = Json::array();
  for (const size_t j : order)
    if (use[j] > 0) feature_use.push_back({{"feature", j + 1}, {"cuts", use[j]}});
  json["feature_use"] = feature_use;
  if (model.options().bandit != BanditKind::kNone) {
    json["bandit_probabilities"] = model.bandit_probabilities();
    Json samples = Json::array();
    for (const BanditSample& sample : model.bandit_samples())
      samples.push_back({{"round", sample.round}, {"probabilities", sample.probabilities}});
    json["bandit_samples"] = samples;
  }
  return json;
}

LoadedModel load(const std::filesystem::path& path) {
  const auto model = std::make_shared<const AdaBoostModel>(AdaBoostModel::load(path));
  LoadedModel result;
  result.features = model->features();
  result.rounds = model->rounds();
  result.score = [model](const Dataset& data, int rounds, const Context& context) {
    return model->score(data, rounds, context);
  };
  result.description = describe(*model);
  return result;
}

}  // namespace

LearnerPlugin adaboost_mh_plugin() {
  return {"adaboost_mh", AdaBoostModel::kKind, train, load,
          describe_options(adaboost_option_table(), AdaBoostOptions())};
}

}  // namespace tunemix
