#include "calibrate/cpc.h"

#include <algorithm>
#include <cmath>
#include <nlopt.hpp>

#include "calibrate/lanes.h"
#include "calibrate/probabilities.h"

namespace tunemix::calibrate {
namespace {

using lanes::V;

constexpr size_t kSums = 3 * kSmoothTargets;  // value, by a, by b of each target

// Standardised scores lie in [low, high]: whether a(f - b) is small enough for plain sigmoids.
bool is_plain(const Prepared& data, double a, double b) {
  return std::abs(a) * std::max(std::abs(data.low - b), std::abs(data.high - b)) < kPlainReach;
}

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

struct Theta {
  double a;
  double b;
  double entropy_power;
};

// Adds documents [begin, end) of whole vectors to the sums; without `kEntropy` those of ewls stay 0.
template <bool kPlain, bool kEntropy>
void add_smooth(const Prepared& data, size_t begin, size_t end, const Theta& theta, double* sums) {
  const size_t K = data.columns;
  const double a = theta.a;
  const double per_a = 1 / a;
  V acc[kSums] = {};
  V x[kMaxColumns], log_p[kMaxColumns], p[kMaxColumns], slope[kMaxColumns];
  for (size_t i = begin; i < end; i += lanes::kWidth) {
    for (size_t k = 0; k < K; ++k) x[k] = a * (lanes::load(data.column(k) + i) - theta.b);
    with_slopes<kPlain, kEntropy>(x, K, log_p, p, slope);
    const V label = lanes::load(&data.labels[i]);
    const V weight = lanes::load(&data.weights[i]);
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
      V power = entropy * entropy;  // H^C and its derivative by H
      V power_slope = 2.0 * entropy;
      if (theta.entropy_power != 2) {
        const V safe = lanes::max(entropy, 1e-300);
        const V lower = lanes::exp((theta.entropy_power - 1) * lanes::log(safe));
        power = lower * safe;
        power_slope = theta.entropy_power * lower;
      }
      add(CpcTarget::kEwls, -true_log * power, true_da * power - true_log * power_slope * entropy_a,
          true_db * power - true_log * power_slope * entropy_b);
    }
  }
  for (size_t t = 0; t < kSmoothTargets; ++t) {
    sums[3 * t] = lanes::sum(acc[3 * t]);
    sums[3 * t + 1] = lanes::sum(acc[3 * t + 1]) * per_a;
    sums[3 * t + 2] = lanes::sum(acc[3 * t + 2]) * -a;
  }
}

// Where the Gaussian falls below 4e-18 it no longer changes sums that are at least 1 (a document is near
// itself).
constexpr double kNegligible = 40;

// Sum over the relevant documents of one query of z_i sum_r c_r h(i, j_r); `sorted` is scratch.
double soft_dcg(const double* v, const double* gains, size_t n, const std::vector<double>& discounts,
                double sigma, std::vector<double>& sorted) {
  sorted.assign(v, v + n);
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  sorted.resize(n + lanes::kWidth, -1e100);  // far from everything: the Gaussian is 0 there
  const double reach = std::sqrt(kNegligible * sigma);
  const double scale = -1 / sigma;
  const bool all_pairs = sorted[0] - sorted[n - 1] <= reach || n <= 4 * lanes::kWidth;
  double total = 0;
  for (size_t i = 0; i < n; ++i) {
    if (!(gains[i] > 0)) continue;
    size_t first = 0;
    size_t last = n;
    if (!all_pairs) {
      const auto end = sorted.begin() + n;
      const auto from = std::lower_bound(sorted.begin(), end, v[i] + reach, std::greater<>());
      first = from - sorted.begin();
      last = std::upper_bound(from, end, v[i] - reach, std::greater<>()) - sorted.begin();
    }
    V numerator{}, denominator{};
    for (size_t r = first; r < last; r += lanes::kWidth) {
      const V d = lanes::load(&sorted[r]) - v[i];
      const V h = lanes::exp<true>(d * d * scale);
      numerator += h * lanes::load(&discounts[r]);
      denominator += h;
    }
    total += gains[i] * lanes::sum(numerator) / lanes::sum(denominator);
  }
  return total;
}

}  // namespace

