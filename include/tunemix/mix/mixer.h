// Chooses mixtures: exponential weights by validation NDCG, the grid over c and T, one-best, sub-mixtures
// (T&M section 6).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tunemix/mix/mixture.h"

namespace tunemix {

// kEqual: every family has the same total mass after weighting inside it. kPooled: one sum (T&M).
enum class Families : uint8_t { kEqual, kPooled };
// kChosen: the boosting members of exactly one checkpoint T. kAll: every checkpoint is a member.
enum class Checkpoints : uint8_t { kChosen, kAll };
// kGrid: c and T by the mixture's validation NDCG. kFixed: as given.
enum class MixChoice : uint8_t { kGrid, kFixed };

struct MixOptions {
  double c_from = 0;
  double c_to = 200;
  double c_step = 5;
  // Of the validation queries, for the choice of c and T: a mixture is judged on each part with weights by
  // the members' NDCG on the other parts, so that a member that fits single queries by luck gains nothing. 1:
  // weights and choice by the same queries, as in T&M.
  int parts = 10;
  int k = 10;  // choices are made by NDCG@k
  Normalize normalize = Normalize::kQuery;
  Families families = Families::kEqual;
  Checkpoints checkpoints = Checkpoints::kChosen;
  MixChoice choice = MixChoice::kGrid;
  double fixed_c = 100;          // with `fixed`
  int64_t fixed_checkpoint = 0;  // with `fixed`; 0: the largest there is
};

// A mixture to be made of some of the members.
struct Variant {
  std::string name;    // "AB+EXP.CPC"
  std::string family;  // empty: all
  std::optional<CalibrationKind> kind;
  bool one_best = false;

  bool takes(const Member& member) const;
};
// The rows of T&M for the families and kinds there are: AB+EXP, AB+EXP.CPC, AB+EXP.RBC, AB+OneBest, the same
// for SVM and others, and ALL+EXP, ALL+OneBest where there are several families.
std::vector<Variant> standard_variants(std::span<const Member> members);

struct GridPoint {
  double c = 0;
  int64_t checkpoint = 0;
  double ndcg = 0;
};

struct MemberDiagnostics {
  double ndcg = 0;            // omega: validation NDCG@k alone
  double weight = 0;          // in the mixture
  double variance_share = 0;  // cov(weight * score, mixture) / var(mixture); they sum to 1
};

struct MixResult {
  Variant variant;
  Mixture mixture;
  std::vector<size_t> sources;                 // for each member of the mixture, its number in the input
  double validation = 0;                       // NDCG@k of the mixture's scores
  double chosen_by = 0;                        // the value of the grid that c and T were chosen by
  std::vector<GridPoint> grid;                 // every point tried; empty for one-best
  std::vector<MemberDiagnostics> diagnostics;  // for each member of the mixture
  std::vector<float> scores;                   // of the validation documents
};

struct ValidationData {
  const QueryIndex& queries;
  std::span<const int32_t> labels;
  std::span<const double> grades;
};

// NDCG@k of each member, averaged over the orders of tied documents. Throws InputError for scores that are
// not finite.
std::vector<double> member_quality(std::span<const Member> members, const MemberSource& source,
                                   const ValidationData& validation, int k, const Context& context);

// One result per variant, from one pass over the members' scores.
std::vector<MixResult> mix(std::span<const Member> members, const MemberSource& source,
                           const ValidationData& validation, std::span<const Variant> variants,
                           const MixOptions& options, const Context& context);

// The scores of every mixture on other documents; `source` numbers the members as the input of mix() did. The
// same as Mixture::apply, but each member is standardised once for all mixtures.
std::vector<std::vector<float>> apply_all(std::span<const MixResult> results, const MemberSource& source,
                                          const QueryIndex& queries, const Context& context);

}  // namespace tunemix
