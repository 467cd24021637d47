#include "pipeline/run/experiment.h"

#include <algorithm>
#include <set>

#include "pipeline/engine/slurm_record.h"
#include "pipeline/report/report.h"
#include "pipeline/run/bundle_writer.h"
#include "pipeline/run/changes.h"
#include "pipeline/stages/data_checks.h"
#include "pipeline/store/json_text.h"
#include "pipeline/store/run_folder.h"
#include "tunemix/core/file_lock.h"
#include "tunemix/core/text.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw_run("{}: cannot create the folder: {}", path.string(), error.message());
}

}  // namespace

Experiment::Experiment(Config config, RunOptions options, const Context& context, ProgressView& view)
    : context_(context),
      view_(view),
      artifacts_(std::move(options), config.name),
      plan_(make_plan(std::move(config), artifacts_.store(), artifacts_.missing_files())),
      jobs_(plan_, artifacts_, context, view),
      directory_(folder_of_config(name_directory(), plan_.evaluation_key.hex())) {
  if (plan_.config.learners.empty() &&
      (artifacts_.options().read_only || !selected(Stage::kData) || data_is_there()))
    choose_learners();
}

bool Experiment::data_is_there() const {
  return std::all_of(plan_.fold_keys.begin(), plan_.fold_keys.end(), [&](const Hash128& key) {
    return artifacts_.contains({kFoldKind, key});
  });
}

// One recipe for all folds: that of the largest.
void Experiment::choose_learners() {
  size_t documents = 0;
  for (size_t fold = 0; fold < plan_.fold_keys.size(); ++fold)
    documents = std::max(documents, fold_info(fold).train.labels.size());
  plan_ = make_plan(with_recipe(plan_.config, documents), store(), artifacts_.missing_files());
  view_.log(LogLevel::kDebug, fmt::format("the recommended recipe for {} training documents", documents));
  directory_ = folder_of_config(name_directory(), plan_.evaluation_key.hex());
}

bool Experiment::run() {
  const RunOptions& options = artifacts_.options();
  require(!options.read_only, "a reader of a run runs it");
  if (options.detach && plan_.config.engine.type != "slurm")
    throw_input(
        "--detach leaves a run to Slurm and engine.type is '{}'; leave others by nohup: nohup tunemix run "
        "... &",
        plan_.config.engine.type);
  const RunLock lock(name_directory());
  if (!lock.works()) context_.warn(no_locks(name_directory()));
  sweep_run_folder(name_directory());
  // What the data refuses is refused before anything of an earlier run is moved.
  if (plan_.config.learners.empty() || selected(Stage::kData)) run_data();
  if (plan_.config.learners.empty()) choose_learners();
  check_data();
  const std::string id = plan_.evaluation_key.hex();
  read_final_artifacts();
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
  // Written before training, so that a cleaner knows what an interrupted run has made.
  write_manifest();
  bring_back_config(directory(), id);
  for (const std::string& warning : warnings()) view_.log(LogLevel::kWarning, warning);
  try {
    if (selected(Stage::kTrain)) run_train();
    if (selected(Stage::kCalibrate)) run_calibrate();
  } catch (const LeftToTasks&) {
    return false;
  }
  if (selected(Stage::kMix)) run_mix();
  if (selected(Stage::kEvaluate)) run_evaluate();
  if (selected(Stage::kReport)) run_report();
  if (options.final_model) run_final();
  return true;
}

// Before anything is trained, so that nobody waits for numbers that mean nothing.
void Experiment::check_data() {
  for (size_t fold = 0; fold < plan_.fold_keys.size(); ++fold) {
    expect_measurable(plan_.config, fold, fold_info(fold));
    expect_known_parts(plan_.config, fold, fold_info(fold));
    feature_names(fold);
    const FeatureNames& names = fold_info(fold).feature_names;
    const FeatureNames& first = fold_info(0).feature_names;
    if (artifacts_.options().final_model && !names.empty() && !first.empty() && names != first)
      throw_input(
          "fold {}: the head of its training data has other names of features than that of fold 1; expected "
          "the same, since one model is trained on all the data",
          fold + 1);
  }
  if (selected(Stage::kTrain))
    for (const size_t number : artifacts_.missing(plan_, Stage::kTrain))
      if (const TrainJob& job = plan_.jobs[number]; plan_.learner(job).learner->external && job.bag == 0)
        expect_given_scores(plan_, job, fold_info(job.fold));
  if (!warnings().empty() && !plan_.config.data.allow_overlap)
    throw_input(
        "{}; results on queries that were trained or chosen on say nothing about new ones: give other files, "
        "or "
        "set data.allow_overlap: true to run all the same",
        join(warnings(), "; "));
}