SmoothValues smooth_targets(const Prepared& data, double a, double b, double entropy_power,
                            const Context& context, bool with_ewls) {
  const size_t blocks = (data.stride + kBlock - 1) / kBlock;
  std::vector<std::array<double, kSums>> partial(blocks);
  const Theta theta{a, b, entropy_power};
  const bool plain = is_plain(data, a, b);
  const auto add = plain ? (with_ewls ? add_smooth<true, true> : add_smooth<true, false>)
                         : (with_ewls ? add_smooth<false, true> : add_smooth<false, false>);
  parallel_blocks(context.pool(), data.stride, kBlock, [&](size_t begin, size_t end) {
    add(data, begin, end, theta, partial[begin / kBlock].data());
  });
  std::array<double, kSums> sums{};
  for (const auto& block : partial)
    for (size_t s = 0; s < kSums; ++s) sums[s] += block[s];
  SmoothValues result;
  for (size_t t = 0; t < kSmoothTargets; ++t) {
    result.value[t] = sums[3 * t];
    result.gradient[t] = {sums[3 * t + 1], sums[3 * t + 2]};
  }
  return result;
}

void expected_grades(const Prepared& data, double a, double b, std::vector<double>& v,
                     const Context& context) {
  v.resize(data.stride);
  const bool plain = is_plain(data, a, b);
  parallel_blocks(context.pool(), data.stride, kBlock, [&](size_t begin, size_t end) {
    V x[kMaxColumns], p[kMaxColumns];
    for (size_t i = begin; i < end; i += lanes::kWidth) {
      for (size_t k = 0; k < data.columns; ++k) x[k] = a * (lanes::load(data.column(k) + i) - b);
      if (plain)
        plain_probabilities(x, data.columns, p);
      else
        sigmoid_probabilities(x, data.columns, p);
      V grade{};
      for (size_t k = 0; k < data.columns; ++k) grade += data.grades[k] * p[k];
      lanes::store(&v[i], grade);
    }
  });
}

double soft_ndcg(const Prepared& data, double a, double b, double sigma, const Context& context) {
  std::vector<double> v;
  expected_grades(data, a, b, v, context);
  const size_t queries = data.offsets.size() - 1;
  size_t longest = 0;
  for (size_t q = 0; q < queries; ++q) longest = std::max(longest, data.offsets[q + 1] - data.offsets[q]);
  std::vector<double> discounts(longest + lanes::kWidth, 0.0);
  for (size_t r = 0; r < longest; ++r) discounts[r] = 1 / std::log2(static_cast<double>(r) + 2);
  std::vector<double> per_query(queries);
  constexpr size_t kQueries = 16;
  parallel_blocks(context.pool(), queries, kQueries, [&](size_t begin, size_t end) {
    std::vector<double> sorted;
    for (size_t q = begin; q < end; ++q) {
      const size_t first = data.offsets[q];
      const size_t n = data.offsets[q + 1] - first;
      if (n > 0) per_query[q] = soft_dcg(&v[first], &data.gains[first], n, discounts, sigma, sorted);
    }
  });
  double sum = 0;
  for (const double value : per_query) sum += value;
  return -sum;
}

CpcBox cpc_box(const Prepared& data, const CalibrationOptions& options) {
  // From almost flat to steep; b from below all scores (all labels nearly equal) to far above them, where the
  // probabilities are a softmax of a f.
  return {{std::log(0.01), data.low - 3}, {std::log(options.max_steepness), data.high + 10}};
}

namespace {

// Documents that the starts are chosen on, and that the searches from them work on; the best of these is
// polished on everything.
constexpr size_t kScouted = 2048;
constexpr size_t kThinned = 8192;
constexpr size_t kStarts = 3;
constexpr size_t kSoftNdcgSearches = 2;  // the costly target searches from its best starts only
constexpr size_t kGridA = 7;

}  // namespace

