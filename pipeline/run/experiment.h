// Runs an experiment: takes from the store what is there, computes what is not, writes the run directory.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/engine/engine.h"
#include "pipeline/run/progress.h"
#include "pipeline/stages/evaluate.h"
#include "pipeline/stages/final_model.h"
#include "pipeline/stages/fold_data.h"
#include "pipeline/stages/mix.h"
#include "pipeline/stages/plan.h"
#include "pipeline/store/store.h"

namespace tunemix {

struct RunOptions {
  std::filesystem::path runs = "runs";
  std::optional<Stage> only;     // this stage alone; what it needs must be in the store
  std::optional<Stage> from;     // this stage and those after it
  Stage until = Stage::kReport;  // the last stage that runs
  bool force = false;            // with only or from: compute again what is in the store
  bool final_model = false;      // then train on all the data and write bundle.tmx
  bool read_only = false;        // for commands that only look: nothing under `runs` is written or locked
  bool detach = false;           // leave when the training tasks are submitted
  // Of a task: the files that its run was planned with.
  std::optional<std::map<std::string, Hash128>> planned_files;
};

// What is there of one stage, and what changed since the last run where something is missing.
struct StageStatus {
  Stage stage = Stage::kData;
  size_t cached = 0;
  size_t missing = 0;
  std::vector<std::string> reasons;
  std::vector<std::string> missing_jobs;
  std::string tasks;  // that a scheduler has of it
};

struct StageTiming {
  Stage stage = Stage::kData;
  double seconds = 0;
  size_t jobs = 0;
  size_t cached = 0;
};

class Experiment {
 public:
  Experiment(Config config, RunOptions options, const Context& context, ProgressView& view);

  // Returns whether the run has ended: false where it was left to its tasks.
  bool run();
  std::vector<StageStatus> status();

  const Plan& plan() const { return plan_; }
  ArtifactStore& store() { return *store_; }
  // Of the files of this config: that of its name while it is the last that ran.
  const std::filesystem::path& directory() const { return directory_; }

  // What the stages made, from the store or computed as the options allow.
  const FoldInfo& fold_info(size_t fold);
  FeatureNames feature_names(size_t fold) { return fold_feature_names(plan_.config, fold_info(fold)); }
  const std::vector<MixRow>& mix_rows(size_t fold);
  EvaluationResult evaluation();
  // results.json of this run: the evaluation, timings, and what the run was.
  nlohmann::ordered_json results(const EvaluationResult& evaluation);
  // What a reader of the results must know of the data: splits that share queries.
  const std::vector<std::string>& warnings();
  // Everything that the report shows.
  nlohmann::ordered_json report_data(const EvaluationResult& evaluation);

  // Of the final model: what bundle.tmx says of itself.
  BundleInfo final_info();

  // Runs one training job by number, unless its results are there; and its calibration where wanted.
  void run_job(size_t job, bool calibrated);

 private:
  bool selected(Stage stage) const;
  // Whether an artifact of a stage need not be computed; and the jobs of a stage of which one must.
  bool cached(Stage stage, const ArtifactId& id) const;
  std::vector<size_t> missing(Stage stage) const;
  bool contains(const ArtifactId& id) const { return store_->contains(id.kind, id.key); }
  void remove(const StageJob& job) const;
  // What `parse` makes of an artifact, or else `compute`, which also saves it, where the stage may run.
  template <typename Parse, typename Compute>
  auto load_or(Stage stage, const ArtifactId& id, uint32_t version, const std::string& what,
               const Context& context, Parse parse, Compute compute) {
    if (auto found = store_->load_as(id.kind, id.key, version, context, parse)) return std::move(*found);
    expect_selected(stage, what);
    return compute();
  }
  void expect_selected(Stage stage, const std::string& what) const;

  MissingFiles missing_files() const;
  bool data_is_there() const;
  // Completes a config without learners by the recommended recipe, which depends on the size of the data.
  void choose_learners();
  void check_data();
  void run_data();
  void run_train();
  void run_calibrate();
  void run_mix();
  void run_evaluate();
  void run_report();
  void run_final();
  const FinalChoice& final_choice();
  AllDataInfo all_data();
  template <typename Body>
  void timed(Stage stage, size_t jobs, size_t cached, Body body);

  std::shared_ptr<PreparedFold> features(size_t fold, const LearnerSpec& learner, const Context& context);
  void read_features(size_t fold, const Context& context);
  void drop_features();
  // On the config's engine, if that is not this machine. Throws LeftToTasks where nobody is to wait for them.
  struct LeftToTasks {};
  bool runs_elsewhere() const { return plan_.config.engine.type != "local"; }
  void run_elsewhere(const std::vector<const TrainJob*>& jobs, bool calibrated);
  bool is_done(const TrainJob& job, bool calibrated) const;
  std::vector<MixRow> mix(size_t fold);
  void train(const TrainJob& job, const Context& context);
  void train_again(const TrainJob& job, const Context& context);
  TrainResult scores(const TrainJob& job, const Context& context);
  void calibrate(const TrainJob& job, const Context& context);
  std::vector<CalibratedModel> member_table(const TrainJob& job);
  FoldMembers members(size_t fold);
  // The mixtures of a fold, made again where they do not fit the members.
  const std::vector<MixRow>& rows_of_members(size_t fold,
                                             const std::vector<std::vector<CalibratedModel>>& tables);
  // Calls body(job, context) for every job: side by side on one thread each, or one after the other on all
  // threads.
  void for_each_job(const std::vector<const TrainJob*>& jobs, bool wide,
                    const std::function<void(const TrainJob&, const Context&)>& body);
  bool wide_jobs(size_t documents, size_t features, size_t jobs) const;
  nlohmann::ordered_json reliability_data(size_t fold);
  // importance.json of the run's folder, if it is of one of its ensembles; else null.
  nlohmann::ordered_json read_importance();
  std::filesystem::path name_directory() const { return options_.runs / plan_.config.name; }
  void read_final_artifacts();
  void write_manifest() const;
  void write_bundles(const EvaluationResult& evaluation);

  RunOptions options_;
  const Context& context_;
  ProgressView& view_;
  std::unique_ptr<ArtifactStore> store_;
  Plan plan_;
  std::filesystem::path directory_;
  std::recursive_mutex data_mutex_;
  std::map<size_t, FoldInfo> infos_;
  std::map<size_t, std::vector<MixRow>> mixes_;
  std::optional<size_t> features_fold_;
  std::shared_ptr<const FoldFeatures> raw_features_;
  // Shared with the jobs that train on them.
  std::map<std::pair<Standardize, SourceUse>, std::shared_ptr<PreparedFold>> features_;
  std::vector<StageTiming> timings_;
  std::optional<FinalChoice> final_choice_;
  std::vector<std::string> final_artifacts_;  // of the final model, as the manifest names them
  std::optional<std::vector<std::string>> warnings_;
};

template <typename Body>
void Experiment::timed(Stage stage, size_t jobs, size_t cached, Body body) {
  context_.check_stop();
  Timer timer;
  view_.begin_stage(std::string(to_string(stage)), jobs, cached);
  body();
  view_.end_stage();
  timings_.push_back({stage, timer.seconds(), jobs, cached});
}

}  // namespace tunemix
