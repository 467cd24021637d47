#include "pipeline/run/experiment.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <fstream>

#include "pipeline/report/report.h"
#include "pipeline/run/bundle_writer.h"
#include "pipeline/run/changes.h"
#include "pipeline/stages/data_checks.h"
#include "pipeline/store/json_text.h"
#include "pipeline/store/run_folder.h"
#include "tunemix/core/text.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const std::vector<std::string>& stage_names() {
  static const std::vector<std::string> names = {"data", "train", "calibrate", "mix", "evaluate", "report"};
  return names;
}

// A job of more (document, feature) values than this is worth all threads; smaller ones run side by side.
constexpr double kWideValues = 2e7;

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw_run("{}: cannot create the folder: {}", path.string(), error.message());
}

}  // namespace

std::string_view to_string(Stage stage) { return stage_names()[static_cast<size_t>(stage)]; }

Stage parse_stage(std::string_view name) {
  const auto& names = stage_names();
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end())
    throw_input("stage is '{}'; expected one of: {}{}", name, join(names, ", "), did_you_mean(name, names));
  return static_cast<Stage>(it - names.begin());
}

Experiment::Experiment(Config config, RunOptions options, const Context& context, ProgressView& view)
    : options_(std::move(options)),
      context_(context),
      view_(view),
      store_(std::make_unique<ArtifactStore>(options_.runs / ".store",
                                             options_.read_only ? StoreUse::kRead : StoreUse::kWrite)),
      plan_(make_plan(std::move(config), *store_, missing_files())),
      directory_(folder_of_config(name_directory(), plan_.evaluation_key.hex())) {
  if (plan_.config.learners.empty() && (options_.read_only || !selected(Stage::kData) || data_is_there()))
    choose_learners();
}

bool Experiment::data_is_there() const {
  return std::all_of(plan_.fold_keys.begin(), plan_.fold_keys.end(),
                     [&](const Hash128& key) { return store_->contains(kFoldKind, key); });
}

// One recipe for all folds: that of the largest.
void Experiment::choose_learners() {
  size_t documents = 0;
  for (size_t fold = 0; fold < plan_.fold_keys.size(); ++fold)
    documents = std::max(documents, fold_info(fold).train.labels.size());
  plan_ = make_plan(with_recipe(plan_.config, documents), *store_, missing_files());
  view_.log(LogLevel::kDebug, fmt::format("the recommended recipe for {} training documents", documents));
  directory_ = folder_of_config(name_directory(), plan_.evaluation_key.hex());
}

MissingFiles Experiment::missing_files() const {
  return selected(Stage::kData) || selected(Stage::kTrain) ? MissingFiles::kRefuse : MissingFiles::kRemember;
}

bool Experiment::selected(Stage stage) const {
  if (options_.only) return stage == *options_.only;
  return !options_.from || stage >= *options_.from;
}

bool Experiment::cached(const char* kind, const Hash128& key, Stage stage) const {
  const bool again = options_.force && (options_.only || options_.from) && selected(stage);
  return !again && store_->contains(kind, key);
}

void Experiment::expect_selected(Stage stage, const std::string& what) const {
  if (selected(stage)) return;
  if (options_.read_only)
    throw_input(
        "'{}' has not been run to its end with this config: {} is not in {}; run it first with 'tunemix run'",
        plan_.config.name, what, store_->root().string());
  throw_input("{} is not in the store and '{}' leaves the stage '{}' out; run without it first", what,
              options_.only ? "--only" : "--from", to_string(stage));
}

template <typename Body>
void Experiment::timed(Stage stage, size_t jobs, size_t cached, Body body) {
  context_.check_stop();
  Timer timer;
  view_.begin_stage(std::string(to_string(stage)), jobs, cached);
  body();
  view_.end_stage();
  timings_.push_back({stage, timer.seconds(), jobs, cached});
}

