#include "learners/svm/dual_descent.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "learners/svm/simplex.h"

namespace tunemix::svm {
namespace {

constexpr int kEpochsBetweenChecks = 20;
// Where labels are mostly noise, M gains next to nothing over M = 0, and a gap that is small beside that may
// never be reached: it is tried for so long once the gap is small beside the objective.
constexpr int kFineEpochs = 250;
constexpr size_t kAhead = 2;  // documents between fetching a row and using it

// One solve: the active documents, and what an epoch learnt about them.
template <size_t Width>
class Descent {
 public:
  Descent(const Problem& problem, double C, State& state, Random& random)
      : problem_(problem), C_(C), state_(state), random_(random), active_(problem.documents()) {
    activate_all();
  }

  void activate_all() {
    active_.resize(problem_.documents());
    std::iota(active_.begin(), active_.end(), size_t{0});
    shrink_above_ = std::numeric_limits<double>::infinity();
  }

  // Returns the sum of the documents' gaps, each as it was before its own step.
  double epoch() {
    random_.shuffle(std::span<size_t>(active_));
    double total = 0;
    double largest = 0;
    size_t kept = 0;
    for (size_t at = 0; at < active_.size(); ++at) {
      if (at + kAhead < active_.size()) problem_.prefetch(active_[at + kAhead]);
      const size_t i = active_[at];
      const Step step = visit(i);
      total += C_ * problem_.weight(i) * step.gap;
      largest = std::max(largest, step.gap);
      if (step.idle && step.slack > shrink_above_) continue;
      active_[kept++] = i;
    }
    active_.resize(kept);
    shrink_above_ = largest;
    return total;
  }

 private:
  struct Step {
    double largest = 0;  // max z
    double gap = 0;      // max z - u.z: the document's part of the duality gap, over its bound
    double slack = 0;    // of a document at a vertex: how far its largest margin is above the next
    bool idle = false;   // at a vertex, and it stayed there
  };

  Step visit(size_t i) {
    const size_t K = problem_.classes();
    double* u = state_.u.data() + i * Width;
    double f[Width];
    double z[Width];
    problem_.dot<Width>(i, state_.M.data(), f);
    margins(f, problem_.label(i), K, z);
    Step step = judge(z, u, K);
    // Margins relative to the largest: where the bound is tiny the quotient is huge, and u must keep its
    // digits.
    const double curvature = C_ * problem_.weight(i) * problem_.norm2(i);
    if (step.idle || curvature <= 0) return step;
    double next[Width] = {};
    for (size_t l = 0; l < K; ++l) next[l] = u[l] + (z[l] - step.largest) / curvature;
    project_to_simplex(next, K, next);
    double change[Width] = {};
    double moved = 0;
    for (size_t l = 0; l < K; ++l) {
      change[l] = C_ * problem_.weight(i) * (u[l] - next[l]);
      moved = std::max(moved, std::abs(u[l] - next[l]));
      u[l] = next[l];
    }
    if (moved > 0) problem_.add<Width>(i, change, state_.M.data());
    return step;
  }

  static Step judge(const double* z, const double* u, size_t K) {
    size_t top = 0;
    for (size_t l = 1; l < K; ++l)
      if (z[l] > z[top]) top = l;
    Step step;
    double next = -std::numeric_limits<double>::infinity();
    for (size_t l = 0; l < K; ++l) {
      step.gap += u[l] * (z[top] - z[l]);
      if (l != top) next = std::max(next, z[l]);
    }
    step.largest = z[top];
    step.slack = z[top] - next;
    step.idle = u[top] >= 1;
    return step;
  }

