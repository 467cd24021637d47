// An experiment as jobs with keys: what each artifact of a run is called in the store.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pipeline/config/config.h"
#include "pipeline/stages/stage.h"
#include "pipeline/store/store.h"

namespace tunemix {

// Kinds of artifacts: the folders of the store.
inline constexpr const char* kFoldKind = "data";
inline constexpr const char* kModelKind = LearnedModel::kKind;
inline constexpr const char* kTrainingKind = "training";
inline constexpr const char* kScoresKind = "scores";
inline constexpr const char* kMembersKind = "members";
inline constexpr const char* kMemberValidKind = "member-valid";
inline constexpr const char* kMemberTestKind = "member-test";
inline constexpr const char* kMixKind = "mix";
inline constexpr const char* kEvaluationKind = "evaluation";

// Versions of the artifacts' formats and of the computations behind them: raised when either changes.
inline constexpr uint32_t kFoldVersion = 4;
inline constexpr uint32_t kTrainingVersion = 2;
inline constexpr uint32_t kScoresVersion = 3;
inline constexpr uint32_t kMembersVersion = 6;
inline constexpr uint32_t kMixVersion = 3;
inline constexpr uint32_t kEvaluationVersion = 3;

// One training run, on one bag of one fold.
struct TrainJob {
  size_t fold = 0;
  size_t learner = 0;  // in Config::learners
  int bag = 0;
  Hash128 key;           // of its model and its scores
  Hash128 training_key;  // of its training state: the same whatever the number of rounds
  std::string name;      // "fold 1: tree leaves=8, bag 2"
};

// The calibration of all bags of a learner on one fold.
struct CalibrateJob {
  size_t fold = 0;
  size_t learner = 0;
  size_t first_bag = 0;  // in Plan::jobs; the others follow
  Hash128 key;           // of its members and their scores
  std::string name;      // "fold 1: tree leaves=8"
};

// All jobs of an experiment; or those of its final model, whose one fold comes after the experiment's and has
// all their data.
struct Plan {
  Config config;
  std::vector<Hash128> fold_keys;          // of the data
  size_t first_fold = 0;                   // that has jobs
  std::vector<TrainJob> jobs;              // fold by fold, learner by learner, bag by bag
  std::vector<CalibrateJob> calibrations;  // fold by fold, learner by learner
  std::vector<Hash128> mix_keys;           // of each fold
  Hash128 evaluation_key;

  bool is_final() const { return first_fold > 0; }
  std::string fold_name(size_t fold) const;
  // Of a fold, by learner.
  std::span<const CalibrateJob> calibrations_of(size_t fold) const;
  std::span<const TrainJob> bags_of(const CalibrateJob& job) const;
  const LearnerSpec& learner(const TrainJob& job) const { return config.learners[job.learner]; }
  const LearnerSpec& learner(const CalibrateJob& job) const { return config.learners[job.learner]; }
  uint64_t job_seed(const TrainJob& job) const;
  uint64_t job_seed(const CalibrateJob& job) const;
  Hash128 id() const;  // of the keys of all jobs
};

// Reads no features: files are known by their hashes.
Plan make_plan(Config config, ArtifactStore& store, MissingFiles missing = MissingFiles::kRefuse);
// Of the final model, with the learners of `config`: those of the experiment's that are wanted.
Plan make_final_plan(const Plan& folds, Config config, ArtifactStore& store, MissingFiles missing);

struct ArtifactId {
  const char* kind = nullptr;
  Hash128 key;
};

// A part of a stage that runs by itself, and what it leaves in the store. It is done when the first artifact
// is there, which is saved last.
struct StageJob {
  std::string name;
  std::vector<ArtifactId> artifacts;
};

// In the order of Plan::jobs and Plan::calibrations for the stages that train and calibrate, by fold for
// others; none for the report. A final model has jobs of its one fold that train and calibrate.
std::vector<StageJob> stage_jobs(const Plan& plan, Stage stage);
StageJob train_stage_job(const Plan& plan, const TrainJob& job);
StageJob calibrate_stage_job(const CalibrateJob& job);

// Paths, relative to the store, of everything that a finished run of the plan needs.
std::vector<std::string> plan_artifacts(const Plan& plan, const ArtifactStore& store);

}  // namespace tunemix
