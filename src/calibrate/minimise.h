// Minimises functions of several variables; keeps NLopt in one place.
#pragma once

#include <functional>
#include <vector>

#include "tunemix/core/context.h"

namespace tunemix::calibrate {

struct Minimum {
  std::vector<double> x;
  double value = 0;
  int evaluations = 0;
  bool converged = false;  // by the optimiser's own test, not by running out of evaluations
};

struct Minimisation {
  std::vector<double> low, high;  // of the variables
  double tolerance = 1e-10;       // of the value, relative
  int max_evaluations = 100;
  double step = 0;  // where there is no gradient: how far to look at first
};

// The value of the function per document, so that tolerances mean the same on any split, with its gradient
// where that is asked for.
using Function = std::function<double(const std::vector<double>& x, double* gradient)>;

// The best point seen, also where the optimiser gives up in the middle. With `step` the function is asked for
// no gradient. Two variables or many: with a gradient, sequential quadratic programming for few, limited
// memory for many.
Minimum minimise(const Function& function, std::vector<double> start, const Minimisation& options,
                 const Context& context);

}  // namespace tunemix::calibrate
