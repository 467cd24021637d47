#include "calibrate/prepared.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "calibrate/lane_width.h"

namespace tunemix::calibrate {
namespace {

constexpr size_t kIdealDepth = 10;  // T&M 7.6 normalise by the ideal DCG@10

void check(const CalibrationInput& input) {
  const ScoreMatrix& scores = input.scores;
  const size_t n = scores.documents();
  if (n == 0) throw_input("the calibration split has no documents; expected at least one query");
  require(input.labels.size() == n && input.queries.documents() == n,
          "labels or queries do not fit the scores");
  if (scores.columns() > 1 && input.grades.size() != scores.columns())
    throw_input("there are {} grades for the {} score columns of model '{}'; expected one each",
                input.grades.size(), scores.columns(), scores.model());
  for (const double grade : input.grades)
    if (!std::isfinite(grade)) throw_input("a grade is {}; expected finite numbers", grade);
  for (size_t i = 0; i < n; ++i)
    if (input.labels[i] < 0 || static_cast<size_t>(input.labels[i]) >= input.grades.size())
      throw_input("label {} of calibration document {} has no grade; expected 0 to {}", input.labels[i],
                  i + 1, input.grades.size() - 1);
  if (!(input.shift_range >= 0) || !std::isfinite(input.shift_range))
    throw_input("the range of `shift` is {}; expected a finite number that is not negative",
                input.shift_range);
  require(input.weights.empty() || input.weights.size() == n, "weights do not fit the scores");
  if (std::all_of(input.weights.begin(), input.weights.end(), [](float w) { return w == 0; }) &&
      !input.weights.empty())
    throw_input("all {} documents of the calibration split have weight 0; expected some above 0", n);
  expect_finite(scores);
}

void fill_weights(const CalibrationInput& input, Prepared& p) {
  p.weights.assign(p.stride, 0);
  p.weighted = !input.weights.empty();
  double sum = 0;
  for (const float weight : input.weights) sum += static_cast<double>(weight);
  const double scale = static_cast<double>(p.documents) / sum;
  for (size_t i = 0; i < p.documents; ++i)
    p.weights[i] = p.weighted ? static_cast<double>(input.weights[i]) * scale : 1;
}

void find_moments(const ScoreMatrix& scores, Prepared& p) {
  const size_t n = p.documents;
  double total = 0;
  p.column_mean.resize(p.columns);
  p.column_deviation.resize(p.columns);
  p.column_low.assign(p.columns, std::numeric_limits<double>::infinity());
  p.column_high.assign(p.columns, -std::numeric_limits<double>::infinity());
  std::vector<double> sums(p.columns), squares(p.columns);
  for (size_t i = 0; i < n; ++i) {
    const auto row = scores.row(i);
    for (size_t k = 0; k < p.columns; ++k) {
      const double f = row[k];
      sums[k] += p.weights[i] * f;
      p.column_low[k] = std::min(p.column_low[k], f);
      p.column_high[k] = std::max(p.column_high[k], f);
    }
  }
  for (size_t k = 0; k < p.columns; ++k) {
    p.column_mean[k] = sums[k] / static_cast<double>(n);
    total += p.column_mean[k];
  }
  p.mean = total / static_cast<double>(p.columns);
  for (size_t i = 0; i < n; ++i) {
    const auto row = scores.row(i);
    for (size_t k = 0; k < p.columns; ++k) {
      const double d = row[k] - p.column_mean[k];
      squares[k] += p.weights[i] * d * d;
    }
  }
  double variance = 0;
  for (size_t k = 0; k < p.columns; ++k) {
    const bool constant = p.column_low[k] == p.column_high[k];
    p.column_deviation[k] = constant ? 0 : std::sqrt(squares[k] / static_cast<double>(n));
    const double between = p.column_mean[k] - p.mean;
    variance += squares[k] / static_cast<double>(n) + between * between;
  }
  const double low = *std::min_element(p.column_low.begin(), p.column_low.end());
  const double high = *std::max_element(p.column_high.begin(), p.column_high.end());
  p.max_abs = std::max(std::abs(low), std::abs(high));
  p.deviation = low == high ? 0 : std::sqrt(variance / static_cast<double>(p.columns));
  const double scale = p.deviation > 0 ? 1 / p.deviation : 0;
  p.low = (low - p.mean) * scale;
  p.high = (high - p.mean) * scale;
}

void fill_targets(const CalibrationInput& input, Prepared& p) {
  p.labels.assign(p.stride, 0);
  p.gains.assign(p.stride, 0);
  p.ndcg_targets.assign(p.stride, 0);
  for (size_t i = 0; i < p.documents; ++i) {
    p.labels[i] = input.labels[i];
    p.gains[i] = p.grades[static_cast<size_t>(input.labels[i])];
  }
  std::vector<double> sorted;
  for (size_t q = 0; q + 1 < p.offsets.size(); ++q) {
    sorted.assign(p.gains.begin() + p.offsets[q], p.gains.begin() + p.offsets[q + 1]);
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    double ideal = 0;
    for (size_t i = 0; i < std::min(sorted.size(), kIdealDepth); ++i)
      ideal += sorted[i] / std::log2(static_cast<double>(i) + 2);
    if (ideal <= 0) continue;
    p.any_relevant = true;
    for (size_t i = p.offsets[q]; i < p.offsets[q + 1]; ++i) p.ndcg_targets[i] = p.gains[i] / ideal;
  }
}

void add_warnings(const CalibrationInput& input, const Prepared& p, std::vector<std::string>& warnings) {
  std::vector<size_t> counts(p.grades.size());
  for (const int32_t label : input.labels) ++counts[static_cast<size_t>(label)];
  for (size_t label = 0; label < counts.size(); ++label)
    if (counts[label] == 0)
      warnings.push_back(fmt::format("label {} does not occur in the calibration split", label));
  if (!p.any_relevant) warnings.push_back("no query of the calibration split has a relevant document");
}

}  // namespace

void expect_finite(const ScoreMatrix& scores) {
  const auto values = scores.values();
  constexpr uint32_t kExponent = 0x7f800000;  // all set: not finite
  uint32_t bad = 0;
  for (const float value : values) bad |= (std::bit_cast<uint32_t>(value) & kExponent) == kExponent ? 1U : 0U;
  for (size_t i = 0; bad != 0 && i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      throw_input("score {} of document {} by model '{}' is {}; expected a finite number",
                  i % scores.columns() + 1, i / scores.columns() + 1, scores.model(), values[i]);
}

Prepared prepare(const CalibrationInput& input, std::vector<std::string>& warnings) {
  check(input);
  Prepared p;
  p.documents = input.scores.documents();
  p.columns = input.scores.columns();
  p.stride = lanes::padded(p.documents);
  p.grades.assign(input.grades.begin(), input.grades.end());
  p.offsets = input.queries.offsets();
  fill_weights(input, p);
  find_moments(input.scores, p);
  fill_targets(input, p);
  const double scale = p.deviation > 0 ? 1 / p.deviation : 0;
  p.scores.assign(p.columns * p.stride, 0);
  for (size_t i = 0; i < p.documents; ++i) {
    const auto row = input.scores.row(i);
    for (size_t k = 0; k < p.columns; ++k) p.scores[k * p.stride + i] = (row[k] - p.mean) * scale;
  }
  add_warnings(input, p, warnings);
  return p;
}

Prepared thin(const Prepared& all, size_t documents) {
  if (all.documents <= documents) return all;
  const size_t queries = all.offsets.size() - 1;
  const size_t step = (all.documents + documents - 1) / documents;
  Prepared p = all;
  p.offsets = {0};
  std::vector<size_t> kept;
  for (size_t q = 0; q < queries; q += step) {
    for (size_t i = all.offsets[q]; i < all.offsets[q + 1]; ++i) kept.push_back(i);
    p.offsets.push_back(kept.size());
  }
  p.documents = kept.size();
  p.stride = lanes::padded(p.documents);
  const auto pick = [&](const double* from, double* to) {
    for (size_t i = 0; i < kept.size(); ++i) to[i] = from[kept[i]];
  };
  p.scores.assign(p.columns * p.stride, 0);
  for (size_t k = 0; k < p.columns; ++k) pick(all.column(k), p.scores.data() + k * p.stride);
  for (auto member : {&Prepared::labels, &Prepared::weights, &Prepared::gains, &Prepared::ndcg_targets}) {
    (p.*member).assign(p.stride, 0);
    pick((all.*member).data(), (p.*member).data());
  }
  return p;
}

}  // namespace tunemix::calibrate
