#include "learners/linear/model.h"

#include <algorithm>
#include <cmath>

#include "core/portable_math.h"
#include "learners/ranker_kernels.h"
#include "tunemix/core/hash.h"

namespace tunemix::linear {
namespace {

constexpr size_t kBlock = 1024;  // documents scored together

// A training that has nothing to show before its end.
class WholeTrainer : public Trainer {
 public:
  using Train = std::function<LinearModel(const TrainingRequest&, const Context&)>;
  WholeTrainer(Train train, TrainingRequest request, const Context& context)
      : train_(std::move(train)), request_(std::move(request)), context_(context) {}
  bool step(double /*seconds*/) override {
    if (model_ == nullptr) model_ = std::make_unique<LinearModel>(train_(request_, context_));
    return true;
  }
  std::unique_ptr<Model> model() const override {
    require(model_ != nullptr, "a model was asked for before its training");
    return std::make_unique<LinearModel>(*model_);
  }

 private:
  Train train_;
  TrainingRequest request_;
  const Context& context_;
  std::unique_ptr<LinearModel> model_;
};

}  // namespace

std::vector<double> unscale(const Shape& shape, const Scaling& scaling, std::span<const double> parameters) {
  std::vector<double> result(parameters.begin(), parameters.end());
  for (size_t u = 0; u < shape.units(); ++u)
    for (size_t j = 0; j < shape.features; ++j) {
      double& weight = result[u * shape.features + j];
      weight *= scaling.factor[j];
      result[shape.intercepts() + u] -= weight * scaling.shift[j];
    }
  return result;
}

double score_row(const Shape& shape, const double* unscaled, const float* row, double* activations) {
  const auto dot = ranker_kernels().dot;
  const double* intercepts = unscaled + shape.intercepts();
  if (shape.hidden == 0) return dot(unscaled, row, shape.features) + intercepts[0];
  const double* outputs = unscaled + shape.outputs();
  double score = 0;
  for (size_t u = 0; u < shape.hidden; ++u) {
    const double z = dot(unscaled + u * shape.features, row, shape.features) + intercepts[u];
    activations[u] = 1 - 2 / (1 + portable_exp(2 * z));  // tanh
    score += outputs[u] * activations[u];
  }
  return score;
}

LinearModel::LinearModel(std::string type, Shape shape, Scaling scaling, std::vector<Solution> solutions)
    : type_(std::move(type)), shape_(shape), scaling_(std::move(scaling)), solutions_(std::move(solutions)) {
  require(!solutions_.empty(), "a linear model without points");
  require(scaling_.shift.size() == shape_.features && scaling_.factor.size() == shape_.features,
          "a scaling does not fit the features");
  for (const Solution& solution : solutions_)
    require(solution.parameters.size() == shape_.size(), "parameters do not fit their shape");
}

std::vector<Point> LinearModel::points() const {
  std::vector<Point> points;
  for (const Solution& solution : solutions_) points.push_back(solution.point);
  return points;
}

std::vector<ScoreMatrix> LinearModel::score(const Dataset& data, std::span<const size_t> points,
                                            const Context& context) const {
  if (data.features() != features())
    throw_input("the data has {} features; the {} model expects {}", data.features(), type_, features());
  std::vector<ScoreMatrix> result;
  for (const size_t p : points) {
    const std::vector<double> unscaled = unscale(shape_, scaling_, solutions_[p].parameters);
    const Hash128 id = Hasher().values(std::span<const double>(unscaled)).digest();
    ScoreMatrix scores(data.documents(), 1, type_ + "-" + id.hex().substr(0, 16));
    parallel_blocks(context.pool(), data.documents(), kBlock, [&](size_t begin, size_t end) {
      std::vector<double> activations(shape_.hidden);
      for (size_t i = begin; i < end; ++i)
        scores.values()[i] =
            static_cast<float>(score_row(shape_, unscaled.data(), data.row(i).data(), activations.data()));
    });
    result.push_back(std::move(scores));
  }
  return result;
}

std::unique_ptr<Model> LinearModel::keep(std::span<const size_t> points) const {
  std::vector<Solution> kept;
  for (const size_t p : points) kept.push_back(solutions_[p]);
  return std::make_unique<LinearModel>(type_, shape_, scaling_, std::move(kept));
}

Facts LinearModel::facts() const {
  Facts facts;
  if (shape_.hidden > 0) facts.push_back({"hidden units", static_cast<int64_t>(shape_.hidden)});
  return facts;
}

// By the size of the weights of scaled features, at the last point.
std::vector<double> LinearModel::importance() const {
  std::vector<double> shares(features(), 0.0);
  const std::vector<double>& w = solutions_.back().parameters;
  double sum = 0;
  for (size_t u = 0; u < shape_.units(); ++u)
    for (size_t j = 0; j < features(); ++j) {
      if (scaling_.factor[j] == 0) continue;
      const double out = shape_.hidden == 0 ? 1.0 : std::abs(w[shape_.outputs() + u]);
      const double part = out * std::abs(w[u * features() + j]);
      shares[j] += part;
      sum += part;
    }
  if (!(sum > 0)) return {};
  for (double& share : shares) share /= sum;
  return shares;
}

PlainModel LinearModel::plain(size_t point) const {
  if (shape_.hidden > 0) throw_input("its scores come from a network of {} hidden units", shape_.hidden);
  const std::vector<double> unscaled = unscale(shape_, scaling_, solutions_.at(point).parameters);
  PlainModel plain;
  plain.features = features();
  plain.start = {unscaled[shape_.intercepts()]};
  plain.weights.assign(unscaled.begin(), unscaled.begin() + static_cast<std::ptrdiff_t>(features()));
  return plain;
}

void LinearModel::save(BinaryWriter& out) const {
  out.put(std::string_view(type_));
  out.put<uint64_t>(shape_.features);
  out.put<uint64_t>(shape_.hidden);
  out.put(scaling_.shift);
  out.put(scaling_.factor);
  out.put<uint64_t>(solutions_.size());
  for (const Solution& solution : solutions_) {
    out.put(solution.point.length);
    out.put(std::string_view(solution.point.label));
    out.put(solution.parameters);
  }
}

std::unique_ptr<Model> LinearModel::load(BinaryReader& in) {
  std::string type = in.get_string();
  Shape shape;
  shape.features = in.get<uint64_t>();
  shape.hidden = in.get<uint64_t>();
  Scaling scaling{in.get_vector<double>(), in.get_vector<double>()};
  if (scaling.shift.size() != shape.features || scaling.factor.size() != shape.features ||
      shape.hidden > 100000)
    in.fail("the scaling does not fit the features");
  std::vector<Solution> solutions(in.get_count(1));
  if (solutions.empty()) in.fail("it has no points");
  for (Solution& solution : solutions) {
    solution.point.length = in.get<int64_t>();
    solution.point.label = in.get_string();
    solution.parameters = in.get_vector<double>();
    if (solution.parameters.size() != shape.size()) in.fail("the weights do not fit the features");
    if (!all_finite(solution.parameters)) in.fail("a weight is not a finite number");
  }
  if (!all_finite(scaling.shift) || !all_finite(scaling.factor)) in.fail("a scale is not a finite number");
  return std::make_unique<LinearModel>(std::move(type), shape, std::move(scaling), std::move(solutions));
}

LearnerEntry linear_entry(const LinearEntry& about,
                          const std::function<LinearModel(const TrainingRequest&, const Context&)>& train) {
  LearnerEntry entry;
  entry.type = entry.family = about.type;
  entry.row = about.row;
  entry.doc = about.doc;
  entry.citation = about.citation;
  entry.version = 2;
  entry.one_column = true;
  entry.weights = WeightUse::kQuery;
  entry.start = [train](const TrainingRequest& request, const Context& context) {
    return std::make_unique<WholeTrainer>(train, request, context);
  };
  entry.load = LinearModel::load;
  return entry;
}

std::vector<Point> path_points(const std::string& option, std::span<const double> values) {
  if (values.empty()) throw_input("{} is an empty list; expected at least one number", option);
  std::vector<Point> points;
  for (const double value : values) points.push_back({0, fmt::format("{}={}", option, value)});
  return points;
}

}  // namespace tunemix::linear
