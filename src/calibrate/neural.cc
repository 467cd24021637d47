#include <algorithm>
#include <cmath>
#include <numeric>

#include "calibrate/kernels.h"
#include "calibrate/rbc.h"
#include "tunemix/core/aligned.h"

namespace tunemix::calibrate {
namespace {

constexpr size_t kBatch = 256;
constexpr int kCheckEvery = 50;   // batches between looks at the held-out part
constexpr int kPatience = 8;      // looks without progress before training stops
constexpr double kHeldOut = 0.2;  // of the queries
constexpr double kRate = 0.01;    // Adam's
constexpr int kStepsWithoutHeldOut = 500;

using Shape = NetworkShape;

// Inputs standardised and the target with mean 0 and deviation 1, column by column.
struct Samples {
  std::vector<double> inputs;
  std::vector<double> target;
  std::vector<double> weights;
  size_t stride = 0;
  size_t documents = 0;
};

class Network {
 public:
  Network(Shape shape, Random& random)
      : shape_(shape), parameters_(shape.size()), scratch_(network_scratch(shape)) {
    const double spread = 1 / std::sqrt(static_cast<double>(shape.inputs));
    for (size_t i = 0; i < shape.bias(); ++i) parameters_[i] = spread * random.normal();
    const double out = 1 / std::sqrt(static_cast<double>(shape.hidden));
    for (size_t h = 0; h < shape.hidden; ++h) parameters_[shape.output() + h] = 0.5 * out * random.normal();
  }

  std::vector<double>& parameters() { return parameters_; }

  // Sum of squared errors over all samples; with a gradient, sets that of half of it.
  double squares(const Samples& samples, std::vector<double>* gradient) {
    return rbc_kernels().network(
        shape_, parameters_.data(),
        {samples.stride, samples.inputs.data(), samples.target.data(), samples.weights.data()},
        scratch_.data(), gradient == nullptr ? nullptr : gradient->data());
  }

 private:
  Shape shape_;
  std::vector<double> parameters_;
  AlignedVector<double> scratch_;
};

class Adam {
 public:
  explicit Adam(size_t size) : first_(size), second_(size) {}
  void step(std::vector<double>& parameters, const std::vector<double>& gradient, double documents) {
    decay1_ *= 0.9;
    decay2_ *= 0.999;
    for (size_t i = 0; i < parameters.size(); ++i) {
      const double g = gradient[i] / documents;
      first_[i] = 0.9 * first_[i] + 0.1 * g;
      second_[i] = 0.999 * second_[i] + 0.001 * g * g;
      parameters[i] -= kRate * first_[i] / (1 - decay1_) / (std::sqrt(second_[i] / (1 - decay2_)) + 1e-8);
    }
  }

 private:
  std::vector<double> first_, second_;
  double decay1_ = 1;
  double decay2_ = 1;
};

class Gatherer {
 public:
  Gatherer(const Prepared& data, RbcTarget target) : data_(data), y_(data.target(target)) {
    const double n = static_cast<double>(data.documents);
    for (size_t i = 0; i < data.documents; ++i) mean_ += data.weights[i] * y_[i];
    mean_ /= n;
    double squares = 0;
    for (size_t i = 0; i < data.documents; ++i)
      squares += data.weights[i] * ((y_[i] - mean_) * (y_[i] - mean_));
    deviation_ = std::sqrt(squares / n);
  }
  double mean() const { return mean_; }
  double deviation() const { return deviation_; }

  void gather(std::span<const uint32_t> documents, Samples& s) const {
    s.documents = documents.size();
    s.stride = lanes::padded(documents.size());
    s.inputs.assign(data_.columns * s.stride, 0);
    s.target.assign(s.stride, 0);
    s.weights.assign(s.stride, 0);
    for (size_t k = 0; k < data_.columns; ++k) {
      if (data_.column_deviation[k] == 0) continue;
      const double shift = data_.mean - data_.column_mean[k];
      const double scale = 1 / data_.column_deviation[k];
      const double* column = data_.column(k);
      double* out = s.inputs.data() + k * s.stride;
      for (size_t i = 0; i < documents.size(); ++i)
        out[i] = (column[documents[i]] * data_.deviation + shift) * scale;
    }
    for (size_t i = 0; i < documents.size(); ++i) {
      s.target[i] = (y_[documents[i]] - mean_) / deviation_;
      s.weights[i] = data_.weights[documents[i]];
    }
  }

