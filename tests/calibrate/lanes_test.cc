#define TUNEMIX_SET tested
#include "calibrate/lanes.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tunemix {
namespace {

double relative(double got, double expected) {
  return std::abs(got - expected) / std::max(std::abs(expected), 1e-300);
}

TEST(Lanes, ExpAgreesWithTheLibrary) {
  for (double x = -707.9; x < 700; x += 0.0371)
    EXPECT_LT(relative(lanes::exp(x)[3], std::exp(x)), 1e-15) << x;
  for (double x = -707.9; x < 700; x += 0.0371)
    EXPECT_LT(relative(lanes::exp<true>(x)[3], std::exp(x)), 1e-11) << x;
  EXPECT_EQ(lanes::exp(0)[0], 1.0);
  EXPECT_EQ(lanes::exp(-709)[0], 0.0);
  EXPECT_EQ(lanes::exp(-1e300)[0], 0.0);
}

TEST(Lanes, LogAgreesWithTheLibrary) {
  for (double x = 1e-300; x < 1e300; x *= 1.37)
    EXPECT_LT(relative(lanes::log(x)[5], std::log(x)), 2e-15) << x;
  for (double x = 0.5; x < 2; x += 0.00137)
    EXPECT_NEAR(lanes::log(x)[0], std::log(x), 3e-16 + 4e-16 * std::abs(std::log(x)));
  EXPECT_EQ(lanes::log(1)[0], 0.0);
}

TEST(Lanes, SigmoidAndTanh) {
  for (double x = -40; x < 40; x += 0.0173) {
    EXPECT_LT(relative(lanes::sigmoid(x)[1], 1 / (1 + std::exp(-x))), 2e-15) << x;
    EXPECT_NEAR(lanes::tanh(x)[1], std::tanh(x), 1e-15) << x;
  }
}

// Large values that cancel: any other order gives another sum.
TEST(Lanes, SumsInAFixedOrder) {
  const double v[8] = {1e16, 1, 3, -1e16, 5, 1e-3, -1e16, 1e16};
  const double expected = ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
  double in_a_row = 0;
  for (const double x : v) in_a_row += x;
  ASSERT_NE(expected, in_a_row);
  EXPECT_EQ(lanes::sum(lanes::load(v)), expected);
}

}  // namespace
}  // namespace tunemix
