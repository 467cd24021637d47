#include "calibrate/label_maps.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "calibrate/minimise.h"
#include "tunemix/core/aligned.h"

namespace tunemix::calibrate {
namespace {

constexpr size_t kParts = 3;  // of the queries, for the choice of the ridge
constexpr double kRidges[] = {1, 0.1, 0.01, 1e-3, 1e-4};
constexpr double kRidgeOfSigmoids = 1e-3;
constexpr double kRough = 1e-6;  // tolerances of searches
constexpr double kFine = 1e-10;
constexpr double kFlattest = 1e-3;  // a sigmoid rises with the score of its label
constexpr double kFarBias = 50;

}  // namespace

double label_target(const Prepared& data, std::span<const double> document_weights, CpcForm form,
                    CpcTarget target, std::span<const double> parameters, std::span<double> gradient,
                    const Context& context) {
  const size_t K = data.columns;
  const LabelPoint point{form == CpcForm::kMatrix, parameters.data(),
                         parameters.data() + (parameters.size() - K), target};
  const size_t size = 1 + parameters.size();
  const size_t blocks = (data.stride + kBlock - 1) / kBlock;
  std::vector<double> partial(blocks * size);
  ScoreColumns view = data.view();
  view.weights = document_weights.data();
  const CpcKernels& kernels = cpc_kernels();
  parallel_blocks(context.pool(), data.stride, kBlock, [&](size_t begin, size_t end) {
    AlignedVector<double> scratch(label_scratch(K));
    kernels.by_label(view, begin, end, point, scratch.data(), &partial[begin / kBlock * size]);
  });
  double value = 0;
  std::fill(gradient.begin(), gradient.end(), 0);
  for (size_t block = 0; block < blocks; ++block) {
    const double* sums = &partial[block * size];
    value += sums[0];
    for (size_t i = 0; i < gradient.size(); ++i) gradient[i] += sums[1 + i];
  }
  return value;
}

LabelFitter::LabelFitter(const Prepared& data, CpcForm form, const std::optional<CpcFit>& one,
                         const CalibrationOptions& options, const Context& context)
    : data_(data), thinned_(thin(data, kThinned)), form_(form), options_(options), context_(context) {
  const size_t K = data.columns;
  if (form == CpcForm::kMatrix) {
    start_.assign(K * K + K + 1, 0);
    start_.back() = 1;
    centre_ = start_;
    ridge_ = chosen_ridge();
  } else {
    start_.assign(K, one ? one->a : 1);
    start_.resize(2 * K, one ? -one->a * one->b : 0);
    centre_ = start_;
    ridge_ = kRidgeOfSigmoids;
  }
  ls_ = search(thinned_, thinned_.weights, CpcTarget::kLs, ridge_, start_, kRough);
}

// The parameters of the map that the variables stand for.
LabelFitter::Vector LabelFitter::parameters(const Vector& x) const {
  if (form_ != CpcForm::kMatrix) return x;
  Vector result(x.begin(), x.end() - 1);
  for (size_t k = 0; k < data_.columns; ++k) result[k * data_.columns + k] += x.back();
  return result;
}

LabelFitter::Found LabelFitter::search(const Prepared& data, std::span<const double> weights,
                                       CpcTarget target, double ridge, Vector start, double tolerance) const {
  const size_t K = data.columns;
  const bool matrix = form_ == CpcForm::kMatrix;
  const size_t penalised = matrix ? K * K : 2 * K;
  const double documents = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto per_document = [&](const Vector& x, double* gradient) {
    context_.check_stop();
    const Vector at = parameters(x);
    Vector slope(at.size());
    double value = label_target(data, weights, form_, target, at, slope, context_) / documents;
    for (size_t i = 0; i < at.size(); ++i) gradient[i] = slope[i] / documents;
    if (matrix) {
      gradient[at.size()] = 0;
      for (size_t k = 0; k < K; ++k) gradient[at.size()] += gradient[k * K + k];
    }
    for (size_t i = 0; i < penalised; ++i) {
      const double away = x[i] - (matrix ? 0 : centre_[i]);
      value += 0.5 * ridge * away * away;
      gradient[i] += ridge * away;
    }
    return value;
  };
  // Steepness is bounded as that of one sigmoid is: ewls and el have no minimum at finite parameters.
  Vector high(start.size(), options_.max_steepness);
  const size_t bias = matrix ? K * K : K;
  std::fill_n(high.begin() + static_cast<std::ptrdiff_t>(bias), K,
              std::max(kFarBias, 2 * std::abs(centre_[bias])));
  Vector low = high;
  for (double& x : low) x = -x;
  if (!matrix) std::fill_n(low.begin(), K, kFlattest);
  const Minimum found = minimise(per_document, std::move(start), {low, high, tolerance, 200}, context_);
  return {found.x, found.evaluations, found.converged && std::isfinite(found.value)};
}

// The ridge with the least `ls` on queries that the fit has not seen.
double LabelFitter::chosen_ridge() const {
  const size_t queries = thinned_.offsets.size() - 1;
  const size_t parts = std::min(kParts, queries);
  if (parts < 2) return kRidges[0];
  std::vector<double> loss(std::size(kRidges));
  for (size_t part = 0; part < parts; ++part) {
    Vector seen = thinned_.weights;
    Vector unseen(thinned_.stride);
    for (size_t q = part; q < queries; q += parts)
      for (size_t i = thinned_.offsets[q]; i < thinned_.offsets[q + 1]; ++i) std::swap(seen[i], unseen[i]);
    if (std::accumulate(seen.begin(), seen.end(), 0.0) == 0) continue;
    Vector x = start_;
    for (size_t r = 0; r < std::size(kRidges); ++r) {
      x = search(thinned_, seen, CpcTarget::kLs, kRidges[r], std::move(x), kRough).x;
      loss[r] += label_target(thinned_, unseen, form_, CpcTarget::kLs, parameters(x), {}, context_);
    }
  }
  return kRidges[std::min_element(loss.begin(), loss.end()) - loss.begin()];
}

std::optional<LabelFit> LabelFitter::fit(CpcTarget target) const {
  Found found = ls_;
  int evaluations = found.evaluations;
  const auto go_on = [&](const Prepared& data) {
    found = search(data, data.weights, target, ridge_, std::move(found.x), kFine);
    evaluations += found.evaluations;
  };
  if (target != CpcTarget::kLs && thinned_.documents < data_.documents) go_on(thinned_);
  go_on(data_);
  const Vector at = parameters(found.x);
  Vector gradient(at.size());
  const double value = label_target(data_, data_.weights, form_, target, at, gradient, context_);
  if (!std::isfinite(value)) return std::nullopt;
  const auto bias = at.end() - static_cast<std::ptrdiff_t>(data_.columns);
  return LabelFit{{at.begin(), bias}, {bias, at.end()}, value, evaluations, found.converged};
}

}  // namespace tunemix::calibrate