void Experiment::run() {
  require(!options_.read_only, "a reader of a run runs it");
  const RunLock lock(name_directory());
  const bool recipe_from_data = plan_.config.learners.empty();
  if (recipe_from_data) {
    run_data();
    choose_learners();
  }
  const std::string id = plan_.evaluation_key.hex();
  const std::optional<fs::path> aside = set_aside_other_config(name_directory(), id);
  directory_ = name_directory();
  make_folder(directory() / "logs");
  view_.open_log((directory() / "logs" / "run.log").string());
  if (aside)
    context_.log(LogLevel::kInfo,
                 fmt::format("{} held the results of another config or of other data; they are kept in {}",
                             directory().string(), aside->string()));
  view_.log(LogLevel::kDebug, "run of " + plan_.config.name);
  write_file_atomically(directory() / "config.resolved.yaml", plan_.config.resolved);
  // Written first, so that a cleaner knows what an interrupted run has made.
  write_manifest();
  bring_back_config(directory(), id);
  if (selected(Stage::kData) && !recipe_from_data) run_data();
  check_data();
  if (selected(Stage::kTrain)) run_train();
  if (selected(Stage::kCalibrate)) run_calibrate();
  if (selected(Stage::kMix)) run_mix();
  if (selected(Stage::kEvaluate)) run_evaluate();
  if (selected(Stage::kReport)) run_report();
}

// Before anything is trained, so that nobody waits for numbers that mean nothing.
void Experiment::check_data() {
  if (!data_is_there() && !selected(Stage::kData)) return;
  for (size_t fold = 0; fold < plan_.fold_keys.size(); ++fold)
    expect_measurable(plan_.config, fold, fold_info(fold));
  if (warnings().empty()) return;
  if (!plan_.config.data.allow_overlap)
    throw_input(
        "{}; results on queries that were trained or chosen on say nothing about new ones: give other files, "
        "or "
        "set data.allow_overlap: true to run all the same",
        join(warnings(), "; "));
  for (const std::string& warning : warnings()) view_.log(LogLevel::kWarning, warning);
}

const std::vector<std::string>& Experiment::warnings() {
  if (warnings_) return *warnings_;
  std::vector<const FoldInfo*> folds;
  for (size_t fold = 0; fold < plan_.fold_keys.size(); ++fold) folds.push_back(&fold_info(fold));
  warnings_ = find_overlap(folds);
  return *warnings_;
}

void Experiment::run_data() {
  std::vector<size_t> missing;
  for (size_t fold = 0; fold < plan_.fold_keys.size(); ++fold)
    if (!cached(kFoldKind, plan_.fold_keys[fold], Stage::kData)) missing.push_back(fold);
  timed(Stage::kData, missing.size(), plan_.fold_keys.size() - missing.size(), [&] {
    for (const size_t fold : missing) {
      context_.check_stop();
      read_features(fold, context_);
      view_.job_done(fmt::format("fold {}", fold + 1));
    }
  });
}

const FoldInfo& Experiment::fold_info(size_t fold) {
  const std::lock_guard lock(data_mutex_);
  if (const auto it = infos_.find(fold); it != infos_.end()) return it->second;
  if (auto info = store_->load_as(kFoldKind, plan_.fold_keys[fold], kFoldVersion, context_, load_fold_info))
    return infos_[fold] = std::move(*info);
  expect_selected(Stage::kData, fmt::format("the data of fold {}", fold + 1));
  read_features(fold, context_);
  return infos_.at(fold);
}

// Keeps the features of one fold at a time; jobs of other folds hold on to theirs.
void Experiment::read_features(size_t fold, const Context& context) {
  const std::lock_guard lock(data_mutex_);
  if (features_fold_ == fold) return;
  drop_features();
  auto read = std::make_shared<FoldFeatures>(read_fold(plan_.config, fold, *store_, context));
  const Hash128& key = plan_.fold_keys[fold];
  if (!infos_.contains(fold) && cached(kFoldKind, key, Stage::kData))
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
  raw_features_ = std::move(read);
  features_fold_ = fold;
}

std::shared_ptr<PreparedFold> Experiment::features(size_t fold, Standardize mode, const Context& context) {
  const std::lock_guard lock(data_mutex_);
  read_features(fold, context);
  std::shared_ptr<PreparedFold>& prepared = features_[mode];
  if (prepared == nullptr)
    prepared = std::make_shared<PreparedFold>(standardize_fold(*raw_features_, mode, context));
  return prepared;
}

void Experiment::drop_features() {
  const std::lock_guard lock(data_mutex_);
  features_fold_.reset();
  raw_features_.reset();
  features_.clear();
}

bool Experiment::wide_jobs(size_t fold, size_t jobs) {
  const FoldInfo& info = fold_info(fold);
  const bool appended =
      std::any_of(plan_.config.learners.begin(), plan_.config.learners.end(),
                  [](const LearnerSpec& l) { return l.standardize == Standardize::kAppend; });
  const double width = static_cast<double>(info.features) * (appended ? 2 : 1);
  const double values = static_cast<double>(info.train.labels.size()) * width;
  // Beside the shared features a job holds a copy of its bag, its bins and its weights.
  const double job_bytes = values * 5.2 + static_cast<double>(info.train.labels.size()) * 100;
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
  const std::shared_ptr<PreparedFold> data = features(job.fold, plan_.learner(job).standardize, context);
  run_train_job(plan_, job, info, *data, *store_, context);
}

