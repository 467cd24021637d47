// The final model: what the folds have chosen, trained again on all the data.
//
// The mixtures of the folds are made with one c and T, those of the best mean over the folds; a member's
// weight is the mean of its weights there, over folds and bags. Every bag is trained and calibrated as in a
// fold: calibrators are fitted on the queries that its model has not seen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pipeline/stages/all_data.h"
#include "pipeline/stages/mix.h"
#include "pipeline/stages/plan.h"
#include "tunemix/export/bundle.h"

namespace tunemix {

inline constexpr const char* kChoiceKind = "final-choice";
inline constexpr const char* kFinalKind = "final";
inline constexpr uint32_t kChoiceVersion = 1;
inline constexpr uint32_t kFinalVersion = 1;

// A calibrated point of a learner, whatever fold or bag: the weight that all its bags share.
struct ChosenMember {
  uint32_t learner = 0;  // in Config::learners
  uint32_t point = 0;    // of the learner's points
  std::string calibration;
  double weight = 0;
};

struct FinalChoice {
  double c = 0;
  int64_t checkpoint = 0;
  std::vector<ChosenMember> members;  // by learner, point and calibration; their weights sum to 1
};

// Throws InputError where a learner is trained in a way that `fit` does not know.
void expect_final_possible(const Config& config);
Hash128 choice_key(const Plan& plan);
// The c and T of the best mean quality over the folds; ties go to the smaller c, then to the smaller T.
GridPoint best_of_folds(const std::vector<const MixRow*>& rows);
// The mean of the mixtures of the folds, all of the same c and T.
FinalChoice average_mixtures(const Plan& plan, const GridPoint& at, const std::vector<MixRow>& rows,
                             const std::vector<std::vector<std::vector<CalibratedModel>>>& members);
std::vector<uint8_t> save_choice(const FinalChoice& choice);
FinalChoice load_choice(std::span<const uint8_t> payload, const Plan& plan);

// One training run of the final model; its fold is one after the last.
struct FinalJob : TrainJob {
  struct Wanted {
    size_t point = 0;  // of the learner's points
    Point at;
    std::vector<CalibrationSpec> calibrations;
  };
  std::vector<Wanted> wanted;
};

std::vector<FinalJob> final_jobs(const Plan& plan, const FinalChoice& choice);
// Of the bundle: everything that it is made from.
Hash128 final_key(const Plan& plan, const std::vector<FinalJob>& jobs);

// Trains and calibrates a job and stores what the bundle needs of it. `data` may be null for scores from
// elsewhere.
void run_final_job(const Plan& plan, const FinalJob& job, const AllDataInfo& all,
                   const std::vector<FoldInfo>& folds, PreparedData* data, const ArtifactStore& store,
                   const Context& context);

// A job's model, of the wanted points alone, and its calibrators in the order of `wanted`.
struct FinalPart {
  LearnedModel learned;
  std::vector<std::vector<Calibrator>> calibrators;
};
std::optional<FinalPart> load_final_part(const Plan& plan, const FinalJob& job, const ArtifactStore& store,
                                         const Context& context);

Bundle make_final_bundle(BundleInfo info, const Plan& plan, const FinalChoice& choice,
                         const std::vector<FinalJob>& jobs, std::vector<FinalPart> parts);

}  // namespace tunemix
