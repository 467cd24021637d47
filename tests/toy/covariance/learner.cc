#include "tests/toy/covariance/learner.h"

#include <cmath>

namespace tunemix {
namespace {

struct Options {
  double power = 1;
};

const OptionTable<Options>& options() {
  static const OptionTable<Options> table =
      OptionTable<Options>().number("power", &Options::power, 0.1, 10.0, "of the absolute covariance");
  return table;
}

class CovarianceModel final : public Model {
 public:
  explicit CovarianceModel(std::vector<double> weights) : weights_(std::move(weights)) {}

  size_t features() const override { return weights_.size(); }
  size_t columns() const override { return 1; }
  std::vector<Point> points() const override { return {Point{}}; }
  std::vector<ScoreMatrix> score(const Dataset& data, std::span<const size_t> points,
                                 const Context& /*context*/) const override {
    if (data.features() != features()) throw_input("the model has {} features", features());
    ScoreMatrix scores(data.documents(), 1, "covariance");
    for (size_t i = 0; i < data.documents(); ++i) {
      double sum = 0;
      for (size_t j = 0; j < weights_.size(); ++j) sum += weights_[j] * static_cast<double>(data.row(i)[j]);
      scores.row(i)[0] = static_cast<float>(sum);
    }
    return std::vector<ScoreMatrix>(points.size(), scores);
  }
  std::unique_ptr<Model> keep(std::span<const size_t> /*points*/) const override {
    return std::make_unique<CovarianceModel>(*this);
  }
  void save(BinaryWriter& out) const override { out.put(weights_); }

 private:
  std::vector<double> weights_;
};

class CovarianceTrainer final : public Trainer {
 public:
  explicit CovarianceTrainer(const TrainingRequest& request) {
    const double power = parse_settings(options(), request.settings).power;
    const Dataset& data = request.data.all();
    const auto weight = [&](uint32_t i) {
      return data.weights().empty() ? 1.0 : static_cast<double>(data.weights()[i]);
    };
    double n = 0;
    for (const uint32_t i : request.data.documents()) n += weight(i);
    for (size_t j = 0; j < data.features(); ++j) {
      double x = 0;
      double y = 0;
      double xy = 0;
      for (const uint32_t i : request.data.documents()) {
        const double value = static_cast<double>(data.row(i)[j]);
        x += weight(i) * value;
        y += weight(i) * data.labels()[i];
        xy += weight(i) * value * data.labels()[i];
      }
      const double covariance = xy / n - x / n * y / n;
      weights_.push_back(std::copysign(std::pow(std::abs(covariance), power), covariance));
    }
  }
  bool step(double /*seconds*/) override { return true; }
  std::unique_ptr<Model> model() const override { return std::make_unique<CovarianceModel>(weights_); }

 private:
  std::vector<double> weights_;
};

}  // namespace

LearnerEntry covariance_learner() {
  LearnerEntry entry;
  entry.type = entry.family = "covariance";
  entry.row = "TOY";
  entry.doc = "Features weighted by their covariance with the label.";
  entry.citation = "made up, as an example";
  entry.one_column = true;
  describe_options(entry, options());
  entry.start = [](const TrainingRequest& request, const Context&) -> std::unique_ptr<Trainer> {
    return std::make_unique<CovarianceTrainer>(request);
  };
  entry.load = [](BinaryReader& in) -> std::unique_ptr<Model> {
    auto weights = in.get_vector<double>();
    if (weights.empty()) in.fail("a model without features");
    return std::make_unique<CovarianceModel>(std::move(weights));
  };
  return entry;
}

}  // namespace tunemix
