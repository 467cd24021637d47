#include "tunemix/calibrate/calibrator.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>

#include "calibrate/cpc.h"
#include "calibrate/kernels.h"
#include "calibrate/label_maps.h"
#include "calibrate/monomials.h"
#include "calibrate/prepared.h"
#include "calibrate/rbc.h"
#include "tunemix/core/aligned.h"

namespace tunemix {
namespace {

using calibrate::ApplyKernels;
using calibrate::kMaxColumns;
using calibrate::Prepared;
using calibrate::ProbabilityView;

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

void check_columns(const CalibrationSpec& spec, const ScoreMatrix& scores) {
  if (scores.columns() > kMaxColumns)
    throw_input("model '{}' has {} score columns; expected at most {}", scores.model(), scores.columns(),
                kMaxColumns);
  if (spec.kind == CalibrationKind::kCpc && scores.columns() == 1)
    throw_input("calibration {} needs a score for every label, and model '{}' gives one score; use rbc",
                spec.name(), scores.model());
}

// --- fitting

// What the fits of one model have in common, made when first needed. Results do not depend on what is shared.
class SharedFit {
 public:
  SharedFit(std::span<const CalibrationSpec> specs, const CalibrationInput& input,
            const CalibrationOptions& options, uint64_t seed, const Context& context)
      : input_(input), options_(options), seed_(seed), context_(context) {
    for (const CalibrationSpec& spec : specs) check_columns(spec, input.scores);
    data_ = calibrate::prepare(input, warnings_);
    int degree = 0;
    const auto wants = [&](CpcForm form) {
      return data_.deviation > 0 && std::any_of(specs.begin(), specs.end(), [&](const CalibrationSpec& spec) {
               return spec.kind == CalibrationKind::kCpc && spec.form == form &&
                      spec.target != CpcTarget::kShift;
             });
    };
    for (const CalibrationSpec& spec : specs)
      if (spec.kind == CalibrationKind::kRbc) degree = std::max(degree, affordable(spec.regressor));
    if (wants(CpcForm::kOne) || wants(CpcForm::kEach)) one_.emplace(data_, options, context);
    if (wants(CpcForm::kEach))
      each_.emplace(data_, CpcForm::kEach, one_->fit(CpcTarget::kLs), options, context);
    if (wants(CpcForm::kMatrix)) matrix_.emplace(data_, CpcForm::kMatrix, std::nullopt, options, context);
    if (degree > 0) moments_.emplace(data_, degree, context);
  }

  Calibrator fit(const CalibrationSpec& spec) const {
    FitReport report;
    report.warnings = warnings_;
    Calibrator::Map map = spec.kind == CalibrationKind::kCpc ? fit_cpc(spec, report) : fit_rbc(spec, report);
    return {spec, data_.columns, data_.grades, std::move(map), std::move(report)};
  }

 private:
  int affordable(Regressor regressor) const {
    const int wanted = calibrate::degree_of(regressor);
    if (wanted <= 1) return wanted;
    return calibrate::affordable_degree(data_.documents, data_.columns, wanted, options_.max_terms);
  }

  ShiftMap shift() const {
    const double range = input_.shift_range > 0 ? input_.shift_range : data_.max_abs;
    return {range > 0 ? range : 1};
  }

  Calibrator::Map fit_cpc(const CalibrationSpec& spec, FitReport& report) const {
    if (spec.target == CpcTarget::kShift) return shift();
    if (const auto map =
            spec.form == CpcForm::kOne ? fit_one(spec.target, report) : fit_by_label(spec, report))
      return *map;
    report.fallback = true;
    report.converged = false;
    report.warnings.push_back(fmt::format("{} has no fit here; shift stands in", spec.name()));
    return shift();
  }

  std::optional<Calibrator::Map> fit_one(CpcTarget target, FitReport& report) const {
    const auto found = one_ ? one_->fit(target) : std::nullopt;
    if (!found) return std::nullopt;
    report.value = found->value;
    report.evaluations = found->evaluations;
    report.converged = found->converged;
    report.bound_hit = found->bound_hit;
    const double b = data_.mean + found->b * data_.deviation;
    return SigmoidMap{std::vector(data_.columns, found->a / data_.deviation), std::vector(data_.columns, b)};
  }

