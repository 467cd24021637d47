// Linear regression of the label with a ridge, by the normal equations.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "learners/linear/learners.h"
#include "learners/linear/model.h"
#include "learners/ranker_kernels.h"

namespace tunemix {
namespace {

using namespace linear;

struct RegressionOptions {
  std::vector<double> L2 = {1e-4, 1e-3, 1e-2, 0.1, 1};
};

const OptionTable<RegressionOptions>& regression_options() {
  static const OptionTable<RegressionOptions> table = [] {
    OptionTable<RegressionOptions> t;
    t.numbers("L2", &RegressionOptions::L2, 1e-10, 1e9,
              "weights of |w|^2 against the mean squared error: a path");
    return t;
  }();
  return table;
}

// Sums over documents of z z^T (upper half) and z y, z the scaled features.
struct Moments {
  std::vector<double> squares;
  std::vector<double> products;

  explicit Moments(size_t d) : squares(d * d, 0.0), products(d, 0.0) {}
  // z and y times the root of the document's weight.
  void add(const std::vector<double>& z, double y) {
    const size_t d = z.size();
    ranker_kernels().add_square(z.data(), d, squares.data());
    for (size_t j = 0; j < d; ++j) products[j] += z[j] * y;
  }
  void add(const Moments& other) {
    for (size_t i = 0; i < squares.size(); ++i) squares[i] += other.squares[i];
    for (size_t i = 0; i < products.size(); ++i) products[i] += other.products[i];
  }
};

LinearModel train_regression(const TrainingData& data, const RegressionOptions& options,
                             const Context& context) {
  Scaling scaling = fit_scaling(data, context);
  const std::span<const uint32_t> documents = data.documents();
  const size_t d = data.all().features();
  const size_t n = documents.size();
  double total = 0;
  double mean = 0;
  for (const uint32_t i : documents) {
    total += data.weight(i);
    mean += data.weight(i) * data.all().labels()[i];
  }
  mean /= total;

  const size_t block = block_size(n, 1024, 16);
  std::vector<Moments> parts((n + block - 1) / block, Moments(d));
  parallel_blocks(context.pool(), n, block, [&](size_t begin, size_t end) {
    std::vector<double> z(d);
    for (size_t i = begin; i < end; ++i) {
      const std::span<const float> x = data.all().row(documents[i]);
      const double root = std::sqrt(data.weight(documents[i]));
      for (size_t j = 0; j < d; ++j)
        z[j] = (static_cast<double>(x[j]) - scaling.shift[j]) * scaling.factor[j] * root;
      parts[begin / block].add(z, (data.all().labels()[documents[i]] - mean) * root);
    }
  });
  Moments all(d);
  for (const Moments& part : parts) all.add(part);

  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto size = static_cast<Eigen::Index>(d);
  const Matrix squares = Eigen::Map<const Matrix>(all.squares.data(), size, size) / total;
  const Eigen::VectorXd products = Eigen::Map<const Eigen::VectorXd>(all.products.data(), size) / total;
  std::vector<LinearModel::Solution> solutions;
  for (const Point& point : path_points("L2", options.L2)) {
    Matrix ridged = squares;
    ridged.diagonal().array() += options.L2[solutions.size()];
    const Eigen::VectorXd w = ridged.selfadjointView<Eigen::Upper>().ldlt().solve(products);
    std::vector<double> parameters(w.begin(), w.end());
    parameters.push_back(mean);
    solutions.push_back({point, std::move(parameters)});
  }
  return LinearModel("linear_regression", {d, 0}, std::move(scaling), std::move(solutions));
}

}  // namespace

LearnerEntry linear_regression_learner() {
  LearnerEntry entry = linear_entry(
      {"linear_regression", "LR", "Least squares of the label with a ridge, for a path of ridges.",
       "Hoerl and Kennard, Ridge regression, Technometrics 1970"},
      [](const TrainingRequest& request, const Context& context) {
        return train_regression(request.data, parse_settings(regression_options(), request.settings),
                                context);
      });
  entry.weights = WeightUse::kDocument;
  describe_options(entry, regression_options(), {{"L2", OptionRole::kPath}});
  entry.points = [](const Settings& settings, std::span<const int64_t>) {
    return path_points("L2", parse_settings(regression_options(), settings).L2);
  };
  return entry;
}

}  // namespace tunemix
