#include "learners/svm/smooth_newton.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>

#include "learners/svm/simplex.h"

namespace tunemix::svm {
namespace {

// The loss max_l z_l is max over the simplex of u.z; smoothed it is max u.z - mu/2 (|u|^2 - 1), where u is
// the projection of z/mu. With M* = C sum_i weight_i (e_{l_i} - u_i) x_i the gradient is M - M*, u is
// feasible in the dual, and the gap is sum_i C weight_i (max z_i - u_i.z_i) + 1/2 |M - M*|^2: a part from
// smoothing and a part from not having converged.

constexpr double kLargestSmoothing = 0.3;     // mu, in units of the margin
constexpr double kSmallestSmoothing = 1e-13;  // where rounding takes over
constexpr double kSmoothingOfGap = 4;         // first mu: this times the mean gap of a document
constexpr double kLowerSmoothing = 0.25;      // factor on mu
constexpr double kConverged = 0.5;  // lower mu when the second part is below this share of the first
constexpr double kSlopeKept = 0.3;  // line search: the share of the slope that may be left
constexpr int kMostTrials = 12;
constexpr size_t kRowsOfChunk = 2048;  // rows of one partial product X'X

using Matrix = Eigen::MatrixXd;

struct Sums {
  double loss = 0;       // C sum weight max z
  double smoothing = 0;  // C sum weight (max z - u.z)
};

class Newton {
 public:
  Newton(const Problem& problem, double C, State& state, const Context& context)
      : problem_(problem),
        C_(C),
        K_(problem.classes()),
        width_(problem.width()),
        state_(state),
        context_(context),
        basis_(sum_zero_basis(K_)),
        F_(problem.documents() * width_),
        dF_(F_.size()),
        dual_M_(state.M),
        gradient_(state.M.size()),
        step_(state.M.size()),
        parts_(problem.blocks() * state.M.size()),
        supports_(problem.documents()) {
    problem_.scores(state_.M, F_, context_);
    scale_start();
    mu_ = first_smoothing();
    refresh();
  }

  Certificate certificate() const {
    return {half_square(state_.M) + sums_.loss,
            half_square(state_.M) + sums_.loss - sums_.smoothing - half_square(gradient_)};
  }
  // Whether the smoothing, rather than the convergence, holds the gap open.
  bool converged() const { return half_square(gradient_) <= kConverged * sums_.smoothing; }
  // Whether rounding leaves no further step.
  bool at_precision() const { return mu_ < kSmallestSmoothing || singular_; }
  void lower_smoothing() {
    mu_ *= kLowerSmoothing;
    refresh();
  }
  void newton_step() {
    if (!solve()) return;
    problem_.scores(step_, dF_, context_);
    const double t = line_search();
    for (size_t e = 0; e < step_.size(); ++e) state_.M[e] += t * step_[e];
    for_blocks([&](size_t, size_t begin, size_t end) {
      for (size_t e = begin * width_; e < end * width_; ++e) F_[e] += t * dF_[e];
    });
    refresh();
  }

 private:
  static double half_square(const std::vector<double>& v) {
    return 0.5 * std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
  }
  // K x (K-1), orthonormal columns that sum to 0: the weights of the labels lie in their span.
  static Matrix sum_zero_basis(size_t K) {
    Matrix Q = Matrix::Zero(static_cast<Eigen::Index>(K), static_cast<Eigen::Index>(K) - 1);
    for (Eigen::Index c = 0; c + 1 < Q.rows(); ++c) {
      const double length = std::sqrt(static_cast<double>((c + 1) * (c + 2)));
      for (Eigen::Index r = 0; r <= c; ++r) Q(r, c) = 1 / length;
      Q(c + 1, c) = -static_cast<double>(c + 1) / length;
    }
    return Q;
  }

  template <typename Body>
  void for_blocks(Body&& body) const {
    context_.pool().run(problem_.blocks(), [&](size_t b) {
      body(b, b * problem_.block(), std::min(problem_.documents(), (b + 1) * problem_.block()));
    });
  }