  std::optional<Calibrator::Map> fit_by_label(const CalibrationSpec& spec, FitReport& report) const {
    const auto& fitter = spec.form == CpcForm::kEach ? each_ : matrix_;
    auto found = fitter ? fitter->fit(spec.target) : std::nullopt;
    if (!found) return std::nullopt;
    report.value = found->value;
    report.evaluations = found->evaluations;
    report.converged = found->converged;
    std::vector<double>& weights = found->weights;
    std::vector<double>& bias = found->bias;
    // From standardised scores to those of the model.
    const size_t K = data_.columns;
    for (double& w : weights) w /= data_.deviation;
    for (size_t k = 0; k < K; ++k)
      if (spec.form == CpcForm::kEach)
        bias[k] = data_.mean - bias[k] / weights[k];
      else
        bias[k] -= data_.mean * std::accumulate(&weights[k * K], &weights[k * K] + K, 0.0);
    if (spec.form == CpcForm::kEach) return SigmoidMap{std::move(weights), std::move(bias)};
    return SoftmaxMap{std::move(weights), std::move(bias)};
  }

  Calibrator::Map fit_rbc(const CalibrationSpec& spec, FitReport& report) const {
    calibrate::RbcFit fit;
    const int wanted = calibrate::degree_of(spec.regressor);
    if (wanted > 0) {
      // The least ridge that keeps columns that depend on each other (an SVM's sum to 0) from blowing up.
      constexpr double kTinyRidge = 1e-10;
      const int degree = affordable(spec.regressor);
      fit = moments_->solve(degree, spec.regressed, wanted == 1 ? kTinyRidge : options_.ridge);
      if (degree < wanted) {
        report.fallback = true;
        report.warnings.push_back(fmt::format(
            "{}: {:.0f} terms for {} documents (at most {} terms); degree {} instead", spec.name(),
            calibrate::monomial_count(data_.columns, wanted), data_.documents, options_.max_terms, degree));
      }
    } else if (spec.regressor == Regressor::kLogistic) {
      fit = calibrate::fit_logistic(data_, spec.regressed, context_);
    } else {
      fit = calibrate::fit_neural(data_, spec.regressed, options_, derive_seed(seed_, spec.name()), context_);
    }
    report.value = fit.value;
    report.evaluations = fit.evaluations;
    report.converged = fit.converged;
    report.warnings.insert(report.warnings.end(), fit.warnings.begin(), fit.warnings.end());
    return std::move(fit.map);
  }

