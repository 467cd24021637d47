#include "pipeline/run/jobs.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <csignal>

#include "pipeline/engine/engine.h"
#include "pipeline/stages/all_data.h"
#include "pipeline/stages/stored_features.h"
#include "pipeline/stages/train.h"
#include "pipeline/store/run_folder.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;

// A job of more (document, feature) values than this is worth all threads; smaller ones run side by side.
constexpr double kWideValues = 2e7;

// With the seed of a job.
struct JobContext : Context {
  JobContext(int threads, uint64_t seed, const Context& run) : Context(threads, seed) {
    stop = run.stop;
    on_log = run.on_log;
  }
};

}  // namespace

const FoldInfo& FoldJobs::fold_info(size_t fold) {
  const std::lock_guard lock(data_mutex_);
  if (const auto it = infos_.find(fold); it != infos_.end()) return it->second;
  FoldInfo info = artifacts_.load_or(Stage::kData, {kFoldKind, plan_.fold_keys[fold]}, kFoldVersion,
                                     "the data of " + plan_.fold_name(fold), context_, load_fold_info, [&] {
                                       read_features(fold, context_);
                                       return infos_.at(fold);
                                     });
  return infos_[fold] = std::move(info);
}

// Keeps the features of one fold at a time; jobs of other folds hold on to theirs.
void FoldJobs::read_features(size_t fold, const Context& context) {
  const std::lock_guard lock(data_mutex_);
  if (features_fold_ == fold) return;
  drop_features();
  const ArtifactStore& store = artifacts_.store();
  const bool saves = !artifacts_.options().read_only;
  const Hash128& key = plan_.fold_keys[fold];
  std::optional<FoldFeatures> stored;
  if (artifacts_.cached(Stage::kData, {kFeaturesKind, key})) stored = load_features(key, store, context);
  const bool parsed = !stored;
  if (parsed && fold < fold_count(plan_.config.data)) {
    stored = read_fold(plan_.config, fold, store, context);
  } else if (parsed) {
    std::vector<const FoldInfo*> folds;
    for (size_t other = 0; other < fold; ++other) folds.push_back(&fold_info(other));
    drop_features();
    stored = read_all(plan_.config, folds, store, context);
  }
  auto read = std::make_shared<FoldFeatures>(std::move(*stored));
  if (!infos_.contains(fold) && artifacts_.cached(Stage::kData, {kFoldKind, key}))
    if (auto info = store.load_as(kFoldKind, key, kFoldVersion, context, load_fold_info))
      infos_[fold] = std::move(*info);
  if (infos_.contains(fold) && !describes(infos_[fold], *read)) {
    store.discard(kFoldKind, key, store.path_of(kFoldKind, key).string() + ": not what the data files hold",
                  context);
    infos_.erase(fold);
  }
  if (!infos_.contains(fold)) {
    infos_[fold] = describe_fold(plan_.config, *read, context);
    fold_grades(plan_.config, infos_[fold].labels);
    if (saves) store.save(kFoldKind, key, kFoldVersion, save_fold_info(infos_[fold]));
  }
  // For tasks on other machines; on this one reading again is as quick as a file of that size.
  if (parsed && runs_elsewhere() && saves) save_features(*read, key, store);
  raw_features_ = with_categories(plan_.config, infos_[fold], std::move(read));
  features_fold_ = fold;
}

std::shared_ptr<PreparedFold> FoldJobs::features(size_t fold, const LearnerSpec& learner,
                                                 const Context& context) {
  const std::lock_guard lock(data_mutex_);
  read_features(fold, context);
  std::shared_ptr<PreparedFold>& prepared = features_[{learner.standardize, learner.source}];
  if (prepared == nullptr) {
    prepared = prepare_fold(plan_.config, *raw_features_, learner.standardize, learner.source, context);
    // The first task that needs the bins makes them for the others.
    if (runs_elsewhere() && !artifacts_.options().read_only)
      prepared->bins.keep_with(std::make_unique<StoredBins>(artifacts_.store()));
  }
  if (!learner.learner->reads_columns || learner.copies > 0) prepared->make_features(context);
  return prepared;
}

void FoldJobs::drop_features() {
  const std::lock_guard lock(data_mutex_);
  features_fold_.reset();
  raw_features_.reset();
  features_.clear();
}

bool FoldJobs::wide_jobs(size_t documents, size_t features, size_t jobs) const {
  size_t width = features;
  for (const LearnerSpec& learner : plan_.config.learners)
    width = std::max(width, viewed_features(learner.standardize, features));
  const double values = static_cast<double>(documents) * static_cast<double>(width);
  // Beside the shared features a job holds a copy of its bag, its bins and its weights.
  const double job_bytes = values * 5.2 + static_cast<double>(documents) * 100;
  struct sysinfo memory {};
  sysinfo(&memory);
  const double available = static_cast<double>(memory.freeram + memory.bufferram) * memory.mem_unit;
  return values > kWideValues || static_cast<double>(context_.threads()) * job_bytes > 0.5 * available ||
         jobs < static_cast<size_t>(context_.threads());
}