  // C sum_i weight_i f(i), in a fixed order.
  template <typename Function>
  double block_sum(Function&& f) const {
    std::vector<double> sums(problem_.blocks());
    for_blocks([&](size_t b, size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) sums[b] += C_ * problem_.weight(i) * f(i);
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  }

  // u of margins z, and the largest of z. False where u is a vertex.
  bool smooth_max(const double* z, double mu, double* u, double& largest) const {
    size_t top = 0;
    for (size_t l = 1; l < K_; ++l)
      if (z[l] > z[top]) top = l;
    largest = z[top];
    bool vertex = true;
    for (size_t l = 0; l < K_; ++l)
      if (l != top && z[l] > z[top] - mu) vertex = false;
    if (vertex) {
      for (size_t l = 0; l < K_; ++l) u[l] = l == top ? 1 : 0;
      return false;
    }
    for (size_t l = 0; l < K_; ++l) u[l] = (z[l] - z[top]) / mu;
    project_to_simplex(u, K_, u);
    return true;
  }

  // The loss part of the objective at t M.
  double loss_at(double t) const {
    return block_sum([&](size_t i) {
      double f[32];
      double z[32];
      for (size_t l = 0; l < K_; ++l) f[l] = t * F_[i * width_ + l];
      margins(f, problem_.label(i), K_, z);
      return *std::max_element(z, z + K_);
    });
  }

  // M comes from a smaller C, times the ratio of the two: too long where most documents have left their
  // bounds.
  void scale_start() {
    double t = 1;
    double value = half_square(state_.M) + loss_at(1);
    for (double next = t / 2; next > 1e-3; next /= 2) {
      const double v = next * next * half_square(state_.M) + loss_at(next);
      if (v >= value) break;
      value = v;
      t = next;
    }
    for (double& m : state_.M) m *= t;
    for (double& f : F_) f *= t;
  }

  // A start near the solution needs a small mu, so that it stays near.
  double first_smoothing() const {
    const double open = block_sum([&](size_t i) {
      double z[32];
      margins(F_.data() + i * width_, problem_.label(i), K_, z);
      const double largest = *std::max_element(z, z + K_);
      double sum = 0;
      for (size_t l = 0; l < K_; ++l) sum += state_.u[i * width_ + l] * (largest - z[l]);
      return sum;
    });
    double distance = 0;
    for (size_t e = 0; e < dual_M_.size(); ++e) distance += std::pow(state_.M[e] - dual_M_[e], 2);
    return std::clamp(kSmoothingOfGap * (open + 0.5 * distance) / C_, kSmallestSmoothing, kLargestSmoothing);
  }

  // u, the sums, the dual point and the gradient at M; only documents whose u moved touch their features.
  void refresh() {
    std::vector<Sums> sums(problem_.blocks());
    const size_t size = state_.M.size();
    for_blocks([&](size_t b, size_t begin, size_t end) {
      double* part = parts_.data() + b * size;
      std::fill_n(part, size, 0.0);
      with_width(width_, [&](auto width) { sums[b] = refresh_block<width()>(begin, end, part); });
    });
    sums_ = {};
    for (const Sums& s : sums) {
      sums_.loss += s.loss;
      sums_.smoothing += s.smoothing;
    }
    for (size_t b = 0; b < problem_.blocks(); ++b)
      for (size_t e = 0; e < size; ++e) dual_M_[e] += parts_[b * size + e];
    for (size_t e = 0; e < size; ++e) gradient_[e] = state_.M[e] - dual_M_[e];
  }

  template <size_t Width>
  Sums refresh_block(size_t begin, size_t end, double* part) {
    Sums sums;
    for (size_t i = begin; i < end; ++i) {
      double z[Width];
      double next[Width] = {};
      double largest = 0;
      margins(F_.data() + i * Width, problem_.label(i), K_, z);
      const bool inside = smooth_max(z, mu_, next, largest);
      const double bound = C_ * problem_.weight(i);
      sums.loss += bound * largest;
      if (inside)
        for (size_t l = 0; l < K_; ++l) sums.smoothing += bound * next[l] * (largest - z[l]);
      double* u = state_.u.data() + i * Width;
      double change[Width];
      bool moved = false;
      for (size_t l = 0; l < Width; ++l) {
        change[l] = bound * (u[l] - next[l]);
        moved |= u[l] != next[l];
        u[l] = next[l];
      }
      if (moved) problem_.add<Width>(i, change, part);
    }
    return sums;
  }

  // step = -H^{-1} gradient, H = I + sum over supports S of J_S (x) sum_{i in S} (C weight_i / mu) x_i
  // x_i', J_S the projection onto the vectors on S that sum to 0. Returns false if H is not
  // positive definite, by rounding: the identity is lost beside a curvature 10^16 times as large.
  bool solve() {
    const auto d = static_cast<Eigen::Index>(problem_.features());
    const Eigen::Index k = basis_.cols();
    Matrix H = Matrix::Identity(d * k, d * k);
    add_curvature(H);
    const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> gradient(
        gradient_.data(), d, static_cast<Eigen::Index>(width_));
    Matrix right = -gradient.leftCols(static_cast<Eigen::Index>(K_)) * basis_;  // d x k, label by label
    Eigen::Map<Eigen::VectorXd> flat(right.data(), d * k);
    const Eigen::LLT<Eigen::Ref<Matrix>, Eigen::Lower> factor(H);
    singular_ = factor.info() != Eigen::Success;
    if (singular_) return false;
    factor.solveInPlace(flat);
    Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> step(
        step_.data(), d, static_cast<Eigen::Index>(width_));
    step.setZero();
    step.leftCols(static_cast<Eigen::Index>(K_)) = right * basis_.transpose();
    return true;
  }

  struct Chunk {
    uint32_t support = 0;
    std::span<const size_t> documents;
  };

  void add_curvature(Matrix& H) {
    const auto d = static_cast<Eigen::Index>(problem_.features());
    find_supports();
    std::map<uint32_t, std::vector<size_t>> groups;
    for (size_t i = 0; i < supports_.size(); ++i)
      if (supports_[i] != 0) groups[supports_[i]].push_back(i);
    std::vector<Chunk> chunks;
    for (const auto& [support, documents] : groups)
      for (size_t at = 0; at < documents.size(); at += kRowsOfChunk)
        chunks.push_back(
            {support, std::span(documents).subspan(at, std::min(kRowsOfChunk, documents.size() - at))});
    constexpr size_t kAtOnce = 16;  // bounds the memory of the products; fixed, for the order of the sums
    std::vector<Matrix> products(std::min(kAtOnce, chunks.size()));
    for (size_t first = 0; first < chunks.size(); first += kAtOnce) {
      const size_t count = std::min(kAtOnce, chunks.size() - first);
      context_.pool().run(count, [&](size_t t) { products[t] = second_moment(chunks[first + t].documents); });
      for (size_t t = 0; t < count; ++t) {
        const Matrix J = curvature_of(chunks[first + t].support);
        for (Eigen::Index a = 0; a < J.rows(); ++a)
          for (Eigen::Index b = 0; b <= a; ++b) H.block(a * d, b * d, d, d) += J(a, b) * products[t];
      }
    }
  }

  void find_supports() {
    for_blocks([&](size_t, size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        double z[32];
        double u[32];
        double largest = 0;
        margins(F_.data() + i * width_, problem_.label(i), K_, z);
        supports_[i] = 0;
        if (!smooth_max(z, mu_, u, largest)) continue;
        for (size_t l = 0; l < K_; ++l)
          if (u[l] > 0) supports_[i] |= uint32_t{1} << l;
      }
    });
  }

