// Whether two systems differ: the paired t-test over queries, and Fisher's method to combine folds.
#pragma once

#include <cstddef>
#include <span>

namespace tunemix {

struct PairedTest {
  size_t pairs = 0;
  double mean_a = 0;
  double mean_b = 0;
  double difference = 0;      // mean of a - b
  double standard_error = 0;  // of the difference
  double t = 0;               // 0 when all differences are 0, infinite when they are one other constant
  double p = 1;               // two-sided
  double p_a_better = 0.5;    // one-sided: as large a difference in favour of a, if there were none
  size_t wins = 0;            // a > b
  size_t ties = 0;
  size_t losses = 0;
};

// Student's t-test on the differences a[i] - b[i]. Throws InputError for fewer than two pairs.
PairedTest paired_t_test(std::span<const double> a, std::span<const double> b);

struct CombinedTest {
  double statistic = 0;  // -2 sum ln p; infinite when a p is 0
  size_t degrees = 0;    // 2 per test
  double p = 1;
};

// Fisher's method for independent tests of the same hypothesis; each p in [0, 1], at least one.
CombinedTest fisher_combine(std::span<const double> p_values);

}  // namespace tunemix
