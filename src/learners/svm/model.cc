#include <algorithm>
#include <cmath>
#include <limits>

#include "learners/ranker_kernels.h"
#include "learners/svm/svm.h"
#include "tunemix/core/hash.h"

namespace tunemix {

const OptionTable<SvmOptions>& svm_option_table() {
  static const OptionTable<SvmOptions> table = [] {
    OptionTable<SvmOptions> t;
    t.flag("bias", &SvmOptions::bias, "add a feature of value 1, regularised like the others")
        .choice(
            "scale", &SvmOptions::scale,
            {{"none", SvmScale::kNone}, {"minmax", SvmScale::kMinMax}, {"standard", SvmScale::kStandard}},
            "scaling of the features, fitted on the training data: to [0, 1], or to mean 0 and deviation 1")
        .choice("weights", &SvmOptions::weights,
                {{"uniform", SvmWeights::kUniform}, {"exponential", SvmWeights::kExponential}},
                "weight of a document's loss: 1, or 2^label divided by its mean over the documents")
        .number("gap", &SvmOptions::gap, 1e-9, 1.0, "stop at this relative duality gap")
        .number("max_epochs", &SvmOptions::max_epochs, 1, 1000000,
                "most passes of dual descent, or Newton steps, for one C")
        .choice("solver", &SvmOptions::solver,
                {{"auto", SvmSolver::kAuto}, {"dual", SvmSolver::kDual}, {"newton", SvmSolver::kNewton}},
                "dual coordinate descent, Newton on the smoothed primal, or by the number of weights")
        .number("labels", &SvmOptions::labels, 0, 32, "number of labels; 0: the largest in the data plus 1");
    return t;
  }();
  return table;
}

FeatureScaling fit_scaling(const Dataset& data, SvmScale scale, const Context& context) {
  const size_t d = data.features();
  const size_t n = data.documents();
  FeatureScaling result{std::vector<double>(d, 0.0), std::vector<double>(d, 1.0)};
  if (scale == SvmScale::kNone || n == 0) return result;
  const std::span<const float> weights = data.weights();
  const auto weight = [&](size_t i) { return weights.empty() ? 1.0 : static_cast<double>(weights[i]); };
  double total = 0;
  for (size_t i = 0; i < n; ++i) total += weight(i);
  parallel_blocks(context.pool(), d, 16, [&](size_t begin, size_t end) {
    std::vector<double> low(end - begin, std::numeric_limits<double>::infinity());
    std::vector<double> high(end - begin, -std::numeric_limits<double>::infinity());
    std::vector<double> sum(end - begin, 0.0);
    std::vector<double> squares(end - begin, 0.0);
    for (size_t i = 0; i < n; ++i) {
      const double w = weight(i);
      if (w == 0) continue;
      for (size_t j = begin; j < end; ++j) {
        const auto x = static_cast<double>(data.row(i)[j]);
        low[j - begin] = std::min(low[j - begin], x);
        high[j - begin] = std::max(high[j - begin], x);
        sum[j - begin] += w * x;
      }
    }
    for (size_t i = 0; i < n && scale == SvmScale::kStandard; ++i)
      for (size_t j = begin; j < end; ++j) {
        const double off = static_cast<double>(data.row(i)[j]) - sum[j - begin] / total;
        squares[j - begin] += weight(i) * off * off;
      }
    for (size_t j = begin; j < end; ++j) {
      const size_t at = j - begin;
      const double spread = scale == SvmScale::kMinMax ? high[at] - low[at] : std::sqrt(squares[at] / total);
      result.shift[j] = scale == SvmScale::kMinMax ? low[at] : sum[at] / total;
      // A constant feature has no spread; what rounding leaves of one is none either.
      result.factor[j] = high[at] > low[at] ? 1 / spread : 0;
    }
  });
  return result;
}

std::string SvmSolution::id() const {
  Hasher hasher;
  hasher.number(labels)
      .values(std::span<const double>(scaling.shift))
      .values(std::span<const double>(scaling.factor))
      .values(std::span<const double>(weights));
  return "svm-" + hasher.digest().hex().substr(0, 16);
}

std::vector<double> SvmSolution::raw_coefficients() const {
  std::vector<double> raw = weights;
  for (size_t j = 0; j < features(); ++j)
    for (size_t l = 0; l < labels; ++l) {
      raw[j * labels + l] = weights[j * labels + l] * scaling.factor[j];
      raw[features() * labels + l] -= raw[j * labels + l] * scaling.shift[j];
    }
  return raw;
}

void SvmSolution::save(BinaryWriter& out) const {
  out.put<uint64_t>(labels);
  out.put(scaling.shift);
  out.put(scaling.factor);
  out.put(weights);
  out.put(C);
  out.put(primal);
  out.put(dual);
  out.put<int32_t>(epochs);
}

SvmSolution SvmSolution::load(BinaryReader& in) {
  SvmSolution solution;
  solution.labels = in.get<uint64_t>();
  solution.scaling.shift = in.get_vector<double>();
  solution.scaling.factor = in.get_vector<double>();
  solution.weights = in.get_vector<double>();
  solution.C = in.get<double>();
  solution.primal = in.get<double>();
  solution.dual = in.get<double>();
  solution.epochs = in.get<int32_t>();
  const FeatureScaling& scaling = solution.scaling;
  if (solution.labels < 1 || solution.labels > 32) in.fail("the number of labels is out of range");
  if (scaling.factor.size() != scaling.shift.size() ||
      solution.weights.size() != (scaling.shift.size() + 1) * solution.labels)
    in.fail("the weights do not fit the features and labels");
  if (!all_finite(solution.weights) || !all_finite(scaling.shift) || !all_finite(scaling.factor))
    in.fail("a weight is not a finite number");
  return solution;
}

SvmModel::SvmModel(Path path) : path_(std::move(path)) {
  constexpr size_t kLanes = RankerKernels::kLanes;
  const size_t labels = columns();
  stride_ = (path_.size() * labels + kLanes - 1) / kLanes * kLanes;
  raw_.assign((features() + 1) * stride_, 0.0);
  for (size_t p = 0; p < path_.size(); ++p) {
    ids_.push_back(path_[p].second.id());
    const std::vector<double> raw = path_[p].second.raw_coefficients();
    for (size_t j = 0; j <= features(); ++j)
      std::copy_n(&raw[j * labels], labels, &raw_[j * stride_ + p * labels]);
  }
}

std::vector<Point> SvmModel::points() const {
  std::vector<Point> points;
  for (const auto& [name, solution] : path_) points.push_back({0, name});
  return points;
}

std::vector<ScoreMatrix> SvmModel::score(const Dataset& data, std::span<const size_t> points,
                                         const Context& context) const {
  if (data.features() != features())
    throw_input("the data has {} features; the SVM model {} expects {}", data.features(), ids_[0],
                features());
  std::vector<ScoreMatrix> scores;
  for (const size_t point : points) scores.emplace_back(data.documents(), columns(), ids_.at(point));
  parallel_blocks(context.pool(), data.documents(), 1024, [&](size_t begin, size_t end) {
    AlignedVector<double> sums(stride_);
    for (size_t i = begin; i < end; ++i) {
      std::copy_n(&raw_[features() * stride_], stride_, sums.data());
      ranker_kernels().add_columns(data.row(i).data(), features(), raw_.data(), stride_, sums.data());
      for (size_t p = 0; p < points.size(); ++p)
        for (size_t l = 0; l < columns(); ++l)
          scores[p].row(i)[l] = static_cast<float>(sums[points[p] * columns() + l]);
    }
  });
  return scores;
}

std::unique_ptr<Model> SvmModel::keep(std::span<const size_t> points) const {
  Path kept;
  for (const size_t point : points) kept.push_back(path_.at(point));
  return std::make_unique<SvmModel>(std::move(kept));
}

Facts SvmModel::facts() const {
  Facts facts = {{"labels", static_cast<int64_t>(columns())}};
  const auto add = [&](const char* name, auto value) {
    std::vector<double> values;
    for (const auto& [label, solution] : path_) values.push_back(value(solution));
    facts.push_back({name, values});
  };
  add("C", [](const SvmSolution& solution) { return solution.C; });
  add("primal", [](const SvmSolution& solution) { return solution.primal; });
  add("dual", [](const SvmSolution& solution) { return solution.dual; });
  add("relative_gap", [](const SvmSolution& solution) { return solution.gap(); });
  add("epochs", [](const SvmSolution& solution) { return solution.epochs; });
  return facts;
}

PlainModel SvmModel::plain(size_t point) const {
  const std::vector<double> weights = path_.at(point).second.raw_coefficients();
  const auto intercepts = weights.end() - static_cast<std::ptrdiff_t>(columns());
  PlainModel plain;
  plain.features = features();
  plain.columns = columns();
  plain.weights.assign(weights.begin(), intercepts);
  plain.start.assign(intercepts, weights.end());
  return plain;
}

void SvmModel::save(BinaryWriter& out) const {
  out.put<uint64_t>(path_.size());
  for (const auto& [name, solution] : path_) {
    out.put(name);
    solution.save(out);
  }
}

std::unique_ptr<Model> SvmModel::load(BinaryReader& in) {
  const size_t count = in.get_count(1);
  if (count == 0) in.fail("it has no points");
  Path path;
  for (size_t p = 0; p < count; ++p) {
    std::string name = in.get_string();
    path.emplace_back(std::move(name), SvmSolution::load(in));
    if (path[p].second.features() != path[0].second.features() ||
        path[p].second.labels != path[0].second.labels)
      in.fail("its points differ in features or labels");
  }
  return std::make_unique<SvmModel>(std::move(path));
}

}  // namespace tunemix