  // sum of (C weight_i / mu) x_i x_i', the whole symmetric matrix
  Matrix second_moment(std::span<const size_t> documents) const {
    const auto d = static_cast<Eigen::Index>(problem_.features());
    Matrix rows(d, static_cast<Eigen::Index>(documents.size()));
    for (size_t r = 0; r < documents.size(); ++r)
      problem_.copy_row(documents[r], std::sqrt(C_ * problem_.weight(documents[r]) / mu_),
                        rows.data() + static_cast<Eigen::Index>(r) * d);
    Matrix product = Matrix::Zero(d, d);
    product.selfadjointView<Eigen::Lower>().rankUpdate(rows);
    product.triangularView<Eigen::StrictlyUpper>() = product.transpose();
    return product;
  }

  // Q' J_S Q
  Matrix curvature_of(uint32_t support) const {
    Matrix J = Matrix::Zero(basis_.rows(), basis_.rows());
    const double share = 1.0 / std::popcount(support);
    for (Eigen::Index a = 0; a < J.rows(); ++a)
      for (Eigen::Index b = 0; b < J.rows(); ++b)
        if ((support >> a & 1U) != 0 && (support >> b & 1U) != 0) J(a, b) = (a == b ? 1 : 0) - share;
    return basis_.transpose() * J * basis_;
  }

