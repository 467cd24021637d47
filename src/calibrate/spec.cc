#include "tunemix/calibrate/spec.h"

#include <algorithm>
#include <array>

namespace tunemix {
namespace {

constexpr std::array<std::string_view, 6> kCpcTargets = {"shift", "ls", "ewls", "el", "ell", "sndcg"};
constexpr std::array<std::string_view, 3> kForms = {"one", "each", "matrix"};
constexpr std::array<std::string_view, 6> kRegressors = {"linear", "logistic", "poly2",
                                                         "poly3",  "poly4",    "neural"};
constexpr std::array<std::string_view, 2> kRbcTargets = {"raw", "ndcg"};

size_t word_number(std::string_view word, const std::vector<std::string>& words, std::string_view what) {
  const auto at = std::find(words.begin(), words.end(), word);
  if (at != words.end()) return static_cast<size_t>(at - words.begin());
  throw_input("{} is '{}'{}; expected one of: {}", what, word, did_you_mean(word, words), join(words, ", "));
}

template <typename Enum, size_t N>
Enum parse_word(std::string_view word, const std::array<std::string_view, N>& words, std::string_view what) {
  return static_cast<Enum>(word_number(word, {words.begin(), words.end()}, what));
}

constexpr std::string_view kCpc = "cpc.";

// Forms with parameters for each label are for the targets that are sums over documents.
std::vector<CalibrationSpec> cpc_calibrations() {
  std::vector<CalibrationSpec> specs;
  for (size_t t = 0; t < kCpcTargets.size(); ++t)
    specs.push_back(CalibrationSpec::cpc(static_cast<CpcTarget>(t)));
  for (const CpcForm form : {CpcForm::kEach, CpcForm::kMatrix})
    for (const CpcTarget target : {CpcTarget::kLs, CpcTarget::kEwls, CpcTarget::kEl, CpcTarget::kEll})
      specs.push_back(CalibrationSpec::cpc(target, form));
  return specs;
}

}  // namespace

std::string_view to_string(CalibrationKind kind) { return kind == CalibrationKind::kCpc ? "cpc" : "rbc"; }
std::string_view to_string(CpcTarget target) { return kCpcTargets[static_cast<size_t>(target)]; }
std::string_view to_string(CpcForm form) { return kForms[static_cast<size_t>(form)]; }
std::string_view to_string(Regressor regressor) { return kRegressors[static_cast<size_t>(regressor)]; }
std::string_view to_string(RbcTarget target) { return kRbcTargets[static_cast<size_t>(target)]; }

Regressor parse_regressor(std::string_view name) {
  return parse_word<Regressor>(name, kRegressors, "the RBC regressor");
}
RbcTarget parse_rbc_target(std::string_view name) {
  return parse_word<RbcTarget>(name, kRbcTargets, "the RBC target");
}

const std::vector<std::string>& cpc_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const CalibrationSpec& spec : cpc_calibrations()) all.push_back(spec.name().substr(kCpc.size()));
    return all;
  }();
  return names;
}

CalibrationSpec CalibrationSpec::cpc(CpcTarget target, CpcForm form) {
  CalibrationSpec spec;
  spec.target = target;
  spec.form = form;
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
  if (name.starts_with(kCpc)) {
    const size_t at = word_number(name.substr(kCpc.size()), cpc_names(), "the CPC target");
    return cpc_calibrations()[at];
  }
  const std::vector<std::string> parts = split(name, '.');
  if (parts.size() == 3 && parts[0] == "rbc")
    return rbc(parse_regressor(parts[1]), parse_rbc_target(parts[2]));
  throw_input("the calibration is '{}'; expected cpc.TARGET, cpc.FORM.TARGET or rbc.REGRESSOR.TARGET", name);
}

std::string CalibrationSpec::name() const {
  if (kind == CalibrationKind::kCpc) {
    if (form == CpcForm::kOne) return fmt::format("{}{}", kCpc, to_string(target));
    return fmt::format("{}{}.{}", kCpc, to_string(form), to_string(target));
  }
  return fmt::format("rbc.{}.{}", to_string(regressor), to_string(regressed));
}

std::vector<CalibrationSpec> all_calibrations(size_t score_columns) {
  std::vector<CalibrationSpec> specs;
  if (score_columns > 1) specs = cpc_calibrations();
  for (size_t i = 0; i < kRegressors.size(); ++i)
    for (const RbcTarget target : {RbcTarget::kRaw, RbcTarget::kNdcg})
      specs.push_back(CalibrationSpec::rbc(static_cast<Regressor>(i), target));
  return specs;
}

}  // namespace tunemix