const std::vector<std::string>& Experiment::warnings() {
  if (warnings_) return *warnings_;
  std::vector<const FoldInfo*> folds;
  for (size_t fold = 0; fold < plan_.fold_keys.size(); ++fold) folds.push_back(&fold_info(fold));
  warnings_ = find_overlap(folds, plan_.config.data.has_test());
  return *warnings_;
}

void Experiment::run_data() {
  const std::vector<size_t> folds = artifacts_.missing(plan_, Stage::kData);
  timed(Stage::kData, folds.size(), plan_.fold_keys.size() - folds.size(), [&] {
    for (const size_t fold : folds) {
      context_.check_stop();
      jobs_.read(fold);
      view_.job_done(fmt::format("fold {}", fold + 1));
    }
  });
}

void Experiment::run_train() {
  const std::vector<size_t> wanted = artifacts_.missing(plan_, Stage::kTrain);
  timed(Stage::kTrain, wanted.size(), plan_.jobs.size() - wanted.size(), [&] {
    if (!wanted.empty()) jobs_.train(wanted);
  });
}

void Experiment::run_calibrate() {
  const std::vector<size_t> wanted = artifacts_.missing(plan_, Stage::kCalibrate);
  timed(Stage::kCalibrate, wanted.size(), plan_.calibrations.size() - wanted.size(), [&] {
    if (!wanted.empty()) jobs_.calibrate(wanted);
  });
}

std::vector<MixRow> Experiment::mix(size_t fold) {
  std::vector<MixRow> rows = mix_fold(plan_, fold_info(fold), jobs_.members(fold), context_);
  store().save(kMixKind, plan_.mix_keys[fold], kMixVersion, save_mix(rows), Compression::kNone);
  return rows;
}

void Experiment::run_mix() {
  const std::vector<size_t> folds = artifacts_.missing(plan_, Stage::kMix);
  timed(Stage::kMix, folds.size(), plan_.mix_keys.size() - folds.size(), [&] {
    for (const size_t fold : folds) {
      context_.check_stop();
      mixes_[fold] = mix(fold);
      view_.job_done(fmt::format("fold {}", fold + 1));
    }
  });
}

const std::vector<MixRow>& Experiment::mix_rows(size_t fold) {
  if (const auto it = mixes_.find(fold); it != mixes_.end()) return it->second;
  const FoldInfo& info = fold_info(fold);
  return mixes_[fold] = artifacts_.load_or(
             Stage::kMix, {kMixKind, plan_.mix_keys[fold]}, kMixVersion,
             fmt::format("the mixture of fold {}", fold + 1), context_,
             [&](std::span<const uint8_t> payload) { return load_mix(payload, plan_, fold, info); },
             [&] { return mix(fold); });
}

EvaluationResult Experiment::evaluation() {
  return artifacts_.load_or(Stage::kEvaluate, {kEvaluationKind, plan_.evaluation_key}, kEvaluationVersion,
                            "the evaluation", context_, load_evaluation, [&] {
                              std::vector<FoldInfo> folds;
                              std::vector<std::vector<MixRow>> rows;
                              for (size_t fold = 0; fold < plan_.mix_keys.size(); ++fold) {
                                folds.push_back(fold_info(fold));
                                rows.push_back(mix_rows(fold));
                              }
                              EvaluationResult result = evaluate(plan_, folds, rows, context_);
                              store().save(kEvaluationKind, plan_.evaluation_key, kEvaluationVersion,
                                           save_evaluation(result));
                              return result;
                            });
}

void Experiment::run_evaluate() {
  const bool there = artifacts_.missing(plan_, Stage::kEvaluate).empty();
  if (!there) artifacts_.remove(stage_jobs(plan_, Stage::kEvaluate)[0]);
  timed(Stage::kEvaluate, there ? 0 : 1, there ? 1 : 0, [&] {
    const EvaluationResult result = evaluation();
    write_bundles(result);
    const Results all = results(result);
    write_file_atomically(directory() / "results.json", json_text(results_json(all)) + "\n");
    write_file_atomically(directory() / "results.md", results_table(all, true));
  });
}

