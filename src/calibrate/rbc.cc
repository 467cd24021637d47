#include "calibrate/rbc.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "calibrate/kernels.h"
#include "calibrate/monomials.h"
#include "calibrate/solve.h"
#include "tunemix/core/aligned.h"

namespace tunemix::calibrate {
namespace {

constexpr size_t kRows = kMomentRows;

// A plain ranker has its direction from training. On few queries a line through its scores may fall all the
// same, and would turn every ranking round: where it falls, one that rises by this share takes its place.
constexpr double kLeastRise = 0.01;
constexpr const char* kFalls =
    "the scores fall as grades rise on the calibration split; a line that hardly rises keeps their order";

double inverse(double deviation) { return deviation > 0 ? 1 / deviation : 0; }

// Column k of documents [begin, end), standardised by its own mean and deviation.
void standardised_column(const Prepared& data, size_t k, size_t begin, size_t end, double* out) {
  const double* column = data.column(k) + begin;
  const double shift = data.mean - data.column_mean[k];
  const double scale = inverse(data.column_deviation[k]);
  for (size_t i = 0; i < end - begin; ++i) out[i] = (column[i] * data.deviation + shift) * scale;
}

// Columns 1, monomials, targets of documents [begin, end), each of kRows values, times the root of the
// document's weight; padding is 0.
void fill_columns(const Prepared& data, const std::vector<Monomial>& terms, size_t begin, size_t end,
                  std::vector<double>& columns) {
  const size_t n = end - begin;
  for (size_t i = 0; i < n; ++i) columns[i] = data.weights[begin + i] > 0 ? 1 : 0;
  double* first = columns.data() + kRows;
  for (size_t t = 0; t < terms.size(); ++t) {
    double* out = first + t * kRows;
    if (terms[t].parent < 0) {
      standardised_column(data, static_cast<size_t>(terms[t].input), begin, end, out);
      for (size_t i = 0; i < n; ++i) out[i] *= columns[i];
      continue;
    }
    const double* parent = first + static_cast<size_t>(terms[t].parent) * kRows;
    const double* input = first + static_cast<size_t>(terms[t].input) * kRows;
    for (size_t i = 0; i < n; ++i) out[i] = parent[i] * input[i];
  }
  std::copy_n(&data.gains[begin], n, first + terms.size() * kRows);
  std::copy_n(&data.ndcg_targets[begin], n, first + (terms.size() + 1) * kRows);
  for (size_t c = 0; c < terms.size() + 3 && data.weighted; ++c)
    for (size_t i = 0; i < n; ++i) columns[c * kRows + i] *= std::sqrt(data.weights[begin + i]);
}

}  // namespace

int degree_of(Regressor regressor) {
  switch (regressor) {
    case Regressor::kLinear:
      return 1;
    case Regressor::kPoly2:
      return 2;
    case Regressor::kPoly3:
      return 3;
    case Regressor::kPoly4:
      return 4;
    default:
      return 0;
  }
}

int affordable_degree(size_t documents, size_t columns, int wanted, int max_terms) {
  int degree = wanted;
  while (degree > 1) {
    const double terms = monomial_count(columns, degree);
    if (terms < static_cast<double>(documents) && terms <= max_terms) break;
    --degree;
  }
  return degree;
}

Moments::Moments(const Prepared& data, int degree, const Context& context) : data_(data), degree_(degree) {
  const std::vector<Monomial> terms = monomials(data.columns, degree);
  size_ = terms.size() + 3;
  constexpr size_t kPart = 32 * kRows;
  const size_t parts = (data.stride + kPart - 1) / kPart;
  std::vector<std::vector<double>> partial(parts);
  parallel_blocks(context.pool(), data.stride, kPart, [&](size_t begin, size_t end) {
    std::vector<double>& sums = partial[begin / kPart];
    sums.assign(size_ * size_, 0);
    std::vector<double> columns(size_ * kRows);
    for (size_t at = begin; at < end; at += kRows) {
      const size_t stop = std::min(end, at + kRows);
      fill_columns(data, terms, at, stop, columns);
      rbc_kernels().add_products(columns.data(), stop - at, size_, sums.data());
    }
  });
  sums_.assign(size_ * size_, 0);
  for (const auto& part : partial)
    for (size_t i = 0; i < sums_.size(); ++i) sums_[i] += part[i];
}

RbcFit Moments::solve(int degree, RbcTarget target, double ridge) const {
  require(degree >= 1 && degree <= degree_, "the moments are of a lower degree");
  const size_t terms = static_cast<size_t>(std::llround(monomial_count(data_.columns, degree)));
  const size_t y = size_ - (target == RbcTarget::kRaw ? 2 : 1);
  const double n = static_cast<double>(data_.documents);
  const auto covariance = [&](size_t i, size_t j) { return at(i, j) / n - at(i, 0) / n * (at(j, 0) / n); };
  // Terms that vary, each scaled to deviation 1: the ridge treats all alike.
  std::vector<size_t> used;
  std::vector<double> scale(terms + 1, 0);
  for (size_t t = 1; t <= terms; ++t) {
    const double variance = covariance(t, t);
    if (variance <= 1e-12 * std::max(at(t, t) / n, std::numeric_limits<double>::min())) continue;
    scale[t] = 1 / std::sqrt(variance);
    used.push_back(t);
  }
  std::vector<double> a(used.size() * used.size());
  std::vector<double> b(used.size());
  for (size_t i = 0; i < used.size(); ++i) {
    for (size_t j = 0; j < used.size(); ++j)
      a[i * used.size() + j] = covariance(used[i], used[j]) * scale[used[i]] * scale[used[j]];
    a[i * used.size() + i] += ridge;
    b[i] = covariance(used[i], y) * scale[used[i]];
  }
  std::vector<double> x = solve_symmetric(a, b);
  const double least_rise = kLeastRise * std::sqrt(std::max(0.0, covariance(y, y)));
  const bool falls = degree == 1 && data_.columns == 1 && !x.empty() && x[0] < 0;
  if (falls) x[0] = least_rise;
  PolynomialMap map;
  map.degree = degree;
  map.intercept = at(y, 0) / n;
  map.coefficients.assign(terms, 0);
  double explained = 0;
  for (size_t i = 0; i < used.size(); ++i) {
    const double coefficient = x[i] * scale[used[i]];
    map.coefficients[used[i] - 1] = coefficient;
    map.intercept -= coefficient * (at(used[i], 0) / n);
    // |y - Xw|^2 / n = var(y) - 2 w'cov(X,y) + w'Cw, and C w = cov(X,y) - ridge * w in scaled terms.
    explained += x[i] * (b[i] + ridge * x[i]);
  }
  if (falls) explained = 2 * x[0] * b[0] - x[0] * x[0];
  map.mean = data_.column_mean;
  for (const double deviation : data_.column_deviation) map.scale.push_back(inverse(deviation));
  if (degree == 1) {
    map.low.assign(data_.columns, -std::numeric_limits<double>::infinity());
    map.high.assign(data_.columns, std::numeric_limits<double>::infinity());
  } else {
    map.low = data_.column_low;
    map.high = data_.column_high;
  }
  RbcFit fit{std::move(map), std::max(0.0, covariance(y, y) - explained), 1, true, {}};
  if (falls) fit.warnings.emplace_back(kFalls);
  const bool finite = std::all_of(x.begin(), x.end(), [](double w) { return std::isfinite(w); });
  require(finite, "a least-squares fit is not finite");
  return fit;
}

// Newton's method on the cross-entropy of t = (target - low) / (high - low), which is convex.
RbcFit fit_logistic(const Prepared& data, RbcTarget target, const Context& context) {
  const std::vector<double>& y = data.target(target);
  const double low = *std::min_element(y.begin(), y.begin() + data.documents);
  const double high = *std::max_element(y.begin(), y.begin() + data.documents);
  const size_t K = data.columns;
  RbcFit fit;
  if (low == high) {
    fit.map = LogisticMap{low, high, 0, std::vector<double>(K, 0.0)};
    return fit;
  }
  constexpr double kRidge = 1e-8;
  constexpr int kMaxSteps = 50;
  const size_t size = K + 1;
  const double range = high - low;
  std::vector<double> x(K * data.stride);
  for (size_t k = 0; k < K; ++k) standardised_column(data, k, 0, data.stride, &x[k * data.stride]);

  struct Sums {
    double loss = 0;
    double squares = 0;
    std::vector<double> gradient, hessian;
  };
  const RbcKernels& kernels = rbc_kernels();
  const LogisticProblem problem{K, data.stride, x.data(), y.data(), data.weights.data(), low, range};
  const size_t blocks = (data.stride + kBlock - 1) / kBlock;
  const auto evaluate = [&](const std::vector<double>& w) {
    std::vector<Sums> partial(blocks);
    parallel_blocks(context.pool(), data.stride, kBlock, [&](size_t begin, size_t end) {
      Sums& s = partial[begin / kBlock];
      s.gradient.resize(size);
      s.hessian.resize(size * size);
      AlignedVector<double> scratch(logistic_scratch(K));
      LogisticSums sums{0, 0, s.gradient.data(), s.hessian.data()};
      kernels.logistic(problem, w.data(), begin, end, scratch.data(), sums);
      s.loss = sums.loss;
      s.squares = sums.squares;
    });
    Sums total{0, 0, std::vector<double>(size), std::vector<double>(size * size)};
    for (const Sums& s : partial) {
      total.loss += s.loss;
      total.squares += s.squares;
      for (size_t k = 0; k < size; ++k) total.gradient[k] += s.gradient[k];
      for (size_t k = 0; k < size * size; ++k) total.hessian[k] += s.hessian[k];
    }
    const double n = static_cast<double>(data.documents);
    for (size_t k = 0; k < K; ++k) {
      total.loss += 0.5 * kRidge * n * w[k] * w[k];
      total.gradient[k] += kRidge * n * w[k];
      total.hessian[k * size + k] += kRidge * n;
    }
    total.hessian[K * size + K] += kRidge * n;  // keeps the system regular where s saturates
    for (size_t k = 0; k < size; ++k)
      for (size_t j = 0; j < k; ++j) total.hessian[j * size + k] = total.hessian[k * size + j];
    return total;
  };

  double mean = 0;
  for (size_t i = 0; i < data.documents; ++i) mean += data.weights[i] * ((y[i] - low) / range);
  mean /= static_cast<double>(data.documents);
  std::vector<double> w(size, 0.0);
  // Documents of another target may all have weight 0.
  constexpr double kInside = 1e-12;
  mean = std::clamp(mean, kInside, 1 - kInside);
  w[K] = std::log(mean / (1 - mean));
  Sums now = evaluate(w);
  fit.evaluations = 1;
  fit.converged = false;
  while (fit.evaluations < kMaxSteps) {
    context.check_stop();
    const std::vector<double> step = solve_symmetric(now.hessian, now.gradient);
    double decrement = 0;
    for (size_t k = 0; k < size; ++k) decrement += step[k] * now.gradient[k];
    if (decrement <= 1e-12 * (now.loss + 1e-300)) {
      fit.converged = true;
      break;
    }
    double length = 1;
    bool better = false;
    for (int halving = 0; halving < 20 && !better; ++halving, length /= 2) {
      std::vector<double> next = w;
      for (size_t k = 0; k < size; ++k) next[k] -= length * step[k];
      Sums there = evaluate(next);
      ++fit.evaluations;
      better = there.loss < now.loss;
      if (better) {
        w = std::move(next);
        now = std::move(there);
      }
    }
    if (!better) {  // as good as the arithmetic allows
      fit.converged = true;
      break;
    }
  }
  if (K == 1 && w[0] < 0) {
    w = {kLeastRise, std::log(mean / (1 - mean))};
    now = evaluate(w);
    fit.warnings.emplace_back(kFalls);
  }
  LogisticMap map{low, high, w[K], std::vector<double>(K)};
  for (size_t k = 0; k < K; ++k) {
    map.weights[k] = w[k] * inverse(data.column_deviation[k]);
    map.intercept -= map.weights[k] * data.column_mean[k];
  }
  fit.map = std::move(map);
  fit.value = now.squares * range * range / static_cast<double>(data.documents);
  return fit;
}

}  // namespace tunemix::calibrate
