#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/portable_math.h"
#include "learners/linear/lbfgs.h"
#include "learners/linear/losses.h"
#include "learners/linear/problem.h"
#include "learners/pair_sums.h"
#include "tests/learners/train_by_name.h"
#include "tunemix/data/synthetic.h"
#include "tunemix/learn/composed_model.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

using namespace linear;

struct Query {
  std::vector<double> scores;
  std::vector<int32_t> labels;  // descending
};

Query random_query(size_t n, int labels, double spread, Random& random) {
  Query query;
  for (size_t i = 0; i < n; ++i) {
    query.scores.push_back(spread * random.normal());
    query.labels.push_back(static_cast<int32_t>(random.below(static_cast<uint64_t>(labels))));
  }
  std::sort(query.labels.rbegin(), query.labels.rend());
  return query;
}

// The sum over all pairs of phi(s_i - s_j), and its gradient by phi'.
double all_pairs(const Query& query, const std::function<double(double)>& phi,
                 const std::function<double(double)>& slope, std::vector<double>& gradient) {
  gradient.assign(query.scores.size(), 0.0);
  double sum = 0;
  for (size_t i = 0; i < query.scores.size(); ++i)
    for (size_t j = 0; j < query.scores.size(); ++j) {
      if (query.labels[i] <= query.labels[j]) continue;
      const double margin = query.scores[i] - query.scores[j];
      sum += phi(margin);
      gradient[i] += slope(margin);
      gradient[j] -= slope(margin);
    }
  return sum;
}

double hinge(double m) { return m < 1 ? (1 - m) * (1 - m) : 0; }
double hinge_slope(double m) { return m < 1 ? -2 * (1 - m) : 0; }
double logistic(double m) { return m > 0 ? std::log1p(std::exp(-m)) : -m + std::log1p(std::exp(m)); }
double logistic_slope(double m) { return -1 / (1 + std::exp(m)); }

void expect_all_pairs(Loss loss, double (*phi)(double), double (*slope)(double)) {
  Random random(7);
  LossScratch scratch;
  for (const size_t n : {1, 2, 9, 40, 300})
    for (const int labels : {2, 5})
      for (const double spread : {0.01, 1.0, 30.0}) {
        Query query = random_query(n, labels, spread, random);
        if (n > 4) query.scores[3] = query.scores[n - 1];  // a tie
        std::vector<double> fast(n), slow;
        const double expected = all_pairs(query, phi, slope, slow);
        EXPECT_NEAR(loss(query.scores, query.labels, fast, scratch), expected, 1e-10 * (1 + expected));
        for (size_t i = 0; i < n; ++i) EXPECT_NEAR(fast[i], slow[i], 1e-9 * (1 + std::abs(slow[i])));
      }
}

TEST(PortableMath, IsCloseToTheLibrary) {
  Random random(3);
  for (int k = 0; k < 20000; ++k) {
    const double x = 1400 * random.uniform() - 700;
    EXPECT_NEAR(portable_exp(x) / std::exp(x), 1, 1e-15) << x;
    const double y = std::exp(x / (k % 2 == 0 ? 1 : 1000));
    EXPECT_NEAR(portable_log(y), std::log(y), 4e-16 * std::abs(std::log(y))) << y;
    EXPECT_NEAR(portable_log2(y), std::log2(y), 4e-15 * (1 + std::abs(std::log2(y)))) << y;
  }
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_log(1), 0);
}

TEST(Losses, SquaredHingeEqualsAllPairs) { expect_all_pairs(squared_hinge_loss, hinge, hinge_slope); }
TEST(Losses, LogisticEqualsAllPairs) { expect_all_pairs(pair_logistic_loss, logistic, logistic_slope); }

// A query longer than kManyDocuments, against its pairs one by one: scores close together, in a few cells,
// far apart, and both at once.
TEST(Losses, LogisticOfManyDocumentsEqualsAllPairs) {
  Random random(8);
  LossScratch scratch;
  constexpr size_t kDocuments = kManyDocuments + 300;
  for (const int labels : {2, 5})
    for (const double spread : {0.01, 3.0, 40.0, 1000.0}) {
      Query query = random_query(kDocuments, labels, spread, random);
      for (size_t i = 0; i < kDocuments; i += 7) query.scores[i] *= 0.01;
      query.scores[3] = query.scores[kDocuments - 1];  // a tie
      std::vector<double> fast(kDocuments), slow;
      const double expected = all_pairs(query, logistic, logistic_slope, slow);
      const double loss = pair_logistic_loss(query.scores, query.labels, fast, scratch);
      EXPECT_NEAR(loss / expected, 1, 1e-12) << spread;
      for (size_t i = 0; i < kDocuments; ++i)
        ASSERT_NEAR(fast[i], slow[i], 1e-12 * kDocuments) << spread << " " << i;
    }
}

