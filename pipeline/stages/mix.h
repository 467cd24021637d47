// The mix stage: from the members of a fold to its ensembles, one for each row of the results.
#pragma once

#include <string>
#include <vector>

#include "pipeline/stages/calibrate.h"
#include "tunemix/mix/mixer.h"

namespace tunemix {

struct MemberRef {
  uint32_t learner = 0;  // of the config's
  uint32_t member = 0;   // of the learner's members
};

struct MixRow {
  std::string name;  // "ALL+EXP"
  Mixture mixture;
  std::vector<MemberRef> sources;  // of the mixture's members
  size_t left_out = 0;             // members that rank as another of the mixture does
  double validation = 0;           // quality by `mix.metric`
  double chosen_by = 0;            // the value that c and T were chosen by
  std::vector<GridPoint> grid;
  std::vector<MemberDiagnostics> diagnostics;
  std::vector<float> valid;  // the ensemble's scores
  std::vector<float> test;
};

// The members of one fold with their scores.
struct FoldMembers {
  std::vector<std::vector<CalibratedModel>> members;  // by learner
  // Labels, queries and weights of what choices are made by: the validation split, and with `choose_by: all`
  // the training queries that bags of every learner have left out.
  Documents choosing;
  std::vector<std::vector<float>> choosing_scores;  // by learner: members x documents
  std::vector<std::vector<float>> test;
};

std::vector<MixRow> mix_fold(const Plan& plan, const FoldInfo& info, const FoldMembers& members,
                             const Context& context);

// One row's mixture with c and T as given instead of chosen.
MixRow mix_row_at(const Plan& plan, const FoldInfo& info, const FoldMembers& members, const std::string& name,
                  double c, int64_t checkpoint, const Context& context);
// What a member is called in a mixture.
Member member_of(const LearnerSpec& learner, const Point& point, const CalibrationSpec& calibration);

std::vector<uint8_t> save_mix(const std::vector<MixRow>& rows);
// Throws InputError unless these can be the mixtures of the fold.
std::vector<MixRow> load_mix(std::span<const uint8_t> payload, const Plan& plan, size_t fold,
                             const FoldInfo& info);
// Whether each member of the mixture is among the members (by learner) that it says it is of.
bool fits(const MixRow& row, const std::vector<std::vector<CalibratedModel>>& members);

}  // namespace tunemix
