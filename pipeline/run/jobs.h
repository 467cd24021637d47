// The jobs of a plan: reads the data of its folds, trains and calibrates, here or on the config's engine, and
// gives what the jobs made.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/run/artifacts.h"
#include "pipeline/run/progress.h"
#include "pipeline/stages/calibrate.h"
#include "pipeline/stages/fold_data.h"
#include "pipeline/stages/mix.h"

namespace tunemix {

// Thrown where a run was to leave its tasks to a scheduler.
struct LeftToTasks {};

class FoldJobs {
 public:
  // All outlive it; the plan may be replaced by one of the same data.
  FoldJobs(const Plan& plan, const Artifacts& artifacts, const Context& context, ProgressView& view)
      : plan_(plan), artifacts_(artifacts), context_(context), view_(view) {}

  const FoldInfo& fold_info(size_t fold);
  // Reads the features of a fold, and describes them where that is not in the store.
  void read(size_t fold) { read_features(fold, context_); }
  // Jobs of the train and calibrate stages by their numbers there.
  void train(const std::vector<size_t>& numbers);
  void calibrate(const std::vector<size_t>& numbers);
  // One job: training jobs are numbered first, then calibrations. Does nothing where its results are there.
  StageJob numbered_job(size_t number) const;
  void run(size_t number);

  // What was made, computed again where it is missing or damaged.
  std::vector<CalibratedModel> member_table(const CalibrateJob& job);
  FoldMembers members(size_t fold);
  TrainResult scores(const TrainJob& job, const Context& context);
  LearnerScores mean_scores(const CalibrateJob& job);
  void train_again(const TrainJob& job, const Context& context);

 private:
  void read_features(size_t fold, const Context& context);
  void drop_features();
  std::shared_ptr<PreparedFold> features(size_t fold, const LearnerSpec& learner, const Context& context);
  void train(const TrainJob& job, const Context& context);
  void calibrate(const CalibrateJob& job, const Context& context);
  bool runs_elsewhere() const { return plan_.config.engine.type != "local"; }
  void run_elsewhere(Stage stage, const std::vector<size_t>& numbers);
  // Calls body(job, context) for every job: side by side on one thread each, or one after the other on all
  // threads.
  template <typename Job>
  void for_each_job(const std::vector<const Job*>& jobs, bool wide,
                    const std::function<void(const Job&, const Context&)>& body);
  bool wide_jobs(size_t documents, size_t features, size_t jobs) const;

  const Plan& plan_;
  const Artifacts& artifacts_;
  const Context& context_;
  ProgressView& view_;
  std::recursive_mutex data_mutex_;
  std::map<size_t, FoldInfo> infos_;
  std::optional<size_t> features_fold_;
  std::shared_ptr<const FoldFeatures> raw_features_;
  // Shared with the jobs that train on them.
  std::map<std::pair<Standardize, SourceUse>, std::shared_ptr<PreparedFold>> features_;
};

}  // namespace tunemix