  const Problem& problem_;
  double C_;
  State& state_;
  Random& random_;
  std::vector<size_t> active_;
  double shrink_above_ = 0;
};

// Sums of per-block matrices and figures, in the order of the blocks.
double ordered_sum(std::span<const double> parts) { return std::accumulate(parts.begin(), parts.end(), 0.0); }

}  // namespace

std::vector<double> primal_point(const Problem& problem, double C, const State& state,
                                 const Context& context) {
  const size_t size = state.M.size();
  std::vector<double> parts(problem.blocks() * size);
  context.pool().run(problem.blocks(), [&](size_t b) {
    with_width(problem.width(), [&](auto width) {
      constexpr size_t kWidth = width();
      const size_t end = std::min(problem.documents(), (b + 1) * problem.block());
      for (size_t i = b * problem.block(); i < end; ++i) {
        double a[kWidth];
        for (size_t l = 0; l < kWidth; ++l) a[l] = -C * problem.weight(i) * state.u[i * kWidth + l];
        a[problem.label(i)] += C * problem.weight(i);
        problem.add<kWidth>(i, a, parts.data() + b * size);
      }
    });
  });
  std::vector<double> M(size, 0.0);
  for (size_t b = 0; b < problem.blocks(); ++b)
    for (size_t e = 0; e < size; ++e) M[e] += parts[b * size + e];
  return M;
}

namespace {

// dual_M: the primal point of state.u
Certificate certify_pair(const Problem& problem, double C, const State& state,
                         const std::vector<double>& dual_M, const Context& context) {
  std::vector<double> F(problem.documents() * problem.width());
  problem.scores(state.M, F, context);
  std::vector<double> losses(problem.blocks());
  std::vector<double> gains(problem.blocks());
  context.pool().run(problem.blocks(), [&](size_t b) {
    const size_t end = std::min(problem.documents(), (b + 1) * problem.block());
    for (size_t i = b * problem.block(); i < end; ++i) {
      double z[32];
      margins(F.data() + i * problem.width(), problem.label(i), problem.classes(), z);
      const double bound = C * problem.weight(i);
      losses[b] += bound * *std::max_element(z, z + problem.classes());
      const double* u = state.u.data() + i * problem.width();
      for (size_t l = 0; l < problem.classes(); ++l)
        if (l != problem.label(i)) gains[b] += bound * u[l];
    }
  });
  const auto half_square = [](const std::vector<double>& v) {
    return 0.5 * std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
  };
  return {half_square(state.M) + ordered_sum(losses), ordered_sum(gains) - half_square(dual_M)};
}

// While descending, M follows u.
Certificate certify_descent(const Problem& problem, double C, const State& state, const Context& context) {
  return certify_pair(problem, C, state, state.M, context);
}

}  // namespace

Certificate certify(const Problem& problem, double C, const State& state, std::vector<double>& dual_M,
                    const Context& context) {
  dual_M = primal_point(problem, C, state, context);
  return certify_pair(problem, C, state, dual_M, context);
}

Progressed dual_descent(const Problem& problem, double C, double gap, int max_epochs, State& state,
                        Random& random, const Context& context) {
  return with_width(problem.width(), [&](auto width) {
    Descent<width()> descent(problem, C, state, random);
    Progressed result;
    result.certificate = certify_descent(problem, C, state, context);
    int next_check = 1;
    int last = max_epochs;
    const auto limit = [&] {
      const bool small = result.certificate.relative_gap() <= gap;
      last = small ? std::min(last, result.epochs + kFineEpochs) : max_epochs;
    };
    limit();
    while (!result.certificate.reached(C, gap) && result.epochs < last) {
      context.check_stop();
      const double open = descent.epoch();
      ++result.epochs;
      // What the epoch saw tells when a real certificate is worth its pass.
      const double primal = result.certificate.primal;
      const bool promising = Certificate{primal, primal - open}.reached(C, gap);
      if (!promising && result.epochs < next_check && result.epochs < last) continue;
      next_check = result.epochs + std::min(result.epochs, kEpochsBetweenChecks);
      result.certificate = certify_descent(problem, C, state, context);
      limit();
      context.progress(static_cast<size_t>(result.epochs), static_cast<size_t>(max_epochs),
                       result.certificate.relative_gap());
      // Documents were left out on a guess; leaving them out for long keeps the gap open.
      descent.activate_all();
    }
    return result;
  });
}

}  // namespace tunemix::svm
