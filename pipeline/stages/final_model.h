// What the folds choose for the final model, which is trained as one more fold that has all the data.
//
// The mixtures of the folds are made with one c and T, those of the best mean over the folds; a member's
// weight is the mean of its weights there.
#pragma once

#include <string>
#include <vector>

#include "pipeline/stages/mix.h"
#include "pipeline/stages/plan.h"

namespace tunemix {

inline constexpr const char* kChoiceKind = "final-choice";
inline constexpr uint32_t kChoiceVersion = 2;

// A calibrated point of a learner.
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

Hash128 choice_key(const Plan& plan);
// The c and T of the best mean quality over the folds; ties go to the smaller c, then to the smaller T.
GridPoint best_of_folds(const std::vector<const MixRow*>& rows);
// The mean of the mixtures of the folds, all of the same c and T. members: by fold and learner.
FinalChoice average_mixtures(const GridPoint& at, const std::vector<MixRow>& rows,
                             const std::vector<std::vector<std::vector<CalibratedModel>>>& members);
std::vector<uint8_t> save_choice(const FinalChoice& choice);
FinalChoice load_choice(std::span<const uint8_t> payload, const Plan& plan);

// The jobs of the final model: the chosen learners, trained as long as chosen.
Plan plan_final_model(const Plan& folds, const FinalChoice& choice, ArtifactStore& store,
                      MissingFiles missing);
// The mixture that was chosen, of the members that the jobs have made. members: by learner of `final_plan`.
MixRow final_row(const Plan& folds, const Plan& final_plan, const FinalChoice& choice,
                 const std::vector<std::vector<CalibratedModel>>& members);

}  // namespace tunemix
