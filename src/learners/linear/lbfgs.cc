#include "learners/linear/lbfgs.h"

#include <cmath>
#include <deque>
#include <limits>

namespace tunemix::linear {
namespace {

constexpr double kDecrease = 1e-4;  // of the Armijo condition
constexpr double kCurvature = 0.9;
constexpr int kTrials = 40;

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

struct Step {
  std::vector<double> s, y;  // changes of x and of the gradient
  double inverse;            // 1 / s.y
};

// Minus the inverse Hessian, as the last steps show it, times the gradient (Nocedal 1980).
std::vector<double> direction(std::span<const double> gradient, const std::deque<Step>& steps) {
  std::vector<double> p(gradient.begin(), gradient.end());
  std::vector<double> a(steps.size());
  for (size_t k = steps.size(); k-- > 0;) {
    a[k] = steps[k].inverse * dot(steps[k].s, p);
    for (size_t i = 0; i < p.size(); ++i) p[i] -= a[k] * steps[k].y[i];
  }
  const double scale = steps.empty() ? 1 / std::sqrt(dot(gradient, gradient))
                                     : 1 / (steps.back().inverse * dot(steps.back().y, steps.back().y));
  for (double& v : p) v *= scale;
  for (size_t k = 0; k < steps.size(); ++k) {
    const double b = a[k] - steps[k].inverse * dot(steps[k].y, p);
    for (size_t i = 0; i < p.size(); ++i) p[i] += b * steps[k].s[i];
  }
  for (double& v : p) v = -v;
  return p;
}

}  // namespace

LbfgsResult minimise(const Objective& objective, std::vector<double>& x, const LbfgsOptions& options,
                     const std::function<void(int iteration, double value)>& each) {
  std::vector<double> gradient(x.size());
  std::vector<double> next_x(x.size());
  std::vector<double> next_gradient(x.size());
  std::deque<Step> steps;
  LbfgsResult result;
  result.value = objective(x, gradient);
  while (result.iterations < options.iterations) {
    if (std::sqrt(dot(gradient, gradient)) <= options.enough) {
      result.converged = true;
      break;
    }
    std::vector<double> p = direction(gradient, steps);
    double slope = dot(gradient, p);
    if (!(slope < 0)) {
      steps.clear();
      p = direction(gradient, steps);
      slope = dot(gradient, p);
    }
    // Bisection between a step that is too short and one that is too long (Lewis and Overton 2013).
    double low = 0;
    double high = std::numeric_limits<double>::infinity();
    double t = 1;
    double value = 0;
    bool found = false;
    for (int trial = 0; trial < kTrials && !found; ++trial) {
      for (size_t i = 0; i < x.size(); ++i) next_x[i] = x[i] + t * p[i];
      value = objective(next_x, next_gradient);
      if (!(value <= result.value + kDecrease * t * slope)) {
        high = t;
      } else if (dot(next_gradient, p) < kCurvature * slope) {
        low = t;
      } else {
        found = true;
        break;
      }
      t = std::isfinite(high) ? (low + high) / 2 : 2 * low;
    }
    if (!found) {  // nothing better within rounding
      result.converged = true;
      break;
    }
    Step step{std::vector<double>(x.size()), std::vector<double>(x.size()), 0};
    for (size_t i = 0; i < x.size(); ++i) {
      step.s[i] = next_x[i] - x[i];
      step.y[i] = next_gradient[i] - gradient[i];
    }
    step.inverse = 1 / dot(step.s, step.y);
    if (step.inverse > 0 && std::isfinite(step.inverse)) steps.push_back(std::move(step));
    if (steps.size() > options.memory) steps.pop_front();
    x.swap(next_x);
    gradient.swap(next_gradient);
    result.value = value;
    ++result.iterations;
    if (each) each(result.iterations, value);
  }
  return result;
}

}  // namespace tunemix::linear
