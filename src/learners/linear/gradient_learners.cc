// RankSVM, RankNet and ListNet: one optimiser, three losses.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "learners/linear/lbfgs.h"
#include "learners/linear/learners.h"
#include "learners/linear/problem.h"

namespace tunemix {
namespace {

using namespace linear;

struct RankSvmOptions {
  std::vector<double> C = {0.01, 0.1, 1, 10, 100};
  Share share = Share::kPair;
  double tolerance = 1e-3;
  int iterations = 200;
};

std::vector<std::pair<std::string, Share>> share_words() {
  return {{"pair", Share::kPair}, {"query", Share::kQuery}};
}
constexpr const char* kShareDoc = "what counts the same in the mean loss: every pair, or every query";

const OptionTable<RankSvmOptions>& ranksvm_options() {
  static const OptionTable<RankSvmOptions> table = [] {
    OptionTable<RankSvmOptions> t;
    t.numbers("C", &RankSvmOptions::C, 1e-9, 1e9, "weights of the mean loss against 1/2 |w|^2: a path")
        .choice("weights", &RankSvmOptions::share, share_words(), kShareDoc)
        .number("tolerance", &RankSvmOptions::tolerance, 1e-9, 1.0,
                "stop at this share of the gradient of zero weights")
        .number("iterations", &RankSvmOptions::iterations, 1, 100000, "most steps for one C");
    return t;
  }();
  return table;
}

LinearModel train_ranksvm(const TrainingData& data, const RankSvmOptions& options, const Context& context) {
  const RankingProblem problem(data, {data.all().features(), 0}, squared_hinge_loss, true, options.share,
                               context);
  std::vector<size_t> order(options.C.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return options.C[a] < options.C[b]; });
  std::vector<LinearModel::Solution> solutions(options.C.size());
  const std::vector<Point> points = path_points("C", options.C);
  std::vector<double> w(problem.shape().size(), 0.0);
  std::vector<double> gradient(w.size());
  problem(w, 0, gradient);
  double first = 0;
  for (const double g : gradient) first += g * g;
  // From small C to large, each from the solution of the one before.
  for (size_t k = 0; k < order.size(); ++k) {
    const double l2 = 1 / options.C[order[k]];
    LbfgsOptions how;
    how.iterations = options.iterations;
    how.enough = options.tolerance * std::sqrt(first);
    const LbfgsResult result =
        minimise([&](std::span<const double> x, std::span<double> g) { return problem(x, l2, g); }, w, how);
    if (!result.converged)
      context.warn(
          fmt::format("ranksvm with C = {} stopped after {} steps; expected a smaller gradient by then",
                      options.C[order[k]], result.iterations));
    solutions[order[k]] = {points[order[k]], w};
    context.progress(k + 1, order.size(), result.value);
  }
  return LinearModel("ranksvm", problem.shape(), problem.scaling(), std::move(solutions));
}

struct NetOptions {
  int epoch = 100;
  int layer = 0;
  int node = 10;
  double l2 = 1e-3;
  Share share = Share::kPair;
};

OptionTable<NetOptions> net_options(bool pairs) {
  OptionTable<NetOptions> t;
  t.number("epoch", &NetOptions::epoch, 1, 1000000, "steps of the optimiser over all training data")
      .number("layer", &NetOptions::layer, 0, 1, "hidden layers; 0: a linear ranker")
      .number("node", &NetOptions::node, 1, 1000, "units of the hidden layer")
      .number("l2", &NetOptions::l2, 0.0, 1e6, "weight of 1/2 |w|^2 against the mean loss");
  if (pairs) t.choice("weights", &NetOptions::share, share_words(), kShareDoc);
  return t;
}

// Small random weights into a hidden layer and out of it; none without one.
std::vector<double> first_parameters(const Shape& shape, Random random) {
  std::vector<double> parameters(shape.size(), 0.0);
  if (shape.hidden == 0) return parameters;
  const double in = 1 / std::sqrt(static_cast<double>(std::max<size_t>(1, shape.features)));
  const double out = 1 / std::sqrt(static_cast<double>(shape.hidden));
  for (size_t i = 0; i < shape.intercepts(); ++i) parameters[i] = in * random.normal();
  for (size_t i = shape.outputs(); i < shape.size(); ++i) parameters[i] = out * random.normal();
  return parameters;
}

LinearModel train_net(const std::string& type, Loss loss, bool pairs, const TrainingRequest& request,
                      const NetOptions& options, const Context& context) {
  const Shape shape{request.data.all().features(),
                    options.layer == 0 ? 0 : static_cast<size_t>(options.node)};
  const Share share = pairs ? options.share : Share::kQuery;  // a list is one sample
  const RankingProblem problem(request.data, shape, loss, pairs, share, context);
  std::vector<double> x = first_parameters(shape, context.stream(type));
  std::vector<LinearModel::Solution> solutions;
  std::vector<int64_t> lengths = request.lengths;
  if (lengths.empty()) lengths = {options.epoch};
  LbfgsOptions how;
  how.iterations = static_cast<int>(lengths.back());
  minimise([&](std::span<const double> at, std::span<double> g) { return problem(at, options.l2, g); }, x,
           how,
           [&](int iteration, double value) {
             if (lengths[solutions.size()] == iteration) solutions.push_back({{iteration, ""}, x});
             context.progress(static_cast<size_t>(iteration), static_cast<size_t>(how.iterations), value);
           });
  // A run that has arrived early stands for all later lengths.
  while (solutions.size() < lengths.size()) solutions.push_back({{lengths[solutions.size()], ""}, x});
  return LinearModel(type, shape, problem.scaling(), std::move(solutions));
}

LearnerEntry net_learner(const LinearEntry& about, Loss loss, bool pairs,
                         const OptionTable<NetOptions>& table) {
  LearnerEntry entry = linear_entry(about, [type = about.type, loss, pairs, &table](
                                               const TrainingRequest& request, const Context& context) {
    return train_net(type, loss, pairs, request, parse_settings(table, request.settings), context);
  });
  describe_options(entry, table, {{"epoch", OptionRole::kLength}});
  return entry;
}

}  // namespace

LearnerEntry ranksvm_learner() {
  LearnerEntry entry = linear_entry(
      {"ranksvm", "RS", "A linear ranker with the squared hinge loss over pairs, for a path of C.",
       "Joachims, Optimizing search engines using clickthrough data, KDD 2002"},
      [](const TrainingRequest& request, const Context& context) {
        return train_ranksvm(request.data, parse_settings(ranksvm_options(), request.settings), context);
      });
  describe_options(entry, ranksvm_options(), {{"C", OptionRole::kPath}});
  entry.points = [](const Settings& settings, std::span<const int64_t>) {
    return path_points("C", parse_settings(ranksvm_options(), settings).C);
  };
  return entry;
}

LearnerEntry ranknet_learner() {
  static const OptionTable<NetOptions> table = net_options(true);
  LearnerEntry entry =
      net_learner({"ranknet", "RN", "A linear ranker or small network with the logistic loss over pairs.",
                   "Burges et al., Learning to rank using gradient descent, ICML 2005"},
                  pair_logistic_loss, true, table);
  entry.version = 3;
  return entry;
}

LearnerEntry listnet_learner() {
  static const OptionTable<NetOptions> table = net_options(false);
  return net_learner(
      {"listnet", "LN", "A linear ranker or small network with the cross-entropy of the chances to be first.",
       "Cao et al., Learning to rank: from pairwise approach to listwise approach, ICML 2007"},
      list_entropy_loss, false, table);
}

}  // namespace tunemix