void Experiment::run_report() {
  timed(Stage::kReport, 1, 0, [&] {
    const EvaluationResult result = evaluation();
    write_file_atomically(directory() / "results.json", json_text(results_json(results(result))) + "\n");
    write_file_atomically(directory() / "report.html", render_report(report_data(result)));
  });
}

Results Experiment::results(const EvaluationResult& evaluation) {
  Results result{plan_.config.name, plan_.config.seed, warnings(), evaluation, {}};
  // Timings of stages that an earlier run computed are kept from its results.
  result.timing = read_timing(json_if_there<Json>(directory() / "results.json"));
  for (const StageTiming& timing : timings_) {
    const auto before = std::find_if(result.timing.begin(), result.timing.end(),
                                     [&](const StageTiming& t) { return t.stage == timing.stage; });
    if (before == result.timing.end())
      result.timing.push_back(timing);
    else if (timing.jobs > 0)
      *before = timing;
  }
  return result;
}

// A later run of the same config keeps the final model that an earlier one has made.
void Experiment::read_final_artifacts() {
  const Json manifest = json_if_there<Json>(directory() / "manifest.json");
  if (!manifest.is_object() || !manifest.contains("artifacts") || !manifest["artifacts"].is_array()) return;
  const std::vector<std::string> own = plan_artifacts(plan_, store());
  const std::set<std::string> of_folds(own.begin(), own.end());
  for (const Json& path : manifest["artifacts"])
    if (path.is_string() && !of_folds.contains(path.get<std::string>())) final_artifacts_.push_back(path);
}

void Experiment::write_manifest() {
  Json manifest = {{"name", plan_.config.name}, {"version", TUNEMIX_VERSION}};
  manifest["config"] = plan_.config.values;
  for (const Hash128& key : plan_.fold_keys) manifest["data"].push_back(key.hex());
  manifest["artifacts"] = plan_artifacts(plan_, store());
  for (const std::string& path : final_artifacts_) manifest["artifacts"].push_back(path);
  write_file_atomically(directory() / "manifest.json", json_text(manifest) + "\n");
}

const std::vector<MixRow>& Experiment::rows_of_members(
    size_t fold, const std::vector<std::vector<CalibratedModel>>& tables) {
  const std::vector<MixRow>& rows = mix_rows(fold);
  if (std::all_of(rows.begin(), rows.end(), [&](const MixRow& row) { return fits(row, tables); }))
    return rows;
  const Hash128& key = plan_.mix_keys[fold];
  store().discard(kMixKind, key,
                  store().path_of(kMixKind, key).string() + ": mixes members that do not exist", context_);
  mixes_.erase(fold);
  return mix_rows(fold);
}

void Experiment::write_bundles(const EvaluationResult& evaluation) {
  for (size_t fold = 0; fold < plan_.mix_keys.size(); ++fold) {
    const fs::path file = directory() / fmt::format("bundle-fold{}.tmx", fold + 1);
    const BundleInfo info = fold_bundle_info(plan_, fold, fold_info(fold), feature_names(fold), evaluation);
    if (bundle_is_current(file, info)) continue;
    std::vector<std::vector<CalibratedModel>> tables;
    for (const CalibrateJob& job : plan_.calibrations_of(fold)) tables.push_back(jobs_.member_table(job));
    const std::vector<MixRow>& rows = rows_of_members(fold, tables);
    write_bundle_of(file, info, plan_, jobs_, fold, main_row(rows), tables);
  }
}

void Experiment::write_bundle_of(const fs::path& file, const BundleInfo& info, const Plan& plan,
                                 FoldJobs& jobs, size_t fold, const MixRow& row,
                                 const std::vector<std::vector<CalibratedModel>>& members) {
  for (size_t attempt = 0;; ++attempt) try {
      write_bundle(file, info, plan, fold, row, members, store(), context_);
      return;
    } catch (const MissingModel& missing) {
      if (attempt == plan.jobs.size()) throw;
      context_.warn(fmt::format("{}; it is computed again", missing.what()));
      jobs.train_again(missing.job(), context_);
    }
}