// So many pairs that they cannot be gone through: 2 10^11.
TEST(Losses, LogisticOfAMillionDocumentsIsQuick) {
  constexpr size_t kBetter = 300000;
  constexpr size_t kWorse = 700000;
  Query query{std::vector<double>(kBetter + kWorse, 0.5), std::vector<int32_t>(kBetter, 1)};
  query.labels.resize(kBetter + kWorse, 0);
  std::vector<double> gradient(kBetter + kWorse);
  LossScratch scratch;
  const double loss = pair_logistic_loss(query.scores, query.labels, gradient, scratch);
  EXPECT_NEAR(loss / (0.6931471805599453 * kBetter * kWorse), 1, 1e-9);
  EXPECT_NEAR(gradient[0] / (-0.5 * kWorse), 1, 1e-9);
  EXPECT_NEAR(gradient[kBetter] / (0.5 * kBetter), 1, 1e-9);
}

TEST(Losses, LogisticOfManyDocumentsIsNoNumberWhereAScoreIsNone) {
  Random random(9);
  LossScratch scratch;
  for (const double wrong : {INFINITY, -INFINITY, NAN}) {
    Query query = random_query(kManyDocuments + 1, 3, 1, random);
    query.scores[5] = wrong;
    std::vector<double> gradient(query.scores.size());
    EXPECT_TRUE(std::isnan(pair_logistic_loss(query.scores, query.labels, gradient, scratch)));
  }
}

TEST(Losses, LogisticOfManyDocumentsAndFarScoresIsFinite) {
  Random random(5);
  LossScratch scratch;
  Query query = random_query(9000, 2, 400, random);
  std::vector<double> gradient(query.scores.size());
  EXPECT_TRUE(std::isfinite(pair_logistic_loss(query.scores, query.labels, gradient, scratch)));
  for (const double g : gradient) EXPECT_TRUE(std::isfinite(g));
}

TEST(Losses, GradientsAreSlopes) {
  Random random(11);
  LossScratch scratch;
  for (const Loss loss : {squared_hinge_loss, pair_logistic_loss, list_entropy_loss})
    for (const int labels : {2, 5}) {
      Query query = random_query(12, labels, 0.7, random);
      std::vector<double> gradient(12), ignored(12);
      loss(query.scores, query.labels, gradient, scratch);
      for (size_t i = 0; i < 12; ++i) {
        constexpr double kStep = 1e-6;
        Query up = query, down = query;
        up.scores[i] += kStep;
        down.scores[i] -= kStep;
        const double slope = (loss(up.scores, up.labels, ignored, scratch) -
                              loss(down.scores, down.labels, ignored, scratch)) /
                             (2 * kStep);
        EXPECT_NEAR(gradient[i], slope, 1e-5 * (1 + std::abs(slope)));
      }
    }
}

TEST(Losses, ListEntropyIsLeastWhereScoresAreLabels) {
  LossScratch scratch;
  const Query query{{4, 2, 2, 0, 0}, {4, 2, 2, 0, 0}};
  std::vector<double> gradient(5);
  list_entropy_loss(query.scores, query.labels, gradient, scratch);
  for (const double g : gradient) EXPECT_NEAR(g, 0, 1e-15);
}

TEST(RankingProblem, GradientIsTheSlopeOfEveryParameter) {
  const Context context(2);
  const Dataset data = make_synthetic({.queries = 9, .features = 5, .labels = 4, .mean_length = 8}, context);
  BinCache cache(data);
  const TrainingData training(cache);
  for (const size_t hidden : {0, 3})
    for (const Loss loss : {squared_hinge_loss, pair_logistic_loss, list_entropy_loss})
      for (const Share share : {Share::kPair, Share::kQuery}) {
        const RankingProblem problem(training, {5, hidden}, loss, loss != list_entropy_loss, share, context);
        Random random(2);
        std::vector<double> x(problem.shape().size()), gradient(x.size()), ignored(x.size());
        for (double& v : x) v = 0.5 * random.normal();
        problem(x, 0.3, gradient);
        for (size_t i = 0; i < x.size(); ++i) {
          constexpr double kStep = 1e-5;
          std::vector<double> up = x, down = x;
          up[i] += kStep;
          down[i] -= kStep;
          const double slope = (problem(up, 0.3, ignored) - problem(down, 0.3, ignored)) / (2 * kStep);
          EXPECT_NEAR(gradient[i], slope, 1e-6 * (1 + std::abs(slope))) << hidden << " " << i;
        }
      }
}