template <typename Job>
void FoldJobs::for_each_job(const std::vector<const Job*>& jobs, bool wide,
                            const std::function<void(const Job&, const Context&)>& body) {
  const auto run_one = [&](const Job& job, int threads) {
    context_.check_stop();
    JobContext context(threads, plan_.job_seed(job), context_);
    context.on_progress = [&](const Progress& progress) { view_.model(job.name, progress); };
    body(job, context);
    view_.job_done(job.name);
  };
  if (wide)
    for (const Job* job : jobs) run_one(*job, context_.threads());
  else
    context_.pool().run(jobs.size(), [&](size_t i) { run_one(*jobs[i], 1); });
}

StageJob FoldJobs::numbered_job(size_t number) const {
  return number < plan_.jobs.size() ? train_stage_job(plan_, plan_.jobs[number])
                                    : calibrate_stage_job(plan_.calibrations[number - plan_.jobs.size()]);
}

void FoldJobs::run(size_t number) {
  const size_t jobs = plan_.jobs.size() + plan_.calibrations.size();
  if (number >= jobs) throw_input("job is {}; the experiment has jobs 0 to {}", number, jobs - 1);
  if (artifacts_.contains(numbered_job(number).artifacts[0])) return;
  if (number < plan_.jobs.size()) {
    const TrainJob& job = plan_.jobs[number];
    train(job, JobContext(context_.threads(), plan_.job_seed(job), context_));
  } else {
    const CalibrateJob& job = plan_.calibrations[number - plan_.jobs.size()];
    calibrate(job, JobContext(context_.threads(), plan_.job_seed(job), context_));
  }
}

void FoldJobs::train(const TrainJob& job, const Context& context) {
  const FoldInfo& info = fold_info(job.fold);
  const std::shared_ptr<PreparedFold> data = features(job.fold, plan_.learner(job), context);
  run_train_job(plan_, job, info, *data, artifacts_.store(), context);
}

void FoldJobs::train(const std::vector<size_t>& numbers) {
  if (artifacts_.options().force)
    for (const size_t number : numbers) artifacts_.remove(numbered_job(number));
  if (runs_elsewhere()) return run_elsewhere(Stage::kTrain, numbers);
  std::map<size_t, std::vector<const TrainJob*>> folds;
  for (const size_t number : numbers) folds[plan_.jobs[number].fold].push_back(&plan_.jobs[number]);
  for (const auto& [fold, jobs] : folds) {
    for (const TrainJob* job : jobs) features(fold, plan_.learner(*job), context_);
    size_t documents = 0;
    for (const auto& [key, prepared] : features_)
      documents = std::max(documents, prepared->bins.data().documents());
    for_each_job<TrainJob>(jobs, wide_jobs(documents, fold_info(fold).features, jobs.size()),
                           [&](const TrainJob& job, const Context& context) { train(job, context); });
  }
  drop_features();
}

TrainResult FoldJobs::scores(const TrainJob& job, const Context& context) {
  const FoldInfo& info = fold_info(job.fold);
  const auto load = [&] {
    return artifacts_.store().load_as(
        kScoresKind, job.key, kScoresVersion, context,
        [&](std::span<const uint8_t> payload) { return load_train_result(payload, plan_, job, info); });
  };
  auto result = load();
  if (!result) {
    train_again(job, context);
    result = load();
    if (!result) throw_run("the scores of {} cannot be read back", job.name);
  }
  return std::move(*result);
}

void FoldJobs::train_again(const TrainJob& job, const Context& context) {
  artifacts_.expect_selected(Stage::kTrain, "the model of " + job.name);
  train(job, JobContext(context.threads(), plan_.job_seed(job), context));
}

LearnerScores FoldJobs::mean_scores(const CalibrateJob& job) {
  return mean_over_bags(plan_, job, fold_info(job.fold),
                        [&](const TrainJob& bag) { return scores(bag, context_); });
}

void FoldJobs::calibrate(const CalibrateJob& job, const Context& context) {
  run_calibrate_job(
      plan_, job, fold_info(job.fold), [&](const TrainJob& bag) { return scores(bag, context); },
      artifacts_.store(), context);
}

void FoldJobs::calibrate(const std::vector<size_t>& numbers) {
  std::vector<const CalibrateJob*> wanted;
  for (const size_t number : numbers) wanted.push_back(&plan_.calibrations[number]);
  if (!runs_elsewhere()) {
    const bool wide = wanted.size() < static_cast<size_t>(context_.threads());
    return for_each_job<CalibrateJob>(
        wanted, wide, [&](const CalibrateJob& job, const Context& context) { calibrate(job, context); });
  }
  std::vector<size_t> jobs;
  for (const size_t number : numbers) {
    for (const TrainJob& bag : plan_.bags_of(plan_.calibrations[number]))
      if (!artifacts_.contains(train_stage_job(plan_, bag).artifacts[0]))
        artifacts_.expect_selected(Stage::kTrain, "the model of " + bag.name);
    jobs.push_back(plan_.jobs.size() + number);
    artifacts_.remove(numbered_job(jobs.back()));
  }
  run_elsewhere(Stage::kCalibrate, jobs);
}

