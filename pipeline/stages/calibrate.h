// The calibrate stage: every calibration of every point of a learner becomes a member: a calibrator, fitted
// on scores of training queries by the bags that have not seen them, and the calibrated means of all bags'
// scores of the validation and test documents.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/stages/fold_data.h"
#include "pipeline/stages/plan.h"
#include "pipeline/stages/train.h"
#include "tunemix/calibrate/calibrator.h"

namespace tunemix {

struct CalibratedModel {
  size_t point = 0;  // number of the model's point
  Point at;
  Calibrator calibrator;
};

// The calibrations that fit scores of so many columns: class probabilities need one for each label.
std::vector<CalibrationSpec> calibration_specs(const CalibrateConfig& config, size_t columns, int labels);

// What a bag's job has stored.
using BagScores = std::function<TrainResult(const TrainJob&)>;

// The means over the bags of a learner: of a training query over those that have left it out.
struct LearnerScores {
  std::vector<PointScores> points;
  std::vector<size_t> queries;  // of the training data, that some bag has left out
};
LearnerScores mean_over_bags(const Plan& plan, const CalibrateJob& job, const FoldInfo& info,
                             const BagScores& scores_of);

// The members' scores of validation, each followed by its out-of-fold scores of some training queries.
std::vector<float> with_out_of_fold(std::span<const float> valid, const LearnerScores& scores,
                                    const std::vector<CalibratedModel>& members, const QueryIndex& train,
                                    std::span<const size_t> queries, const Context& context);

// Fits and stores the members of a learner.
void run_calibrate_job(const Plan& plan, const CalibrateJob& job, const FoldInfo& info,
                       const BagScores& scores_of, const ArtifactStore& store, const Context& context);

// Nothing where an artifact is missing or damaged.
std::optional<std::vector<CalibratedModel>> load_members(const Plan& plan, const CalibrateJob& job,
                                                         const FoldInfo& info, const ArtifactStore& store,
                                                         const Context& context);
// Throws InputError unless these can be the members of the job.
std::vector<CalibratedModel> parse_members(std::span<const uint8_t> payload, const Plan& plan,
                                           const CalibrateJob& job, const FoldInfo& info);
// Members x documents. Throws InputError unless there is one finite score for each.
std::vector<float> parse_member_scores(std::span<const uint8_t> payload, const CalibrateJob& job,
                                       size_t members, size_t documents);
// The same of the split that `kind` stands for.
std::optional<std::vector<float>> load_member_scores(const char* kind, const CalibrateJob& job,
                                                     size_t members, size_t documents,
                                                     const ArtifactStore& store, const Context& context);

}  // namespace tunemix
