// The part of an experiment that reads features, trains and calibrates, here or on a cluster.
#include <sys/sysinfo.h>

#include <algorithm>
#include <csignal>

#include "pipeline/engine/engine.h"
#include "pipeline/run/experiment.h"
#include "pipeline/stages/calibrate.h"
#include "pipeline/stages/stored_features.h"
#include "pipeline/stages/train.h"
#include "pipeline/store/run_folder.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;

// A job of more (document, feature) values than this is worth all threads; smaller ones run side by side.
constexpr double kWideValues = 2e7;

}  // namespace

// Keeps the features of one fold at a time; jobs of other folds hold on to theirs.
void Experiment::read_features(size_t fold, const Context& context) {
  const std::lock_guard lock(data_mutex_);
  if (features_fold_ == fold) return;
  drop_features();
  const Hash128& key = plan_.fold_keys[fold];
  std::optional<FoldFeatures> stored;
  if (cached(Stage::kData, {kFeaturesKind, key})) stored = load_features(key, *store_, context);
  const bool parsed = !stored;
  if (parsed) stored = read_fold(plan_.config, fold, *store_, context);
  auto read = std::make_shared<FoldFeatures>(std::move(*stored));
  if (!infos_.contains(fold) && cached(Stage::kData, {kFoldKind, key}))
    if (auto info = store_->load_as(kFoldKind, key, kFoldVersion, context, load_fold_info))
      infos_[fold] = std::move(*info);
  if (infos_.contains(fold) && !describes(infos_[fold], *read)) {
    store_->discard(kFoldKind, key,
                    store_->path_of(kFoldKind, key).string() + ": not what the data files hold", context);
    infos_.erase(fold);
  }
  if (!infos_.contains(fold)) {
    infos_[fold] = describe_fold(plan_.config, *read, context);
    fold_grades(plan_.config, infos_[fold].labels);
    if (!options_.read_only) store_->save(kFoldKind, key, kFoldVersion, save_fold_info(infos_[fold]));
  }
  // For tasks on other machines; on this one reading again is as quick as a file of that size.
  if (parsed && runs_elsewhere() && !options_.read_only) save_features(*read, key, *store_);
  raw_features_ = std::move(read);
  features_fold_ = fold;
}

std::shared_ptr<PreparedFold> Experiment::features(size_t fold, const LearnerSpec& learner,
                                                   const Context& context) {
  const std::lock_guard lock(data_mutex_);
  read_features(fold, context);
  std::shared_ptr<PreparedFold>& prepared = features_[{learner.standardize, learner.source}];
  if (prepared == nullptr) {
    prepared = prepare_fold(plan_.config, *raw_features_, learner.standardize, learner.source, context);
    // The first task that needs the bins makes them for the others.
    if (runs_elsewhere() && !options_.read_only)
      prepared->bins.keep_with(std::make_unique<StoredBins>(*store_));
  }
  return prepared;
}

void Experiment::drop_features() {
  const std::lock_guard lock(data_mutex_);
  features_fold_.reset();
  raw_features_.reset();
  features_.clear();
}

bool Experiment::wide_jobs(size_t documents, size_t features, size_t jobs) const {
  const bool appended =
      std::any_of(plan_.config.learners.begin(), plan_.config.learners.end(),
                  [](const LearnerSpec& l) { return l.standardize == Standardize::kAppend; });
  const double width = static_cast<double>(features) * (appended ? 2 : 1);
  const double values = static_cast<double>(documents) * width;
  // Beside the shared features a job holds a copy of its bag, its bins and its weights.
  const double job_bytes = values * 5.2 + static_cast<double>(documents) * 100;
  struct sysinfo memory {};
  sysinfo(&memory);
  const double available = static_cast<double>(memory.freeram + memory.bufferram) * memory.mem_unit;
  return values > kWideValues || static_cast<double>(context_.threads()) * job_bytes > 0.5 * available ||
         jobs < static_cast<size_t>(context_.threads());
}

void Experiment::for_each_job(const std::vector<const TrainJob*>& jobs, bool wide,
                              const std::function<void(const TrainJob&, const Context&)>& body) {
  const auto run_one = [&](const TrainJob& job, int threads) {
    context_.check_stop();
    Context context(threads, plan_.job_seed(job));
    context.stop = context_.stop;
    context.on_log = context_.on_log;
    context.on_progress = [&](const Progress& progress) { view_.model(job.name, progress); };
    body(job, context);
    view_.job_done(job.name);
  };
  if (wide)
    for (const TrainJob* job : jobs) run_one(*job, context_.threads());
  else
    context_.pool().run(jobs.size(), [&](size_t i) { run_one(*jobs[i], 1); });
}

void Experiment::train(const TrainJob& job, const Context& context) {
  const FoldInfo& info = fold_info(job.fold);
  const std::shared_ptr<PreparedFold> data = features(job.fold, plan_.learner(job), context);
  run_train_job(plan_, job, info, *data, *store_, context);
}

bool Experiment::is_done(const TrainJob& job, bool calibrated) const {
  return contains(train_stage_job(plan_, job).artifacts[0]) &&
         (!calibrated || contains(calibrate_stage_job(job).artifacts[0]));
}

void Experiment::run_job(size_t job, bool calibrated) {
  if (plan_.config.learners.empty()) choose_learners();
  if (job >= plan_.jobs.size())
    throw_input("job is {}; the experiment has jobs 0 to {}", job, plan_.jobs.size() - 1);
  const TrainJob& chosen = plan_.jobs[job];
  Context context(context_.threads(), plan_.job_seed(chosen));
  context.stop = context_.stop;
  context.on_log = context_.on_log;
  if (!is_done(chosen, false)) train(chosen, context);
  if (!is_done(chosen, calibrated)) calibrate(chosen, context);
}