const FinalChoice& Experiment::final_choice() {
  if (final_choice_) return *final_choice_;
  const Hash128 key = choice_key(plan_);
  final_choice_ =
      store().load_as(kChoiceKind, key, kChoiceVersion, context_,
                      [&](std::span<const uint8_t> payload) { return load_choice(payload, plan_); });
  if (final_choice_) return *final_choice_;
  const size_t folds = plan_.fold_keys.size();
  std::vector<const MixRow*> chosen;
  for (size_t fold = 0; fold < folds; ++fold) chosen.push_back(&main_row(mix_rows(fold)));
  const GridPoint best = best_of_folds(chosen);
  std::vector<MixRow> rows;
  std::vector<std::vector<std::vector<CalibratedModel>>> tables;
  for (size_t fold = 0; fold < folds; ++fold) {
    context_.check_stop();
    FoldMembers of_fold = jobs_.members(fold);
    rows.push_back(
        mix_row_at(plan_, fold_info(fold), of_fold, chosen[fold]->name, best.c, best.checkpoint, context_));
    tables.push_back(std::move(of_fold.members));
  }
  final_choice_ = average_mixtures(best, rows, tables);
  store().save(kChoiceKind, key, kChoiceVersion, save_choice(*final_choice_));
  return *final_choice_;
}

const Plan& Experiment::final_plan() {
  if (!final_plan_)
    final_plan_ = plan_final_model(plan_, final_choice(), store(), artifacts_.missing_files());
  return *final_plan_;
}

FoldJobs& Experiment::final_jobs() {
  if (!final_jobs_) final_jobs_ = std::make_unique<FoldJobs>(final_plan(), artifacts_, context_, view_);
  return *final_jobs_;
}

BundleInfo Experiment::final_info() {
  const FoldInfo& all = final_jobs().fold_info(final_plan().first_fold);
  const Hash128 key = Hasher().hash(choice_key(plan_)).hash(final_plan().id()).digest();
  return final_bundle_info(plan_, all, key, fold_feature_names(plan_.config, all), evaluation());
}

void Experiment::run_final() {
  const fs::path file = directory() / "bundle.tmx";
  const Plan& plan = final_plan();
  FoldJobs& jobs = final_jobs();
  const BundleInfo info = final_info();
  const bool current = bundle_is_current(file, info);
  // Written first, so that a cleaner knows what an interrupted run has made.
  final_artifacts_ = plan_artifacts(plan, store());
  final_artifacts_.push_back(
      store().path_of(kChoiceKind, choice_key(plan_)).lexically_relative(store().root()).string());
  write_manifest();
  const auto missing = [&](Stage stage) {
    return current ? std::vector<size_t>() : artifacts_.missing(plan, stage);
  };
  const std::vector<size_t> training = missing(Stage::kTrain);
  const std::vector<size_t> calibrating = missing(Stage::kCalibrate);
  const size_t wanted = training.size() + calibrating.size();
  view_.begin_stage("final", wanted, plan.jobs.size() + plan.calibrations.size() - wanted);
  if (!training.empty()) jobs.train(training);
  if (!calibrating.empty()) jobs.calibrate(calibrating);
  if (!current) {
    std::vector<std::vector<CalibratedModel>> tables;
    for (const CalibrateJob& job : plan.calibrations) tables.push_back(jobs.member_table(job));
    write_bundle_of(file, info, plan, jobs, plan.first_fold, final_row(plan_, plan, final_choice(), tables),
                    tables);
  }
  view_.end_stage();
}

std::vector<StageStatus> Experiment::status() {
  std::vector<StageStatus> result(kStages);
  for (size_t s = 0; s < kStages; ++s) result[s].stage = static_cast<Stage>(s);
  const auto count = [](StageStatus& status, bool there, const std::string& name) {
    ++(there ? status.cached : status.missing);
    if (!there) status.missing_jobs.push_back(name);
  };
  for (StageStatus& status : result)
    for (const StageJob& job : stage_jobs(plan_, status.stage))
      count(status, artifacts_.contains(job.artifacts[0]), job.name);
  const bool evaluated = result[static_cast<size_t>(Stage::kEvaluate)].missing == 0;
  count(result[static_cast<size_t>(Stage::kReport)], evaluated && fs::exists(directory() / "report.html"),
        "report");
  explain_missing(result, plan_, name_directory() / "manifest.json");
  result[static_cast<size_t>(Stage::kTrain)].tasks = describe_slurm_tasks(name_directory());
  return result;
}

}  // namespace tunemix
