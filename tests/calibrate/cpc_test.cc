#include "calibrate/cpc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/cell_sums.h"
#include "tests/calibrate/made_up.h"

namespace tunemix {
namespace {

using calibrate::Prepared;
using test::MadeUp;
using test::make_up;
using test::prepare;

// --- the obvious versions, from the equations

std::vector<double> slow_p(const Prepared& data, size_t i, double a, double b) {
  std::vector<double> p;
  for (size_t k = 0; k < data.columns; ++k) p.push_back(1 / (1 + std::exp(-a * (data.column(k)[i] - b))));
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& x : p) x /= sum;
  return p;
}

double slow_target(const Prepared& data, CpcTarget target, double a, double b) {
  double sum = 0;
  for (size_t i = 0; i < data.documents; ++i) {
    const std::vector<double> p = slow_p(data, i, a, b);
    const double label = data.labels[i];
    double entropy = 0, loss = 0, mean = 0;
    for (size_t k = 0; k < p.size(); ++k) {
      entropy -= p[k] * std::log(p[k]);
      loss += (static_cast<double>(k) - label) * (static_cast<double>(k) - label) * p[k];
      mean += static_cast<double>(k) * p[k];
    }
    const double log_loss = -std::log(p[static_cast<size_t>(label)]);
    switch (target) {
      case CpcTarget::kLs:
        sum += log_loss;
        break;
      case CpcTarget::kEwls:
        sum += log_loss * entropy * entropy;
        break;
      case CpcTarget::kEl:
        sum += loss;
        break;
      case CpcTarget::kEll:
        sum += (mean - label) * (mean - label);
        break;
      default:
        ADD_FAILURE();
    }
  }
  return sum;
}

double slow_soft_ndcg(const Prepared& data, double a, double b, double sigma) {
  double sum = 0;
  for (size_t q = 0; q + 1 < data.offsets.size(); ++q) {
    std::vector<double> v, z;
    for (size_t i = data.offsets[q]; i < data.offsets[q + 1]; ++i) {
      const std::vector<double> p = slow_p(data, i, a, b);
      double grade = 0;
      for (size_t k = 0; k < p.size(); ++k) grade += data.grades[k] * p[k];
      v.push_back(grade);
      z.push_back(data.gains[i]);
    }
    std::vector<size_t> j(v.size());
    std::iota(j.begin(), j.end(), size_t{0});
    std::sort(j.begin(), j.end(), [&](size_t x, size_t y) { return v[x] > v[y]; });
    for (size_t i = 0; i < v.size(); ++i) {
      double below = 0;
      for (const double other : v) below += std::exp(-(v[i] - other) * (v[i] - other) / sigma);
      for (size_t r = 0; r < v.size(); ++r)
        sum += z[i] / std::log2(static_cast<double>(r) + 2) *
               std::exp(-(v[i] - v[j[r]]) * (v[i] - v[j[r]]) / sigma) / below;
    }
  }
  return -sum;
}

const CpcTarget kSmooth[] = {CpcTarget::kLs, CpcTarget::kEwls, CpcTarget::kEl, CpcTarget::kEll};

TEST(CpcTargets, ValuesEqualTheSlowVersion) {
  const Prepared data = prepare(make_up({.documents = 203, .labels = 4}));
  const Context context;
  for (const double a : {0.05, 0.7, 3.0, 12.0})
    for (const double b : {-2.0, 0.1, 1.5, 6.0}) {
      const auto fast = calibrate::smooth_targets(data, a, b, context);
      for (const CpcTarget target : kSmooth) {
        const double slow = slow_target(data, target, a, b);
        EXPECT_NEAR(fast.value[calibrate::smooth_index(target)], slow, 1e-10 * std::abs(slow) + 1e-12)
            << to_string(target) << " " << a << " " << b;
      }
    }
}

TEST(CpcTargets, SteepSigmoidsInLogSpaceEqualPlainOnes) {
  // |a(f - b)| just below and far above where plain sigmoids end; the slow version works for both.
  Prepared data = prepare(make_up({.documents = 100, .seed = 8}));
  const Context context;
  const double b = data.high + 1;
  const double reach = b - data.low;
  for (const double a : {595 / reach, 605 / reach, 690 / reach}) {
    const auto fast = calibrate::smooth_targets(data, a, b, context);
    for (const CpcTarget target : kSmooth) {
      const double slow = slow_target(data, target, a, b);
      if (std::isfinite(slow)) {
        EXPECT_NEAR(fast.value[calibrate::smooth_index(target)], slow, 1e-9 * std::abs(slow) + 1e-12);
      }
    }
    std::vector<double> v;
    calibrate::expected_grades(data, a, b, v, context);
    for (size_t i = 0; i < data.documents; ++i) {
      const auto p = slow_p(data, i, a, b);
      EXPECT_NEAR(v[i], p[1] + 3 * p[2], 1e-10);
    }
  }
  const auto far = calibrate::smooth_targets(data, 1e5, b, context);
  for (size_t t = 0; t < calibrate::kSmoothTargets; ++t) EXPECT_TRUE(std::isfinite(far.value[t]));
}

TEST(CpcTargets, LeavingOutEwlsChangesNoOther) {
  const Prepared data = prepare(make_up({.documents = 100, .seed = 8}));
  const auto all = calibrate::smooth_targets(data, 1.2, 0.3, Context());
  const auto fewer = calibrate::smooth_targets(data, 1.2, 0.3, Context(), false);
  for (const CpcTarget target : {CpcTarget::kLs, CpcTarget::kEl, CpcTarget::kEll}) {
    const size_t t = calibrate::smooth_index(target);
    EXPECT_EQ(all.value[t], fewer.value[t]);
    EXPECT_EQ(all.gradient[t], fewer.gradient[t]);
  }
}

TEST(CpcTargets, GradientsEqualNumericalOnes) {
  const Prepared data = prepare(make_up({.documents = 150, .labels = 5, .seed = 4}));
  const Context context;
  for (const double a : {0.3, 1.1, 5.0})
    for (const double b : {-1.0, 0.4, 2.5}) {
      const auto at = calibrate::smooth_targets(data, a, b, context);
      const double h = 1e-5;
      const auto a1 = calibrate::smooth_targets(data, a + h, b, context);
      const auto a0 = calibrate::smooth_targets(data, a - h, b, context);
      const auto b1 = calibrate::smooth_targets(data, a, b + h, context);
      const auto b0 = calibrate::smooth_targets(data, a, b - h, context);
      for (size_t t = 0; t < calibrate::kSmoothTargets; ++t) {
        const double by_a = (a1.value[t] - a0.value[t]) / (2 * h);
        const double by_b = (b1.value[t] - b0.value[t]) / (2 * h);
        EXPECT_NEAR(at.gradient[t][0], by_a, 1e-5 * (1 + std::abs(by_a))) << t;
        EXPECT_NEAR(at.gradient[t][1], by_b, 1e-5 * (1 + std::abs(by_b))) << t;
      }
    }
}

TEST(CpcTargets, SoftNdcgEqualsAllPairs) {
  // Queries long enough that the sorted windows leave pairs out.
  const Prepared data = prepare(make_up({.documents = 900, .labels = 5, .longest = 250, .seed = 2}));
  const Context context;
  for (const double sigma : {0.01, 0.3})
    for (const double a : {0.2, 1.0, 6.0})
      for (const double b : {-1.0, 1.0, 4.0}) {
        const double slow = slow_soft_ndcg(data, a, b, sigma);
        EXPECT_NEAR(calibrate::soft_ndcg(data, a, b, sigma, context), slow, 1e-11 * std::abs(slow));
      }
}

TEST(CpcTargets, SoftNdcgOfManyDocumentsEqualsAllPairs) {
  MadeUp made = make_up({.documents = kManyDocuments + 400, .labels = 5, .seed = 4});
  made.queries = QueryIndex({0, kManyDocuments + 300, kManyDocuments + 400}, {"long", "short"});
  const Prepared data = prepare(made);
  const Context context;
  for (const double sigma : {0.01, 0.3})
    for (const double a : {0.2, 6.0}) {
      const double slow = slow_soft_ndcg(data, a, 1, sigma);
      EXPECT_NEAR(calibrate::soft_ndcg(data, a, 1, sigma, context), slow, 1e-11 * std::abs(slow));
    }
}

// So many pairs that they cannot be gone through. Equal scores share all discounts.
TEST(CpcTargets, SoftNdcgOfHundredsOfThousandsOfDocumentsIsQuick) {
  constexpr size_t kDocuments = 400000;
  MadeUp made = make_up({.documents = kDocuments});
  for (float& f : made.scores.values()) f = 0.25F;
  made.queries = QueryIndex({0, kDocuments}, {"q"});
  const Prepared data = prepare(made);
  double gains = 0;
  double discounts = 0;
  for (size_t i = 0; i < kDocuments; ++i) {
    gains += data.gains[i];
    discounts += 1 / std::log2(static_cast<double>(i) + 2);
  }
  const double expected = -gains * discounts / kDocuments;
  EXPECT_NEAR(calibrate::soft_ndcg(data, 1, 0, 0.01, Context()) / expected, 1, 1e-9);
}

TEST(CpcTargets, SoftNdcgTendsToTheDcgOfTheRanking) {
  const Prepared data = prepare(make_up({.documents = 300, .seed = 3}));
  const Context context;
  std::vector<double> v;
  calibrate::expected_grades(data, 1.3, 0.2, v, context);
  double dcg = 0;
  for (size_t q = 0; q + 1 < data.offsets.size(); ++q) {
    std::vector<size_t> order;
    for (size_t i = data.offsets[q]; i < data.offsets[q + 1]; ++i) order.push_back(i);
    std::sort(order.begin(), order.end(), [&](size_t x, size_t y) { return v[x] > v[y]; });
    for (size_t r = 0; r < order.size(); ++r)
      dcg += data.gains[order[r]] / std::log2(static_cast<double>(r) + 2);
  }
  EXPECT_NEAR(calibrate::soft_ndcg(data, 1.3, 0.2, 1e-12, context), -dcg, 1e-6 * dcg);
}

TEST(CpcFit, IsAtLeastAsGoodAsAFineGrid) {
  const Context context;
  const CalibrationOptions options;
  for (const uint64_t seed : {1, 2, 3}) {
    const Prepared data = prepare(make_up({.documents = 400, .labels = 3 + seed % 2, .seed = seed}));
    const calibrate::CpcFitter fitter(data, options, context);
    const calibrate::CpcBox box = calibrate::cpc_box(data, options);
    std::array<double, 5> lowest;
    lowest.fill(HUGE_VAL);
    constexpr int kSteps = 40;
    for (int i = 0; i <= kSteps; ++i)
      for (int j = 0; j <= kSteps; ++j) {
        const double a = std::exp(box.low[0] + (box.high[0] - box.low[0]) * i / kSteps);
        const double b = box.low[1] + (box.high[1] - box.low[1]) * j / kSteps;
        const auto smooth = calibrate::smooth_targets(data, a, b, context);
        for (size_t t = 0; t < 4; ++t) lowest[t] = std::min(lowest[t], smooth.value[t]);
        lowest[4] = std::min(lowest[4], calibrate::soft_ndcg(data, a, b, options.sigma, context));
      }
    for (const CpcTarget target : kSmooth) {
      const auto fit = fitter.fit(target);
      ASSERT_TRUE(fit);
      EXPECT_LE(fit->value, lowest[calibrate::smooth_index(target)] * (1 + 1e-9))
          << to_string(target) << seed;
      EXPECT_GT(fit->evaluations, 0);
      EXPECT_NEAR(fit->value, slow_target(data, target, fit->a, fit->b), 1e-8 * fit->value);
    }
    const auto fit = fitter.fit(CpcTarget::kSndcg);
    ASSERT_TRUE(fit);
    EXPECT_LE(fit->value, lowest[4] + 1e-3 * std::abs(lowest[4])) << seed;
  }
}

TEST(CpcFit, EntropyWeightedAndExpectedLossRunIntoTheBoundAndSaySo) {
  // Scores that separate the labels: ever steeper sigmoids lower both targets.
  const Context context;
  const CalibrationOptions options;
  const Prepared data = prepare(make_up({.documents = 500, .noise = 0.1, .seed = 5}));
  const calibrate::CpcFitter fitter(data, options, context);
  const auto fit = fitter.fit(CpcTarget::kEwls);
  ASSERT_TRUE(fit);
  EXPECT_NE(fit->bound_hit.find("a upper"), std::string::npos) << fit->bound_hit;
  EXPECT_LE(fit->a, options.max_steepness * (1 + 1e-9));
}

TEST(CpcFit, DoesNotDependOnTheScaleOfTheScores) {
  const Context context;
  const CalibrationOptions options;
  const MadeUp plain = make_up({.seed = 6});
  const MadeUp scaled = make_up({.scale = 1024, .offset = 0, .seed = 6});
  const Prepared p1 = prepare(plain), p2 = prepare(scaled);
  for (const CpcTarget target : kSmooth) {
    const auto f1 = calibrate::CpcFitter(p1, options, context).fit(target);
    const auto f2 = calibrate::CpcFitter(p2, options, context).fit(target);
    EXPECT_NEAR(f1->value, f2->value, 1e-4 * std::abs(f1->value)) << to_string(target);
  }
}

TEST(CpcFit, ThinnedStartsAreStillPolishedOnEverything) {
  const Context context;
  const CalibrationOptions options;
  const Prepared data = prepare(make_up({.documents = 20000, .seed = 7}));
  const calibrate::CpcFitter fitter(data, options, context);
  const auto fit = fitter.fit(CpcTarget::kLs);
  ASSERT_TRUE(fit);
  const auto at = calibrate::smooth_targets(data, fit->a, fit->b, context);
  EXPECT_EQ(at.value[0], fit->value);
  EXPECT_NEAR(at.gradient[0][0] / 20000, 0, 1e-4);
  if (fit->bound_hit.empty()) {
    EXPECT_NEAR(at.gradient[0][1] / 20000, 0, 1e-4);
  }
}

}  // namespace
}  // namespace tunemix
