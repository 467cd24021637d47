#include <algorithm>
#include <numeric>

#include "svm/dual_descent.h"
#include "svm/problem.h"
#include "svm/smooth_newton.h"
#include "tunemix/svm/crammer_singer.h"

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

// A Newton step is the better one by far while its matrix is small.
constexpr size_t kMostUnknowns = 3000;

bool use_newton(const Problem& problem, SvmSolver solver) {
  if (solver != SvmSolver::kAuto) return solver == SvmSolver::kNewton;
  return svm::newton_unknowns(problem) <= kMostUnknowns;
}

// M = 0 and u uniform: feasible, and the solution where there is one label only.
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

SvmModel make_model(const Problem& problem, const FeatureScaling& scaling, const SvmOptions& options,
                    const State& state, const SvmModel::Solution& solution) {
  const size_t K = problem.classes();
  const size_t d = scaling.shift.size();
  std::vector<double> weights((d + 1) * K, 0.0);
  for (size_t j = 0; j < d + (options.bias ? 1 : 0); ++j)
    for (size_t l = 0; l < K; ++l) weights[j * K + l] = state.M[j * problem.width() + l];
  return SvmModel(scaling, K, std::move(weights), solution);
}

}  // namespace

std::vector<SvmModel> train_svm_path(const Dataset& data, const SvmOptions& options,
                                     std::span<const double> Cs, const Context& context) {
  for (const double C : Cs)
    if (!(C > 0) || !std::isfinite(C)) throw_input("C is {}; expected a positive number", C);
  const size_t K = number_of_labels(data, options);
  const FeatureScaling scaling = fit_scaling(data, options.scale, context);
  const Problem problem(data, scaling, options, K, context);
  const bool newton = use_newton(problem, options.solver);
  Random random = context.stream("svm");
  State state = first_state(problem);
  std::vector<size_t> order(Cs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return Cs[a] < Cs[b]; });
  std::vector<SvmModel> solved;
  for (const size_t at : order) {
    const double C = Cs[at];
    svm::Progressed progressed;
    if (newton) {
      progressed = svm::smooth_newton(problem, C, options.gap, options.max_epochs, state, context);
    } else {
      svm::primal_point(problem, C, state, context);
      progressed = svm::dual_descent(problem, C, options.gap, options.max_epochs, state, random, context);
    }
    const svm::Certificate end = svm::certify(problem, C, state, context);
    solved.push_back(
        make_model(problem, scaling, options, state, {C, end.primal, end.dual, progressed.epochs}));
    if (!progressed.certificate.reached(C, options.gap))
      context.warn(fmt::format(
          "the SVM with C = {} stopped after {} epochs at a relative gap of {:.3g}; expected {:.3g}", C,
          progressed.epochs, solved.back().solution().gap(), options.gap));
  }
  std::vector<SvmModel> result;
  for (size_t at = 0; at < Cs.size(); ++at)
    result.push_back(solved[static_cast<size_t>(std::find(order.begin(), order.end(), at) - order.begin())]);
  return result;
}

SvmModel train_svm(const Dataset& data, const SvmOptions& options, const Context& context) {
  const double C[] = {options.C};
  return train_svm_path(data, options, C, context).front();
}

}  // namespace tunemix
