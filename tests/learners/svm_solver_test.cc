// The solvers against slow ones, against the definition, and against the optimality conditions.
#include <gtest/gtest.h>

#include <numeric>

#include "learners/svm/dual_descent.h"
#include "learners/svm/simplex.h"
#include "learners/svm/smooth_newton.h"
#include "tests/learners/svm_support.h"

namespace tunemix {
namespace {

using test::OneC;
using test::plain_options;
using test::random_rows;
using test::Rows;
using test::scores_of;
using test::train_svm;

std::vector<double> weights_without_bias(const SvmSolution& model) {
  return {model.weights.begin(), model.weights.end() - static_cast<std::ptrdiff_t>(model.labels)};
}

TEST(Simplex, ProjectionEqualsTheBestOverAllSupports) {
  Random random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    const size_t K = 1 + random.below(6);
    const double size = std::pow(10.0, random.uniform() * 4 - 2);
    std::vector<double> v(K);
    for (double& x : v) x = random.uniform() < 0.2 ? size : size * random.normal();  // with ties
    std::vector<double> u(K);
    svm::project_to_simplex(v.data(), K, u.data());
    const std::vector<double> slow = test::slow_projection(v);
    for (size_t l = 0; l < K; ++l) EXPECT_NEAR(u[l], slow[l], 1e-12 * (1 + size)) << trial;
    EXPECT_NEAR(std::accumulate(u.begin(), u.end(), 0.0), 1, 1e-12 * (1 + size));
  }
}

TEST(Simplex, AVertexIsMetExactlyHoweverFarTheOthersAre) {
  const double v[] = {-1e12, 0.25, -3e15};
  double u[3];
  svm::project_to_simplex(v, 3, u);
  EXPECT_EQ(u[0], 0);
  EXPECT_EQ(u[1], 1);
  EXPECT_EQ(u[2], 0);
}

TEST(SvmSolver, ReachesTheOptimumOfASlowSolver) {
  const Context context;
  for (const size_t K : {2, 3, 4}) {
    const Rows rows = random_rows(25, 3, static_cast<int>(K), 10 + K);
    for (const double C : {0.1, 3.0, 40.0}) {
      const double optimum = test::slow_optimum(rows, K, C, 3000);
      for (const SvmSolver solver : test::kSolvers) {
        OneC options = plain_options(solver);
        options.labels = static_cast<int>(K);
        options.C = C;
        options.gap = 1e-6;
        options.max_epochs = 20000;
        const SvmSolution model = train_svm(rows.dataset(), options, context);
        EXPECT_LE(model.gap(), 1.001e-6);
        EXPECT_NEAR(model.primal, optimum, 1e-5 * optimum) << K << " labels, C " << C;
        const std::vector<double> ones(rows.labels.size(), 1.0);
        EXPECT_NEAR(model.primal, test::objective(rows, K, weights_without_bias(model), C, ones),
                    1e-9 * optimum);
      }
    }
  }
}

TEST(SvmSolver, FulfilsTheOptimalityConditions) {
  const Context context;
  const double C = 5;
  const Rows rows = random_rows(200, 4, 3, 5);
  const Dataset data = rows.dataset();
  const OneC options = plain_options(SvmSolver::kDual);
  const svm::Problem problem(data, fit_scaling(data, SvmScale::kNone, context), options, 3, context);
  svm::State state{std::vector<double>(problem.features() * problem.width(), 0.0),
                   std::vector<double>(problem.documents() * problem.width(), 0.0)};
  for (size_t i = 0; i < problem.documents(); ++i) state.u[i * problem.width() + problem.label(i)] = 1;
  Random random(1);
  svm::dual_descent(problem, C, 1e-8, 100000, state, random, context);
  std::vector<double> F(problem.documents() * problem.width());
  problem.scores(state.M, F, context);
  const std::vector<double> stationary = svm::primal_point(problem, C, state, context);
  for (size_t e = 0; e < state.M.size(); ++e) EXPECT_NEAR(state.M[e], stationary[e], 1e-9);
  for (size_t i = 0; i < problem.documents(); ++i) {
    double z[3];
    svm::margins(F.data() + i * problem.width(), problem.label(i), 3, z);
    const double largest = *std::max_element(z, z + 3);
    const double* u = state.u.data() + i * problem.width();
    double sum = 0;
    for (size_t l = 0; l < 3; ++l) {
      sum += u[l];
      EXPECT_GE(u[l], 0);
      EXPECT_LE(u[l] * (largest - z[l]), 1e-4);  // no dual mass on a label that is not the worst
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

// With two labels and w = m_1 - m_0 the problem is 1/4 |w|^2 + (C/n) sum max(0, 1 - y w.x), by descent on its
// n box constraints.
TEST(SvmSolver, TwoLabelsGiveTheBinaryHingeSolution) {
  const Rows rows = random_rows(60, 3, 2, 8);
  const double C = 4;
  const size_t n = rows.labels.size();
  std::vector<double> a(n, 0.0);
  std::vector<double> w(3, 0.0);
  for (int round = 0; round < 20000; ++round)
    for (size_t i = 0; i < n; ++i) {
      const double y = rows.labels[i] == 1 ? 1 : -1;
      double margin = 0;
      double norm2 = 0;
      for (size_t j = 0; j < 3; ++j) {
        const auto x = static_cast<double>(rows.x[i * 3 + j]);
        margin += y * w[j] * x;
        norm2 += x * x;
      }
      const double next = std::clamp(a[i] + (1 - margin) / (2 * norm2), 0.0, C / static_cast<double>(n));
      for (size_t j = 0; j < 3; ++j) w[j] += 2 * (next - a[i]) * y * static_cast<double>(rows.x[i * 3 + j]);
      a[i] = next;
    }
  const Context context;
  for (const SvmSolver solver : test::kSolvers) {
    OneC options = plain_options(solver);
    options.C = C;
    options.gap = 1e-8;
    options.max_epochs = 50000;
    const SvmSolution model = train_svm(rows.dataset(), options, context);
    for (size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(model.weights[j * 2 + 1] - model.weights[j * 2], w[j], 1e-3);
      EXPECT_NEAR(model.weights[j * 2 + 1], -model.weights[j * 2], 1e-9);
    }
  }
}

TEST(SvmSolver, SparseAndDenseRowsGiveTheObjectiveOfTheDefinition) {
  const Context context(2);
  for (const double density : {0.05, 1.0}) {
    const Rows rows = random_rows(3000, 20, 4, 21, density);
    const std::vector<double> ones(rows.labels.size(), 1.0);
    for (const SvmSolver solver : test::kSolvers) {
      OneC options = plain_options(solver);
      options.C = 2;
      const SvmSolution model = train_svm(rows.dataset(), options, context);
      EXPECT_LE(model.gap(), 1e-3);
      EXPECT_NEAR(model.primal, test::objective(rows, model.labels, weights_without_bias(model), 2, ones),
                  1e-9);
    }
  }
}

TEST(SvmSolver, AWeightOfTwoToTheLabelIsSoManyCopies) {
  const Context context;
  const Rows rows = random_rows(80, 3, 3, 31);
  Rows copies{rows.features, {}, {}};
  for (size_t i = 0; i < rows.labels.size(); ++i)
    for (int copy = 0; copy < 1 << rows.labels[i]; ++copy) {
      copies.x.insert(copies.x.end(), rows.x.begin() + static_cast<std::ptrdiff_t>(i * 3),
                      rows.x.begin() + static_cast<std::ptrdiff_t>(i * 3 + 3));
      copies.labels.push_back(rows.labels[i]);
    }
  OneC options = plain_options(SvmSolver::kAuto);
  options.gap = 1e-7;
  options.max_epochs = 20000;
  const SvmSolution uniform = train_svm(copies.dataset(), options, context);
  options.weights = SvmWeights::kExponential;
  const SvmSolution weighted = train_svm(rows.dataset(), options, context);
  EXPECT_NEAR(weighted.primal, uniform.primal, 1e-6);
}

TEST(SvmSolver, TheSmallestCStillGivesAnAccurateDirection) {
  // There the objective is that of M = 0 to many digits, and M is C times a fixed matrix.
  const Context context;
  const Rows rows = random_rows(2000, 5, 3, 17);
  OneC options;
  const double Cs[] = {1e-6, 1e-5};
  for (const SvmSolver solver : test::kSolvers) {
    options.solver = solver;
    for (const double C : Cs) {
      options.C = C;
      const SvmSolution model = train_svm(rows.dataset(), options, context);
      const double gain = C - model.primal;
      EXPECT_GT(gain, 0);
      EXPECT_LE(model.primal - model.dual, 0.011 * gain);
    }
  }
}

}  // namespace
}  // namespace tunemix