CpcFitter::CpcFitter(const Prepared& data, const CalibrationOptions& options, const Context& context)
    : data_(data),
      scouted_(thin(data, kScouted)),
      thinned_(thin(data, kThinned)),
      options_(options),
      context_(context),
      box_(cpc_box(data, options)) {
  if (data.deviation == 0) return;
  const double flattest = std::log(0.1);
  const double span = data.high - data.low;
  for (size_t i = 0; i < kGridA; ++i) {
    const double log_a =
        flattest + (box_.high[0] - flattest) * static_cast<double>(i) / static_cast<double>(kGridA - 1);
    for (const double at : {0.0, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0})
      grid_.push_back({log_a, data.low + at * span});
    grid_.push_back({log_a, data.high + 5});
  }
  for (const Theta& theta : grid_) {
    const SmoothValues values =
        smooth_targets(scouted_, std::exp(theta[0]), theta[1], options.entropy_power, context);
    for (size_t t = 0; t < kSmoothTargets; ++t) grid_values_[t].push_back(values.value[t]);
  }
  ls_ = search(CpcTarget::kLs, std::nullopt);
}

std::optional<CpcFit> CpcFitter::fit(CpcTarget target) const {
  require(target != CpcTarget::kShift, "shift has nothing to fit");
  if (data_.deviation == 0) return std::nullopt;
  if (target == CpcTarget::kLs) return ls_;
  if (target == CpcTarget::kSndcg && !data_.any_relevant) return std::nullopt;
  return search(target, ls_);
}

double CpcFitter::evaluate(const Prepared& data, CpcTarget target, const Theta& theta,
                           double* gradient) const {
  context_.check_stop();
  const double a = std::exp(theta[0]);
  if (target == CpcTarget::kSndcg) return soft_ndcg(data, a, theta[1], options_.sigma, context_);
  const SmoothValues values =
      smooth_targets(data, a, theta[1], options_.entropy_power, context_, target == CpcTarget::kEwls);
  const size_t t = smooth_index(target);
  if (gradient != nullptr) {
    gradient[0] = values.gradient[t][0] * a;  // by log a
    gradient[1] = values.gradient[t][1];
  }
  return values.value[t];
}

// Points of the grid with the lowest values, no two of them neighbours.
std::vector<CpcFitter::Theta> CpcFitter::promising(CpcTarget target) const {
  std::vector<double> values;
  if (is_smooth(target)) {
    values = grid_values_[smooth_index(target)];
  } else {
    for (const Theta& theta : grid_) values.push_back(evaluate(scouted_, target, theta, nullptr));
  }
  std::vector<size_t> order;
  for (size_t i = 0; i < grid_.size(); ++i)
    if (std::isfinite(values[i])) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) { return values[i] < values[j]; });
  const double near_a = 1.5 * (grid_.back()[0] - grid_.front()[0]) / static_cast<double>(kGridA - 1);
  const double near_b = 0.25 * (data_.high - data_.low);
  std::vector<Theta> chosen;
  for (const size_t i : order) {
    const bool apart = std::none_of(chosen.begin(), chosen.end(), [&](const Theta& other) {
      return std::abs(other[0] - grid_[i][0]) < near_a && std::abs(other[1] - grid_[i][1]) < near_b;
    });
    if (apart) chosen.push_back(grid_[i]);
    if (chosen.size() == kStarts) break;
  }
  return chosen;
}

