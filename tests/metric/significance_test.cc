#include "tunemix/metric/significance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tunemix/core/error.h"

namespace tunemix {
namespace {

// Student's sleep data (1908): the published t of the paired test is -4.0621 with 9 degrees of freedom, and
// p = 0.002833.
TEST(PairedTTest, StudentsSleepData) {
  const std::vector<double> a = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
  const std::vector<double> b = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  const PairedTest test = paired_t_test(a, b);
  EXPECT_NEAR(test.t, -4.0621, 5e-5);
  EXPECT_NEAR(test.p, 0.002833, 5e-7);
  EXPECT_NEAR(test.p_a_better, 1 - 0.002833 / 2, 5e-7);
  EXPECT_NEAR(test.difference, -1.58, 1e-12);
  EXPECT_NEAR(test.mean_a, 0.75, 1e-12);
  EXPECT_NEAR(test.mean_b, 2.33, 1e-12);
  EXPECT_EQ(test.wins, 0U);
  EXPECT_EQ(test.ties, 1U);
  EXPECT_EQ(test.losses, 9U);
}

// With one degree of freedom Student's t is Cauchy: p = 1 - 2/pi atan(t).
TEST(PairedTTest, TwoPairsInClosedForm) {
  const PairedTest test = paired_t_test(std::vector<double>{3, 2}, std::vector<double>{0, 1});
  EXPECT_DOUBLE_EQ(test.t, 2);
  EXPECT_NEAR(test.p, 1 - 2 / M_PI * std::atan(2.0), 1e-14);
}

TEST(PairedTTest, EqualSystemsDoNotDiffer) {
  const std::vector<double> a = {0.1, 0.2, 0.3};
  const PairedTest test = paired_t_test(a, a);
  EXPECT_EQ(test.t, 0);
  EXPECT_EQ(test.p, 1);
  EXPECT_EQ(test.p_a_better, 0.5);
  EXPECT_EQ(test.ties, 3U);
}

TEST(PairedTTest, AConstantDifferenceIsCertain) {
  const PairedTest test = paired_t_test(std::vector<double>{1, 2, 3}, std::vector<double>{2, 3, 4});
  EXPECT_EQ(test.t, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(test.p, 0);
  EXPECT_EQ(test.p_a_better, 1);
}

TEST(PairedTTest, OneQueryIsNotEnough) {
  const std::vector<double> one = {1};
  try {
    paired_t_test(one, one);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("needs at least two"));
  }
}

// For two tests Fisher's p is q (1 - ln q) with q the product of both.
TEST(Fisher, TwoTestsInClosedForm) {
  const CombinedTest test = fisher_combine(std::vector<double>{0.05, 0.2});
  EXPECT_EQ(test.degrees, 4U);
  EXPECT_NEAR(test.statistic, -2 * std::log(0.01), 1e-12);
  EXPECT_NEAR(test.p, 0.01 * (1 - std::log(0.01)), 1e-14);
}

TEST(Fisher, Extremes) {
  EXPECT_EQ(fisher_combine(std::vector<double>{1, 1, 1}).p, 1);
  EXPECT_EQ(fisher_combine(std::vector<double>{0.5, 0}).p, 0);
  EXPECT_THROW(fisher_combine(std::vector<double>{}), InternalError);
  EXPECT_THROW(fisher_combine(std::vector<double>{1.5}), InternalError);
}

RC_GTEST_PROP(Fisher, OneTestIsItself, ()) {
  const double p = (1 + *rc::gen::inRange(0, 1000)) / 1001.0;
  RC_ASSERT(std::abs(fisher_combine(std::vector<double>{p}).p - p) < 1e-12);
}

RC_GTEST_PROP(PairedTTest, SwappingTheSystemsSwapsTheTails, ()) {
  std::vector<double> a;
  std::vector<double> b;
  for (auto n = *rc::gen::inRange(2, 20); n > 0; --n) {
    a.push_back(*rc::gen::inRange(0, 100) / 100.0);
    b.push_back(*rc::gen::inRange(0, 100) / 100.0);
  }
  const PairedTest ab = paired_t_test(a, b);
  const PairedTest ba = paired_t_test(b, a);
  RC_ASSERT(ab.wins == ba.losses && ab.ties == ba.ties);
  RC_ASSERT(ab.wins + ab.ties + ab.losses == a.size());
  RC_ASSERT(ab.t == -ba.t);
  RC_ASSERT(std::abs(ab.p - ba.p) < 1e-12);
  RC_ASSERT(std::abs(ab.p_a_better + ba.p_a_better - 1) < 1e-12);
  RC_ASSERT(std::abs(ab.p - 2 * std::min(ab.p_a_better, ba.p_a_better)) < 1e-12);
}

}  // namespace
}  // namespace tunemix
