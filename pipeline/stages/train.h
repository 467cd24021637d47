// The train stage: one job trains one model (or SVM path) and scores the calibration, validation and test
// documents.
#pragma once

#include <vector>

#include "pipeline/stages/fold_data.h"
#include "pipeline/stages/plan.h"
#include "tunemix/data/score_matrix.h"

namespace tunemix {

// The scores of one model: a boosting length, or a C.
struct ModelScores {
  int iterations = 0;  // 0: no boosting
  double C = 0;        // 0: no SVM
  double range = 0;    // R of the `shift` calibration; 0: max |f|
  ScoreMatrix calibration;
  ScoreMatrix valid;
  ScoreMatrix test;
};

struct TrainResult {
  std::vector<ModelScores> models;
  // For the report; empty for an SVM.
  std::vector<float> feature_use;  // share of the cuts
  struct BanditPoint {
    int32_t round;
    uint32_t feature;
    float probability;
  };
  std::vector<BanditPoint> bandit;
};

// Trains what is not in the store, going on from a saved state of the same model, and stores models and
// scores. `features` are standardised as the config says.
void run_train_job(const Plan& plan, const TrainJob& job, const FoldInfo& info, const FoldFeatures& features,
                   const ArtifactStore& store, const Context& context);

std::vector<uint8_t> save_train_result(const TrainResult& result);
TrainResult load_train_result(std::span<const uint8_t> payload);

}  // namespace tunemix