std::optional<CpcFitter::Candidate> CpcFitter::descend(const Prepared& data, CpcTarget target, Theta start,
                                                       double step, int& evaluations) const {
  const bool smooth = is_smooth(target);
  nlopt::opt optimiser(smooth ? nlopt::LD_SLSQP : nlopt::LN_SBPLX, 2);
  optimiser.set_lower_bounds({box_.low[0], box_.low[1]});
  optimiser.set_upper_bounds({box_.high[0], box_.high[1]});
  // The best point seen counts, also when the optimiser gives up in the middle.
  Candidate best{start, HUGE_VAL, false};
  const double size = static_cast<double>(data.documents);
  struct Call {
    const CpcFitter* self;
    const Prepared* data;
    CpcTarget target;
    double size;
    Candidate* best;
    int* evaluations;
  } call{this, &data, target, size, &best, &evaluations};
  optimiser.set_min_objective(
      [](unsigned, const double* x, double* gradient, void* p) {
        const Call& c = *static_cast<Call*>(p);
        const Theta theta{x[0], x[1]};
        const double value = c.self->evaluate(*c.data, c.target, theta, gradient);
        ++*c.evaluations;
        if (value < c.best->value) *c.best = {theta, value, false};
        // Per document, so that tolerances mean the same on any split.
        if (gradient != nullptr) {
          gradient[0] /= c.size;
          gradient[1] /= c.size;
        }
        return value / c.size;
      },
      &call);
  if (smooth) {
    optimiser.set_ftol_rel(1e-10);
    optimiser.set_maxeval(100);
  } else {
    optimiser.set_initial_step({step, step});
    optimiser.set_ftol_rel(1e-5);
    optimiser.set_xtol_abs(3e-3);
    optimiser.set_maxeval(100);
  }
  std::vector<double> x(start.begin(), start.end());
  for (size_t i = 0; i < 2; ++i) x[i] = std::clamp(x[i], box_.low[i], box_.high[i]);
  try {
    double value = 0;
    const nlopt::result result = optimiser.optimize(x, value);
    best.converged = result != nlopt::MAXEVAL_REACHED && result != nlopt::MAXTIME_REACHED;
  } catch (const nlopt::roundoff_limited&) {
    best.converged = true;  // as good as the arithmetic allows
  } catch (const std::exception&) {
    best.converged = false;
  }
  context_.check_stop();  // NLopt turns our exceptions into its own
  if (!std::isfinite(best.value)) return std::nullopt;
  return best;
}

void CpcFitter::keep_best(std::vector<Theta>& starts, size_t count, int& evaluations) const {
  std::vector<std::pair<double, Theta>> valued;
  for (const Theta& theta : starts)
    valued.emplace_back(evaluate(thinned_, CpcTarget::kSndcg, theta, nullptr), theta);
  evaluations += static_cast<int>(starts.size());
  std::stable_sort(valued.begin(), valued.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  starts.clear();
  for (size_t i = 0; i < std::min(count, valued.size()); ++i) starts.push_back(valued[i].second);
}

std::optional<CpcFit> CpcFitter::search(CpcTarget target, const std::optional<CpcFit>& start) const {
  int evaluations = static_cast<int>(grid_.size());
  std::vector<Theta> starts = promising(target);
  if (start) starts.insert(starts.begin(), Theta{std::log(start->a), start->b});
  if (target == CpcTarget::kSndcg) keep_best(starts, kSoftNdcgSearches, evaluations);
  std::optional<Candidate> best;
  for (const Theta& theta : starts) {
    const auto found = descend(thinned_, target, theta, 0.5, evaluations);
    if (found && (!best || found->value < best->value)) best = found;
  }
  if (best && thinned_.documents < data_.documents)
    best = descend(data_, target, best->theta, 0.1, evaluations);
  if (!best) return std::nullopt;
  CpcFit fit{std::exp(best->theta[0]), best->theta[1], best->value, evaluations, best->converged, ""};
  const char* names[2] = {"a", "b"};
  for (size_t i = 0; i < 2; ++i) {
    const double margin = 1e-6 * (box_.high[i] - box_.low[i]);
    const bool low = best->theta[i] <= box_.low[i] + margin;
    const bool high = best->theta[i] >= box_.high[i] - margin;
    if (!low && !high) continue;
    if (!fit.bound_hit.empty()) fit.bound_hit += ", ";
    fit.bound_hit += fmt::format("{} {}", names[i], low ? "lower" : "upper");
  }
  return fit;
}

}  // namespace tunemix::calibrate
