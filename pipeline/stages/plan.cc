#include "pipeline/stages/plan.h"

#include "pipeline/stages/fold_data.h"

namespace tunemix {
namespace {

void add(Hasher& hasher, const Hash128& hash) { hasher.number(hash.high).number(hash.low); }

void add(Hasher& hasher, const std::vector<std::string>& words) {
  hasher.number(words.size());
  for (const std::string& word : words) hasher.text(word);
}

// Of the content of data.source, and of how it is used.
Hash128 source_key(const Config& config, ArtifactStore& store, MissingFiles missing) {
  Hasher hasher;
  hash_files(config, config.data.source.files, store, missing, hasher);
  add(hasher, config.data.source.features);
  return hasher.digest();
}

Hash128 training_key(const Config& config, const Hash128& fold_key, const Hash128& source_key,
                     const LearnerSpec& spec, size_t fold, int bag) {
  Hasher hasher;
  hasher.text("training").number(kTrainingVersion);
  add(hasher, fold_key);
  hasher.text(to_string(spec.standardize)).text(fmt::format("{}", config.data.calibration_fraction));
  for (const FeatureRange& range : config.data.features)
    hasher.text("features").number(range.first).number(range.last);
  hasher.number(config.seed).number(fold).number(static_cast<uint64_t>(bag));
  hasher.text(spec.learner->type).number(spec.learner->version);
  for (const auto& [key, value] : spec.identity()) hasher.text(key).text(value);
  if (spec.source != SourceUse::kNone) add(hasher, source_key);
  if (spec.source == SourceUse::kJoint) hasher.text(fmt::format("{}", config.data.source.weight));
  return hasher.digest();
}

// Of a model and its scores: the training run, its points, and the content of score files.
Hash128 model_key(const Config& config, const TrainJob& job, ArtifactStore& store, MissingFiles missing) {
  const LearnerSpec& spec = config.learners[job.learner];
  Hasher hasher;
  hasher.text("model").number(kScoresVersion).number(LearnedModel::kVersion);
  add(hasher, job.training_key);
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

Hash128 calibrate_key(const Config& config, const Hash128& train_key) {
  Hasher hasher;
  hasher.text("calibrate").number(kMembersVersion);
  add(hasher, train_key);
  add(hasher, config.calibrate.cpc);
  add(hasher, config.calibrate.regressors);
  add(hasher, config.calibrate.targets);
  for (const double grade : config.data.grades) hasher.text(fmt::format("{}", grade));
  return hasher.digest();
}

}  // namespace

std::vector<const TrainJob*> Plan::jobs_of(size_t fold) const {
  std::vector<const TrainJob*> result;
  for (const TrainJob& job : jobs)
    if (job.fold == fold) result.push_back(&job);
  return result;
}

uint64_t Plan::job_seed(const TrainJob& job) const {
  Hasher hasher;
  hasher.text("job").number(config.seed).number(job.fold).number(static_cast<uint64_t>(job.bag));
  for (const auto& [key, value] : learner(job).identity()) hasher.text(key).text(value);
  return hasher.digest().low;
}

Hash128 Plan::id() const {
  Hasher hasher;
  hasher.text("plan").number(jobs.size());
  for (const TrainJob& job : jobs) {
    add(hasher, job.key);
    add(hasher, job.calibrate_key);
  }
  return hasher.digest();
}

Plan make_plan(Config config, ArtifactStore& store, MissingFiles missing) {
  Plan plan;
  plan.config = std::move(config);
  const Config& c = plan.config;
  for (size_t fold = 0; fold < fold_count(c.data); ++fold)
    plan.fold_keys.push_back(fold_key(c, fold, store, missing));
  const Hash128 source = source_key(c, store, missing);
  for (size_t fold = 0; fold < plan.fold_keys.size(); ++fold) {
    Hasher mix;
    mix.text("mix").number(kMixVersion);
    for (size_t l = 0; l < c.learners.size(); ++l)
      for (int bag = 0; bag < c.learners[l].bags; ++bag) {
        TrainJob job;
        job.fold = fold;
        job.learner = l;
        job.bag = bag;
        job.training_key = training_key(c, plan.fold_keys[fold], source, c.learners[l], fold, bag);
        job.key = model_key(c, job, store, missing);
        job.calibrate_key = calibrate_key(c, job.key);
        job.name = fmt::format("fold {}: {}, bag {}", fold + 1, c.learners[l].title(), bag + 1);
        add(mix, job.calibrate_key);
        plan.jobs.push_back(std::move(job));
      }
    for (const auto& [key, value] : c.values)
      if (key.starts_with("mix.")) mix.text(key).text(value);
    plan.mix_keys.push_back(mix.digest());
  }
  Hasher evaluation;
  evaluation.text("evaluate").number(kEvaluationVersion);
  for (const Hash128& key : plan.mix_keys) add(evaluation, key);
  add(evaluation, c.evaluate.tools);
  evaluation.text(c.evaluate.err_max);
  plan.evaluation_key = evaluation.digest();
  store.save_file_hashes();
  return plan;
}

std::vector<std::string> plan_artifacts(const Plan& plan, const ArtifactStore& store) {
  std::vector<std::string> result;
  const auto add_file = [&](const char* kind, const Hash128& key) {
    result.push_back(store.path_of(kind, key).lexically_relative(store.root()).string());
  };
  for (const Hash128& key : plan.fold_keys) add_file(kFoldKind, key);
  for (const TrainJob& job : plan.jobs) {
    if (plan.learner(job).learner->resumable) add_file(kTrainingKind, job.training_key);
    add_file(kModelKind, job.key);
    add_file(kScoresKind, job.key);
    for (const char* kind : {kMembersKind, kMemberValidKind, kMemberTestKind})
      add_file(kind, job.calibrate_key);
  }
  for (const Hash128& key : plan.mix_keys) add_file(kMixKind, key);
  add_file(kEvaluationKind, plan.evaluation_key);
  return result;
}

}  // namespace tunemix
