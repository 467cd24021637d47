#include "tunemix/metric/significance.h"

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "tunemix/core/error.h"

namespace tunemix {
namespace {

// Differences that are all the same leave no variance: equal systems give p = 1, others p = 0.
void test_without_variance(PairedTest& test) {
  if (test.difference == 0) return;
  test.t = std::copysign(std::numeric_limits<double>::infinity(), test.difference);
  test.p = 0;
  test.p_a_better = test.difference > 0 ? 0 : 1;
}

}  // namespace

PairedTest paired_t_test(std::span<const double> a, std::span<const double> b) {
  require(a.size() == b.size(), "paired values of two lengths");
  if (a.size() < 2) throw_input("{} query, but a paired t-test needs at least two", a.size());
  PairedTest test;
  test.pairs = a.size();
  const auto n = static_cast<double>(a.size());
  bool constant = true;
  for (size_t i = 0; i < a.size(); ++i) {
    test.mean_a += a[i] / n;
    test.mean_b += b[i] / n;
    test.difference += a[i] - b[i];
    constant = constant && a[i] - b[i] == a[0] - b[0];
    ++(a[i] > b[i] ? test.wins : a[i] < b[i] ? test.losses : test.ties);
  }
  test.difference /= n;
  if (constant) {
    test_without_variance(test);
    return test;
  }
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double deviation = a[i] - b[i] - test.difference;
    squares += deviation * deviation;
  }
  test.standard_error = std::sqrt(squares / (n - 1) / n);
  test.t = test.difference / test.standard_error;
  const boost::math::students_t_distribution<double> student(n - 1);
  test.p = 2 * boost::math::cdf(boost::math::complement(student, std::abs(test.t)));
  test.p_a_better = boost::math::cdf(boost::math::complement(student, test.t));
  return test;
}

CombinedTest fisher_combine(std::span<const double> p_values) {
  require(!p_values.empty(), "no tests to combine");
  CombinedTest result;
  result.degrees = 2 * p_values.size();
  for (const double p : p_values) {
    require(p >= 0 && p <= 1, "a p-value outside 0..1");
    result.statistic -= 2 * std::log(p);
  }
  if (std::isinf(result.statistic)) {
    result.p = 0;
    return result;
  }
  const boost::math::chi_squared_distribution<double> chi(static_cast<double>(result.degrees));
  result.p = boost::math::cdf(boost::math::complement(chi, result.statistic));
  return result;
}

}  // namespace tunemix