TEST(Lbfgs, FindsTheEndOfACurvedValley) {
  std::vector<double> x = {-1.2, 1};
  const LbfgsResult result = minimise(
      [](std::span<const double> at, std::span<double> g) {
        const double a = 1 - at[0];
        const double b = at[1] - at[0] * at[0];
        g[0] = -2 * a - 400 * at[0] * b;
        g[1] = 200 * b;
        return a * a + 100 * b * b;
      },
      x, {.iterations = 200, .enough = 1e-9});
  EXPECT_TRUE(result.converged);
  EXPECT_NEAR(x[0], 1, 1e-8);
  EXPECT_NEAR(x[1], 1, 1e-8);
}

const LinearModel& as_linear(const LearnedModel& learned) {
  return dynamic_cast<const LinearModel&>(dynamic_cast<const ComposedModel&>(*learned.model).part());
}

double training_ndcg(const Dataset& data, const LearnedModel& learned, const Context& context) {
  const size_t points[] = {0};
  const SelectionMetric metric(data.queries(), data.labels(), exponential_grades(data.max_label() + 1));
  return metric(learned.model->score(data, points, context)[0].values());
}

// The slope of the weighted mean squared error and of the ridge, along every weight and the intercept.
void expect_no_slope(const Dataset& data, const LinearModel& model, size_t point, double ridge) {
  const std::vector<double>& w = model.solutions()[point].parameters;
  const size_t d = data.features();
  std::vector<double> slope(d + 1, 0.0);
  double total = 0;
  for (size_t i = 0; i < data.documents(); ++i) {
    const auto weight = static_cast<double>(data.weights()[i]);
    total += weight;
    std::vector<double> z(d + 1, 1.0);
    for (size_t j = 0; j < d; ++j)
      z[j] = (data.row(i)[j] - model.scaling().shift[j]) * model.scaling().factor[j];
    double error = -data.labels()[i];
    for (size_t j = 0; j <= d; ++j) error += w[j] * z[j];
    for (size_t j = 0; j <= d; ++j) slope[j] += weight * error * z[j];
  }
  for (size_t j = 0; j < d; ++j) EXPECT_NEAR(slope[j] / total + ridge * w[j], 0, 1e-10);
  EXPECT_NEAR(slope[d] / total, 0, 1e-10);
}

// With more documents than features, and with fewer.
TEST(LinearRegression, SolvesTheNormalEquations) {
  const Context context(3);
  for (const size_t features : {7, 900}) {
    Dataset data = make_synthetic({.queries = 40, .features = features, .labels = 5}, context);
    ASSERT_EQ(data.documents() < data.features(), features == 900) << data.documents();
    Random random(6);
    tunemix::Documents about = data.about();
    for (size_t i = 0; i < data.documents(); ++i)
      about.weights.push_back(static_cast<float>(i % 9 == 0 ? 0 : random.uniform() + 0.1));
    data = data.with_documents(std::move(about));
    const LearnedModel learned =
        test::train_by_name(data, "linear_regression", {{"L2", "0.001, 0.5"}}, {}, context);
    expect_no_slope(data, as_linear(learned), 0, 0.001);
    expect_no_slope(data, as_linear(learned), 1, 0.5);
  }
}

// A matrix of features by features would be 29 GB.
TEST(LinearRegression, LearnsFromFewDocumentsWithManyFeatures) {
  constexpr size_t kDocuments = 100;
  constexpr size_t kFeatures = 60000;
  Random random(12);
  FloatBuffer features(kDocuments * kFeatures);
  for (size_t i = 0; i < kDocuments * kFeatures; ++i)
    features.data()[i] = static_cast<float>(random.uniform());
  std::vector<int32_t> labels;
  std::vector<size_t> offsets = {0};
  for (size_t i = 0; i < kDocuments; ++i) {
    labels.push_back(static_cast<int32_t>(random.below(3)));
    if (i % 20 == 19) offsets.push_back(i + 1);
  }
  const Dataset data(std::move(features), kFeatures,
                     {labels, QueryIndex(offsets, std::vector<std::string>(5, "q"))});
  const Context context(2);
  const LearnedModel learned = test::train_by_name(data, "linear_regression", {}, {}, context);
  EXPECT_NEAR(training_ndcg(data, learned, context), 1, 1e-9);
}

