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

TEST(Lanes, SumsInAFixedOrder) {
  const double values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(lanes::sum(lanes::load(values)), 36);
}

}  // namespace
}  // namespace tunemix