  // The smoothed objective's slope along the step at t.
  double slope(double t) const {
    double sum = block_sum([&](size_t i) {
      const double* f = F_.data() + i * width_;
      const double* df = dF_.data() + i * width_;
      const size_t y = problem_.label(i);
      double moved[32];
      double z[32];
      double u[32];
      double largest = 0;
      for (size_t l = 0; l < K_; ++l) moved[l] = f[l] + t * df[l];
      margins(moved, y, K_, z);
      smooth_max(z, mu_, u, largest);
      double change = 0;
      for (size_t l = 0; l < K_; ++l) change += u[l] * (df[l] - df[y]);
      return change;
    });
    for (size_t e = 0; e < step_.size(); ++e) sum += step_[e] * (state_.M[e] + t * step_[e]);
    return sum;
  }

  // A point where most of the slope is gone. The slope grows with t, so it brackets the minimum.
  double line_search() const {
    const double first = std::inner_product(step_.begin(), step_.end(), gradient_.begin(), 0.0);
    double low = 0;
    double low_slope = first;
    double high = 1;
    double high_slope = slope(1);
    if (high_slope <= kSlopeKept * -first) return 1;
    for (int trial = 0; trial < kMostTrials; ++trial) {
      const double share = std::clamp(low_slope / (low_slope - high_slope), 0.1, 0.9);
      const double t = low + share * (high - low);
      const double s = slope(t);
      if (std::abs(s) <= kSlopeKept * -first) return t;
      (s < 0 ? low : high) = t;
      (s < 0 ? low_slope : high_slope) = s;
    }
    return low > 0 ? low : high;
  }

  const Problem& problem_;
  double C_;
  size_t K_;
  size_t width_;
  State& state_;
  const Context& context_;
  Matrix basis_;
  double mu_ = 0;  // smoothing of the objective
  bool singular_ = false;
  Sums sums_;
  std::vector<double> F_;         // scores at M
  std::vector<double> dF_;        // scores of the step
  std::vector<double> dual_M_;    // primal point of u
  std::vector<double> gradient_;  // M - dual_M
  std::vector<double> step_;
  std::vector<double> parts_;
  std::vector<uint32_t> supports_;  // of u, as bits; 0 where u is a vertex
};

}  // namespace

size_t newton_unknowns(const Problem& problem) { return problem.features() * (problem.classes() - 1); }

Progressed smooth_newton(const Problem& problem, double C, double gap, int max_steps, State& state,
                         const Context& context) {
  Newton newton(problem, C, state, context);
  Progressed result;
  result.certificate = newton.certificate();
  while (!result.certificate.reached(C, gap) && result.epochs < max_steps && !newton.at_precision()) {
    context.check_stop();
    if (newton.converged()) {
      newton.lower_smoothing();
    } else {
      newton.newton_step();
      ++result.epochs;
    }
    result.certificate = newton.certificate();
    context.progress(static_cast<size_t>(result.epochs), static_cast<size_t>(max_steps),
                     result.certificate.relative_gap());
  }
  return result;
}

}  // namespace tunemix::svm