void Experiment::run_job(size_t job) {
  if (plan_.config.learners.empty()) choose_learners();
  if (job >= plan_.jobs.size())
    throw_input("job is {}; the experiment has jobs 0 to {}", job, plan_.jobs.size() - 1);
  const TrainJob& chosen = plan_.jobs[job];
  if (store_->contains(kScoresKind, chosen.key)) return;
  Context context(context_.threads(), plan_.job_seed(chosen));
  context.stop = context_.stop;
  context.on_log = context_.on_log;
  train(chosen, context);
}

void Experiment::run_train() {
  std::vector<const TrainJob*> missing;
  for (const TrainJob& job : plan_.jobs)
    if (!cached(kScoresKind, job.key, Stage::kTrain)) missing.push_back(&job);
  timed(Stage::kTrain, missing.size(), plan_.jobs.size() - missing.size(), [&] {
    if (missing.empty()) return;
    if (options_.force)
      for (const TrainJob* job : missing) forget(*job);
    if (plan_.config.engine.type == "slurm") {
      JobManifest manifest{directory() / "config.resolved.yaml", options_.runs, directory(), {}};
      for (const TrainJob* job : missing)
        manifest.jobs.push_back(static_cast<size_t>(job - plan_.jobs.data()));
      for (size_t fold = 0; fold < plan_.fold_keys.size(); ++fold) fold_info(fold);
      run_on_slurm(
          manifest, plan_.config.engine.slurm,
          [&](size_t job) { return store_->contains(kScoresKind, plan_.jobs[job].key); },
          [&](size_t job) { view_.job_done(plan_.jobs[job].name); }, context_);
      return;
    }
    for (size_t fold = 0; fold < plan_.fold_keys.size(); ++fold) {
      std::vector<const TrainJob*> jobs;
      for (const TrainJob* job : missing)
        if (job->fold == fold) jobs.push_back(job);
      if (jobs.empty()) continue;
      for (const TrainJob* job : jobs) features(fold, plan_.learner(*job).standardize, context_);
      for_each_job(jobs, wide_jobs(fold, jobs.size()),
                   [&](const TrainJob& job, const Context& context) { train(job, context); });
    }
  });
  drop_features();
}

// Its scores, and the model and training state that they would be made from again.
void Experiment::forget(const TrainJob& job) {
  std::error_code ignored;
  fs::remove(store_->path_of(kScoresKind, job.key), ignored);
  fs::remove(store_->path_of(kModelKind, job.key), ignored);
  fs::remove(store_->path_of(kTrainingKind, job.training_key), ignored);
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
  std::vector<const TrainJob*> missing;
  for (const TrainJob& job : plan_.jobs)
    if (!cached(kMembersKind, job.calibrate_key, Stage::kCalibrate)) missing.push_back(&job);
  timed(Stage::kCalibrate, missing.size(), plan_.jobs.size() - missing.size(), [&] {
    if (missing.empty()) return;
    const bool wide = missing.size() < static_cast<size_t>(context_.threads());
    for_each_job(missing, wide,
                 [&](const TrainJob& job, const Context& context) { calibrate(job, context); });
  });
}

FoldMembers Experiment::members(size_t fold) {
  const std::vector<const TrainJob*> jobs = plan_.jobs_of(fold);
  const FoldInfo& info = fold_info(fold);
  FoldMembers result;
  result.members.resize(jobs.size());
  result.valid.resize(jobs.size());
  result.test.resize(jobs.size());
  context_.pool().run(jobs.size(), [&](size_t j) {
    const TrainJob& job = *jobs[j];
    for (int attempt = 0;; ++attempt) {
      const auto scores_of = [&](const char* kind, size_t count, const SplitInfo& split) {
        return load_member_scores(kind, job, count, split.labels.size(), *store_, context_);
      };
      auto table = load_members(plan_, job, info, *store_, context_);
      auto valid = table ? scores_of(kMemberValidKind, table->size(), info.valid) : std::nullopt;
      auto test = valid ? scores_of(kMemberTestKind, table->size(), info.test) : std::nullopt;
      if (test) {
        result.members[j] = std::move(*table);
        result.valid[j] = std::move(*valid);
        result.test[j] = std::move(*test);
        return;
      }
      if (attempt > 0) throw_run("the members of {} cannot be read back", job.name);
      expect_selected(Stage::kCalibrate, "the calibration of " + job.name);
      calibrate(job, context_);
    }
  });
  return result;
}

