#include "learners/linear/problem.h"

#include <algorithm>

#include "learners/ranker_kernels.h"

namespace tunemix::linear {
namespace {}  // namespace

RankingProblem::RankingProblem(const TrainingData& data, Shape shape, Loss loss, bool per_pair, Share share,
                               const Context& context)
    : data_(data.all()),
      context_(context),
      shape_(shape),
      loss_(loss),
      scaling_(fit_scaling(data, context)),
      queries_(data) {
  double all = 0;
  double all_pairs = 0;
  for (size_t q = 0; q < queries_.size(); ++q) {
    all += queries_.weights[q];
    all_pairs += queries_.weights[q] * queries_.pairs[q];
  }
  for (size_t q = 0; q < queries_.size(); ++q) {
    const double pairs = queries_.pairs[q];
    const double weight = queries_.weights[q];
    const double of_query = share == Share::kPair ? weight * pairs / all_pairs : weight / all;
    weights_.push_back(per_pair ? of_query / pairs : of_query);
  }
  const size_t least = block_size(queries_.documents(), 512, 64);
  blocks_.push_back(0);
  for (size_t q = 1; q <= queries_.size(); ++q)
    if (q == queries_.size() || queries_.offsets[q] - queries_.offsets[blocks_.back()] >= least)
      blocks_.push_back(q);
}

// `sums`: for each unit the sum of gradient times raw row, laid out as parameters.
void RankingProblem::add_block(size_t block, const double* unscaled, double* sums, double& loss) const {
  const size_t d = shape_.features;
  const size_t H = shape_.hidden;
  const double* outputs = unscaled + shape_.outputs();
  const auto add_row = ranker_kernels().add_row;
  LossScratch scratch;
  std::vector<double> scores, gradient, activations;
  for (size_t q = blocks_[block]; q < blocks_[block + 1]; ++q) {
    const size_t begin = queries_.offsets[q];
    const size_t n = queries_.offsets[q + 1] - begin;
    scores.resize(n);
    gradient.resize(n);
    activations.resize(n * H);
    const uint32_t* rows = queries_.rows.data() + begin;
    for (size_t i = 0; i < n; ++i)
      scores[i] = score_row(shape_, unscaled, data_.row(rows[i]).data(), activations.data() + i * H);
    loss += weights_[q] * loss_(scores, {queries_.labels.data() + begin, n}, gradient, scratch);
    for (size_t i = 0; i < n; ++i) {
      const double g = weights_[q] * gradient[i];
      const float* x = data_.row(rows[i]).data();
      if (H == 0) {
        add_row(g, x, d, sums);
        sums[shape_.intercepts()] += g;
      }
      for (size_t u = 0; u < H; ++u) {
        const double a = activations[i * H + u];
        const double back = g * outputs[u] * (1 - a * a);
        add_row(back, x, d, sums + u * d);
        sums[shape_.intercepts() + u] += back;
        sums[shape_.outputs() + u] += g * a;
      }
    }
  }
}

double RankingProblem::operator()(std::span<const double> parameters, double l2,
                                  std::span<double> gradient) const {
  context_.check_stop();
  const std::vector<double> unscaled = unscale(shape_, scaling_, parameters);
  const size_t blocks = blocks_.size() - 1;
  std::vector<std::vector<double>> sums(blocks);
  std::vector<double> losses(blocks, 0.0);
  context_.pool().run(blocks, [&](size_t b) {
    sums[b].assign(shape_.size(), 0.0);
    add_block(b, unscaled.data(), sums[b].data(), losses[b]);
  });
  double value = 0;
  std::fill(gradient.begin(), gradient.end(), 0.0);
  for (size_t b = 0; b < blocks; ++b) {
    value += losses[b];
    for (size_t i = 0; i < gradient.size(); ++i) gradient[i] += sums[b][i];
  }
  for (size_t u = 0; u < shape_.units(); ++u)
    for (size_t j = 0; j < shape_.features; ++j) {
      double& g = gradient[u * shape_.features + j];
      g = (g - gradient[shape_.intercepts() + u] * scaling_.shift[j]) * scaling_.factor[j];
    }
  // No ranking depends on it; its sum is rounding alone.
  if (shape_.hidden == 0) gradient[shape_.intercepts()] = 0;
  for (size_t i = 0; i < gradient.size(); ++i) {
    value += l2 / 2 * parameters[i] * parameters[i];
    gradient[i] += l2 * parameters[i];
  }
  return value;
}

}  // namespace tunemix::linear