std::vector<CalibratedModel> FoldJobs::member_table(const CalibrateJob& job) {
  const FoldInfo& info = fold_info(job.fold);
  auto table = load_members(plan_, job, info, artifacts_.store(), context_);
  if (!table) {
    artifacts_.expect_selected(Stage::kCalibrate, "the calibration of " + job.name);
    calibrate(job, context_);
    table = load_members(plan_, job, info, artifacts_.store(), context_);
    if (!table) throw_run("the members of {} cannot be read back", job.name);
  }
  return std::move(*table);
}

FoldMembers FoldJobs::members(size_t fold) {
  const std::span<const CalibrateJob> jobs = plan_.calibrations_of(fold);
  const FoldInfo& info = fold_info(fold);
  const ArtifactStore& store = artifacts_.store();
  std::vector<size_t> left_out;  // that choices are made by
  if (plan_.config.choice.by == ChooseBy::kAll)
    left_out = queries_left_out(plan_.config, info.train.queries, fold);
  FoldMembers result;
  result.choosing = info.valid;
  result.choosing.append(info.train.select_queries(left_out));
  result.members.resize(jobs.size());
  result.choosing_scores.resize(jobs.size());
  result.test.resize(jobs.size());
  context_.pool().run(jobs.size(), [&](size_t j) {
    const CalibrateJob& job = jobs[j];
    for (int attempt = 0;; ++attempt) {
      const auto scores_of = [&](const char* kind, size_t count, const SplitInfo& split) {
        return load_member_scores(kind, job, count, split.labels.size(), store, context_);
      };
      auto table = load_members(plan_, job, info, store, context_);
      auto valid = table ? scores_of(kMemberValidKind, table->size(), info.valid) : std::nullopt;
      auto test = valid ? scores_of(kMemberTestKind, table->size(), info.test) : std::nullopt;
      if (test) {
        if (!left_out.empty())
          valid = with_out_of_fold(*valid, mean_scores(job), *table, info.train.queries, left_out, context_);
        result.members[j] = std::move(*table);
        result.choosing_scores[j] = std::move(*valid);
        result.test[j] = std::move(*test);
        return;
      }
      if (attempt > 0) throw_run("the members of {} cannot be read back", job.name);
      artifacts_.expect_selected(Stage::kCalibrate, "the calibration of " + job.name);
      calibrate(job, context_);
    }
  });
  return result;
}

void FoldJobs::run_elsewhere(Stage stage, const std::vector<size_t>& numbers) {
  const ArtifactStore& store = artifacts_.store();
  const RunOptions& options = artifacts_.options();
  const auto is_done = [&](size_t number) { return artifacts_.contains(numbered_job(number).artifacts[0]); };
  WorkOrder order;
  for (const size_t number : numbers) {
    const bool trains = number < plan_.jobs.size();
    const auto [fold, learner] = trains ? std::pair(plan_.jobs[number].fold, plan_.jobs[number].learner)
                                        : std::pair(plan_.calibrations[number - plan_.jobs.size()].fold,
                                                    plan_.calibrations[number - plan_.jobs.size()].learner);
    order.jobs.push_back({number, fold, learner, numbered_job(number).name});
    fold_info(fold);
    if (trains && !is_done(number) && !store.contains(kFeaturesKind, plan_.fold_keys[fold]))
      read_features(fold, context_);
  }
  drop_features();
  const EngineConfig& engine = plan_.config.engine;
  order.directory = options.runs / plan_.config.name;
  order.stage = to_string(stage);
  order.manifest.program = this_program();
  order.manifest.folder = fs::current_path();
  order.manifest.runs = fs::absolute(options.runs);
  order.manifest.config = keep_config(order.directory, plan_.config.resolved);
  order.manifest.files = store.planned_files();
  order.manifest.plan = plan_.id();
  order.manifest.final_model = plan_.is_final();
  order.manifest.threads = engine.type == "slurm" ? engine.slurm.cpus : engine.command.cpus;
  order.is_done = is_done;
  order.on_done = [&](size_t number) { view_.job_done(numbered_job(number).name); };
  // Whoever read our messages may have gone (`| head`, a dropped connection): no reason to lose the tasks.
  std::signal(SIGPIPE, SIG_IGN);
  if (engine.type == "command") {
    run_by_command(order, engine.command, context_);
  } else {
    const AfterSubmit after = options.detach ? AfterSubmit::kLeave : AfterSubmit::kWait;
    if (!run_on_slurm(order, engine.slurm, after, context_)) throw LeftToTasks();
  }
  // Nobody needs the manifests of tasks that went well; those of another config may still run.
  std::error_code ignored;
  if (!has_tasks(order.directory)) fs::remove_all(order.directory / "tasks", ignored);
}

}  // namespace tunemix