void Experiment::run_mix() {
  std::vector<size_t> missing;
  for (size_t fold = 0; fold < plan_.mix_keys.size(); ++fold)
    if (!cached(kMixKind, plan_.mix_keys[fold], Stage::kMix)) missing.push_back(fold);
  timed(Stage::kMix, missing.size(), plan_.mix_keys.size() - missing.size(), [&] {
    for (const size_t fold : missing) {
      context_.check_stop();
      std::vector<MixRow> rows = mix_fold(plan_, fold, fold_info(fold), members(fold), context_);
      store_->save(kMixKind, plan_.mix_keys[fold], kMixVersion, save_mix(rows), Compression::kNone);
      mixes_[fold] = std::move(rows);
      view_.job_done(fmt::format("fold {}", fold + 1));
    }
  });
}

const std::vector<MixRow>& Experiment::mix_rows(size_t fold) {
  if (const auto it = mixes_.find(fold); it != mixes_.end()) return it->second;
  const FoldInfo& info = fold_info(fold);
  if (auto rows = store_->load_as(
          kMixKind, plan_.mix_keys[fold], kMixVersion, context_,
          [&](std::span<const uint8_t> payload) { return load_mix(payload, plan_, fold, info); }))
    return mixes_[fold] = std::move(*rows);
  expect_selected(Stage::kMix, fmt::format("the mixture of fold {}", fold + 1));
  std::vector<MixRow> rows = mix_fold(plan_, fold, fold_info(fold), members(fold), context_);
  store_->save(kMixKind, plan_.mix_keys[fold], kMixVersion, save_mix(rows), Compression::kNone);
  return mixes_[fold] = std::move(rows);
}

EvaluationResult Experiment::evaluation() {
  if (auto result = store_->load_as(kEvaluationKind, plan_.evaluation_key, kEvaluationVersion, context_,
                                    load_evaluation))
    return std::move(*result);
  expect_selected(Stage::kEvaluate, "the evaluation");
  std::vector<FoldInfo> folds;
  std::vector<std::vector<MixRow>> rows;
  for (size_t fold = 0; fold < plan_.mix_keys.size(); ++fold) {
    folds.push_back(fold_info(fold));
    rows.push_back(mix_rows(fold));
  }
  EvaluationResult result = evaluate(plan_, folds, rows, context_);
  store_->save(kEvaluationKind, plan_.evaluation_key, kEvaluationVersion, save_evaluation(result));
  return result;
}

void Experiment::run_evaluate() {
  const bool there = cached(kEvaluationKind, plan_.evaluation_key, Stage::kEvaluate);
  if (!there) {
    std::error_code ignored;
    fs::remove(store_->path_of(kEvaluationKind, plan_.evaluation_key), ignored);
  }
  timed(Stage::kEvaluate, there ? 0 : 1, there ? 1 : 0, [&] {
    const EvaluationResult result = evaluation();
    write_bundles();
    const Json summary = results(result);
    write_file_atomically(directory() / "results.json", json_text(summary) + "\n");
    write_file_atomically(directory() / "results.md", results_table(summary, true));
  });
}

void Experiment::run_report() {
  timed(Stage::kReport, 1, 0, [&] {
    const EvaluationResult result = evaluation();
    const Json summary = results(result);
    write_file_atomically(directory() / "results.json", json_text(summary) + "\n");
    write_file_atomically(directory() / "report.html", render_report(report_data(result)));
  });
}

Json Experiment::results(const EvaluationResult& evaluation) {
  Json result = {{"name", plan_.config.name}, {"seed", plan_.config.seed}};
  if (!warnings().empty()) result["warnings"] = warnings();
  for (const auto& [key, value] : evaluation.summary.items()) result[key] = value;
  // Timings of stages that an earlier run computed are kept from its results.
  Json timing = Json::object();
  std::ifstream in(directory() / "results.json");
  const Json before = Json::parse(in, nullptr, false);
  const auto is_timing = [](const Json& entry) {
    return entry.is_object() && entry.contains("seconds") && entry["seconds"].is_number();
  };
  if (before.is_object() && before.contains("timing") && before["timing"].is_object())
    for (const auto& [stage, entry] : before["timing"].items())
      if (is_timing(entry)) timing[stage] = entry;
  for (const StageTiming& t : timings_) {
    const std::string name(to_string(t.stage));
    if (t.jobs == 0 && timing.contains(name)) continue;
    timing[name] = {{"seconds", t.seconds}, {"jobs", t.jobs}, {"cached", t.cached}};
  }
  result["timing"] = timing;
  return result;
}

