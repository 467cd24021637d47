// Linear regression of the label with a ridge, by the normal equations of the features, or of the documents
// where these are fewer.
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

// The training documents: scaled features and centred labels, times the root of the document's weight.
class Samples {
 public:
  Samples(const TrainingData& data, const Context& context)
      : data_(data), scaling_(fit_scaling(data, context)) {
    for (const uint32_t i : data.documents()) {
      total_ += data.weight(i);
      mean_ += data.weight(i) * data.all().labels()[i];
    }
    mean_ /= total_;
  }

  size_t count() const { return data_.documents().size(); }
  size_t features() const { return data_.all().features(); }
  double total() const { return total_; }  // weight
  double mean() const { return mean_; }    // label
  const Scaling& scaling() const { return scaling_; }

  double label(size_t i) const { return (data_.all().labels()[row(i)] - mean_) * root(i); }
  // Features first, first + 1, ...
  void read(size_t i, size_t first, std::span<double> z) const {
    const float* x = data_.all().row(row(i)).data() + first;
    const double root_of_weight = root(i);
    for (size_t j = 0; j < z.size(); ++j)
      z[j] = (static_cast<double>(x[j]) - scaling_.shift[first + j]) * scaling_.factor[first + j] *
             root_of_weight;
  }

 private:
  uint32_t row(size_t i) const { return data_.documents()[i]; }
  double root(size_t i) const { return std::sqrt(data_.weight(row(i))); }

  const TrainingData& data_;
  Scaling scaling_;
  double total_ = 0;
  double mean_ = 0;
};

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// x of (squares / total + ridge) x = right / total for each ridge; of squares the upper half is read.
std::vector<Eigen::VectorXd> solve(const std::vector<double>& squares, const std::vector<double>& right,
                                   double total, const std::vector<double>& ridges) {
  const auto size = static_cast<Eigen::Index>(right.size());
  const Matrix mean_squares = Eigen::Map<const Matrix>(squares.data(), size, size) / total;
  const Eigen::VectorXd mean_right = Eigen::Map<const Eigen::VectorXd>(right.data(), size) / total;
  std::vector<Eigen::VectorXd> solutions;
  for (const double ridge : ridges) {
    Matrix ridged = mean_squares;
    ridged.diagonal().array() += ridge;
    solutions.emplace_back(ridged.selfadjointView<Eigen::Upper>().ldlt().solve(mean_right));
  }
  return solutions;
}

// Weights for each ridge, from the features' normal equations.
std::vector<std::vector<double>> solve_in_features(const Samples& samples, const std::vector<double>& ridges,
                                                   const Context& context) {
  const size_t d = samples.features();
  const size_t block = block_size(samples.count(), 1024, 16);
  std::vector<Moments> parts((samples.count() + block - 1) / block, Moments(d));
  parallel_blocks(context.pool(), samples.count(), block, [&](size_t begin, size_t end) {
    std::vector<double> z(d);
    for (size_t i = begin; i < end; ++i) {
      samples.read(i, 0, z);
      parts[begin / block].add(z, samples.label(i));
    }
  });
  Moments all(d);
  for (const Moments& part : parts) all.add(part);
  std::vector<std::vector<double>> weights;
  for (const Eigen::VectorXd& w : solve(all.squares, all.products, samples.total(), ridges))
    weights.emplace_back(w.begin(), w.end());
  return weights;
}

constexpr size_t kChunk = 256;  // features that are read at a time

// Z Z^T, of documents (upper half).
std::vector<double> products_of_documents(const Samples& samples, const Context& context) {
  const size_t n = samples.count();
  std::vector<double> products(n * n, 0.0);
  std::vector<double> z(n * kChunk);
  for (size_t first = 0; first < samples.features(); first += kChunk) {
    context.check_stop();
    const size_t width = std::min(kChunk, samples.features() - first);
    const auto rows = [&](size_t i) { return std::span(z).subspan(i * width, width); };
    context.pool().run(n, [&](size_t i) { samples.read(i, first, rows(i)); });
    context.pool().run(n, [&](size_t i) {
      for (size_t j = i; j < n; ++j)
        products[i * n + j] += ranker_kernels().dot_doubles(rows(i).data(), rows(j).data(), width);
    });
  }
  return products;
}

// The same weights as Z^T a, where (Z Z^T / total + ridge) a = y / total: for documents fewer than features.
std::vector<std::vector<double>> solve_in_documents(const Samples& samples, const std::vector<double>& ridges,
                                                    const Context& context) {
  std::vector<double> labels;
  for (size_t i = 0; i < samples.count(); ++i) labels.push_back(samples.label(i));
  const std::vector<Eigen::VectorXd> shares =
      solve(products_of_documents(samples, context), labels, samples.total(), ridges);
  std::vector<std::vector<double>> weights(ridges.size(), std::vector<double>(samples.features(), 0.0));
  parallel_blocks(context.pool(), samples.features(), kChunk, [&](size_t begin, size_t end) {
    std::vector<double> z(end - begin);
    for (size_t i = 0; i < samples.count(); ++i) {
      samples.read(i, begin, z);
      for (size_t k = 0; k < ridges.size(); ++k) {
        const double share = shares[k][static_cast<Eigen::Index>(i)];
        for (size_t j = begin; j < end; ++j) weights[k][j] += share * z[j - begin];
      }
    }
  });
  return weights;
}

LinearModel train_regression(const TrainingData& data, const RegressionOptions& options,
                             const Context& context) {
  const Samples samples(data, context);
  std::vector<std::vector<double>> weights = samples.count() < samples.features()
                                                 ? solve_in_documents(samples, options.L2, context)
                                                 : solve_in_features(samples, options.L2, context);
  std::vector<LinearModel::Solution> solutions;
  for (const Point& point : path_points("L2", options.L2)) {
    std::vector<double>& parameters = weights[solutions.size()];
    parameters.push_back(samples.mean());
    solutions.push_back({point, std::move(parameters)});
  }
  return LinearModel("linear_regression", {samples.features(), 0}, samples.scaling(), std::move(solutions));
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
  entry.version = 3;
  entry.weights = WeightUse::kDocument;
  describe_options(entry, regression_options(), {{"L2", OptionRole::kPath}});
  entry.points = [](const Settings& settings, std::span<const int64_t>) {
    return path_points("L2", parse_settings(regression_options(), settings).L2);
  };
  return entry;
}

}  // namespace tunemix
