#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "learners/pair_sums.h"
#include "learners/weak_rankers/model.h"
#include "tests/learners/train_by_name.h"
#include "tunemix/learn/composed_model.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

using weak::WeakRanker;
using weak::WeakRankerModel;

// 4 labels, 3 features.
Dataset documents(const std::vector<size_t>& offsets, uint64_t seed) {
  Random random(seed);
  FloatBuffer features(3 * offsets.back());
  std::vector<int32_t> labels;
  for (size_t i = 0; i < offsets.back(); ++i) {
    labels.push_back(static_cast<int32_t>(i % 4 == 0 ? 3 : random.below(3)));
    for (size_t j = 0; j < 3; ++j)
      features.data()[3 * i + j] = static_cast<float>(std::floor(2 * labels[i] + 4 * random.normal()));
  }
  return Dataset(std::move(features), 3,
                 {std::move(labels), QueryIndex(offsets, std::vector<std::string>(offsets.size() - 1, "q"))});
}

Dataset twelve(uint64_t seed) { return documents({0, 5, 8, 12}, seed); }

std::vector<WeakRanker> rankers(const Dataset& data, const std::string& type, const Settings& settings,
                                int64_t rounds) {
  const Context context;
  const LearnedModel learned = test::train_by_name(data, type, settings, {rounds}, context);
  const Model& model = dynamic_cast<const ComposedModel&>(*learned.model).part();
  return dynamic_cast<const WeakRankerModel&>(model).rankers();
}

struct Pair {
  size_t query, better, worse;
};

std::vector<Pair> pairs_of(const Dataset& data) {
  std::vector<Pair> pairs;
  for (size_t q = 0; q < data.queries().size(); ++q)
    for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i)
      for (size_t j = data.queries().begin(q); j < data.queries().end(q); ++j)
        if (data.labels()[i] > data.labels()[j]) pairs.push_back({q, i, j});
  return pairs;
}

int step(const Dataset& data, const WeakRanker& ranker, size_t i) {
  return data.row(i)[ranker.feature] >= ranker.threshold ? 1 : 0;
}

// What a step puts right and wrong of the weights of pairs.
std::pair<double, double> right_and_wrong(const Dataset& data, const std::vector<Pair>& pairs,
                                          const std::vector<double>& weights, const WeakRanker& ranker) {
  double right = 0, wrong = 0;
  for (size_t k = 0; k < pairs.size(); ++k) {
    const int up = step(data, ranker, pairs[k].better) - step(data, ranker, pairs[k].worse);
    (up > 0 ? right : wrong) += up != 0 ? weights[k] : 0.0;
  }
  return {right, wrong};
}

// The largest |right - wrong| of any step that cuts between two values of a feature.
double best_gain(const Dataset& data, const std::vector<Pair>& pairs, const std::vector<double>& weights) {
  std::vector<double> won(data.documents(), 0.0);  // with the document alone above the step
  for (size_t k = 0; k < pairs.size(); ++k) {
    won[pairs[k].better] += weights[k];
    won[pairs[k].worse] -= weights[k];
  }
  double best = 0;
  for (uint32_t j = 0; j < data.features(); ++j)
    for (size_t at = 0; at < data.documents(); ++at) {
      double gain = 0;
      for (size_t i = 0; i < data.documents(); ++i)
        gain += step(data, {j, data.row(at)[j], 0, 1}, i) != 0 ? won[i] : 0;
      best = std::max(best, std::abs(gain));
    }
  return best;
}

double total(const std::vector<double>& weights) {
  double sum = 0;
  for (const double w : weights) sum += w;
  return sum;
}

std::vector<double> plus(const Dataset& data, std::vector<double> scores, const WeakRanker& ranker) {
  for (size_t i = 0; i < scores.size(); ++i) scores[i] += ranker(data.row(i)[ranker.feature]);
  return scores;
}

TEST(RankBoost, EachRoundIsThatOfAllPairsAndTheBoundHolds) {
  for (const uint64_t seed : {1, 2, 3}) {
    const Dataset data = twelve(seed);
    const std::vector<Pair> pairs = pairs_of(data);
    std::vector<double> D(pairs.size(), 1.0 / static_cast<double>(pairs.size()));
    std::vector<double> scores(12, 0.0);
    double product = 1;
    double bound = 1;
    const std::vector<WeakRanker> chosen = rankers(data, "rankboost", {}, 15);
    ASSERT_EQ(chosen.size(), 15U);
    for (const WeakRanker& ranker : chosen) {
      const auto [right, wrong] = right_and_wrong(data, pairs, D, ranker);
      const double r = right - wrong;
      EXPECT_NEAR(std::abs(r), best_gain(data, pairs, D), 1e-12);
      EXPECT_NEAR(ranker.weight, 0.5 * std::log((1 + r) / (1 - r)), 1e-9);
      for (size_t k = 0; k < pairs.size(); ++k)
        D[k] *= std::exp(ranker.weight *
                         (step(data, ranker, pairs[k].worse) - step(data, ranker, pairs[k].better)));
      const double Z = total(D);
      for (double& weight : D) weight /= Z;
      product *= Z;
      bound *= std::sqrt(1 - r * r);
      EXPECT_LE(product, bound + 1e-12);  // each Z is at most sqrt(1 - r^2)
      scores = plus(data, scores, ranker);
      double misordered = 0;
      for (const Pair& pair : pairs) misordered += scores[pair.better] <= scores[pair.worse] + 1e-12 ? 1 : 0;
      EXPECT_LE(misordered / static_cast<double>(pairs.size()), product + 1e-12);
    }
    EXPECT_LT(product, 0.8);
  }
}

