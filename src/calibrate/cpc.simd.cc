#include "calibrate/cpc.h"

#include "calibrate/kernels.h"
#include "calibrate/lanes.h"
#include "calibrate/probabilities.h"

namespace tunemix::calibrate::TUNEMIX_SET {
namespace {

using lanes::V;

// Probabilities of eight documents, the slopes 1 - s(x_l) of log s, and where `kLogs` is set log p(l).
template <bool kPlain, bool kLogs>
TUNEMIX_LANES void with_slopes(const V* x, size_t columns, V* log_p, V* p, V* slope) {
  V total{};
  V highest = -1e301;
  for (size_t k = 0; k < columns; ++k) {
    const V e = lanes::exp(-lanes::abs(x[k]));
    const V inverse = 1.0 / (1.0 + e);
    const V rest = e * inverse;
    slope[k] = lanes::select(x[k] < 0, inverse, rest);
    if constexpr (kPlain) {
      p[k] = lanes::select(x[k] < 0, rest, inverse);
      total += p[k];
    }
    if constexpr (!kPlain) {
      log_p[k] = lanes::min(x[k], 0) - lanes::log(1.0 + e);
      highest = lanes::max(highest, log_p[k]);
    }
  }
  if constexpr (!kPlain) {
    for (size_t k = 0; k < columns; ++k) {
      p[k] = lanes::exp(log_p[k] - highest);
      total += p[k];
    }
  }
  const V scale = 1.0 / total;
  for (size_t k = 0; k < columns; ++k) p[k] *= scale;
  if constexpr (kPlain && kLogs) {
    for (size_t k = 0; k < columns; ++k) log_p[k] = lanes::log(p[k]);
  }
  if constexpr (!kPlain) {
    const V log_total = highest + lanes::log(total);
    for (size_t k = 0; k < columns; ++k) log_p[k] -= log_total;
  }
}

template <bool kPlain, bool kEntropy>
void smooth_of(const ScoreColumns& data, size_t begin, size_t end, const CpcPoint& theta, double (*sums)[3]) {
  const size_t K = data.columns;
  const double a = theta.a;
  const double per_a = 1 / a;
  V acc[3 * kSmoothTargets] = {};
  V x[kMaxColumns], log_p[kMaxColumns], p[kMaxColumns], slope[kMaxColumns];
  for (size_t i = begin; i < end; i += lanes::kWidth) {
    for (size_t k = 0; k < K; ++k) x[k] = a * (lanes::load(data.column(k) + i) - theta.b);
    with_slopes<kPlain, kEntropy>(x, K, log_p, p, slope);
    const V label = lanes::load(data.labels + i);
    const V weight = lanes::load(data.weights + i);
    // d log s(f_k): slope times (f_k - b) by a, slope times -a by b; here without the factors 1/a and -a.
    V mean_a{}, mean_b{}, entropy{}, mean_label{}, loss{}, true_a{}, true_b{};
    V true_log = 1;  // p(true) first, its logarithm where that is at hand
    for (size_t k = 0; k < K; ++k) {
      const double l = static_cast<double>(k);
      x[k] *= slope[k];
      const V error = l - label;
      const V weighted_error = error * p[k];
      mean_a += p[k] * x[k];
      mean_b += p[k] * slope[k];
      mean_label += l * p[k];
      loss += error * weighted_error;
      const lanes::Mask is_true = label == l;
      true_log = lanes::select(is_true, kPlain ? p[k] : log_p[k], true_log);
      true_a = lanes::select(is_true, x[k], true_a);
      true_b = lanes::select(is_true, slope[k], true_b);
      if constexpr (kEntropy) entropy -= p[k] * log_p[k];
    }
    if constexpr (kPlain) true_log = lanes::log(true_log);
    V entropy_a{}, entropy_b{}, loss_a{}, loss_b{}, label_a{}, label_b{};
    for (size_t k = 0; k < K; ++k) {
      const double l = static_cast<double>(k);
      const V dp_a = p[k] * (x[k] - mean_a);
      const V dp_b = p[k] * (slope[k] - mean_b);
      const V square = (l - label) * (l - label);
      loss_a += square * dp_a;
      loss_b += square * dp_b;
      label_a += l * dp_a;
      label_b += l * dp_b;
      if constexpr (kEntropy) {
        entropy_a -= dp_a * log_p[k];
        entropy_b -= dp_b * log_p[k];
      }
    }
    const auto add = [&](CpcTarget target, const V& value, const V& by_a, const V& by_b) {
      V* to = acc + 3 * smooth_index(target);
      to[0] += weight * value;
      to[1] += weight * by_a;
      to[2] += weight * by_b;
    };
    const V true_da = mean_a - true_a;  // of -log p(true)
    const V true_db = mean_b - true_b;
    const V error = mean_label - label;
    add(CpcTarget::kLs, -true_log, true_da, true_db);
    add(CpcTarget::kEl, loss, loss_a, loss_b);
    add(CpcTarget::kEll, error * error, 2.0 * error * label_a, 2.0 * error * label_b);
    if constexpr (kEntropy) {
      entropy = lanes::max(entropy, 0);
      const V power = entropy * entropy;  // eq. 16 with C = 2
      const V power_slope = 2.0 * entropy;
      add(CpcTarget::kEwls, -true_log * power, true_da * power - true_log * power_slope * entropy_a,
          true_db * power - true_log * power_slope * entropy_b);
    }
  }
  for (size_t t = 0; t < kSmoothTargets; ++t) {
    sums[t][0] = lanes::sum(acc[3 * t]);
    sums[t][1] = lanes::sum(acc[3 * t + 1]) * per_a;
    sums[t][2] = lanes::sum(acc[3 * t + 2]) * -a;
  }
}

void smooth(const ScoreColumns& data, size_t begin, size_t end, const CpcPoint& point, double (*sums)[3]) {
  const auto kernel = point.plain ? (point.entropy ? smooth_of<true, true> : smooth_of<true, false>)
                                  : (point.entropy ? smooth_of<false, true> : smooth_of<false, false>);
  kernel(data, begin, end, point, sums);
}

void expected_grades(const ScoreColumns& data, size_t begin, size_t end, const CpcPoint& point, double* out) {
  V x[kMaxColumns], p[kMaxColumns];
  for (size_t i = begin; i < end; i += lanes::kWidth) {
    for (size_t k = 0; k < data.columns; ++k) x[k] = point.a * (lanes::load(data.column(k) + i) - point.b);
    if (point.plain)
      plain_probabilities(x, data.columns, p);
    else
      sigmoid_probabilities(x, data.columns, p);
    V grade{};
    for (size_t k = 0; k < data.columns; ++k) grade += data.grades[k] * p[k];
    lanes::store(out + i, grade);
  }
}

double soft_gain(double gain, const double* sorted, const double* discounts, size_t first, size_t last,
                 double v, double scale) {
  V numerator{}, denominator{};
  for (size_t r = first; r < last; r += lanes::kWidth) {
    const V d = lanes::load(sorted + r) - v;
    const V h = lanes::exp<true>(d * d * scale);
    numerator += h * lanes::load(discounts + r);
    denominator += h;
  }
  return gain * lanes::sum(numerator) / lanes::sum(denominator);
}

// The target of eight documents from log p, p; u = its derivatives by p, times p.
TUNEMIX_LANES V target_of(const LabelPoint& point, size_t columns, const V& label, const V* log_p, const V* p,
                          V* u) {
  V value{};
  switch (point.target) {
    case CpcTarget::kEl:
      for (size_t k = 0; k < columns; ++k) {
        const V error = static_cast<double>(k) - label;
        u[k] = error * error * p[k];
        value += u[k];
      }
      return value;
    case CpcTarget::kEll: {
      V error = -label;
      for (size_t k = 0; k < columns; ++k) error += static_cast<double>(k) * p[k];
      for (size_t k = 0; k < columns; ++k) u[k] = 2.0 * static_cast<double>(k) * error * p[k];
      return error * error;
    }
    default: {  // ls, ewls
      V power = 1;
      V slope = 0;
      if (point.target == CpcTarget::kEwls) {
        V entropy{};
        for (size_t k = 0; k < columns; ++k) entropy -= p[k] * log_p[k];
        entropy = lanes::max(entropy, 0);
        power = entropy * entropy;  // eq. 16 with C = 2
        slope = 2.0 * entropy;
      }
      for (size_t k = 0; k < columns; ++k)
        value -= lanes::select(label == static_cast<double>(k), log_p[k], 0);
      for (size_t k = 0; k < columns; ++k)
        u[k] = lanes::select(label == static_cast<double>(k), -power, 0) - value * slope * p[k] * log_p[k];
      return value * power;
    }
  }
}

void by_label(const ScoreColumns& data, size_t begin, size_t end, const LabelPoint& point, double* scratch,
              double* sums) {
  const size_t K = data.columns;
  const size_t weights = point.weight_count(K);
  V* by_weight = reinterpret_cast<V*>(scratch);
  V* by_bias = by_weight + K * K;
  V* f = by_bias + K;
  V* slope = f + K;
  V* log_p = slope + K;
  V* p = log_p + K;
  V* u = p + K;
  V total{};
  for (size_t k = 0; k < weights; ++k) by_weight[k] = 0;
  for (size_t k = 0; k < K; ++k) by_bias[k] = 0;
  for (size_t i = begin; i < end; i += lanes::kWidth) {
    for (size_t k = 0; k < K; ++k) f[k] = lanes::load(data.column(k) + i);
    V highest = -1e301;
    for (size_t k = 0; k < K; ++k) {
      V z = point.bias[k];
      slope[k] = 1;
      if (point.matrix) {
        for (size_t j = 0; j < K; ++j) z += point.weights[k * K + j] * f[j];
      } else {
        z += point.weights[k] * f[k];
        V e;
        const V log_s = log_sigmoid(z, e);
        slope[k] = lanes::select(z < 0, 1, e) / (1.0 + e);
        z = log_s;
      }
      log_p[k] = z;
      highest = lanes::max(highest, z);
    }
    V sum{};
    for (size_t k = 0; k < K; ++k) {
      p[k] = lanes::exp(log_p[k] - highest);
      sum += p[k];
    }
    const V inverse = 1.0 / sum;
    const V log_sum = highest + lanes::log(sum);
    for (size_t k = 0; k < K; ++k) {
      p[k] *= inverse;
      log_p[k] -= log_sum;
    }
    const V weight = lanes::load(data.weights + i);
    total += weight * target_of(point, K, lanes::load(data.labels + i), log_p, p, u);
    V mean{};
    for (size_t k = 0; k < K; ++k) mean += u[k];
    for (size_t k = 0; k < K; ++k) {
      const V by_z = weight * slope[k] * (u[k] - p[k] * mean);
      by_bias[k] += by_z;
      if (point.matrix)
        for (size_t j = 0; j < K; ++j) by_weight[k * K + j] += by_z * f[j];
      else
        by_weight[k] += by_z * f[k];
    }
  }
  *sums++ = lanes::sum(total);
  for (size_t k = 0; k < weights; ++k) *sums++ = lanes::sum(by_weight[k]);
  for (size_t k = 0; k < K; ++k) *sums++ = lanes::sum(by_bias[k]);
}

}  // namespace

const CpcKernels cpc_kernels_table = {smooth, expected_grades, soft_gain, by_label};

}  // namespace tunemix::calibrate::TUNEMIX_SET
