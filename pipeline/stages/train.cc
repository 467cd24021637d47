#include "pipeline/stages/train.h"

#include <algorithm>
#include <optional>

#include "tunemix/core/timer.h"

namespace tunemix {
namespace {

// A killed boosting job loses at most the rounds of so many seconds.
constexpr double kSecondsBetweenStates = 10;
// Features whose probabilities over time are kept for the report.
constexpr size_t kBanditFeatures = 12;

struct BagData {
  Dataset train;
  Dataset calibration;
};

BagData bag_data(const Plan& plan, const TrainJob& job, const FoldFeatures& features) {
  const QuerySplit split = bag_split(plan.config, features.train.queries(), job.fold, job.bag);
  return {features.train.select_queries(split.train), features.train.select_queries(split.calibration)};
}

void put(BinaryWriter& out, const ScoreMatrix& scores) {
  out.put<uint64_t>(scores.columns());
  out.put(scores.data().high);
  out.put(scores.data().low);
  out.put(scores.model());
  out.put_span(scores.values());
}

ScoreMatrix get_scores(BinaryReader& in) {
  const auto columns = in.get<uint64_t>();
  Hash128 data;
  data.high = in.get<uint64_t>();
  data.low = in.get<uint64_t>();
  const std::string model = in.get_string();
  const auto values = in.get_vector<float>();
  if (columns == 0 || values.size() % columns != 0) in.fail("a score matrix of no shape");
  ScoreMatrix scores(values.size() / columns, columns, data, model);
  std::copy(values.begin(), values.end(), scores.values().begin());
  return scores;
}

// The scores of standardised features as scores of the documents that they were made from.
ScoreMatrix scores_of(const ScoreMatrix& scores, const Hash128& documents) {
  ScoreMatrix result(scores.documents(), scores.columns(), documents, scores.model());
  std::copy(scores.values().begin(), scores.values().end(), result.values().begin());
  return result;
}

std::vector<int> checkpoints_of(const LearnerSpec& learner) {
  if (learner.checkpoints.empty()) return default_checkpoints(learner.boosting.iterations);
  std::vector<int> result;
  for (const double c : learner.checkpoints)
    if (c < learner.boosting.iterations) result.push_back(static_cast<int>(c));
  result.push_back(learner.boosting.iterations);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::optional<AdaBoostModel> saved_model(const std::filesystem::path& path, const Context& context) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  try {
    return AdaBoostModel::load(path);
  } catch (const InputError& error) {
    context.warn(fmt::format("{}; it is computed again", error.what()));
    return std::nullopt;
  }
}

// The model with at least the asked rounds (more where an earlier run had more), or as many as it could make.
AdaBoostModel boost(const Dataset& train, const AdaBoostOptions& options, const std::filesystem::path& path,
                    const Context& context) {
  std::optional<AdaBoostModel> model = saved_model(path, context);
  if (model && (model->rounds() >= options.iterations || model->finished_early())) return std::move(*model);
  AdaBoostTrainer trainer =
      model ? AdaBoostTrainer(train, *model, context) : AdaBoostTrainer(train, options, context);
  model.reset();
  while (trainer.rounds() < options.iterations && !trainer.finished()) {
    context.check_stop();
    trainer.step(options.iterations - trainer.rounds(), kSecondsBetweenStates);
    trainer.model().save(path);
  }

  return trainer.model();
}

TrainResult train_boosting(const Plan& plan, const TrainJob& job, const FoldInfo& info, const BagData& bag,
                           const FoldFeatures& features, const ArtifactStore& store, const Context& context) {
  const LearnerSpec& learner = plan.config.learners[job.learner];
  AdaBoostOptions options = learner.boosting;
  options.labels = info.labels;
  const std::filesystem::path path = store.path_of(kModelKind, job.model_key);
  std::filesystem::create_directories(path.parent_path());
  AdaBoostModel model = boost(bag.train, options, path, context);
  // An earlier run may have trained more rounds.
  if (model.rounds() > options.iterations) model = model.first_rounds(options.iterations);

  const std::vector<int> wanted = checkpoints_of(learner);
  std::vector<int> lengths;  // a model that ended early stands for all its later checkpoints
  for (const int length : wanted) lengths.push_back(std::min(length, model.rounds()));
  std::vector<int> distinct = lengths;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const auto calibration = model.score(bag.calibration, distinct, context);
  const auto valid = model.score(features.valid, distinct, context);
  const auto test = model.score(features.test, distinct, context);
  TrainResult result;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const size_t at =
        static_cast<size_t>(std::find(distinct.begin(), distinct.end(), lengths[i]) - distinct.begin());
    result.models.push_back(
        {wanted[i], 0, model.alpha_sum(lengths[i]), calibration[at], valid[at], test[at]});
  }

