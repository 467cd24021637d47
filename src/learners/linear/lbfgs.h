// Limited-memory BFGS with a line search that meets the weak Wolfe conditions.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace tunemix::linear {

// Value at x; sets the gradient.
using Objective = std::function<double(std::span<const double> x, std::span<double> gradient)>;

struct LbfgsOptions {
  int iterations = 100;
  double enough = 0;   // stop at a gradient of this length
  size_t memory = 10;  // steps that the curvature is made from
};

struct LbfgsResult {
  double value = 0;
  int iterations = 0;
  bool converged = false;
};

// Starts from x and leaves the solution there. `each` is told the iteration, counted from 1, once x has
// moved.
LbfgsResult minimise(const Objective& objective, std::vector<double>& x, const LbfgsOptions& options,
                     const std::function<void(int iteration, double value)>& each = {});

}  // namespace tunemix::linear
