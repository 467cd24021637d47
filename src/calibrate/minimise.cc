#include "calibrate/minimise.h"

#include <algorithm>
#include <nlopt.hpp>

namespace tunemix::calibrate {
namespace {

constexpr size_t kFewVariables = 2;

nlopt::algorithm algorithm_for(size_t variables, bool gradient) {
  if (!gradient) return nlopt::LN_SBPLX;
  return variables <= kFewVariables ? nlopt::LD_SLSQP : nlopt::LD_LBFGS;
}

}  // namespace

Minimum minimise(const Function& function, std::vector<double> start, const Minimisation& options,
                 const Context& context) {
  const size_t n = start.size();
  for (size_t i = 0; i < n; ++i) start[i] = std::clamp(start[i], options.low[i], options.high[i]);
  nlopt::opt optimiser(algorithm_for(n, options.step == 0), static_cast<unsigned>(n));
  optimiser.set_lower_bounds(options.low);
  optimiser.set_upper_bounds(options.high);
  optimiser.set_ftol_rel(options.tolerance);
  optimiser.set_maxeval(options.max_evaluations);
  if (options.step > 0) {
    constexpr double kNear = 3e-3;
    optimiser.set_initial_step(std::vector<double>(n, options.step));
    optimiser.set_xtol_abs(kNear);
  }
  Minimum best{start, HUGE_VAL};
  struct Call {
    const Function& function;
    Minimum& best;
  } call{function, best};
  optimiser.set_min_objective(
      [](const std::vector<double>& x, std::vector<double>& gradient, void* p) {
        Call& c = *static_cast<Call*>(p);
        const double value = c.function(x, gradient.empty() ? nullptr : gradient.data());
        ++c.best.evaluations;
        if (value < c.best.value) {
          c.best.value = value;
          c.best.x = x;
        }
        return value;
      },
      &call);
  try {
    double value = 0;
    const nlopt::result result = optimiser.optimize(start, value);
    best.converged = result != nlopt::MAXEVAL_REACHED && result != nlopt::MAXTIME_REACHED;
  } catch (const nlopt::roundoff_limited&) {
    best.converged = true;  // as good as the arithmetic allows
  } catch (const std::bad_alloc&) {
    throw;  // nothing that the optimiser found out
  } catch (const std::exception&) {
    best.converged = false;
  }
  context.check_stop();  // NLopt turns our exceptions into its own
  return best;
}

}  // namespace tunemix::calibrate