// Checks as many rounds against all pairs.
void expect_frank(const Dataset& data, int64_t rounds) {
  const std::vector<Pair> pairs = pairs_of(data);
  std::vector<double> of_query(data.queries().size(), 0.0);
  for (const Pair& pair : pairs) of_query[pair.query] += 1;
  std::vector<double> scores(data.documents(), 0.0);
  const auto p = [&](const Pair& pair) {
    return 1 / (1 + std::exp(scores[pair.worse] - scores[pair.better]));
  };
  const auto fidelity = [&] {
    double sum = 0;
    for (const Pair& pair : pairs) sum += (1 - std::sqrt(p(pair))) / of_query[pair.query];
    return sum;
  };
  double loss = fidelity();
  for (const WeakRanker& ranker : rankers(data, "frank", {}, rounds)) {
    std::vector<double> weights;
    for (const Pair& pair : pairs)
      weights.push_back(std::sqrt(p(pair)) * (1 - p(pair)) / of_query[pair.query]);
    const auto [right, wrong] = right_and_wrong(data, pairs, weights, ranker);
    EXPECT_NEAR(std::abs(right - wrong), best_gain(data, pairs, weights), 1e-12);
    const double smoothing = 1e-4 * total(weights);
    EXPECT_NEAR(ranker.weight, 0.5 * std::log((right + smoothing) / (wrong + smoothing)), 1e-9);
    scores = plus(data, scores, ranker);
    EXPECT_LT(fidelity(), loss);
    loss = fidelity();
  }
}

TEST(FRank, EachRoundIsThatOfAllPairsAndTheLossFalls) {
  for (const uint64_t seed : {1, 2, 3}) expect_frank(twelve(seed), 10);
}

TEST(FRank, RoundsOfAQueryOfManyDocumentsAreThoseOfAllPairs) {
  expect_frank(documents({0, kManyDocuments + 50, kManyDocuments + 60}, 4), 2);
}

// So many pairs that they cannot be gone through: 4 10^10. Every fourth document of either label is at the
// other's side of the only step.
TEST(FRank, AQueryOfHundredsOfThousandsOfDocumentsIsQuick) {
  constexpr size_t kDocuments = 400000;
  FloatBuffer features(kDocuments);
  std::vector<int32_t> labels;
  for (size_t i = 0; i < kDocuments; ++i) {
    labels.push_back(static_cast<int32_t>(i % 2));
    features.data()[i] = static_cast<float>((i % 2 == 1) != (i % 8 < 2) ? 1 : 0);
  }
  const Dataset data(std::move(features), 1, {labels, QueryIndex({0, kDocuments}, {"q"})});
  const std::vector<WeakRanker> chosen = rankers(data, "frank", {}, 1);
  ASSERT_EQ(chosen.size(), 1U);
  // 9 of 16 pairs are put right and 1 wrong.
  EXPECT_NEAR(chosen[0].weight, 0.5 * std::log((9.0 / 16 + 1e-4) / (1.0 / 16 + 1e-4)), 1e-9);
}

// The pair weight of FRank is minus the slope of its loss.
TEST(FRank, WeightIsTheSlopeOfTheFidelityLoss) {
  const auto loss = [](double margin) { return 1 - std::sqrt(1 / (1 + std::exp(-margin))); };
  for (const double margin : {-3.0, -0.2, 0.0, 1.5}) {
    const double p = 1 / (1 + std::exp(-margin));
    const double slope = (loss(margin + 1e-6) - loss(margin - 1e-6)) / 2e-6;
    EXPECT_NEAR(-slope, std::sqrt(p) * (1 - p) / 2, 1e-9);
  }
}