void Experiment::run_train() {
  const bool calibrated = runs_elsewhere() && selected(Stage::kCalibrate);
  std::vector<size_t> numbers = missing(Stage::kTrain);
  if (calibrated) {
    std::vector<size_t> either;
    std::ranges::set_union(numbers, missing(Stage::kCalibrate), std::back_inserter(either));
    numbers = std::move(either);
  }
  std::vector<const TrainJob*> wanted;
  for (const size_t number : numbers) wanted.push_back(&plan_.jobs[number]);
  timed(Stage::kTrain, wanted.size(), plan_.jobs.size() - wanted.size(), [&] {
    if (wanted.empty()) return;
    if (options_.force)
      for (const TrainJob* job : wanted) {
        if (calibrated) remove(calibrate_stage_job(*job));
        remove(train_stage_job(plan_, *job));
      }
    if (runs_elsewhere()) {
      run_elsewhere(wanted, calibrated);
      return;
    }
    for (size_t fold = 0; fold < plan_.fold_keys.size(); ++fold) {
      std::vector<const TrainJob*> jobs;
      for (const TrainJob* job : wanted)
        if (job->fold == fold) jobs.push_back(job);
      if (jobs.empty()) continue;
      for (const TrainJob* job : jobs) features(fold, plan_.learner(*job), context_);
      size_t documents = 0;
      for (const auto& [key, prepared] : features_)
        documents = std::max(documents, prepared->bins.data().documents());
      for_each_job(jobs, wide_jobs(documents, fold_info(fold).features, jobs.size()),
                   [&](const TrainJob& job, const Context& context) { train(job, context); });
    }
  });
  drop_features();
}

TrainResult Experiment::scores(const TrainJob& job, const Context& context) {
  const FoldInfo& info = fold_info(job.fold);
  const auto load = [&] {
    return store_->load_as(
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

void Experiment::train_again(const TrainJob& job, const Context& context) {
  expect_selected(Stage::kTrain, "the model of " + job.name);
  Context again(context.threads(), plan_.job_seed(job));
  again.stop = context.stop;
  again.on_log = context.on_log;
  train(job, again);
}

void Experiment::calibrate(const TrainJob& job, const Context& context) {
  run_calibrate_job(plan_, job, fold_info(job.fold), scores(job, context), *store_, context);
}

void Experiment::run_calibrate() {
  // By the tasks that trained, forced or not.
  const bool by_tasks = runs_elsewhere() && selected(Stage::kTrain);
  std::vector<const TrainJob*> wanted;
  for (const size_t number : missing(Stage::kCalibrate))
    if (!by_tasks || !contains(calibrate_stage_job(plan_.jobs[number]).artifacts[0]))
      wanted.push_back(&plan_.jobs[number]);
  timed(Stage::kCalibrate, wanted.size(), plan_.jobs.size() - wanted.size(), [&] {
    if (wanted.empty()) return;
    if (runs_elsewhere() && !by_tasks) {
      for (const TrainJob* job : wanted) {
        if (!is_done(*job, false)) expect_selected(Stage::kTrain, "the model of " + job->name);
        remove(calibrate_stage_job(*job));
      }
      run_elsewhere(wanted, true);
      return;
    }
    const bool wide = wanted.size() < static_cast<size_t>(context_.threads());
    for_each_job(wanted, wide, [&](const TrainJob& job, const Context& context) { calibrate(job, context); });
  });
}

void Experiment::run_elsewhere(const std::vector<const TrainJob*>& jobs, bool calibrated) {
  for (size_t fold = 0; fold < plan_.fold_keys.size(); ++fold) {
    fold_info(fold);
    const bool trains = std::any_of(jobs.begin(), jobs.end(), [&](const TrainJob* job) {
      return job->fold == fold && !is_done(*job, false);
    });
    if (trains && !store_->contains(kFeaturesKind, plan_.fold_keys[fold])) read_features(fold, context_);
  }
  drop_features();
  const EngineConfig& engine = plan_.config.engine;
  WorkOrder order;
  order.directory = directory();
  order.manifest.program = this_program();
  order.manifest.folder = fs::current_path();
  order.manifest.runs = fs::absolute(options_.runs);
  order.manifest.config = keep_config(directory(), plan_.config.resolved);
  order.manifest.files = store_->planned_files();
  order.manifest.plan = plan_.id();
  order.manifest.threads = engine.type == "slurm" ? engine.slurm.cpus : engine.command.cpus;
  order.manifest.calibrate = calibrated;
  for (const TrainJob* job : jobs)
    order.jobs.push_back({static_cast<size_t>(job - plan_.jobs.data()), job->fold, job->learner, job->name});
  order.is_done = [&](size_t job) { return is_done(plan_.jobs[job], calibrated); };
  order.on_done = [&](size_t job) { view_.job_done(plan_.jobs[job].name); };
  // Whoever read our messages may have gone (`| head`, a dropped connection): no reason to lose the tasks.
  std::signal(SIGPIPE, SIG_IGN);
  if (engine.type == "command") {
    run_by_command(order, engine.command, context_);
  } else {
    const AfterSubmit after = options_.detach ? AfterSubmit::kLeave : AfterSubmit::kWait;
    if (!run_on_slurm(order, engine.slurm, after, context_)) throw LeftToTasks();
  }
  // Nobody needs the manifests of tasks that went well; those of another config may still run.
  std::error_code ignored;
  if (!has_tasks(directory())) fs::remove_all(directory() / "tasks", ignored);
}

}  // namespace tunemix