TEST(RankSvm, EveryPointOfThePathIsAMinimum) {
  const Context context;
  const Dataset data = make_synthetic({.queries = 30, .features = 6, .labels = 3}, context);
  const LearnedModel learned =
      test::train_by_name(data, "ranksvm", {{"C", "10, 0.1, 1"}, {"tolerance", "1e-6"}}, {}, context);
  const LinearModel& model = as_linear(learned);
  ASSERT_EQ(model.points(), (std::vector<Point>{{0, "C=10"}, {0, "C=0.1"}, {0, "C=1"}}));
  const double C[] = {10, 0.1, 1};
  for (size_t p = 0; p < 3; ++p) {
    // w = C times minus the mean over pairs of the loss's slope, by all pairs.
    const std::vector<double>& w = model.solutions()[p].parameters;
    std::vector<double> slope(6, 0.0);
    double pairs = 0;
    const auto z = [&](size_t i, size_t j) {
      return (data.row(i)[j] - model.scaling().shift[j]) * model.scaling().factor[j];
    };
    for (size_t q = 0; q < data.queries().size(); ++q)
      for (size_t a = data.queries().begin(q); a < data.queries().end(q); ++a)
        for (size_t b = data.queries().begin(q); b < data.queries().end(q); ++b) {
          if (data.labels()[a] <= data.labels()[b]) continue;
          double margin = 0;
          for (size_t j = 0; j < 6; ++j) margin += w[j] * (z(a, j) - z(b, j));
          for (size_t j = 0; j < 6; ++j) slope[j] += hinge_slope(margin) * (z(a, j) - z(b, j));
          pairs += 1;
        }
    for (size_t j = 0; j < 6; ++j) EXPECT_NEAR(w[j], -C[p] * slope[j] / pairs, 1e-4 * (1 + C[p]));
    EXPECT_EQ(w[6], 0);
  }
}

TEST(BestFeature, HasTheBestNdcgOfAll) {
  const Context context(2);
  const Dataset data = make_synthetic({.queries = 40, .features = 9, .labels = 5}, context);
  const LearnedModel learned = test::train_by_name(data, "best_feature", {}, {}, context);
  const SelectionMetric metric(data.queries(), data.labels(), exponential_grades(5));
  double best = 0;
  for (size_t j = 0; j < 9; ++j)
    for (const float sign : {1.0F, -1.0F}) {
      std::vector<float> scores;
      for (size_t i = 0; i < data.documents(); ++i) scores.push_back(sign * data.row(i)[j]);
      best = std::max(best, metric(scores));
    }
  EXPECT_NEAR(training_ndcg(data, learned, context), best, 1e-9);
}

TEST(CoordinateAscent, ClimbsAboveTheBestFeatureAndMoreWithRestarts) {
  const Context context(2);
  const Dataset data = make_synthetic({.queries = 60, .features = 9, .labels = 5}, context);
  const double single =
      training_ndcg(data, test::train_by_name(data, "best_feature", {}, {}, context), context);
  const auto ascent = [&](const std::string& restarts) {
    return training_ndcg(data, test::train_by_name(data, "coordinate_ascent", {{"r", restarts}}, {}, context),
                         context);
  };
  EXPECT_GT(ascent("1"), single);
  EXPECT_GE(ascent("4"), ascent("1"));
}

// Relevance that is the distance from the middle: a line cannot show it, a hidden layer can.
TEST(Nets, AHiddenLayerLearnsWhatALineCannot) {
  Random random(4);
  FloatBuffer features(2000);
  std::vector<int32_t> labels;
  std::vector<size_t> offsets = {0};
  for (size_t i = 0; i < 1000; ++i) {
    features.data()[2 * i] = static_cast<float>(random.normal());
    features.data()[2 * i + 1] = static_cast<float>(random.normal());
    labels.push_back(std::abs(features.data()[2 * i]) > 1 ? 1 : 0);
    if (i % 20 == 19) offsets.push_back(i + 1);
  }
  const Dataset data(std::move(features), 2,
                     {labels, QueryIndex(offsets, std::vector<std::string>(50, "q"))});
  const Context context;
  for (const std::string type : {"ranknet", "listnet"}) {
    const double line = training_ndcg(data, test::train_by_name(data, type, {}, {50}, context), context);
    const double net =
        training_ndcg(data, test::train_by_name(data, type, {{"layer", "1"}}, {50}, context), context);
    EXPECT_LT(line, 0.7) << type;
    EXPECT_GT(net, 0.95) << type;
  }
}

}  // namespace
}  // namespace tunemix
