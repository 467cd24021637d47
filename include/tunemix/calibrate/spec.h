// Names of the calibrations (`cpc.ls`, `rbc.poly3.ndcg`) and the settings that they share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tunemix/core/options.h"

namespace tunemix {

enum class CalibrationKind : uint8_t { kCpc, kRbc };
enum class CpcTarget : uint8_t { kShift, kLs, kEwls, kEl, kEll, kSndcg };
// What a CPC fits: one sigmoid for all labels (T&M), one for each label, or a multinomial logistic map of all
// scores.
enum class CpcForm : uint8_t { kOne, kEach, kMatrix };
enum class Regressor : uint8_t { kLinear, kLogistic, kPoly2, kPoly3, kPoly4, kNeural };
enum class RbcTarget : uint8_t { kRaw, kNdcg };

std::string_view to_string(CalibrationKind kind);  // cpc | rbc
std::string_view to_string(CpcTarget target);      // shift | ls | ewls | el | ell | sndcg
std::string_view to_string(CpcForm form);          // one | each | matrix
std::string_view to_string(Regressor regressor);   // linear | logistic | poly2 | poly3 | poly4 | neural
std::string_view to_string(RbcTarget target);      // raw | ndcg
Regressor parse_regressor(std::string_view name);  // these throw InputError with the nearest name
RbcTarget parse_rbc_target(std::string_view name);

// One calibration: a CPC target function, or a regressor with what it regresses.
struct CalibrationSpec {
  CalibrationKind kind = CalibrationKind::kCpc;
  CpcTarget target = CpcTarget::kShift;      // of CPC
  CpcForm form = CpcForm::kOne;              // of CPC
  Regressor regressor = Regressor::kLinear;  // of RBC
  RbcTarget regressed = RbcTarget::kRaw;     // of RBC

  static CalibrationSpec cpc(CpcTarget target, CpcForm form = CpcForm::kOne);
  static CalibrationSpec rbc(Regressor regressor, RbcTarget regressed);
  static CalibrationSpec parse(std::string_view name);  // throws InputError
  std::string name() const;
  bool operator==(const CalibrationSpec&) const = default;
};

// What may follow "cpc.": "ls", "each.ls", "matrix.ls", ...
const std::vector<std::string>& cpc_names();

// All: CPC, then RBC. A plain ranker (one column) gets the RBC ones alone.
std::vector<CalibrationSpec> all_calibrations(size_t score_columns);

struct CalibrationOptions {
  double max_steepness = 5;  // CPC: a times the scores' deviation stays below it; ewls and el run into it
  double sigma = 0.01;       // sndcg: width of the soft indicator
  double ridge = 0.1;        // poly2..poly4: penalty on standardised terms, relative to the documents
  int max_terms = 600;       // poly2..poly4: the degree is lowered until there are no more terms than this
  int hidden = 8;            // neural: hidden units
  int max_steps = 3000;      // neural: batches of training at most
};

}  // namespace tunemix
