// The regressors of RBC: least squares on monomials, logistic, and a small network (T&M eqs. 20, 21).
#pragma once

#include <memory>
#include <optional>

#include "calibrate/prepared.h"

namespace tunemix::calibrate {

struct RbcFit {
  Calibrator::Map map;
  double value = 0;  // mean squared error on the split
  int evaluations = 0;
  bool converged = true;
  std::vector<std::string> warnings;
};

// Sums of products of all monomials and targets, shared by `linear` and the polynomials.
class Moments {
 public:
  Moments(const Prepared& data, int degree, const Context& context);
  int degree() const { return degree_; }
  RbcFit solve(int degree, RbcTarget target, double ridge) const;

 private:
  double at(size_t i, size_t j) const { return i >= j ? sums_[i * size_ + j] : sums_[j * size_ + i]; }

  const Prepared& data_;
  int degree_;
  size_t size_;               // 1, the monomials, two targets
  std::vector<double> sums_;  // size x size, lower triangle
};

// The highest degree up to `wanted` whose terms are fewer than the documents and at most `max_terms`; 1 at
// least.
int affordable_degree(size_t documents, size_t columns, int wanted, int max_terms);
int degree_of(Regressor regressor);  // 1 for linear, 0 where there is none

RbcFit fit_logistic(const Prepared& data, RbcTarget target, const Context& context);
RbcFit fit_neural(const Prepared& data, RbcTarget target, const CalibrationOptions& options, uint64_t seed,
                  const Context& context);

}  // namespace tunemix::calibrate
