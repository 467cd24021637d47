// Small training problems and slow solvers for the tests of the SVM.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "learners/svm/svm.h"
#include "tunemix/core/random.h"
#include "tunemix/data/dataset.h"

namespace tunemix::test {

inline constexpr SvmSolver kSolvers[] = {SvmSolver::kDual, SvmSolver::kNewton, SvmSolver::kAuto};

struct Rows {
  size_t features = 0;
  std::vector<float> x;
  std::vector<int32_t> labels;

  Dataset dataset() const { return Dataset(x, features, {labels, QueryIndex({0, labels.size()}, {"1"})}); }
};

// Noisy labels of a linear score; `density` is the share of features that are not 0.
inline Rows random_rows(size_t n, size_t d, int K, uint64_t seed, double density = 1) {
  Random random(seed);
  Rows rows{d, std::vector<float>(n * d), std::vector<int32_t>(n)};
  for (size_t i = 0; i < n; ++i) {
    double score = random.normal();
    for (size_t j = 0; j < d; ++j) {
      const double x = random.normal();
      rows.x[i * d + j] = random.uniform() < density ? static_cast<float>(x) : 0;
      score += (j % 2 == 0 ? 1.0 : -0.5) * static_cast<double>(rows.x[i * d + j]);
    }
    rows.labels[i] = std::clamp(static_cast<int>(std::floor(score + K / 2.0)), 0, K - 1);
  }
  return rows;
}

// For one C.
struct OneC : SvmOptions {
  double C = 1;
};

inline SvmSolution train_svm(const Dataset& data, const OneC& options, const Context& context) {
  const double C[] = {options.C};
  return train_svm_path(data, options, C, context).front();
}

inline ScoreMatrix scores_of(const SvmSolution& solution, const Dataset& data, const Context& context) {
  const size_t only[] = {0};
  return std::move(SvmModel({{"", solution}}).score(data, only, context)[0]);
}

inline OneC plain_options(SvmSolver solver) {
  OneC options;
  options.solver = solver;
  options.bias = false;
  options.scale = SvmScale::kNone;
  options.weights = SvmWeights::kUniform;
  return options;
}

// The objective from the definition, with weights of documents that sum to n.
inline double objective(const Rows& rows, size_t K, const std::vector<double>& M, double C,
                        const std::vector<double>& omega) {
  double value = 0;
  for (const double m : M) value += 0.5 * m * m;
  const size_t n = rows.labels.size();
  for (size_t i = 0; i < n; ++i) {
    std::vector<double> f(K, 0.0);
    for (size_t j = 0; j < rows.features; ++j)
      for (size_t l = 0; l < K; ++l)
        f[l] += static_cast<double>(rows.x[i * rows.features + j]) * M[j * K + l];
    const auto y = static_cast<size_t>(rows.labels[i]);
    double loss = 0;
    for (size_t l = 0; l < K; ++l)
      if (l != y) loss = std::max(loss, f[l] + 1 - f[y]);
    value += C / static_cast<double>(n) * omega[i] * loss;
  }
  return value;
}

// Projection onto the simplex by trying every support.
inline std::vector<double> slow_projection(const std::vector<double>& v) {
  const size_t K = v.size();
  std::vector<double> best;
  double nearest = INFINITY;
  for (unsigned support = 1; support < 1U << K; ++support) {
    double sum = 0;
    int count = 0;
    for (size_t l = 0; l < K; ++l)
      if (support >> l & 1U) sum += v[l], ++count;
    std::vector<double> u(K, 0.0);
    double distance = 0;
    bool feasible = true;
    for (size_t l = 0; l < K; ++l) {
      if (support >> l & 1U) u[l] = v[l] - (sum - 1) / count;
      feasible = feasible && u[l] >= 0;
      distance += (u[l] - v[l]) * (u[l] - v[l]);
    }
    if (feasible && distance < nearest) nearest = distance, best = u;
  }
  return best;
}

// The optimum from below, by accelerated projected gradient ascent on the dual.
inline double slow_optimum(const Rows& rows, size_t K, double C, int iterations) {
  const size_t n = rows.labels.size();
  const size_t d = rows.features;
  const double bound = C / static_cast<double>(n);
  double trace = 0;
  for (const float x : rows.x) trace += static_cast<double>(x) * static_cast<double>(x);
  const double rate = 1 / (bound * bound * trace);
  std::vector<double> u(n * K, 1.0 / static_cast<double>(K));
  std::vector<double> ahead = u;
  const auto primal_point = [&](const std::vector<double>& at) {
    std::vector<double> M(d * K, 0.0);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < d; ++j)
        for (size_t l = 0; l < K; ++l)
          M[j * K + l] += bound * static_cast<double>(rows.x[i * d + j]) *
                          ((l == static_cast<size_t>(rows.labels[i]) ? 1.0 : 0.0) - at[i * K + l]);
    return M;
  };
  double momentum = 1;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    const std::vector<double> M = primal_point(ahead);
    std::vector<double> next(n * K);
    for (size_t i = 0; i < n; ++i) {
      std::vector<double> v(K);
      for (size_t l = 0; l < K; ++l) {
        double slope = l == static_cast<size_t>(rows.labels[i]) ? 0 : 1;
        for (size_t j = 0; j < d; ++j) slope += static_cast<double>(rows.x[i * d + j]) * M[j * K + l];
        v[l] = ahead[i * K + l] + rate * bound * slope;
      }
      const std::vector<double> projected = slow_projection(v);
      std::copy(projected.begin(), projected.end(), next.begin() + static_cast<std::ptrdiff_t>(i * K));
    }
    const double grown = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
    for (size_t e = 0; e < u.size(); ++e) ahead[e] = next[e] + (momentum - 1) / grown * (next[e] - u[e]);
    momentum = grown;
    u = next;
  }
  double value = 0;
  for (const double m : primal_point(u)) value -= 0.5 * m * m;
  for (size_t i = 0; i < n; ++i)
    for (size_t l = 0; l < K; ++l)
      if (l != static_cast<size_t>(rows.labels[i])) value += bound * u[i * K + l];
  return value;
}

}  // namespace tunemix::test
