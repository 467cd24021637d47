// CPC with parameters for each label: a sigmoid for each, or a multinomial logistic map of all scores. One
// sigmoid for all cannot repair the scores of labels that are unequally frequent.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "calibrate/cpc.h"
#include "calibrate/prepared.h"

namespace tunemix::calibrate {

// Of the standardised scores.
struct LabelFit {
  std::vector<double> weights;  // a sigmoid each: one for each label; the map of all scores: a row for each
  std::vector<double> bias;
  double value = 0;  // of the target
  int evaluations = 0;
  bool converged = false;
};

// The target by weights, then bias, and its derivatives. `document_weights`: of `data` or others in their
// place.
double label_target(const Prepared& data, std::span<const double> document_weights, CpcForm form,
                    CpcTarget target, std::span<const double> parameters, std::span<double> gradient,
                    const Context& context);

// Minimises a target and a penalty on the squared distance of the parameters from a map that is the same for
// all labels: for sigmoids the given one; for the map of all scores a multiple of the identity, which is
// free, as the bias is.
class LabelFitter {
 public:
  LabelFitter(const Prepared& data, CpcForm form, const std::optional<CpcFit>& one,
              const CalibrationOptions& options, const Context& context);
  std::optional<LabelFit> fit(CpcTarget target) const;
  double ridge() const { return ridge_; }

 private:
  using Vector = std::vector<double>;
  struct Found {
    Vector x;
    int evaluations = 0;
    bool converged = false;
  };
  Vector parameters(const Vector& x) const;
  Found search(const Prepared& data, std::span<const double> weights, CpcTarget target, double ridge,
               Vector start, double tolerance) const;
  double chosen_ridge() const;

  const Prepared& data_;
  Prepared thinned_;
  CpcForm form_;
  const CalibrationOptions& options_;
  const Context& context_;
  Vector start_;   // parameters; for the map of all scores, then the multiple of the identity
  Vector centre_;  // what the penalty is a distance from
  double ridge_ = 0;
  Found ls_;
};

}  // namespace tunemix::calibrate