 private:
  const Prepared& data_;
  const std::vector<double>& y_;
  double mean_ = 0;
  double deviation_ = 0;
};

// Whole queries go to training or to the held-out part, never documents of one to both.
void split(const Prepared& data, Random& random, std::vector<uint32_t>& train, std::vector<uint32_t>& held) {
  std::vector<size_t> queries;
  for (size_t q = 0; q + 1 < data.offsets.size(); ++q)
    if (data.offsets[q + 1] > data.offsets[q]) queries.push_back(q);
  random.shuffle(std::span<size_t>(queries));
  size_t held_queries = static_cast<size_t>(std::llround(kHeldOut * static_cast<double>(queries.size())));
  if (queries.size() > 1) held_queries = std::max<size_t>(held_queries, 1);
  for (size_t i = 0; i < queries.size(); ++i)
    for (size_t d = data.offsets[queries[i]]; d < data.offsets[queries[i] + 1]; ++d)
      (i < held_queries ? held : train).push_back(static_cast<uint32_t>(d));
}

}  // namespace

RbcFit fit_neural(const Prepared& data, RbcTarget target, const CalibrationOptions& options, uint64_t seed,
                  const Context& context) {
  const Shape shape{data.columns, static_cast<size_t>(options.hidden)};
  Random random(seed, "neural");
  std::vector<uint32_t> train, held;
  split(data, random, train, held);
  const Gatherer gatherer(data, target);
  Network network(shape, random);
  NeuralMap map;
  map.mean = data.column_mean;
  for (const double deviation : data.column_deviation) map.scale.push_back(deviation > 0 ? 1 / deviation : 0);
  RbcFit fit;
  std::vector<double> best(shape.size(), 0.0);
  if (gatherer.deviation() > 0) {
    Samples held_samples, batch;
    gatherer.gather(held, held_samples);
    int limit = options.max_steps;
    if (held.empty()) {
      limit = std::min(limit, kStepsWithoutHeldOut);
      fit.warnings.push_back("one query only: trained without a held-out part");
    }
    best = network.parameters();
    double best_error = held.empty() ? 0 : network.squares(held_samples, nullptr);
    Adam adam(shape.size());
    std::vector<double> gradient(shape.size());
    size_t at = train.size();
    int without_progress = 0;
    fit.converged = held.empty();
    while (fit.evaluations < limit) {
      if (at >= train.size()) {
        random.shuffle(std::span<uint32_t>(train));
        at = 0;
      }
      const size_t count = std::min(kBatch, train.size() - at);
      gatherer.gather({train.data() + at, count}, batch);
      at += count;
      network.squares(batch, &gradient);
      adam.step(network.parameters(), gradient, static_cast<double>(count));
      ++fit.evaluations;
      if (held.empty() || fit.evaluations % kCheckEvery != 0) continue;
      context.check_stop();
      const double error = network.squares(held_samples, nullptr);
      if (error < best_error) {
        best_error = error;
        best = network.parameters();
        without_progress = 0;
      } else if (++without_progress == kPatience) {
        fit.converged = true;
        break;
      }
    }
    if (held.empty()) best = network.parameters();
    network.parameters() = best;
    std::vector<uint32_t> everything(data.documents);
    std::iota(everything.begin(), everything.end(), 0u);
    gatherer.gather(everything, batch);
    fit.value = network.squares(batch, nullptr) / static_cast<double>(data.documents) * gatherer.deviation() *
                gatherer.deviation();
  }
  const auto from = best.begin();
  map.weights.assign(from, from + shape.bias());
  map.bias.assign(from + shape.bias(), from + shape.output());
  map.output.assign(from + shape.output(), from + shape.output_bias());
  for (double& w : map.output) w *= gatherer.deviation();
  map.output_bias = best[shape.output_bias()] * gatherer.deviation() + gatherer.mean();
  fit.map = std::move(map);
  return fit;
}

}  // namespace tunemix::calibrate