  const CalibrationInput& input_;
  const CalibrationOptions& options_;
  uint64_t seed_;
  const Context& context_;
  std::vector<std::string> warnings_;
  Prepared data_;
  std::optional<calibrate::CpcFitter> one_;
  std::optional<calibrate::LabelFitter> each_, matrix_;
  std::optional<calibrate::Moments> moments_;
};

// --- applying

ProbabilityView probability_view(const Calibrator::Map& map) {
  using Link = ProbabilityView::Link;
  if (const auto* shift = std::get_if<ShiftMap>(&map)) return {Link::kShift, shift->range};
  if (const auto* sigmoid = std::get_if<SigmoidMap>(&map))
    return {Link::kSigmoid, 0, sigmoid->a.data(), sigmoid->b.data()};
  const auto& softmax = std::get<SoftmaxMap>(map);
  return {Link::kSoftmax, 0, softmax.weights.data(), softmax.bias.data()};
}

// Made once for each kind of polynomial: many calibrators have the same.
std::span<const calibrate::Monomial> monomials_of(size_t columns, int degree) {
  static std::mutex mutex;
  static std::map<std::pair<size_t, int>, std::vector<calibrate::Monomial>> made;
  const std::lock_guard lock(mutex);
  std::vector<calibrate::Monomial>& terms = made[{columns, degree}];
  if (terms.empty()) terms = calibrate::monomials(columns, degree);
  return terms;
}

}  // namespace

Calibrator::Calibrator(CalibrationSpec spec, size_t columns, std::vector<double> grades, Map map,
                       FitReport report)
    : spec_(spec),
      columns_(columns),
      grades_(std::move(grades)),
      map_(std::move(map)),
      report_(std::move(report)) {}

Calibrator Calibrator::fit(const CalibrationSpec& spec, const CalibrationInput& input,
                           const CalibrationOptions& options, uint64_t seed, const Context& context) {
  return SharedFit({&spec, 1}, input, options, seed, context).fit(spec);
}

std::vector<Calibrator> fit_calibrators(std::span<const CalibrationSpec> specs, const CalibrationInput& input,
                                        const CalibrationOptions& options, uint64_t seed,
                                        const Context& context) {
  const SharedFit shared(specs, input, options, seed, context);
  std::vector<std::optional<Calibrator>> fitted(specs.size());
  context.pool().run(specs.size(), [&](size_t i) { fitted[i] = shared.fit(specs[i]); });
  std::vector<Calibrator> result;
  for (auto& calibrator : fitted) result.push_back(std::move(*calibrator));
  return result;
}

void Calibrator::apply(const ScoreMatrix& scores, std::span<float> out, const Context& context) const {
  require(out.size() == scores.documents(), "room for one score a document is needed");
  if (scores.columns() != columns_)
    throw_input("model '{}' gives {} score columns; calibration {} was fitted on {}", scores.model(),
                scores.columns(), spec_.name(), columns_);
  calibrate::expect_finite(scores);
  const auto* polynomial = std::get_if<PolynomialMap>(&map_);
  const std::span<const calibrate::Monomial> terms = polynomial == nullptr
                                                         ? std::span<const calibrate::Monomial>()
                                                         : monomials_of(columns_, polynomial->degree);
  const ApplyKernels& kernels = calibrate::apply_kernels();
  parallel_blocks(context.pool(), scores.documents(), calibrate::kBlock, [&](size_t begin, size_t end) {
    const float* rows = scores.values().data() + begin * columns_;
    const size_t count = end - begin;
    float* to = out.data() + begin;
    const auto expected = [&] {
      kernels.expected_grade(probability_view(map_), grades_.data(), rows, columns_, count, to);
    };
    std::visit(
        Overloaded{
            [&](const ShiftMap&) { expected(); }, [&](const SigmoidMap&) { expected(); },
            [&](const SoftmaxMap&) { expected(); },
            [&](const PolynomialMap& m) {
              AlignedVector<double> scratch(terms.size() * lanes::kWidth);
              kernels.polynomial({m.low.data(), m.high.data(), m.mean.data(), m.scale.data(), m.intercept,
                                  m.coefficients.data(), terms.data(), terms.size()},
                                 rows, columns_, count, scratch.data(), to);
            },
            [&](const LogisticMap& m) {
              kernels.logistic({m.low, m.high, m.intercept, m.weights.data()}, rows, columns_, count, to);
            },
            [&](const NeuralMap& m) {
              kernels.neural({m.mean.data(), m.scale.data(), m.weights.data(), m.bias.data(), m.output.data(),
                              m.output_bias, m.bias.size()},
                             rows, columns_, count, to);
            }},
        map_);
  });
}

void Calibrator::probabilities(std::span<const float> row, std::span<double> out) const {
  require(gives_probabilities() && row.size() == columns_ && out.size() == columns_,
          "probabilities are of CPC, one for each column");
  calibrate::apply_kernels().probabilities(probability_view(map_), row.data(), columns_, 1, out.data());
}

std::vector<float> Calibrator::probabilities(const ScoreMatrix& scores, const Context& context) const {
  require(gives_probabilities(), "probabilities are of CPC");
  if (scores.columns() != columns_)
    throw_input("model '{}' gives {} score columns; calibration {} was fitted on {}", scores.model(),
                scores.columns(), spec_.name(), columns_);
  calibrate::expect_finite(scores);
  std::vector<float> out(scores.documents() * columns_);
  const ApplyKernels& kernels = calibrate::apply_kernels();
  parallel_blocks(context.pool(), scores.documents(), calibrate::kBlock, [&](size_t begin, size_t end) {
    std::vector<double> p((end - begin) * columns_);
    kernels.probabilities(probability_view(map_), scores.values().data() + begin * columns_, columns_,
                          end - begin, p.data());
    for (size_t i = 0; i < p.size(); ++i) out[begin * columns_ + i] = static_cast<float>(p[i]);
  });
  return out;
}

std::optional<Calibrator::Linear> Calibrator::linear() const {
  const auto* m = std::get_if<PolynomialMap>(&map_);
  if (m == nullptr || m->degree != 1) return std::nullopt;
  Linear result{m->intercept, std::vector<double>(columns_)};
  for (size_t k = 0; k < columns_; ++k) {
    if (std::isfinite(m->low[k]) || std::isfinite(m->high[k])) return std::nullopt;
    result.weights[k] = m->coefficients[k] * m->scale[k];
    result.constant -= result.weights[k] * m->mean[k];
  }
  return result;
}

bool Calibrator::never_falls() const {
  if (columns_ != 1) return false;
  if (const auto* line = std::get_if<PolynomialMap>(&map_))
    return line->degree == 1 && line->coefficients[0] * line->scale[0] >= 0;
  if (const auto* curve = std::get_if<LogisticMap>(&map_))
    return (curve->high - curve->low) * curve->weights[0] >= 0;
  return false;
}

// --- files

void Calibrator::save(BinaryWriter& out) const {
  out.put(spec_.name());
  out.put<uint64_t>(columns_);
  out.put(grades_);
  out.put<uint8_t>(static_cast<uint8_t>(map_.index()));
  std::visit(Overloaded{[&](const ShiftMap& m) { out.put(m.range); },
                        [&](const SigmoidMap& m) {
                          out.put(m.a);
                          out.put(m.b);
                        },
                        [&](const SoftmaxMap& m) {
                          out.put(m.weights);
                          out.put(m.bias);
                        },
                        [&](const PolynomialMap& m) {
                          out.put<int32_t>(m.degree);
                          for (const auto* v : {&m.low, &m.high, &m.mean, &m.scale, &m.coefficients})
                            out.put(*v);
                          out.put(m.intercept);
                        },
                        [&](const LogisticMap& m) {
                          out.put(m.low);
                          out.put(m.high);
                          out.put(m.intercept);
                          out.put(m.weights);
                        },
                        [&](const NeuralMap& m) {
                          for (const auto* v : {&m.mean, &m.scale, &m.weights, &m.bias, &m.output})
                            out.put(*v);
                          out.put(m.output_bias);
                        }},
             map_);
  out.put(report_.value);
  out.put<int32_t>(report_.evaluations);
  out.put(report_.converged);
  out.put(report_.bound_hit);
  out.put(report_.fallback);
  out.put<uint64_t>(report_.warnings.size());
  for (const std::string& warning : report_.warnings) out.put(warning);
}

namespace {

Calibrator::Map load_map(BinaryReader& in, size_t columns) {
  const auto vector = [&](size_t size) {
    std::vector<double> v = in.get_vector<double>();
    if (v.size() != size) in.fail("a calibrator's parameters do not fit its columns");
    return v;
  };
  const auto kind = in.get<uint8_t>();
  switch (kind) {
    case 0:
      return ShiftMap{in.get<double>()};
    case 1: {
      SigmoidMap m;
      m.a = vector(columns);
      m.b = vector(columns);
      return m;
    }
    case 2: {
      SoftmaxMap m;
      m.weights = vector(columns * columns);
      m.bias = vector(columns);
      return m;
    }
    case 3: {
      PolynomialMap m;
      m.degree = in.get<int32_t>();
      if (m.degree < 1 || m.degree > 4) in.fail("a calibrator's degree is not 1 to 4");
      for (auto* v : {&m.low, &m.high, &m.mean, &m.scale}) *v = vector(columns);
      m.coefficients =
          vector(static_cast<size_t>(std::llround(calibrate::monomial_count(columns, m.degree))));
      m.intercept = in.get<double>();
      return m;
    }
    case 4: {
      LogisticMap m;
      m.low = in.get<double>();
      m.high = in.get<double>();
      m.intercept = in.get<double>();
      m.weights = vector(columns);
      return m;
    }
    case 5: {
      NeuralMap m;
      m.mean = vector(columns);
      m.scale = vector(columns);
      m.weights = in.get_vector<double>();
      const size_t hidden = m.weights.size() / columns;
      if (hidden * columns != m.weights.size()) in.fail("a calibrator's weights do not fit its columns");
      m.bias = vector(hidden);
      m.output = vector(hidden);
      m.output_bias = in.get<double>();
      return m;
    }
    default:
      in.fail("a calibrator is of an unknown kind");
  }
}

}  // namespace

Calibrator Calibrator::load(BinaryReader& in) {
  const CalibrationSpec spec = CalibrationSpec::parse(in.get_string());
  const auto columns = in.get<uint64_t>();
  if (columns < 1 || columns > kMaxColumns) in.fail("a calibrator's number of columns is out of range");
  std::vector<double> grades = in.get_vector<double>();
  Map map = load_map(in, columns);
  const bool probabilities = map.index() <= 2;
  if (probabilities != (spec.kind == CalibrationKind::kCpc) || (probabilities && grades.size() != columns))
    in.fail("a calibrator's parts do not fit each other");
  FitReport report;
  report.value = in.get<double>();
  report.evaluations = in.get<int32_t>();
  report.converged = in.get<uint8_t>() != 0;
  report.bound_hit = in.get_string();
  report.fallback = in.get<uint8_t>() != 0;
  const size_t warnings = in.get_count(sizeof(uint64_t));
  for (size_t i = 0; i < warnings; ++i) report.warnings.push_back(in.get_string());
  return {spec, columns, std::move(grades), std::move(map), std::move(report)};
}

}  // namespace tunemix
