// Chooses mixtures: exponential weights by validation quality, masses of families and of models, the grid
// over c and T, one-best, sub-mixtures (spec, section 5; T&M section 6).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tunemix/mix/mixture.h"

namespace tunemix {

// The mass of a family after weighting inside it. kWeighted: proportional to exp(2 sqrt(n) Omega), Omega the
// quality of the family's own mixture on the n validation queries. kEqual: the same for every family.
// kPooled: no families, one sum (T&M). kLearned: as kWeighted, and in the mixture of all members the mass of
// each model is then moved towards what is best together with the others; members of less than half a percent
// are left out of any mixture that is no worse on validation without them.
enum class Families : uint8_t { kLearned, kWeighted, kEqual, kPooled };
// kChosen: of every run the members of its largest checkpoint up to T, or of its smallest where none is that
// small. kAll: every checkpoint is a member.
enum class Checkpoints : uint8_t { kChosen, kAll };
// kGrid: c and T by the mixture's validation quality. kFixed: as given.
enum class MixChoice : uint8_t { kGrid, kFixed };

struct MixOptions {
  double c_from = 0;
  double c_to = 200;
  double c_step = 5;
  // Of the validation queries, for the choice of c and T: a mixture is judged on each part with weights by
  // the members' quality on the other parts, so that a member that fits single queries by luck gains nothing.
  // 1: weights and choice by the same queries, as in T&M.
  int parts = 10;
  std::string metric = "ndcg@10";  // quality, that members are weighted and choices made by (SelectionName)
  Normalize normalize = Normalize::kQuery;
  Families families = Families::kLearned;
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

// How the rows of a family are called: "AB" for AB+EXP.
struct FamilyRow {
  std::string family;
  std::string prefix;
};

// The rows of T&M for the families and kinds there are, in the order of `rows`, which must name every family:
// AB+EXP, AB+EXP.CPC, AB+EXP.RBC, AB+OneBest for each, and ALL+EXP, ALL+OneBest where there are several.
std::vector<Variant> standard_variants(std::span<const Member> members, std::span<const FamilyRow> rows);

struct GridPoint {
  double c = 0;
  int64_t checkpoint = 0;
  double quality = 0;
};

struct MemberDiagnostics {
  double quality = 0;         // omega: of the member alone, on validation
  double weight = 0;          // in the mixture
  double variance_share = 0;  // cov(weight * score, mixture) / var(mixture); they sum to 1
};

struct MixResult {
  Variant variant;
  Mixture mixture;
  std::vector<size_t> sources;                 // for each member of the mixture, its number in the input
  size_t left_out = 0;                         // members that rank all documents as an earlier one does
  double validation = 0;                       // quality of the mixture's scores
  double chosen_by = 0;                        // the value of the grid that c and T were chosen by
  std::vector<GridPoint> grid;                 // every point tried; empty for one-best
  std::vector<MemberDiagnostics> diagnostics;  // for each member of the mixture
  std::vector<float> scores;                   // of the validation documents
};

struct ValidationData {
  const QueryIndex& queries;
  std::span<const int32_t> labels;
  std::span<const double> grades;
  std::span<const double> weights = {};  // of each query; empty: 1
};

// The quality of each member by the metric of that name, averaged over the orders of tied documents. Throws
// InputError for scores that are not finite.
std::vector<double> member_quality(std::span<const Member> members, const MemberSource& source,
                                   const ValidationData& validation, std::string_view metric,
                                   const Context& context);

// One result per variant, from one pass over the members' scores.
std::vector<MixResult> mix(std::span<const Member> members, const MemberSource& source,
                           const ValidationData& validation, std::span<const Variant> variants,
                           const MixOptions& options, const Context& context);

// The scores of every mixture on other documents; `source` numbers the members as the input of mix() did. The
// same as Mixture::apply, but each member is standardised once for all mixtures.
std::vector<std::vector<float>> apply_all(std::span<const MixResult> results, const MemberSource& source,
                                          const QueryIndex& queries, const Context& context);

}  // namespace tunemix
