#include <algorithm>
#include <numeric>

#include "learners/svm/dual_descent.h"
#include "learners/svm/problem.h"
#include "learners/svm/smooth_newton.h"
#include "learners/svm/svm.h"

namespace tunemix {
namespace {

using svm::Problem;
using svm::State;

size_t number_of_labels(const Dataset& data, const SvmOptions& options) {
  if (data.documents() == 0) throw InputError("the SVM has no documents to train on");
  const auto seen = static_cast<size_t>(data.max_label()) + 1;
  if (options.labels == 0) return seen;
  if (seen > static_cast<size_t>(options.labels))
    throw_input("the data has label {}; expected labels below {} (labels={})", data.max_label(),
                options.labels, options.labels);
  return static_cast<size_t>(options.labels);
}

// Descent is quick to a rough solution and slow to a fine one where C is large; Newton is the other way
// round. So `auto` descends until that has cost what Newton's steps would, then takes those, and descends
// again should they not arrive. Where a step costs so much that descent is through with much of its passes by
// then, with thousands of weights, it is left to descent. Costs are counted, not timed: the result must not
// depend on the machine.
constexpr size_t kMostUnknowns = 6000;  // their matrix has 288 MB
constexpr int kNewtonSteps = 60;
constexpr double kExpectedSteps = 15;
constexpr double kFewestEpochs = 200;  // below these descent is only starting
constexpr int kShareOfEpochs = 4;      // Newton comes in within this part of the most passes, or not at all

int epochs_before_newton(const Problem& problem) {
  const auto unknowns = static_cast<double>(svm::newton_unknowns(problem));
  const auto features = static_cast<double>(problem.features());
  const auto pass = static_cast<double>(problem.stored_values() * problem.width());
  // In units of a product and a sum, as measured from 40 to 600 features. A pass in random order, each
  // document waiting for the one before, is some three times a plain one.
  const double epoch = 6 * pass;
  const double moments = static_cast<double>(problem.documents()) * features * features;
  const double step = 2 * pass + moments + 0.4 * unknowns * unknowns * unknowns;
  return static_cast<int>(std::clamp(kExpectedSteps * step / epoch, kFewestEpochs, 1e6));
}

svm::Progressed solve(const Problem& problem, double C, const SvmOptions& options, State& state,
                      Random& random, const Context& context) {
  using svm::Progressed;
  const auto descend = [&](int epochs) {
    return svm::dual_descent(problem, C, options.gap, epochs, state, random, context);
  };
  const auto newton = [&](int steps) {
    return svm::smooth_newton(problem, C, options.gap, steps, state, context);
  };
  if (options.solver == SvmSolver::kNewton) return newton(options.max_epochs);
  const int first = epochs_before_newton(problem);
  const bool costly = (first > kFewestEpochs && first > options.max_epochs / kShareOfEpochs) ||
                      svm::newton_unknowns(problem) > kMostUnknowns;
  if (options.solver == SvmSolver::kDual || costly) return descend(options.max_epochs);
  Progressed all = descend(std::min(options.max_epochs, first));
  const auto left = [&] {
    return all.certificate.reached(C, options.gap) ? 0 : options.max_epochs - all.epochs;
  };
  if (left() > 0) {
    const State before = state;
    const Progressed steps = newton(std::min(kNewtonSteps, left()));
    all.epochs += steps.epochs;
    if (steps.certificate.primal - steps.certificate.dual < all.certificate.primal - all.certificate.dual)
      all.certificate = steps.certificate;
    else
      state = before;
  }
  if (left() > 0) {
    state.M = svm::primal_point(problem, C, state, context);
    const Progressed more = descend(left());
    all.certificate = more.certificate;
    all.epochs += more.epochs;
  }
  return all;
}

// M = 0 and u uniform: feasible, and the solution if there is only one label.
State first_state(const Problem& problem) {
  State state;
  state.M.assign(problem.features() * problem.width(), 0.0);
  state.u.assign(problem.documents() * problem.width(), 0.0);
  for (size_t i = 0; i < problem.documents(); ++i)
    for (size_t l = 0; l < problem.classes(); ++l)
      if (l != problem.label(i) || problem.classes() == 1)
        state.u[i * problem.width() + l] =
            1.0 / static_cast<double>(std::max<size_t>(1, problem.classes() - 1));
  return state;
}

SvmSolution solution_of(const Problem& problem, const FeatureScaling& scaling, const SvmOptions& options,
                        const State& state) {
  SvmSolution solution;
  solution.scaling = scaling;
  solution.labels = problem.classes();
  const size_t K = problem.classes();
  const size_t d = scaling.shift.size();
  solution.weights.assign((d + 1) * K, 0.0);
  for (size_t j = 0; j < d + (options.bias ? 1 : 0); ++j)
    for (size_t l = 0; l < K; ++l) solution.weights[j * K + l] = state.M[j * problem.width() + l];
  return solution;
}

}  // namespace

std::vector<SvmSolution> train_svm_path(const Dataset& data, const SvmOptions& options,
                                        std::span<const double> Cs, const Context& context) {
  for (const double C : Cs)
    if (!(C > 0) || !std::isfinite(C)) throw_input("C is {}; expected a positive number", C);
  const size_t K = number_of_labels(data, options);
  const FeatureScaling scaling = fit_scaling(data, options.scale, context);
  const Problem problem(data, scaling, options, K, context);
  Random random = context.stream("svm");
  State state = first_state(problem);
  std::vector<size_t> order(Cs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return Cs[a] < Cs[b]; });
  std::vector<SvmSolution> solved;
  double last_C = 1;
  state.M = svm::primal_point(problem, last_C, state, context);
  for (const size_t at : order) {
    // Each document keeps its point of the simplex, so the dual variables grow by the ratio: those at their
    // bounds, most of them, stay there.
    const double C = Cs[at];
    for (double& m : state.M) m *= C / last_C;
    const svm::Progressed progressed = solve(problem, C, options, state, random, context);
    std::vector<double> dual_M;
    const svm::Certificate end = svm::certify(problem, C, state, dual_M, context);
    SvmSolution& solution = solved.emplace_back(solution_of(problem, scaling, options, state));
    solution.C = C;
    solution.primal = end.primal;
    solution.dual = end.dual;
    solution.epochs = progressed.epochs;
    if (progressed.certificate.relative_gap() > options.gap)
      context.warn(fmt::format(
          "the SVM with C = {} stopped after {} epochs at a relative gap of {:.3g}; expected {:.3g}", C,
          progressed.epochs, end.relative_gap(), options.gap));
    state.M = std::move(dual_M);
    last_C = C;
  }
  std::vector<SvmSolution> result;
  for (size_t at = 0; at < Cs.size(); ++at)
    result.push_back(solved[static_cast<size_t>(std::find(order.begin(), order.end(), at) - order.begin())]);
  return result;
}

}  // namespace tunemix
