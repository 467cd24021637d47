// The train stage: one job trains one model and scores the documents of the training queries that it has left
// out, and the validation and test documents, at each of its points.
#pragma once

#include <vector>

#include "pipeline/stages/fold_data.h"
#include "pipeline/stages/plan.h"
#include "tunemix/data/score_matrix.h"

namespace tunemix {

// The scores at one point of a model.
struct PointScores {
  Point point;
  double range = 0;  // R of the `shift` calibration; 0: max |f|
  ScoreMatrix left_out;
  ScoreMatrix valid;
  ScoreMatrix test;
};

struct TrainResult {
  std::vector<PointScores> points;
  // For the report.
  std::vector<float> importance;  // share of each feature; empty where the model tells none
  struct AttentionPoint {
    int64_t round;
    uint32_t feature;
    float share;
  };
  std::vector<AttentionPoint> attention;  // of the features that training looked at most
};

// Throws InputError unless the score files of the job's learner fit the data of the fold.
void expect_given_scores(const Plan& plan, const TrainJob& job, const FoldInfo& info);

// Trains what is not in the store, going on from a saved state of the same run, and stores model and scores.
void run_train_job(const Plan& plan, const TrainJob& job, const FoldInfo& info, PreparedFold& fold,
                   const ArtifactStore& store, const Context& context);

std::vector<uint8_t> save_train_result(const TrainResult& result);
// Throws InputError unless these can be the scores of the job.
TrainResult load_train_result(std::span<const uint8_t> payload, const Plan& plan, const TrainJob& job,
                              const FoldInfo& info);

}  // namespace tunemix
