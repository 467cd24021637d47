#include "pipeline/stages/plan.h"

#include "pipeline/stages/fold_data.h"

namespace tunemix {
namespace {

// Of the content of data.source, and of how it is read.
Hash128 source_key(const Config& config, ArtifactStore& store, MissingFiles missing) {
  Hasher hasher;
  hash_files(config, config.data.source.files, store, missing, hasher);
  hash_options(Stage::kTrain, Scope::kSource, config, hasher);
  return hasher.digest();
}

Hash128 training_key(const Config& config, const Hash128& fold_key, const Hash128& source_key,
                     const LearnerSpec& spec, size_t fold, int bag) {
  Hasher hasher;
  hasher.text("training").number(kTrainingVersion);
  hasher.hash(fold_key);
  hash_options(Stage::kTrain, Scope::kEvery, config, hasher);
  hasher.text(to_string(spec.standardize)).number(fold).number(static_cast<uint64_t>(bag));
  hasher.text(spec.learner->type).number(spec.learner->version);
  for (const auto& [key, value] : spec.identity()) hasher.text(key).text(value);
  if (spec.source != SourceUse::kNone) hasher.hash(source_key);
  if (spec.source == SourceUse::kJoint) hash_options(Stage::kTrain, Scope::kJoint, config, hasher);
  return hasher.digest();
}

// Of a model and its scores: the training run, its points, and the content of score files.
Hash128 model_key(const Config& config, const TrainJob& job, ArtifactStore& store, MissingFiles missing) {
  const LearnerSpec& spec = config.learners[job.learner];
  Hasher hasher;
  hasher.text("model").number(kScoresVersion).number(LearnedModel::kVersion);
  hasher.hash(job.training_key);
  for (const Point& point : spec.points())
    hasher.number(static_cast<uint64_t>(point.length)).text(point.label);
  if (!spec.scores.empty()) {
    hasher.text(spec.name);
    const FoldFiles& files = spec.scores[job.fold];
    for (const auto* split : {&files.train, &files.valid, &files.test})
      hash_files(config, *split, store, missing, hasher);
  }
  return hasher.digest();
}

Hash128 calibrate_key(const Plan& plan, const CalibrateJob& job) {
  Hasher hasher;
  hasher.text("calibrate").number(kMembersVersion);
  for (const TrainJob& bag : plan.bags_of(job)) hasher.hash(bag.key);
  hash_options(Stage::kCalibrate, Scope::kEvery, plan.config, hasher);
  return hasher.digest();
}

void add_jobs(Plan& plan, size_t fold, ArtifactStore& store, MissingFiles missing) {
  const Config& c = plan.config;
  const Hash128 source = source_key(c, store, missing);
  for (size_t l = 0; l < c.learners.size(); ++l) {
    CalibrateJob calibration{fold, l, plan.jobs.size(), {}, {}};
    calibration.name = fmt::format("{}: {}", plan.fold_name(fold), c.learners[l].title());
    for (int bag = 0; bag < c.learners[l].bags; ++bag) {
      TrainJob job;
      job.fold = fold;
      job.learner = l;
      job.bag = bag;
      job.training_key = training_key(c, plan.fold_keys[fold], source, c.learners[l], fold, bag);
      job.key = model_key(c, job, store, missing);
      job.name = fmt::format("{}, bag {}", calibration.name, bag + 1);
      plan.jobs.push_back(std::move(job));
    }
    calibration.key = calibrate_key(plan, calibration);
    plan.calibrations.push_back(std::move(calibration));
  }
}

}  // namespace

std::string Plan::fold_name(size_t fold) const {
  return is_final() && fold == first_fold ? "the final model" : fmt::format("fold {}", fold + 1);
}

std::span<const CalibrateJob> Plan::calibrations_of(size_t fold) const {
  const size_t learners = config.learners.size();
  return std::span(calibrations).subspan((fold - first_fold) * learners, learners);
}

std::span<const TrainJob> Plan::bags_of(const CalibrateJob& job) const {
  return std::span(jobs).subspan(job.first_bag, static_cast<size_t>(learner(job).bags));
}

uint64_t Plan::job_seed(const TrainJob& job) const {
  Hasher hasher;
  hasher.text("job").number(config.seed).number(job.fold).number(static_cast<uint64_t>(job.bag));
  for (const auto& [key, value] : learner(job).identity()) hasher.text(key).text(value);
  return hasher.digest().low;
}

uint64_t Plan::job_seed(const CalibrateJob& job) const {
  Hasher hasher;
  hasher.text("calibrate").number(config.seed).number(job.fold);
  for (const auto& [key, value] : learner(job).identity()) hasher.text(key).text(value);
  return hasher.digest().low;
}

Hash128 Plan::id() const {
  Hasher hasher;
  hasher.text("plan").number(jobs.size());
  for (const TrainJob& job : jobs) hasher.hash(job.key);
  for (const CalibrateJob& job : calibrations) hasher.hash(job.key);
  return hasher.digest();
}

Plan make_plan(Config config, ArtifactStore& store, MissingFiles missing) {
  Plan plan;
  plan.config = std::move(config);
  const Config& c = plan.config;
  for (size_t fold = 0; fold < fold_count(c.data); ++fold)
    plan.fold_keys.push_back(fold_key(c, fold, store, missing));
  for (size_t fold = 0; fold < plan.fold_keys.size(); ++fold) {
    add_jobs(plan, fold, store, missing);
    Hasher mix;
    mix.text("mix").number(kMixVersion);
    for (const CalibrateJob& job : plan.calibrations_of(fold)) mix.hash(job.key);
    hash_options(Stage::kMix, Scope::kEvery, c, mix);
    plan.mix_keys.push_back(mix.digest());
  }
  Hasher evaluation;
  evaluation.text("evaluate").number(kEvaluationVersion);
  for (const Hash128& key : plan.mix_keys) evaluation.hash(key);
  hash_options(Stage::kEvaluate, Scope::kEvery, c, evaluation);
  plan.evaluation_key = evaluation.digest();
  store.save_file_hashes();
  return plan;
}

Plan make_final_plan(const Plan& folds, Config config, ArtifactStore& store, MissingFiles missing) {
  Plan plan;
  plan.config = std::move(config);
  plan.fold_keys = folds.fold_keys;
  plan.first_fold = plan.fold_keys.size();
  Hasher all;
  all.text("all data").number(kFoldVersion);
  for (const Hash128& key : plan.fold_keys) all.hash(key);
  plan.fold_keys.push_back(all.digest());
  add_jobs(plan, plan.first_fold, store, missing);
  store.save_file_hashes();
  return plan;
}

StageJob train_stage_job(const Plan& plan, const TrainJob& job) {
  StageJob result = {job.name, {{kScoresKind, job.key}, {kModelKind, job.key}}};
  if (plan.learner(job).learner->resumable) result.artifacts.push_back({kTrainingKind, job.training_key});
  return result;
}

StageJob calibrate_stage_job(const CalibrateJob& job) {
  StageJob result = {job.name, {}};
  for (const char* kind : {kMembersKind, kMemberValidKind, kMemberTestKind})
    result.artifacts.push_back({kind, job.key});
  return result;
}

std::vector<StageJob> stage_jobs(const Plan& plan, Stage stage) {
  std::vector<StageJob> result;
  const auto add_folds = [&](const char* kind, const std::vector<Hash128>& keys) {
    for (size_t fold = plan.first_fold; fold < keys.size(); ++fold)
      result.push_back({plan.fold_name(fold), {{kind, keys[fold]}}});
  };
  switch (stage) {
    case Stage::kData:
      add_folds(kFoldKind, plan.fold_keys);
      break;
    case Stage::kTrain:
      for (const TrainJob& job : plan.jobs) result.push_back(train_stage_job(plan, job));
      break;
    case Stage::kCalibrate:
      for (const CalibrateJob& job : plan.calibrations) result.push_back(calibrate_stage_job(job));
      break;
    case Stage::kMix:
      add_folds(kMixKind, plan.mix_keys);
      break;
    case Stage::kEvaluate:
      if (!plan.is_final()) result.push_back({"evaluation", {{kEvaluationKind, plan.evaluation_key}}});
      break;
    case Stage::kReport:
      break;
  }
  return result;
}

std::vector<std::string> plan_artifacts(const Plan& plan, const ArtifactStore& store) {
  std::vector<std::string> result;
  for (size_t stage = 0; stage < kStages; ++stage)
    for (const StageJob& job : stage_jobs(plan, static_cast<Stage>(stage)))
      for (const ArtifactId& id : job.artifacts)
        result.push_back(store.path_of(id.kind, id.key).lexically_relative(store.root()).string());
  return result;
}

}  // namespace tunemix