  const std::vector<size_t> uses = model.feature_use();
  double total = 0;
  for (const size_t use : uses) total += static_cast<double>(use);
  for (const size_t use : uses)
    result.feature_use.push_back(total > 0 ? static_cast<float>(static_cast<double>(use) / total) : 0);
  const auto& samples = model.bandit_samples();
  if (!samples.empty()) {
    const std::vector<float>& last = samples.back().probabilities;
    std::vector<uint32_t> order(last.size());
    for (uint32_t j = 0; j < order.size(); ++j) order[j] = j;
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return last[a] > last[b]; });
    order.resize(std::min(order.size(), kBanditFeatures));
    for (const BanditSample& sample : samples)
      for (const uint32_t j : order) result.bandit.push_back({sample.round, j, sample.probabilities[j]});
  }
  return result;
}

TrainResult train_svm_models(const Plan& plan, const TrainJob& job, const FoldInfo& info, const BagData& bag,
                             const FoldFeatures& features, const ArtifactStore& store,
                             const Context& context) {
  const LearnerSpec& learner = plan.config.learners[job.learner];
  SvmOptions options = learner.svm;
  options.labels = info.labels;
  const std::vector<SvmModel> models = train_svm_path(bag.train, options, learner.C, context);
  const std::vector<Hash128> files = plan.model_files(job);
  TrainResult result;
  for (size_t i = 0; i < models.size(); ++i) {
    const std::filesystem::path path = store.path_of(kModelKind, files[i]);
    std::filesystem::create_directories(path.parent_path());
    models[i].save(path);
    result.models.push_back({0, learner.C[i], 0, models[i].score(bag.calibration, context),
                             models[i].score(features.valid, context),
                             models[i].score(features.test, context)});
  }
  return result;
}

}  // namespace

void run_train_job(const Plan& plan, const TrainJob& job, const FoldInfo& info, const FoldFeatures& features,
                   const ArtifactStore& store, const Context& context) {
  const BagData bag = bag_data(plan, job, features);
  const auto train = plan.config.learners[job.learner].type == "svm" ? train_svm_models : train_boosting;
  TrainResult result = train(plan, job, info, bag, features, store, context);
  for (ModelScores& model : result.models) {
    model.valid = scores_of(model.valid, info.valid.fingerprint);
    model.test = scores_of(model.test, info.test.fingerprint);
  }
  store.save(kScoresKind, job.key, kScoresVersion, save_train_result(result));
}

std::vector<uint8_t> save_train_result(const TrainResult& result) {
  BinaryWriter out;
  out.put<uint64_t>(result.models.size());
  for (const ModelScores& model : result.models) {
    out.put<int32_t>(model.iterations);
    out.put(model.C);
    out.put(model.range);
    put(out, model.calibration);
    put(out, model.valid);
    put(out, model.test);
  }
  out.put(result.feature_use);
  out.put<uint64_t>(result.bandit.size());
  for (const auto& point : result.bandit) {
    out.put(point.round);
    out.put(point.feature);
    out.put(point.probability);
  }
  return {out.bytes().begin(), out.bytes().end()};
}

TrainResult load_train_result(std::span<const uint8_t> payload) {
  BinaryReader in(payload, "scores artifact");
  TrainResult result;
  const size_t models = in.get_count(1);
  for (size_t i = 0; i < models; ++i) {
    ModelScores model;
    model.iterations = in.get<int32_t>();
    model.C = in.get<double>();
    model.range = in.get<double>();
    model.calibration = get_scores(in);
    model.valid = get_scores(in);
    model.test = get_scores(in);
    result.models.push_back(std::move(model));
  }
  result.feature_use = in.get_vector<float>();
  const size_t points = in.get_count(12);
  for (size_t i = 0; i < points; ++i) {
    TrainResult::BanditPoint point{};
    point.round = in.get<int32_t>();
    point.feature = in.get<uint32_t>();
    point.probability = in.get<float>();
    result.bandit.push_back(point);
  }
  in.expect_end();
  return result;
}

}  // namespace tunemix
