#include "calibrate/cpc.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "calibrate/kernels.h"
#include "calibrate/minimise.h"
#include "core/cell_sums.h"
#include "core/portable_math.h"

namespace tunemix::calibrate {
namespace {

// Standardised scores lie in [low, high]: whether a(f - b) is small enough for plain sigmoids.
bool is_plain(const Prepared& data, double a, double b) {
  return std::abs(a) * std::max(std::abs(data.low - b), std::abs(data.high - b)) < kPlainReach;
}

// Where the Gaussian falls below 4e-18 it no longer changes sums that are at least 1 (a document is near
// itself).
constexpr double kNegligible = 40;

// soft_dcg of many documents, their places in units in which the Gaussian is smooth enough for CellSums.
double soft_dcg_of_many(const double* v, const double* gains, size_t n, const std::vector<double>& discounts,
                        double sigma) {
  static const CellFunction gaussian([](double x) { return portable_exp(-x * x / 4); }, 0, 0);
  std::vector<std::pair<double, double>> ranked;  // place, gain
  for (size_t i = 0; i < n; ++i) ranked.emplace_back(v[i] * (2 / std::sqrt(sigma)), gains[i]);
  std::sort(ranked.begin(), ranked.end(), std::greater<>());
  std::vector<double> places;
  for (const auto& [place, gain] : ranked) places.push_back(place);
  const auto sums = [&](std::span<const double> weights) {
    CellSums cells(gaussian, places);
    cells.add(0, n, weights);
    std::vector<double> result(n, 0.0);
    cells.sum(0, n, result);
    return result;
  };
  const std::vector<double> discounted = sums(std::span(discounts).first(n));
  const std::vector<double> all = sums({});
  double total = 0;
  for (size_t i = 0; i < n; ++i) total += ranked[i].second * discounted[i] / all[i];
  return total;
}

// Sum over the relevant documents of one query of z_i sum_r c_r h(i, j_r); `sorted` is scratch.
double soft_dcg(const double* v, const double* gains, size_t n, const std::vector<double>& discounts,
                double sigma, std::vector<double>& sorted) {
  if (n > kManyDocuments) return soft_dcg_of_many(v, gains, n, discounts, sigma);
  sorted.assign(v, v + n);
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  sorted.resize(n + lanes::kWidth, -1e100);  // far from everything: the Gaussian is 0 there
  const CpcKernels& kernels = cpc_kernels();
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
    total += kernels.soft_gain(gains[i], sorted.data(), discounts.data(), first, last, v[i], scale);
  }
  return total;
}

}  // namespace

SmoothValues smooth_targets(const Prepared& data, double a, double b, const Context& context,
                            bool with_ewls) {
  const size_t blocks = (data.stride + kBlock - 1) / kBlock;
  struct Sums {
    double of_target[kSmoothTargets][3];  // value, by a, by b
  };
  std::vector<Sums> partial(blocks);
  const CpcPoint point{a, b, is_plain(data, a, b), with_ewls};
  const CpcKernels& kernels = cpc_kernels();
  const ScoreColumns view = data.view();
  parallel_blocks(context.pool(), data.stride, kBlock, [&](size_t begin, size_t end) {
    kernels.smooth(view, begin, end, point, partial[begin / kBlock].of_target);
  });
  SmoothValues result;
  for (const Sums& sums : partial)
    for (size_t t = 0; t < kSmoothTargets; ++t) {
      result.value[t] += sums.of_target[t][0];
      result.gradient[t][0] += sums.of_target[t][1];
      result.gradient[t][1] += sums.of_target[t][2];
    }
  return result;
}

void expected_grades(const Prepared& data, double a, double b, std::vector<double>& v,
                     const Context& context) {
  v.resize(data.stride);
  const CpcPoint point{a, b, is_plain(data, a, b), false};
  const CpcKernels& kernels = cpc_kernels();
  const ScoreColumns view = data.view();
  parallel_blocks(context.pool(), data.stride, kBlock, [&](size_t begin, size_t end) {
    kernels.expected_grades(view, begin, end, point, v.data());
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
      if (n == 0) continue;
      per_query[q] = soft_dcg(&v[first], &data.gains[first], n, discounts, sigma, sorted);
      if (data.weighted)
        per_query[q] *=
            std::accumulate(&data.weights[first], &data.weights[first] + n, 0.0) / static_cast<double>(n);
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

constexpr size_t kScouted = 2048;  // documents that the starts are chosen on
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
    const SmoothValues values = smooth_targets(scouted_, std::exp(theta[0]), theta[1], context);
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
  const SmoothValues values = smooth_targets(data, a, theta[1], context_, target == CpcTarget::kEwls);
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
  const double size = static_cast<double>(data.documents);
  const auto per_document = [&](const std::vector<double>& x, double* gradient) {
    const double value = evaluate(data, target, {x[0], x[1]}, gradient);
    for (size_t i = 0; gradient != nullptr && i < 2; ++i) gradient[i] /= size;
    return value / size;
  };
  Minimisation options{{box_.low.begin(), box_.low.end()}, {box_.high.begin(), box_.high.end()}};
  if (!is_smooth(target)) {
    options.step = step;
    options.tolerance = 1e-5;
  }
  const Minimum found = minimise(per_document, {start.begin(), start.end()}, options, context_);
  evaluations += found.evaluations;
  if (!std::isfinite(found.value)) return std::nullopt;
  return Candidate{{found.x[0], found.x[1]}, found.value * size, found.converged};
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