// NDCG@10 of each query with documents of differing labels; ties share their mean gain.
std::vector<double> ndcg_by_query(const Dataset& data, const std::vector<double>& scores) {
  std::vector<double> result;
  for (size_t q = 0; q < data.queries().size(); ++q) {
    const size_t begin = data.queries().begin(q), end = data.queries().end(q);
    double dcg = 0, ideal = 0;
    bool differ = false;
    for (size_t i = begin; i < end; ++i) {
      size_t above = 0, same = 0, better = 0;
      for (size_t j = begin; j < end; ++j) {
        above += static_cast<float>(scores[j]) > static_cast<float>(scores[i]) ? 1 : 0;
        same += static_cast<float>(scores[j]) == static_cast<float>(scores[i]) ? 1 : 0;
        better +=
            data.labels()[j] > data.labels()[i] || (data.labels()[j] == data.labels()[i] && j < i) ? 1 : 0;
        differ |= data.labels()[j] != data.labels()[i];
      }
      const double gain = std::exp2(data.labels()[i]) - 1;
      double discount = 0;
      for (size_t rank = above + 1; rank <= above + same; ++rank)
        discount += rank <= 10 ? 1 / std::log2(static_cast<double>(rank + 1)) : 0;
      dcg += gain * discount / static_cast<double>(same);
      ideal += gain * (better < 10 ? 1 / std::log2(static_cast<double>(better + 2)) : 0);
    }
    if (differ) result.push_back(dcg / ideal);
  }
  return result;
}

TEST(AdaRank, EachRoundIsTheObviousOneAndTheBoundHolds) {
  for (const uint64_t seed : {1, 2, 3}) {
    const Dataset data = twelve(seed);
    const auto performance = [&](size_t feature, double sign) {
      std::vector<double> scores;
      for (size_t i = 0; i < 12; ++i) scores.push_back(sign * data.row(i)[feature]);
      return ndcg_by_query(data, scores);
    };
    const size_t queries = performance(0, 1).size();
    std::vector<double> P(queries, 1.0 / static_cast<double>(queries));
    std::vector<double> scores(12, 0.0);
    std::vector<double> reached(queries, 0.0);  // E of the sum so far; of the empty sum, none
    double bound = 1;
    double worst = 0;
    // A feature is never put aside.
    const std::vector<WeakRanker> chosen = rankers(data, "adarank", {{"max", "1000000"}}, 8);
    ASSERT_EQ(chosen.size(), 8U);
    for (const WeakRanker& ranker : chosen) {
      double best = 0;
      for (size_t j = 0; j < 3; ++j)
        for (const double sign : {1.0, -1.0}) {
          const std::vector<double> E = performance(j, sign);
          double value = 0;
          for (size_t q = 0; q < queries; ++q) value += P[q] * E[q];
          best = std::max(best, value);
        }
      const std::vector<double> E = performance(ranker.feature, ranker.scale);
      double phi = 0;
      for (size_t q = 0; q < queries; ++q) phi += P[q] * E[q];
      EXPECT_NEAR(phi, best, 1e-12);
      EXPECT_NEAR(ranker.weight, 0.5 * std::log((1 + phi) / (1 - phi)), 1e-9);
      // Xu and Li's theorem: the mean performance is at least 1 - prod exp(-delta) sqrt(1 - phi^2), delta
      // the least of E(f + alpha h) - E(f) - alpha E(h) over queries.
      scores = plus(data, scores, ranker);
      const std::vector<double> now = ndcg_by_query(data, scores);
      double delta = std::numeric_limits<double>::infinity();
      for (size_t q = 0; q < queries; ++q)
        delta = std::min(delta, now[q] - reached[q] - ranker.weight * E[q]);
      bound *= std::exp(-delta) * std::sqrt(1 - phi * phi);
      reached = now;
      EXPECT_GE(total(now) / static_cast<double>(queries), 1 - bound - 1e-12);
      worst = std::max(worst, bound);
      for (size_t q = 0; q < queries; ++q) P[q] = std::exp(-now[q]);
      const double sum = total(P);
      for (double& weight : P) weight /= sum;
    }
    EXPECT_GT(worst, 0);
  }
}

TEST(AdaRank, PutsAFeatureAsideUntilAllOthersHaveBeen) {
  const std::vector<WeakRanker> chosen = rankers(twelve(1), "adarank", {{"max", "1"}}, 7);
  for (size_t t = 0; t < 6; t += 3)
    EXPECT_EQ((1U << chosen[t].feature) + (1U << chosen[t + 1].feature) + (1U << chosen[t + 2].feature), 7U);
}

// One feature that orders everything right must not get an infinite weight.
TEST(WeakRankers, APerfectFeatureGivesFiniteScores) {
  FloatBuffer features(8);
  std::vector<int32_t> labels;
  for (size_t i = 0; i < 8; ++i) {
    labels.push_back(static_cast<int32_t>(i % 4 / 2));
    features.data()[i] = static_cast<float>(labels[i]);
  }
  const Dataset data(std::move(features), 1, {labels, QueryIndex({0, 4, 8}, {"1", "2"})});
  const Context context;
  for (const std::string type : {"rankboost", "frank", "adarank"}) {
    const LearnedModel learned = test::train_by_name(data, type, {}, {400}, context);
    const size_t points[] = {0};
    const ScoreMatrix scores = learned.model->score(data, points, context)[0];
    for (size_t i = 0; i < 8; ++i) {
      EXPECT_TRUE(std::isfinite(scores.values()[i])) << type;
      EXPECT_EQ(scores.values()[i] > scores.values()[0], labels[i] == 1) << type;
    }
  }
}

}  // namespace
}  // namespace tunemix
