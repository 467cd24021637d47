// The target functions of CPC over theta = (a, b) (T&M eqs. 15-19) and their minimisation.
#pragma once

#include <array>
#include <optional>

#include "calibrate/kernels.h"
#include "calibrate/prepared.h"

namespace tunemix::calibrate {

// Values and gradients (by a, by b) of the smooth targets at one theta.
struct SmoothValues {
  std::array<double, kSmoothTargets> value{};
  std::array<std::array<double, 2>, kSmoothTargets> gradient{};
};

constexpr bool is_smooth(CpcTarget t) { return t != CpcTarget::kShift && t != CpcTarget::kSndcg; }
constexpr size_t smooth_index(CpcTarget t) { return static_cast<size_t>(t) - 1; }

// a and b are those of the standardised scores of `data`. ewls takes a logarithm per label, so it can be left
// out.
SmoothValues smooth_targets(const Prepared& data, double a, double b, const Context& context,
                            bool with_ewls = true);
double soft_ndcg(const Prepared& data, double a, double b, double sigma, const Context& context);

// Expected grades v_i.
void expected_grades(const Prepared& data, double a, double b, std::vector<double>& v,
                     const Context& context);

struct CpcBox {
  std::array<double, 2> low;  // log a, b of the standardised scores
  std::array<double, 2> high;
};
CpcBox cpc_box(const Prepared& data, const CalibrationOptions& options);

struct CpcFit {
  double a = 0;  // of the standardised scores
  double b = 0;
  double value = 0;
  int evaluations = 0;
  bool converged = false;
  std::string bound_hit;
};

class CpcFitter {
 public:
  CpcFitter(const Prepared& data, const CalibrationOptions& options, const Context& context);
  // Nothing when no start leads to a finite value. Every target but `ls` also starts from the fit of `ls`.
  std::optional<CpcFit> fit(CpcTarget target) const;

 private:
  using Theta = std::array<double, 2>;  // log a, b
  struct Candidate {
    Theta theta;
    double value;
    bool converged;
  };
  std::optional<CpcFit> search(CpcTarget target, const std::optional<CpcFit>& start) const;
  double evaluate(const Prepared& data, CpcTarget target, const Theta& theta, double* gradient) const;
  std::optional<Candidate> descend(const Prepared& data, CpcTarget target, Theta start, double step,
                                   int& evaluations) const;
  std::vector<Theta> promising(CpcTarget target) const;
  void keep_best(std::vector<Theta>& starts, size_t count, int& evaluations) const;

  const Prepared& data_;
  Prepared scouted_;
  Prepared thinned_;
  const CalibrationOptions& options_;
  const Context& context_;
  CpcBox box_;
  std::vector<Theta> grid_;
  std::array<std::vector<double>, kSmoothTargets> grid_values_;
  std::optional<CpcFit> ls_;
};

}  // namespace tunemix::calibrate
