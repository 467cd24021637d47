#include "tunemix/calibrate/spec.h"

#include <array>

namespace tunemix {
namespace {

constexpr std::array<std::string_view, 6> kCpcTargets = {"shift", "ls", "ewls", "el", "ell", "sndcg"};
constexpr std::array<std::string_view, 6> kRegressors = {"linear", "logistic", "poly2",
                                                         "poly3",  "poly4",    "neural"};
constexpr std::array<std::string_view, 2> kRbcTargets = {"raw", "ndcg"};

template <typename Enum, size_t N>
Enum parse_word(std::string_view word, const std::array<std::string_view, N>& words, std::string_view what) {
  for (size_t i = 0; i < N; ++i)
    if (words[i] == word) return static_cast<Enum>(i);
  const std::vector<std::string> known(words.begin(), words.end());
  throw_input("{} is '{}'{}; expected one of: {}", what, word, did_you_mean(word, known), join(known, ", "));
}

}  // namespace

std::string_view to_string(CalibrationKind kind) { return kind == CalibrationKind::kCpc ? "cpc" : "rbc"; }
std::string_view to_string(CpcTarget target) { return kCpcTargets[static_cast<size_t>(target)]; }
std::string_view to_string(Regressor regressor) { return kRegressors[static_cast<size_t>(regressor)]; }
std::string_view to_string(RbcTarget target) { return kRbcTargets[static_cast<size_t>(target)]; }

CpcTarget parse_cpc_target(std::string_view name) {
  return parse_word<CpcTarget>(name, kCpcTargets, "the CPC target");
}
Regressor parse_regressor(std::string_view name) {
  return parse_word<Regressor>(name, kRegressors, "the RBC regressor");
}
RbcTarget parse_rbc_target(std::string_view name) {
  return parse_word<RbcTarget>(name, kRbcTargets, "the RBC target");
}

CalibrationSpec CalibrationSpec::cpc(CpcTarget target) {
  CalibrationSpec spec;
  spec.target = target;
  return spec;
}

CalibrationSpec CalibrationSpec::rbc(Regressor regressor, RbcTarget regressed) {
  CalibrationSpec spec;
  spec.kind = CalibrationKind::kRbc;
  spec.regressor = regressor;
  spec.regressed = regressed;
  return spec;
}

CalibrationSpec CalibrationSpec::parse(std::string_view name) {
  const std::vector<std::string> parts = split(name, '.');
  if (parts.size() == 2 && parts[0] == "cpc") return cpc(parse_cpc_target(parts[1]));
  if (parts.size() == 3 && parts[0] == "rbc")
    return rbc(parse_regressor(parts[1]), parse_rbc_target(parts[2]));
  throw_input("the calibration is '{}'; expected cpc.TARGET or rbc.REGRESSOR.TARGET", name);
}

std::string CalibrationSpec::name() const {
  if (kind == CalibrationKind::kCpc) return fmt::format("cpc.{}", to_string(target));
  return fmt::format("rbc.{}.{}", to_string(regressor), to_string(regressed));
}

std::vector<CalibrationSpec> all_calibrations(size_t score_columns) {
  std::vector<CalibrationSpec> specs;
  if (score_columns > 1)
    for (size_t i = 0; i < kCpcTargets.size(); ++i)
      specs.push_back(CalibrationSpec::cpc(static_cast<CpcTarget>(i)));
  for (size_t i = 0; i < kRegressors.size(); ++i)
    for (const RbcTarget target : {RbcTarget::kRaw, RbcTarget::kNdcg})
      specs.push_back(CalibrationSpec::rbc(static_cast<Regressor>(i), target));
  return specs;
}

}  // namespace tunemix
