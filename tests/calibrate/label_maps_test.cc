#include "calibrate/label_maps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/calibrate/made_up.h"

namespace tunemix {
namespace {

using calibrate::LabelFit;
using calibrate::LabelFitter;
using calibrate::Prepared;
using test::MadeUp;
using test::make_up;
using test::prepare;

const CpcTarget kTargets[] = {CpcTarget::kLs, CpcTarget::kEwls, CpcTarget::kEl, CpcTarget::kEll};
const CpcForm kForms[] = {CpcForm::kEach, CpcForm::kMatrix};

// --- the obvious version

double slow_target(const Prepared& data, CpcForm form, CpcTarget target,
                   const std::vector<double>& parameters) {
  const size_t K = data.columns;
  const double* bias = parameters.data() + parameters.size() - K;
  double sum = 0;
  for (size_t i = 0; i < data.documents; ++i) {
    std::vector<double> p(K);
    for (size_t k = 0; k < K; ++k) {
      double z = bias[k];
      if (form == CpcForm::kMatrix)
        for (size_t j = 0; j < K; ++j) z += parameters[k * K + j] * data.column(j)[i];
      else
        z += parameters[k] * data.column(k)[i];
      p[k] = form == CpcForm::kMatrix ? std::exp(z) : 1 / (1 + std::exp(-z));
    }
    const double total = std::accumulate(p.begin(), p.end(), 0.0);
    const double label = data.labels[i];
    double entropy = 0, loss = 0, mean = 0;
    for (size_t k = 0; k < K; ++k) {
      p[k] /= total;
      entropy -= p[k] * std::log(p[k]);
      loss += (static_cast<double>(k) - label) * (static_cast<double>(k) - label) * p[k];
      mean += static_cast<double>(k) * p[k];
    }
    const double log_loss = -std::log(p[static_cast<size_t>(label)]);
    if (target == CpcTarget::kLs) sum += data.weights[i] * log_loss;
    if (target == CpcTarget::kEwls) sum += data.weights[i] * log_loss * entropy * entropy;
    if (target == CpcTarget::kEl) sum += data.weights[i] * loss;
    if (target == CpcTarget::kEll) sum += data.weights[i] * (mean - label) * (mean - label);
  }
  return sum;
}

std::vector<double> drawn_parameters(CpcForm form, size_t labels, Random& random) {
  std::vector<double> parameters((form == CpcForm::kMatrix ? labels * labels : labels) + labels);
  for (double& x : parameters) x = random.normal();
  return parameters;
}

double value_of(const Prepared& data, CpcForm form, CpcTarget target, const std::vector<double>& parameters,
                std::vector<double> gradient = {}) {
  return calibrate::label_target(data, data.weights, form, target, parameters, gradient, Context());
}

TEST(LabelTarget, EqualsTheObviousOne) {
  for (const size_t labels : {2, 3, 5}) {
    MadeUp made = make_up({.documents = 123, .labels = labels, .seed = labels});
    std::vector<float> weights;
    for (size_t i = 0; i < 123; ++i) weights.push_back(static_cast<float>(i % 4));
    CalibrationInput input = made.input();
    input.weights = weights;
    std::vector<std::string> warnings;
    const Prepared data = calibrate::prepare(input, warnings);
    Random random(labels);
    for (const CpcForm form : kForms)
      for (const CpcTarget target : kTargets) {
        const std::vector<double> parameters = drawn_parameters(form, labels, random);
        const double expected = slow_target(data, form, target, parameters);
        EXPECT_NEAR(value_of(data, form, target, parameters), expected, 1e-11 * std::abs(expected));
      }
  }
}

TEST(LabelTarget, GradientEqualsDifferences) {
  const Prepared data = prepare(make_up({.documents = 90, .labels = 4, .seed = 3}));
  Random random(2);
  for (const CpcForm form : kForms)
    for (const CpcTarget target : kTargets) {
      const std::vector<double> at = drawn_parameters(form, 4, random);
      std::vector<double> gradient(at.size());
      calibrate::label_target(data, data.weights, form, target, at, gradient, Context());
      for (size_t i = 0; i < at.size(); ++i) {
        constexpr double kStep = 1e-5;
        std::vector<double> up = at, down = at;
        up[i] += kStep;
        down[i] -= kStep;
        const double slope =
            (value_of(data, form, target, up) - value_of(data, form, target, down)) / (2 * kStep);
        EXPECT_NEAR(gradient[i], slope, 1e-6 * (1 + std::abs(slope))) << to_string(target) << " " << i;
      }
    }
}

TEST(LabelTarget, IsFiniteWhereProbabilitiesVanish) {
  const Prepared data = prepare(make_up({.documents = 50, .labels = 3}));
  for (const CpcForm form : kForms)
    for (const CpcTarget target : kTargets) {
      std::vector<double> at(form == CpcForm::kMatrix ? 12 : 6, 0);
      at[0] = 5000;
      at.back() = -4000;
      std::vector<double> gradient(at.size());
      EXPECT_TRUE(
          std::isfinite(calibrate::label_target(data, data.weights, form, target, at, gradient, Context())));
      for (const double slope : gradient) EXPECT_TRUE(std::isfinite(slope));
    }
}

// The optimum of the convex `ls` with its penalty has no slope in any direction.
TEST(LabelFitter, FindsTheOptimumOfLs) {
  const Prepared data = prepare(make_up({.documents = 2000, .labels = 4, .seed = 8}));
  const LabelFitter fitter(data, CpcForm::kMatrix, std::nullopt, {}, Context());
  const LabelFit fit = *fitter.fit(CpcTarget::kLs);
  EXPECT_TRUE(fit.converged);
  std::vector<double> at = fit.weights;
  at.insert(at.end(), fit.bias.begin(), fit.bias.end());
  std::vector<double> gradient(at.size());
  EXPECT_NEAR(
      calibrate::label_target(data, data.weights, CpcForm::kMatrix, CpcTarget::kLs, at, gradient, Context()),
      fit.value, 1e-9 * fit.value);
  // What is away from the identity pays: slope + ridge * (weights - a I) = 0, a the mean of the diagonal's.
  double a = 0;
  for (size_t k = 0; k < 4; ++k) a += fit.weights[k * 4 + k] / 4;
  for (size_t i = 0; i < 16; ++i) {
    const double away = fit.weights[i] - (i % 5 == 0 ? a : 0);
    EXPECT_NEAR(gradient[i] / 2000 + fitter.ridge() * away, 0, 1e-5) << i;
  }
  for (size_t k = 0; k < 4; ++k) EXPECT_NEAR(gradient[16 + k] / 2000, 0, 1e-5);
}

// Scores whose labels have offsets and scales of their own: one sigmoid cannot say what their probabilities
// are, sigmoids of their own and a map of all scores can.
TEST(LabelFitter, RepairsLabelsOfUnequalScale) {
  MadeUp made = make_up({.documents = 6000, .labels = 4, .noise = 0.5, .seed = 5});
  for (size_t i = 0; i < made.labels.size(); ++i)
    for (size_t k = 0; k < 4; ++k)
      made.scores.row(i)[k] =
          (made.scores.row(i)[k] - 2.0f * static_cast<float>(k)) / static_cast<float>(1 + k);
  const Prepared data = prepare(made);
  const double one = calibrate::CpcFitter(data, {}, Context()).fit(CpcTarget::kLs)->value;
  const auto start = calibrate::CpcFitter(data, {}, Context()).fit(CpcTarget::kLs);
  const double each = LabelFitter(data, CpcForm::kEach, start, {}, Context()).fit(CpcTarget::kLs)->value;
  const double matrix =
      LabelFitter(data, CpcForm::kMatrix, std::nullopt, {}, Context()).fit(CpcTarget::kLs)->value;
  EXPECT_LT(each, 0.95 * one);
  EXPECT_LT(matrix, each);
}

// With little data the ridge keeps the map near a multiple of the identity; with much it lets go.
TEST(LabelFitter, ChoosesTheRidgeByUnseenQueries) {
  const auto ridge = [](size_t documents, double noise) {
    double log_sum = 0;
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      const MadeUp made =
          make_up({.documents = documents, .labels = 3, .noise = noise, .longest = 10, .seed = seed});
      log_sum +=
          std::log10(LabelFitter(prepare(made), CpcForm::kMatrix, std::nullopt, {}, Context()).ridge());
    }
    return std::pow(10, log_sum / 5);
  };
  EXPECT_GE(ridge(100, 2), 0.1);
  EXPECT_LE(ridge(8000, 0.5), 0.01);
}

}  // namespace
}  // namespace tunemix
