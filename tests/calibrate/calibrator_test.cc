#include "tunemix/calibrate/calibrator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "tests/calibrate/made_up.h"
#include "tests/support.h"
#include "tunemix/data/letor_reader.h"

namespace tunemix {
namespace {

using test::MadeUp;
using test::make_up;

std::vector<float> applied(const Calibrator& calibrator, const ScoreMatrix& scores, int threads = 1) {
  std::vector<float> out(scores.documents());
  calibrator.apply(scores, out, Context(threads));
  return out;
}

std::vector<uint8_t> bytes(const Calibrator& calibrator) {
  BinaryWriter out;
  calibrator.save(out);
  return {out.bytes().begin(), out.bytes().end()};
}

Calibrator fit(const std::string& name, const MadeUp& data, uint64_t seed = 1,
               const CalibrationOptions& options = {}) {
  return Calibrator::fit(CalibrationSpec::parse(name), data.input(), options, seed, Context());
}

std::string error_of(const std::string& name, const MadeUp& data) {
  try {
    fit(name, data);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(CalibrationSpec, NamesAreReadBack) {
  const auto specs = all_calibrations(3);
  EXPECT_EQ(specs.size(), 26u);
  for (const auto& spec : specs) EXPECT_EQ(CalibrationSpec::parse(spec.name()), spec);
  EXPECT_EQ(all_calibrations(1).size(), 12u);
  EXPECT_EQ(CalibrationSpec::parse("rbc.poly3.ndcg").name(), "rbc.poly3.ndcg");
  for (const char* wrong : {"", "cpc", "cpc.lss", "rbc.poly5.raw", "rbc.linear", "rbc.linear.foo",
                            "cpc.ls.raw", "cpc.each", "cpc.one.ls", "cpc.matrix.shift", "cpc.each.sndcg"})
    EXPECT_THROW(CalibrationSpec::parse(wrong), InputError) << wrong;
}

TEST(Calibrator, ProbabilitiesSumToOneAtTheExtremes) {
  const std::vector<double> parameters = {0, 1e-300, 1e-9, 0.5, 1, 30, 1e3, 1e9, 1e300, -1e300, -5, 1e308};
  const std::vector<float> values = {-1e6f, -1e3f, -1, 0, 1e-30f, 1, 700, 1e6f};
  Random random(3);
  const std::vector<double> grades = {0, 1, 3};
  for (const double a : parameters)
    for (const double b : parameters)
      for (int trial = 0; trial < 20; ++trial) {
        const Calibrator c(CalibrationSpec::cpc(CpcTarget::kLs), 3, grades, SigmoidMap{{a, a, 1}, {b, 1, b}},
                           {});
        std::vector<float> row(3);
        for (float& f : row) f = values[random.below(values.size())];
        std::vector<double> p(3);
        c.probabilities(row, p);
        EXPECT_NEAR(p[0] + p[1] + p[2], 1, 1e-12) << a << " " << b;
        for (const double x : p) EXPECT_TRUE(x >= 0 && x <= 1) << x;
      }
}

TEST(Calibrator, ProbabilitiesEqualTheFormula) {
  const Calibrator c(CalibrationSpec::cpc(CpcTarget::kEll), 3, {0, 1, 3},
                     SigmoidMap{{1.7, 0.2, 1}, {0.4, 3, 0}}, {});
  const std::vector<float> row = {0.5f, -0.25f, 2};
  const double x[] = {1.7 * (0.5 - 0.4), 0.2 * (-0.25 - 3), 2};
  std::vector<double> p(3);
  c.probabilities(row, p);
  double s[3], sum = 0;
  for (int k = 0; k < 3; ++k) sum += s[k] = 1 / (1 + std::exp(-x[k]));
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(p[k], s[k] / sum, 1e-15);

  const SoftmaxMap map{{1, 0, -2, 0.5, 3, 0, 0, 0, 0.25}, {0.1, -1, 0}};
  const Calibrator matrix(CalibrationSpec::parse("cpc.matrix.ls"), 3, {0, 1, 3}, map, {});
  matrix.probabilities(row, p);
  sum = 0;
  for (size_t k = 0; k < 3; ++k) {
    double z = map.bias[k];
    for (size_t j = 0; j < 3; ++j) z += map.weights[k * 3 + j] * row[j];
    sum += s[k] = std::exp(z);
  }
  for (int k = 0; k < 3; ++k) EXPECT_NEAR(p[k], s[k] / sum, 1e-15);
}

TEST(Calibrator, ShiftEqualsItsFormula) {
  const MadeUp data = make_up({.documents = 61});
  double largest = 0;
  for (const float f : data.scores.values()) largest = std::max(largest, std::abs(static_cast<double>(f)));
  for (const double given : {0.0, 7.5}) {
    const double R = given > 0 ? given : largest;
    const Calibrator c =
        Calibrator::fit(CalibrationSpec::parse("cpc.shift"), data.input(given), {}, 1, Context());
    const auto v = applied(c, data.scores);
    for (size_t i = 0; i < v.size(); ++i) {
      double sum = 0, expected = 0;
      for (size_t k = 0; k < 3; ++k) sum += 1 + data.scores.row(i)[k] / R;
      for (size_t k = 0; k < 3; ++k) expected += data.grades[k] * (1 + data.scores.row(i)[k] / R) / sum;
      EXPECT_NEAR(v[i], expected, 1e-6);
    }
  }
  // Later values beyond R are clamped; where nothing is left the labels are equally likely.
  const Calibrator c(CalibrationSpec::parse("cpc.shift"), 3, {0, 1, 3}, ShiftMap{1}, {});
  std::vector<double> p(3);
  c.probabilities(std::vector<float>{-5, 1, 1}, p);
  EXPECT_EQ(p, (std::vector<double>{0, 0.5, 0.5}));
  c.probabilities(std::vector<float>{-5, -2, -1}, p);
  EXPECT_NEAR(p[0], 1.0 / 3, 1e-15);
}

using Rows = std::vector<std::vector<double>>;

// Gauss elimination with pivoting.
std::vector<double> solve(Rows a, std::vector<double> b) {
  const size_t n = b.size();
  for (size_t i = 0; i < n; ++i) {
    size_t pivot = i;
    for (size_t r = i; r < n; ++r)
      if (std::abs(a[r][i]) > std::abs(a[pivot][i])) pivot = r;
    std::swap(a[i], a[pivot]);
    std::swap(b[i], b[pivot]);
    for (size_t r = i + 1; r < n; ++r) {
      const double factor = a[r][i] / a[i][i];
      for (size_t c = i; c < n; ++c) a[r][c] -= factor * a[i][c];
      b[r] -= factor * b[i];
    }
  }
  std::vector<double> x(n);
  for (size_t i = n; i-- > 0;) {
    x[i] = b[i];
    for (size_t c = i + 1; c < n; ++c) x[i] -= a[i][c] * x[c];
    x[i] /= a[i][i];
  }
  return x;
}

// Fitted values of the least squares of y on the columns of x, with a penalty of ridge * n on all but the
// last.
std::vector<double> least_squares(const Rows& x, const std::vector<double>& y, double ridge) {
  const size_t size = x[0].size();
  Rows gram(size, std::vector<double>(size));
  std::vector<double> right(size);
  for (size_t i = 0; i < x.size(); ++i)
    for (size_t r = 0; r < size; ++r) {
      right[r] += x[i][r] * y[i];
      for (size_t c = 0; c < size; ++c) gram[r][c] += x[i][r] * x[i][c];
    }
  for (size_t r = 0; r + 1 < size; ++r) gram[r][r] += ridge * static_cast<double>(x.size());
  const std::vector<double> w = solve(gram, right);
  std::vector<double> fitted;
  for (const auto& row : x) fitted.push_back(std::inner_product(row.begin(), row.end(), w.begin(), 0.0));
  return fitted;
}

double mean_squared_error(const std::vector<double>& fitted, const std::vector<double>& y) {
  double sum = 0;
  for (size_t i = 0; i < y.size(); ++i) sum += (fitted[i] - y[i]) * (fitted[i] - y[i]);
  return sum / static_cast<double>(y.size());
}

void standardise_columns(Rows& x) {
  const double n = static_cast<double>(x.size());
  for (size_t c = 0; c < x[0].size(); ++c) {
    double mean = 0, squares = 0;
    for (const auto& row : x) mean += row[c] / n;
    for (const auto& row : x) squares += (row[c] - mean) * (row[c] - mean) / n;
    for (auto& row : x) row[c] = (row[c] - mean) / std::sqrt(squares);
  }
}

TEST(Calibrator, LinearEqualsTheNormalEquations) {
  const MadeUp data = make_up({.documents = 500, .labels = 4, .offset = 3, .seed = 9});
  Rows x;
  std::vector<double> raw, ndcg;
  for (size_t q = 0; q < data.queries.size(); ++q) {
    std::vector<double> z;
    for (size_t i = data.queries.begin(q); i < data.queries.end(q); ++i)
      z.push_back(data.grades[data.labels[i]]);
    std::sort(z.rbegin(), z.rend());
    double ideal = 0;
    for (size_t r = 0; r < std::min<size_t>(10, z.size()); ++r)
      ideal += z[r] / std::log2(static_cast<double>(r) + 2);
    for (size_t i = data.queries.begin(q); i < data.queries.end(q); ++i) {
      const auto row = data.scores.row(i);
      x.emplace_back(row.begin(), row.end());
      x.back().push_back(1);
      raw.push_back(data.grades[data.labels[i]]);
      ndcg.push_back(ideal > 0 ? raw.back() / ideal : 0);
    }
  }
  for (const auto& [name, y] : {std::pair("rbc.linear.raw", raw), std::pair("rbc.linear.ndcg", ndcg)}) {
    const std::vector<double> expected = least_squares(x, y, 0);
    const Calibrator c = fit(name, data);
    const auto v = applied(c, data.scores);
    for (size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(v[i], expected[i], 2e-6);
    EXPECT_NEAR(c.report().value, mean_squared_error(expected, y), 1e-8);
  }
}

TEST(Calibrator, PolynomialEqualsRidgeOnItsMonomials) {
  const MadeUp data = make_up({.documents = 300, .seed = 10});
  CalibrationOptions options;
  options.ridge = 1e-3;
  Rows f, x;
  std::vector<double> y;
  for (size_t i = 0; i < data.labels.size(); ++i) {
    const auto row = data.scores.row(i);
    f.emplace_back(row.begin(), row.end());
    y.push_back(data.grades[data.labels[i]]);
  }
  standardise_columns(f);
  for (const auto& row : f) {
    auto& terms = x.emplace_back();
    for (int a = 0; a <= 3; ++a)
      for (int b = 0; a + b <= 3; ++b)
        for (int d = 0; a + b + d <= 3; ++d)
          if (a + b + d > 0) terms.push_back(std::pow(row[0], a) * std::pow(row[1], b) * std::pow(row[2], d));
  }
  standardise_columns(x);
  for (auto& row : x) row.push_back(1);
  const std::vector<double> expected = least_squares(x, y, options.ridge);
  const Calibrator c = fit("rbc.poly3.raw", data, 1, options);
  EXPECT_EQ(std::get<PolynomialMap>(c.map()).coefficients.size(), x[0].size() - 1);
  const auto v = applied(c, data.scores);
  for (size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(v[i], expected[i], 1e-5);
  EXPECT_NEAR(c.report().value, mean_squared_error(expected, y), 1e-7);
}

TEST(Calibrator, PolynomialsDoNotExtrapolate) {
  const MadeUp data = make_up({.documents = 200, .seed = 11});
  const Calibrator c = fit("rbc.poly4.raw", data);
  ScoreMatrix far(2, 3, "far");
  const auto& map = std::get<PolynomialMap>(c.map());
  for (size_t k = 0; k < 3; ++k) {
    far.row(0)[k] = static_cast<float>(map.high[k]);
    far.row(1)[k] = 1e6f;
  }
  const auto v = applied(c, far);
  EXPECT_EQ(v[0], v[1]);
}

TEST(Calibrator, LogisticIsTheMinimumOfItsCrossEntropy) {
  const MadeUp data = make_up({.documents = 400, .seed = 12});
  const Calibrator c = fit("rbc.logistic.raw", data);
  const auto& map = std::get<LogisticMap>(c.map());
  EXPECT_EQ(map.low, 0);
  EXPECT_EQ(map.high, 3);
  EXPECT_TRUE(c.report().converged);
  const auto loss = [&](double intercept, const std::vector<double>& w) {
    double sum = 0;
    for (size_t i = 0; i < data.labels.size(); ++i) {
      double z = intercept;
      for (size_t k = 0; k < 3; ++k) z += w[k] * data.scores.row(i)[k];
      const double s = 1 / (1 + std::exp(-z));
      const double t = data.grades[data.labels[i]] / 3;
      sum -= t * std::log(s) + (1 - t) * std::log(1 - s);
    }
    return sum;
  };
  const double at = loss(map.intercept, map.weights);
  for (size_t k = 0; k < 4; ++k)
    for (const double step : {-1e-2, 1e-2}) {
      auto w = map.weights;
      double intercept = map.intercept;
      (k < 3 ? w[k] : intercept) += step;
      EXPECT_GT(loss(intercept, w), at - 1e-6);
    }
}

TEST(Calibrator, NeuralLearnsWhatALineCannot) {
  // The grade is high where the score is near 0.
  MadeUp data = make_up({.documents = 3000, .labels = 2, .columns = 1, .seed = 13});
  Random random(5);
  for (size_t i = 0; i < data.labels.size(); ++i) {
    data.scores.row(i)[0] = static_cast<float>(random.normal());
    data.labels[i] = std::abs(data.scores.row(i)[0]) < 0.6f ? 1 : 0;
  }
  const Calibrator line = fit("rbc.linear.raw", data);
  const Calibrator network = fit("rbc.neural.raw", data);
  EXPECT_GT(line.report().value, 0.2);
  EXPECT_LT(network.report().value, 0.08);
  // The report's value is that of what apply gives.
  const auto v = applied(network, data.scores);
  double squares = 0;
  for (size_t i = 0; i < v.size(); ++i) squares += std::pow(v[i] - data.grades[data.labels[i]], 2);
  EXPECT_NEAR(network.report().value, squares / static_cast<double>(v.size()), 1e-5);
  EXPECT_NE(bytes(fit("rbc.neural.raw", data, 2)), bytes(network));
}

TEST(Calibrator, SameBytesOnAnyThreadsTogetherOrAlone) {
  const MadeUp data = make_up({.documents = 9000, .labels = 3, .seed = 14});
  const auto specs = all_calibrations(3);
  std::vector<std::vector<uint8_t>> expected;
  std::vector<std::vector<float>> scores;
  for (const int threads : {1, 2, 4}) {
    const Context context(threads);
    const auto fitted = fit_calibrators(specs, data.input(), {}, 1, context);
    for (size_t s = 0; s < specs.size(); ++s) {
      std::vector<float> out(data.labels.size());
      fitted[s].apply(data.scores, out, context);
      if (threads == 1) {
        expected.push_back(bytes(fitted[s]));
        scores.push_back(out);
      }
      EXPECT_EQ(bytes(fitted[s]), expected[s]) << specs[s].name() << " " << threads;
      EXPECT_EQ(out, scores[s]) << specs[s].name() << " " << threads;
    }
  }
  for (const char* name : {"cpc.el", "rbc.poly2.raw", "rbc.neural.ndcg"}) {
    const auto at = std::find(specs.begin(), specs.end(), CalibrationSpec::parse(name)) - specs.begin();
    const Calibrator alone = Calibrator::fit(specs[at], data.input(), {}, 1, Context(2));
    EXPECT_EQ(applied(alone, data.scores), scores[at]) << name;
  }
}

TEST(Calibrator, SavesAndLoads) {
  const MadeUp data = make_up({.documents = 300, .seed = 15});
  for (const Calibrator& c : fit_calibrators(all_calibrations(3), data.input(), {}, 1, Context())) {
    const auto saved = bytes(c);
    BinaryReader in(saved, "memory");
    const Calibrator loaded = Calibrator::load(in);
    in.expect_end();
    EXPECT_EQ(bytes(loaded), saved);
    EXPECT_EQ(applied(loaded, data.scores), applied(c, data.scores));
    // No prefix of the file is taken for a calibrator.
    for (size_t size = 0; size < saved.size(); size += 7) {
      BinaryReader cut({saved.data(), size}, "memory");
      EXPECT_THROW(Calibrator::load(cut), InputError);
    }
  }
}

TEST(Calibrator, AllEqualScoresFallBackToShift) {
  MadeUp data = make_up({.documents = 100});
  for (float& f : data.scores.values()) f = 0.25f;
  for (const Calibrator& c : fit_calibrators(all_calibrations(3), data.input(), {}, 1, Context())) {
    const auto v = applied(c, data.scores);
    for (const float x : v) {
      EXPECT_TRUE(std::isfinite(x)) << c.spec().name();
      EXPECT_EQ(x, v[0]) << c.spec().name();
    }
    if (c.gives_probabilities() && c.spec().target != CpcTarget::kShift) {
      EXPECT_TRUE(c.report().fallback) << c.spec().name();
      EXPECT_FALSE(c.report().warnings.empty());
    }
  }
}

TEST(Calibrator, OddSplitsGetASensibleFit) {
  std::map<std::string, MadeUp> cases;
  cases["one query"] = make_up({.documents = 40});
  cases["one query"].queries = QueryIndex({0, 40}, {"q"});
  cases["nothing relevant"] = make_up({.documents = 80});
  for (int32_t& label : cases["nothing relevant"].labels) label = 0;
  cases["a label missing"] = make_up({.documents = 80});
  for (int32_t& label : cases["a label missing"].labels) label = label == 1 ? 2 : label;
  cases["only the highest label"] = make_up({.documents = 80});
  for (int32_t& label : cases["only the highest label"].labels) label = 2;
  cases["one document"] = make_up({.documents = 1});
  cases["two documents"] = make_up({.documents = 2});
  cases["huge scores"] = make_up({.documents = 90, .scale = 1e6});
  cases["tiny scores"] = make_up({.documents = 90, .scale = 1e-20});
  cases["a constant column"] = make_up({.documents = 90});
  cases["columns that sum to 0"] = make_up({.documents = 90});
  for (size_t i = 0; i < 90; ++i) {
    cases["a constant column"].scores.row(i)[1] = 0;
    auto row = cases["columns that sum to 0"].scores.row(i);
    row[2] = -row[0] - row[1];
  }
  for (const auto& [name, data] : cases)
    for (const Calibrator& c : fit_calibrators(all_calibrations(3), data.input(), {}, 1, Context())) {
      EXPECT_TRUE(std::isfinite(c.report().value)) << name << " " << c.spec().name();
      for (const float x : applied(c, data.scores)) {
        EXPECT_TRUE(std::isfinite(x)) << name << " " << c.spec().name();
        EXPECT_LT(std::abs(x), 100) << name << " " << c.spec().name();
      }
    }
}

TEST(Calibrator, ReportsWhatIsOdd) {
  MadeUp data = make_up({.documents = 80});
  std::fill(data.labels.begin(), data.labels.end(), 0);
  const FitReport report = fit("cpc.sndcg", data).report();
  EXPECT_TRUE(report.fallback);
  const auto warned = [&](const std::string& text) {
    return std::any_of(report.warnings.begin(), report.warnings.end(),
                       [&](const std::string& w) { return w.find(text) != std::string::npos; });
  };
  EXPECT_TRUE(warned("label 2 does not occur"));
  EXPECT_TRUE(warned("no query of the calibration split has a relevant document"));
  EXPECT_TRUE(warned("shift stands in"));
}

TEST(Calibrator, FewerDocumentsThanTermsLowerTheDegree) {
  const Calibrator c = fit("rbc.poly4.raw", make_up({.documents = 15}));
  EXPECT_EQ(std::get<PolynomialMap>(c.map()).degree, 2);
  EXPECT_TRUE(c.report().fallback);
  EXPECT_NE(c.report().warnings.back().find("degree 2 instead"), std::string::npos);
  EXPECT_EQ(std::get<PolynomialMap>(fit("rbc.poly4.raw", make_up({.documents = 5})).map()).degree, 1);
  EXPECT_EQ(std::get<PolynomialMap>(fit("rbc.poly4.raw", make_up({.documents = 35})).map()).degree, 4);
  // 32 columns: 560 terms of degree 2 are allowed, 6544 of degree 3 are not.
  const Calibrator wide = fit("rbc.poly3.raw", make_up({.documents = 7000, .labels = 32}));
  EXPECT_EQ(std::get<PolynomialMap>(wide.map()).degree, 2);
}

TEST(Calibrator, RefusesWhatItCannotUse) {
  MadeUp data = make_up({.documents = 50});
  data.scores.row(7)[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(error_of("cpc.ls", data).find("score 2 of document 8"), std::string::npos)
      << error_of("cpc.ls", data);
  data.scores.row(7)[1] = std::numeric_limits<float>::infinity();
  EXPECT_NE(error_of("rbc.linear.raw", data), "");
  data = make_up({.documents = 50});
  data.labels[3] = 3;
  EXPECT_NE(error_of("cpc.ls", data).find("label 3 of calibration document 4"), std::string::npos);
  data = make_up({.documents = 50});
  data.grades.push_back(7);
  EXPECT_NE(error_of("cpc.ls", data).find("4 grades for the 3 score columns"), std::string::npos);
  data = make_up({.documents = 0});
  EXPECT_NE(error_of("cpc.ls", data).find("no documents"), std::string::npos);
  const MadeUp ranker = make_up({.documents = 50, .columns = 1});
  EXPECT_NE(error_of("cpc.ls", ranker).find("use rbc"), std::string::npos);
  const Calibrator c = fit("cpc.ls", make_up({.documents = 50}));
  EXPECT_THROW(applied(c, ranker.scores), InputError);
}

TEST(Calibrator, OneColumnIsCalibratedByRegression) {
  const MadeUp data = make_up({.documents = 500, .columns = 1});
  const SelectionMetric metric(data.queries, data.labels, data.grades);
  std::vector<float> plain(data.scores.values().begin(), data.scores.values().end());
  for (const Calibrator& c : fit_calibrators(all_calibrations(1), data.input(), {}, 1, Context())) {
    const auto v = applied(c, data.scores);
    EXPECT_GT(metric(v), metric(plain) - 0.03) << c.spec().name();
  }
}

TEST(Calibrator, ALineNeverTurnsARankerRound) {
  MadeUp data = make_up({.documents = 60, .columns = 1});
  for (float& f : data.scores.values()) f = -f;  // as bad luck with few queries has it
  for (const char* name : {"rbc.linear.raw", "rbc.linear.ndcg", "rbc.logistic.raw", "rbc.logistic.ndcg"}) {
    const Calibrator c = fit(name, data);
    const std::vector<float> v = applied(c, data.scores);
    for (size_t i = 1; i < v.size(); ++i)
      EXPECT_EQ(v[i] > v[0], data.scores.row(i)[0] > data.scores.row(0)[0]) << name << ' ' << i;
    ASSERT_FALSE(c.report().warnings.empty()) << name;
    EXPECT_NE(c.report().warnings.back().find("fall as grades rise"), std::string::npos);
    // The error that is reported is that of the line that is used.
    double squares = 0;
    for (size_t i = 0; i < v.size(); ++i)
      squares += std::pow(data.grades[static_cast<size_t>(data.labels[i])] - static_cast<double>(v[i]), 2);
    if (std::string(name).ends_with("raw")) {
      EXPECT_NEAR(c.report().value, squares / static_cast<double>(v.size()), 1e-5) << name;
    }
  }
}

TEST(Calibrator, RanksRealDocuments) {
  TUNEMIX_NEED_SHARED_DATA();
  // Two features of MQ2008 as if a classifier had made scores of them.
  const Context context(2);
  const auto read = [&](const char* file) {
    return read_letor(test::shared_data() / "MQ2008" / file, {}, context);
  };
  const Dataset calibration = read("S1.txt"), validation = read("S4.txt");
  const auto scores_of = [](const Dataset& data) {
    ScoreMatrix scores(data.documents(), 3, "features");
    for (size_t i = 0; i < data.documents(); ++i) {
      const float x = data.row(i)[38], y = data.row(i)[24];
      scores.row(i)[0] = 1 - x - y;
      scores.row(i)[1] = x - 0.5f;
      scores.row(i)[2] = x + y - 1;
    }
    return scores;
  };
  const std::vector<double> grades = exponential_grades(3);
  const ScoreMatrix fit_scores = scores_of(calibration), scores = scores_of(validation);
  const SelectionMetric metric(validation.queries(), validation.labels(), grades);
  const std::vector<float> constant(validation.documents(), 0.0f);
  const double chance = metric(constant);
  const CalibrationInput input{fit_scores, calibration.labels(), calibration.queries(), grades, 0};
  for (const Calibrator& c : fit_calibrators(all_calibrations(3), input, {}, 1, context)) {
    const auto v = applied(c, scores);
    EXPECT_GT(metric(v), chance + 0.05) << c.spec().name();
  }
}

// Each query as often as `times` says, its documents one after the other.
MadeUp repeated(const MadeUp& data, const std::vector<size_t>& times, bool by_document) {
  MadeUp result;
  result.grades = data.grades;
  std::vector<size_t> rows, offsets = {0};
  std::vector<std::string> ids;
  for (size_t q = 0; q < data.queries.size(); ++q) {
    const size_t copies = by_document ? 1 : times[q];
    for (size_t k = 0; k < copies; ++k) {
      for (size_t i = data.queries.begin(q); i < data.queries.end(q); ++i)
        for (size_t c = 0; c < (by_document ? times[i] : 1); ++c) rows.push_back(i);
      offsets.push_back(rows.size());
      ids.push_back(std::to_string(ids.size()));
    }
  }
  result.queries = QueryIndex(offsets, ids);
  result.scores = ScoreMatrix(rows.size(), data.scores.columns(), "repeated");
  for (size_t i = 0; i < rows.size(); ++i) {
    result.labels.push_back(data.labels[rows[i]]);
    std::copy_n(data.scores.row(rows[i]).begin(), data.scores.columns(), result.scores.row(i).begin());
  }
  return result;
}

TEST(Calibrator, AWeightOfTwoIsTheDocumentOrTheQueryTwice) {
  const MadeUp data = make_up({.documents = 700, .seed = 3});
  Random random(6, "times");
  for (const bool by_document : {true, false}) {
    std::vector<size_t> times;
    std::vector<float> weights;
    for (size_t q = 0; q < data.queries.size(); ++q) {
      // Where there is more to find, so that weights matter.
      size_t relevant = 0;
      for (size_t i = data.queries.begin(q); i < data.queries.end(q); ++i)
        relevant += data.labels[i] > 0 ? 1 : 0;
      const size_t of_query = 2 * relevant > data.queries.length(q) ? 4 : 1 + random.below(2);
      if (!by_document) times.push_back(of_query);
      for (size_t i = data.queries.begin(q); i < data.queries.end(q); ++i) {
        if (by_document) times.push_back(data.labels[i] > 0 ? 4 : 1 + random.below(2));
        weights.push_back(static_cast<float>(by_document ? times.back() : of_query));
      }
    }
    const MadeUp copies = repeated(data, times, by_document);
    CalibrationInput weighted = data.input();
    weighted.weights = weights;
    // Soft NDCG and the ideal DCG of `ndcg` know documents by their rank.
    std::vector<std::string> names = {"cpc.ls",         "cpc.ewls",      "cpc.el",        "cpc.ell",
                                      "rbc.linear.raw", "rbc.poly2.raw", "rbc.poly3.raw", "rbc.logistic.raw"};
    if (!by_document) names.insert(names.end(), {"cpc.sndcg", "rbc.linear.ndcg", "rbc.logistic.ndcg"});
    for (const std::string& name : names) {
      const Calibrator a = Calibrator::fit(CalibrationSpec::parse(name), weighted, {}, 1, Context());
      const std::vector<float> x = applied(a, data.scores);
      const std::vector<float> y = applied(fit(name, copies), data.scores);
      const std::vector<float> z = applied(fit(name, data), data.scores);
      const auto [low, high] = std::minmax_element(x.begin(), x.end());
      double worst = 0, change = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        worst = std::max(worst, static_cast<double>(std::abs(x[i] - y[i])));
        change = std::max(change, static_cast<double>(std::abs(x[i] - z[i])));
      }
      // The search of soft NDCG stops at its own tolerance.
      EXPECT_LT(worst, (name == "cpc.sndcg" ? 0.05 : 2e-3) * (*high - *low)) << name;
      if (name != "cpc.sndcg") {
        EXPECT_GT(change, 5e-3 * (*high - *low)) << name;
      }
    }
  }
}

TEST(Calibrator, WeightsOfOneChangeNoByteAndOthersChangeTheNetwork) {
  const MadeUp data = make_up();
  const std::vector<float> ones(data.labels.size(), 1.0F);
  std::vector<float> weights;
  for (const int32_t label : data.labels) weights.push_back(label == 0 ? 0.05F : 1.0F);
  CalibrationInput input = data.input();
  for (const CalibrationSpec& spec : all_calibrations(3)) {
    input.weights = ones;
    EXPECT_EQ(bytes(Calibrator::fit(spec, input, {}, 1, Context())), bytes(fit(spec.name(), data)));
  }
  input.weights = weights;
  const auto mean = [&](const Calibrator& c) {
    const std::vector<float> v = applied(c, data.scores);
    return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
  };
  const CalibrationSpec neural = CalibrationSpec::parse("rbc.neural.raw");
  EXPECT_GT(mean(Calibrator::fit(neural, input, {}, 1, Context())), mean(fit(neural.name(), data)) + 0.1);
  weights.assign(weights.size(), 0);
  input.weights = weights;
  EXPECT_THROW(Calibrator::fit(neural, input, {}, 1, Context()), InputError);
}

}  // namespace
}  // namespace tunemix
