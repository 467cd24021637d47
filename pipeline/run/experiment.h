// Runs the stages of an experiment in their order and writes the run directory.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/report/data.h"
#include "pipeline/run/artifacts.h"
#include "pipeline/run/jobs.h"
#include "pipeline/run/progress.h"
#include "pipeline/stages/evaluate.h"
#include "pipeline/stages/final_model.h"
#include "tunemix/export/bundle.h"

namespace tunemix {

// What is there of one stage, and what changed since the last run where something is missing.
struct StageStatus {
  Stage stage = Stage::kData;
  size_t cached = 0;
  size_t missing = 0;
  std::vector<std::string> reasons;
  std::vector<std::string> missing_jobs;
  std::string tasks;  // that a scheduler has of it
};

class Experiment {
 public:
  Experiment(Config config, RunOptions options, const Context& context, ProgressView& view);

  // Returns whether the run has ended: false where it was left to its tasks.
  bool run();
  std::vector<StageStatus> status();

  const Plan& plan() const { return plan_; }
  FoldJobs& jobs() { return jobs_; }
  ArtifactStore& store() { return artifacts_.store(); }
  // Of the files of this config: that of its name while it is the last that ran.
  const std::filesystem::path& directory() const { return directory_; }

  // What the stages made, from the store or computed as the options allow.
  const FoldInfo& fold_info(size_t fold) { return jobs_.fold_info(fold); }
  FeatureNames feature_names(size_t fold) { return fold_feature_names(plan_.config, fold_info(fold)); }
  const std::vector<MixRow>& mix_rows(size_t fold);
  EvaluationResult evaluation();
  // results.json of this run: the evaluation, timings, and what the run was.
  Results results(const EvaluationResult& evaluation);
  // What a reader of the results must know of the data: splits that share queries.
  const std::vector<std::string>& warnings();
  // Everything that the report shows.
  ReportData report_data(const EvaluationResult& evaluation);

  // Of the final model: its plan, once the folds are mixed, its jobs, and what bundle.tmx says of itself.
  const Plan& final_plan();
  FoldJobs& final_jobs();
  BundleInfo final_info();

 private:
  bool selected(Stage stage) const { return artifacts_.selected(stage); }
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
  template <typename Body>
  void timed(Stage stage, size_t jobs, size_t cached, Body body);

  std::vector<MixRow> mix(size_t fold);
  // The mixtures of a fold, made again where they do not fit the members.
  const std::vector<MixRow>& rows_of_members(size_t fold,
                                             const std::vector<std::vector<CalibratedModel>>& tables);
  void add_reliability(std::vector<ReliabilityCurve>& out, size_t fold);
  void add_feature_use(ReportData& data);
  // importance.json of the run's folder, if it is of one of its ensembles.
  std::optional<FeatureLosses> read_importance();
  std::filesystem::path name_directory() const { return artifacts_.options().runs / plan_.config.name; }
  void read_final_artifacts();
  void write_manifest();
  void write_bundles(const EvaluationResult& evaluation);
  // The bundle of a fold of the jobs' plan; models that are missing are trained again.
  void write_bundle_of(const std::filesystem::path& file, const BundleInfo& info, const Plan& plan,
                       FoldJobs& jobs, size_t fold, const MixRow& row,
                       const std::vector<std::vector<CalibratedModel>>& members);

  const Context& context_;
  ProgressView& view_;
  Artifacts artifacts_;
  Plan plan_;
  FoldJobs jobs_;
  std::filesystem::path directory_;
  std::map<size_t, std::vector<MixRow>> mixes_;
  std::vector<StageTiming> timings_;
  std::optional<FinalChoice> final_choice_;
  std::optional<Plan> final_plan_;
  std::unique_ptr<FoldJobs> final_jobs_;
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
  timings_.push_back({std::string(to_string(stage)), timer.seconds(), jobs, cached});
}

}  // namespace tunemix
