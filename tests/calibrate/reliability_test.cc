#include "tunemix/calibrate/reliability.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/calibrate/made_up.h"

namespace tunemix {
namespace {

TEST(Reliability, CurveOfAHandMadeCase) {
  const std::vector<float> predicted = {0.5f, 0.1f, 0.9f, 0.1f, 0.7f, 0.3f};
  const std::vector<int32_t> labels = {1, 0, 1, 1, 0, 0};
  const std::vector<double> grades = {0, 1};
  const Reliability r = reliability(predicted, labels, grades, true, 3);
  ASSERT_EQ(r.bins.size(), 3u);
  EXPECT_EQ(r.bins[0].documents, 2u);
  EXPECT_NEAR(r.bins[0].predicted, 0.1, 1e-7);
  EXPECT_NEAR(r.bins[0].observed, 0.5, 1e-12);
  EXPECT_NEAR(r.bins[1].predicted, 0.4, 1e-7);
  EXPECT_NEAR(r.bins[1].observed, 0.5, 1e-12);
  EXPECT_NEAR(r.bins[2].predicted, 0.8, 1e-7);
  EXPECT_NEAR(r.bins[2].observed, 0.5, 1e-12);
  EXPECT_NEAR(*r.expected_error, (0.4 + 0.1 + 0.3) / 3, 1e-7);
  EXPECT_FALSE(r.log_loss);
  EXPECT_FALSE(reliability(predicted, labels, grades, false, 3).expected_error);
}

TEST(Reliability, EqualPredictionsStayTogether) {
  const std::vector<float> predicted = {1, 1, 1, 1, 1, 1, 1, 2};
  const std::vector<int32_t> labels = {0, 1, 0, 1, 0, 1, 0, 1};
  const std::vector<double> grades = {0, 1};
  const Reliability r = reliability(predicted, labels, grades, true, 4);
  ASSERT_EQ(r.bins.size(), 2u);
  EXPECT_EQ(r.bins[0].documents, 7u);
  EXPECT_EQ(r.bins[1].documents, 1u);
}

TEST(Reliability, BinsCoverEverythingInOrder) {
  for (const size_t n : {1, 2, 9, 10, 11, 97}) {
    Random random(n);
    std::vector<float> predicted;
    std::vector<int32_t> labels;
    for (size_t i = 0; i < n; ++i) {
      predicted.push_back(static_cast<float>(random.normal()));
      labels.push_back(static_cast<int32_t>(random.below(2)));
    }
    const std::vector<double> grades = {0, 1};
    const Reliability r = reliability(predicted, labels, grades, true);
    size_t documents = 0;
    for (size_t b = 0; b < r.bins.size(); ++b) {
      documents += r.bins[b].documents;
      EXPECT_LE(r.bins[b].low, r.bins[b].high);
      if (b > 0) {
        EXPECT_GT(r.bins[b].low, r.bins[b - 1].high);
      }
    }
    EXPECT_EQ(documents, n);
    EXPECT_EQ(r.bins.size(), std::min<size_t>(n, 10));
  }
}

TEST(Reliability, LogLossEqualsTheTargetOfLs) {
  const auto data = test::make_up({.documents = 500});
  const Context context;
  const Calibrator c = Calibrator::fit(CalibrationSpec::parse("cpc.ls"), data.input(), {}, 1, context);
  const Reliability r = reliability(c, data.scores, data.labels, data.grades, context);
  EXPECT_NEAR(*r.log_loss, c.report().value / 500, 1e-9);
  const Calibrator shift = Calibrator::fit(CalibrationSpec::parse("cpc.shift"), data.input(), {}, 1, context);
  const Reliability of_shift = reliability(shift, data.scores, data.labels, data.grades, context);
  EXPECT_LT(*r.log_loss, *of_shift.log_loss);
  EXPECT_LT(*r.expected_error, *of_shift.expected_error);
  const Calibrator ndcg =
      Calibrator::fit(CalibrationSpec::parse("rbc.linear.ndcg"), data.input(), {}, 1, context);
  const Reliability of_ndcg = reliability(ndcg, data.scores, data.labels, data.grades, context);
  EXPECT_FALSE(of_ndcg.log_loss || of_ndcg.expected_error);
  EXPECT_EQ(of_ndcg.bins.size(), 10u);
}

TEST(Reliability, LinearRegressionIsRightOnAverage) {
  const auto data = test::make_up({.documents = 500});
  const Context context;
  const Calibrator c =
      Calibrator::fit(CalibrationSpec::parse("rbc.linear.raw"), data.input(), {}, 1, context);
  const Reliability r = reliability(c, data.scores, data.labels, data.grades, context, 1);
  ASSERT_EQ(r.bins.size(), 1u);
  EXPECT_NEAR(r.bins[0].predicted, r.bins[0].observed, 1e-5);
}

}  // namespace
}  // namespace tunemix