void Experiment::write_manifest() const {
  Json manifest = {{"name", plan_.config.name}, {"version", TUNEMIX_VERSION}};
  manifest["config"] = plan_.config.values;
  for (const Hash128& key : plan_.fold_keys) manifest["data"].push_back(key.hex());
  manifest["artifacts"] = plan_artifacts(plan_, *store_);
  write_file_atomically(directory() / "manifest.json", json_text(manifest) + "\n");
}

std::vector<CalibratedModel> Experiment::member_table(const TrainJob& job) {
  const FoldInfo& info = fold_info(job.fold);
  auto table = load_members(plan_, job, info, *store_, context_);
  if (!table) {
    expect_selected(Stage::kCalibrate, "the calibration of " + job.name);
    calibrate(job, context_);
    table = load_members(plan_, job, info, *store_, context_);
    if (!table) throw_run("the members of {} cannot be read back", job.name);
  }
  return std::move(*table);
}

const std::vector<MixRow>& Experiment::rows_of_members(
    size_t fold, const std::vector<std::vector<CalibratedModel>>& tables) {
  const std::vector<MixRow>& rows = mix_rows(fold);
  if (std::all_of(rows.begin(), rows.end(), [&](const MixRow& row) { return fits(row, tables); }))
    return rows;
  const Hash128& key = plan_.mix_keys[fold];
  store_->discard(kMixKind, key,
                  store_->path_of(kMixKind, key).string() + ": mixes members that there are not", context_);
  mixes_.erase(fold);
  return mix_rows(fold);
}

void Experiment::write_bundles() {
  for (size_t fold = 0; fold < plan_.mix_keys.size(); ++fold) {
    const fs::path file = directory() / fmt::format("bundle-fold{}.tmx", fold + 1);
    if (bundle_is_current(file, plan_.mix_keys[fold])) continue;
    std::vector<std::vector<CalibratedModel>> tables;
    for (const TrainJob* job : plan_.jobs_of(fold)) tables.push_back(member_table(*job));
    const std::vector<MixRow>& rows = rows_of_members(fold, tables);
    for (size_t attempt = 0;; ++attempt) try {
        write_bundle(file, plan_, fold, fold_info(fold), main_row(rows), tables, *store_, context_);
        break;
      } catch (const MissingModel& missing) {
        if (attempt == tables.size()) throw;
        context_.warn(fmt::format("{}; it is computed again", missing.what()));
        train_again(missing.job(), context_);
      }
  }
}

std::vector<StageStatus> Experiment::status() {
  std::vector<StageStatus> result(kStages);
  for (size_t s = 0; s < kStages; ++s) result[s].stage = static_cast<Stage>(s);
  const auto count = [&](Stage stage, bool there, const std::string& name) {
    StageStatus& status = result[static_cast<size_t>(stage)];
    if (there) {
      ++status.cached;
      return;
    }
    ++status.missing;
    status.missing_jobs.push_back(name);
  };
  for (size_t fold = 0; fold < plan_.fold_keys.size(); ++fold)
    count(Stage::kData, store_->contains(kFoldKind, plan_.fold_keys[fold]), fmt::format("fold {}", fold + 1));
  for (const TrainJob& job : plan_.jobs) {
    count(Stage::kTrain, store_->contains(kScoresKind, job.key), job.name);
    count(Stage::kCalibrate, store_->contains(kMembersKind, job.calibrate_key), job.name);
  }
  for (size_t fold = 0; fold < plan_.mix_keys.size(); ++fold)
    count(Stage::kMix, store_->contains(kMixKind, plan_.mix_keys[fold]), fmt::format("fold {}", fold + 1));
  const bool evaluated = store_->contains(kEvaluationKind, plan_.evaluation_key);
  count(Stage::kEvaluate, evaluated, "evaluation");
  count(Stage::kReport, evaluated && fs::exists(directory() / "report.html"), "report");
  explain_missing(result, plan_, name_directory() / "manifest.json");
  return result;
}

}  // namespace tunemix
