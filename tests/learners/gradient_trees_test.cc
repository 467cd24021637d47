// Trees that rank: gradients against numerical derivatives, trees against a plain search, and what every run
// must keep: bytes on any number of threads, going on after a stop, points, odd data.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "learners/gradient_trees/grower.h"
#include "learners/gradient_trees/lambda_kernel.h"
#include "learners/gradient_trees/learners.h"
#include "learners/gradient_trees/model.h"
#include "learners/gradient_trees/rank_order.h"
#include "tests/learners/train_by_name.h"
#include "tunemix/core/aligned.h"
#include "tunemix/data/synthetic.h"
#include "tunemix/metric/policy.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

using namespace trees;

const std::vector<std::string> kTypes = {"lambdamart", "mart",       "query_rmse",    "yetirank",
                                         "xendcg",     "logitboost", "random_forest", "extra_trees"};

Dataset tree_data(uint64_t seed, size_t queries = 40, int labels = 5) {
  return make_synthetic({.queries = queries, .features = 13, .labels = labels, .seed = seed}, Context(1));
}

Dataset with_queries(std::vector<float> features, size_t width, std::vector<int32_t> labels,
                     std::vector<size_t> offsets) {
  std::vector<std::string> ids;
  for (size_t q = 0; q + 1 < offsets.size(); ++q) ids.push_back(std::to_string(q + 1));
  return Dataset(std::move(features), width,
                 {std::move(labels), QueryIndex(std::move(offsets), std::move(ids))});
}

Settings small(const std::string& type) {
  Settings settings = {{"leaves", "7"}, {"min_documents", "3"}};
  if (type == "lambdamart") settings.emplace_back("truncation", "8");
  return settings;
}

// Gradient and hessian of each training document as the objective gives them.
std::vector<std::pair<double, double>> gradients_of(const TreeLearner& learner, const Settings& settings,
                                                    const Dataset& data, size_t column,
                                                    const std::vector<std::vector<float>>& scores) {
  const Context context(2);
  BinCache cache(data);
  const TrainingData training(cache);
  const auto objective =
      learner.objective({training, learner.entry.complete(settings), {}, nullptr}, context);
  std::vector<uint64_t> words(data.documents());
  for (size_t c = 0; c <= column; ++c) objective->gradients(3, c, scores, words.data());
  std::vector<std::pair<double, double>> result;
  for (const uint64_t word : words) result.emplace_back(raw_gradient(word), raw_hessian(word));
  return result;
}

std::vector<float> random_scores(size_t n, uint64_t seed) {
  Random random(seed);
  std::vector<float> scores(n);
  for (float& score : scores) score = static_cast<float>(random.normal());
  return scores;
}

TEST(RankOrder, IsAStableSort) {
  Random random(4);
  RankOrder order;
  for (const size_t n : {1, 2, 15, 16, 17, 100, 399, 400, 401, 3000}) {
    std::vector<float> scores(n);
    for (float& score : scores) score = static_cast<float>(random.below(n)) - 3.0F;
    scores[n / 2] = -0.0F;
    scores[0] = 0.0F;
    std::vector<uint32_t> plain(n);
    std::iota(plain.begin(), plain.end(), 0);
    std::stable_sort(plain.begin(), plain.end(),
                     [&](uint32_t a, uint32_t b) { return scores[a] > scores[b]; });
    const auto fast = order.order(scores);
    EXPECT_TRUE(std::equal(plain.begin(), plain.end(), fast.begin(), fast.end())) << n;
  }
}

// The loss whose derivative the lambdas are: weights of pairs and their normalisation stay as they are at the
// given scores.
class PlainLambda {
 public:
  struct Options {
    double sigma = 1;
    int truncation = 30;
    bool normalize = true;
  };
  PlainLambda(const Dataset& data, const Options& options, const std::vector<float>& scores)
      : options_(options) {
    const std::vector<double> grades = exponential_grades(data.max_label() + 1);
    for (size_t q = 0; q < data.queries().size(); ++q) {
      const size_t begin = data.queries().begin(q);
      const size_t n = data.queries().length(q);
      std::vector<size_t> order(n);
      std::iota(order.begin(), order.end(), begin);
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
      std::vector<double> gains;
      for (size_t i = begin; i < begin + n; ++i) gains.push_back(grades[data.labels()[i]]);
      std::sort(gains.rbegin(), gains.rend());
      double ideal = 0;
      for (size_t r = 0; r < n && r < static_cast<size_t>(options.truncation); ++r)
        ideal += gains[r] / std::log2(static_cast<double>(r) + 2);
      if (ideal == 0) continue;
      const size_t first_pair = pairs_.size();
      double size = 0;
      for (size_t i = 0; i < n && i < static_cast<size_t>(options.truncation); ++i)
        for (size_t j = i + 1; j < n; ++j) {
          const double gain = grades[data.labels()[order[i]]] - grades[data.labels()[order[j]]];
          if (gain == 0) continue;
          Pair pair{order[i], order[j], 0};
          if (gain < 0) std::swap(pair.high, pair.low);
          pair.weight = std::abs(gain) * (discount(i) - discount(j)) / ideal;
          const double apart = scores[order[i]] - static_cast<double>(scores[order[j]]);
          if (options.normalize && scores[order[0]] != scores[order[n - 1]]) pair.weight /= 0.01 + apart;
          size += 2 * pair.weight * slope(scores[pair.high] - static_cast<double>(scores[pair.low]));
          pairs_.push_back(pair);
        }
      if (options.normalize && size > 0)
        for (size_t p = first_pair; p < pairs_.size(); ++p) pairs_[p].weight *= std::log2(1 + size) / size;
    }
  }

  double loss(const std::vector<double>& scores) const {
    double sum = 0;
    for (const Pair& pair : pairs_)
      sum += pair.weight * std::log1p(std::exp(-options_.sigma * (scores[pair.high] - scores[pair.low])));
    return sum;
  }

 private:
  struct Pair {
    size_t high, low;
    double weight;
  };
  static double discount(size_t rank) { return 1 / std::log2(static_cast<double>(rank) + 2); }
  double slope(double apart) const { return options_.sigma / (1 + std::exp(options_.sigma * apart)); }
  Options options_;
  std::vector<Pair> pairs_;
};

TEST(LambdaMart, GradientsAreDerivativesOfThePairLoss) {
  const Dataset data = tree_data(1, 12);
  // Scores that lie further apart than what e^x can take have a way of their own.
  for (const float spread : {1.0F, 60.0F})
    for (const int choice : {0, 1, 2, 3}) {
      PlainLambda::Options options;
      options.normalize = choice % 2 != 0;
      options.truncation = choice / 2 != 0 ? 30 : 3;
      options.sigma = 1.5;
      std::vector<float> scores = random_scores(data.documents(), 7);
      for (float& score : scores) score *= spread;
      const auto found = gradients_of(lambdamart(),
                                      {{"sigma", "1.5"},
                                       {"truncation", std::to_string(options.truncation)},
                                       {"normalize", options.normalize ? "true" : "false"}},
                                      data, 0, {scores});
      const PlainLambda plain(data, options, scores);
      std::vector<double> at(scores.begin(), scores.end());
      const double step = spread > 1 ? 1e-3 : 1e-4;  // the loss is larger, and so are its rounding errors
      for (size_t i = 0; i < data.documents(); ++i) {
        const double here = at[i];
        const double middle = plain.loss(at);
        at[i] = here + step;
        const double up = plain.loss(at);
        at[i] = here - step;
        const double down = plain.loss(at);
        at[i] = here;
        EXPECT_NEAR(found[i].first, (up - down) / (2 * step), 2e-5 * (1 + std::abs(found[i].first))) << i;
        EXPECT_NEAR(found[i].second, (up - 2 * middle + down) / (step * step), 2e-4 * (1 + found[i].second))
            << i;
      }
    }
}

TEST(LambdaMart, LambdasOfAQuerySumToZero) {
  const Dataset data = tree_data(2, 60);
  const std::vector<float> scores = random_scores(data.documents(), 3);
  for (const TreeLearner& learner : {lambdamart(), yetirank()}) {
    const auto found = gradients_of(learner, {}, data, 0, {scores});
    double largest = 0;
    for (size_t q = 0; q < data.queries().size(); ++q) {
      double sum = 0;
      double size = 0;
      for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i) {
        sum += found[i].first;
        size += std::abs(found[i].first);
        EXPECT_GE(found[i].second, 0);
      }
      EXPECT_NEAR(sum, 0, 1e-5 * (size + 1e-3)) << q;
      largest = std::max(largest, size);
    }
    EXPECT_GT(largest, 0.1);
  }
}

TEST(LambdaMart, LanesWithoutADocumentMayHoldAnything) {
  constexpr size_t kCount = 37;
  constexpr size_t kFirst = 5;
  constexpr size_t kPadded = 48;
  for (const int choice : {0, 1, 2, 3}) {
    const bool by_distance = choice % 2 != 0;
    const bool wide = choice / 2 != 0;
    const auto sums_with = [&](float anything, AlignedVector<float>& gradient) {
      std::vector<float> score(kPadded, anything);
      std::vector<float> odds(kPadded, anything);
      std::vector<float> gain(kPadded, anything);
      std::vector<float> discount(kPadded, anything);
      for (size_t i = kFirst; i < kCount; ++i) {
        score[i] = 3 - 0.1F * static_cast<float>(i);
        odds[i] = std::exp(score[i]);
        gain[i] = static_cast<float>(i * 7 % 5);
        discount[i] = 1 / (1 + static_cast<float>(i));
      }
      gradient.assign(kPadded, 0);
      AlignedVector<float> hessian(kPadded, 0);
      return lambda_kernels().add_lambdas(
          {.score = 3,
           .gain = 2,
           .discount = 1,
           .inverse_odds = std::exp(-3.0F),
           .sigma = 1,
           .wide = wide,
           .by_distance = by_distance},
          {kCount, score.data(), odds.data(), gain.data(), discount.data(), gradient.data(), hessian.data()},
          kFirst);
    };
    AlignedVector<float> expected;
    const LambdaSums plain = sums_with(0, expected);
    EXPECT_NE(plain.gradient, 0);
    for (const float anything :
         {-1e30F, 1e30F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      AlignedVector<float> gradient;
      const LambdaSums sums = sums_with(anything, gradient);
      EXPECT_EQ(sums.gradient, plain.gradient) << anything;
      EXPECT_EQ(sums.hessian, plain.hessian) << anything;
      EXPECT_EQ(sums.size, plain.size) << anything;
      EXPECT_EQ(gradient, expected) << anything;
    }
  }
}

// However long a query is, a document has pairs with the first `truncation` only: all pairs would be 2 *
// 10^10 here, and each would show in the gradient of its documents.
TEST(LambdaMart, PairsOfLongQueriesDoNotGrowQuadratically) {
  constexpr size_t kDocuments = 200000;
  constexpr size_t kTruncation = 7;
  std::vector<int32_t> labels(kDocuments);
  for (size_t i = 0; i < kDocuments; ++i) labels[i] = i % 3 == 0 ? 2 : 0;
  const Dataset data = with_queries(std::vector<float>(kDocuments), 1, labels, {0, kDocuments});
  // All scores are the same, so documents keep their order and the odds of each pair are even.
  const auto found = gradients_of(lambdamart(), {{"truncation", "7"}, {"normalize", "false"}}, data, 0,
                                  {std::vector<float>(kDocuments)});
  const auto discount = [](size_t rank) { return 1 / std::log2(static_cast<double>(rank) + 2); };
  double ideal = 0;
  for (size_t r = 0; r < kTruncation; ++r) ideal += 3 * discount(r);
  for (size_t j = kTruncation; j < kDocuments; ++j) {
    double expected = 0;
    for (size_t i = 0; i < kTruncation; ++i)
      if (labels[i] != labels[j]) expected += 0.5 * 3 * (discount(i) - discount(j)) / ideal;
    ASSERT_NEAR(found[j].first, labels[j] == 0 ? expected : -expected, 1e-4) << j;
  }
}

TEST(LogitBoost, GradientsAreDerivativesOfTheLikelihood) {
  const Dataset data = tree_data(3, 6, 3);
  const size_t n = data.documents();
  std::vector<std::vector<float>> scores;
  for (uint64_t c = 0; c < 3; ++c) scores.push_back(random_scores(n, 20 + c));
  for (size_t column = 0; column < 3; ++column) {
    const auto found = gradients_of(logitboost(), {}, data, column, scores);
    for (size_t i = 0; i < n; ++i) {
      const auto loss = [&](double change) {
        double sum = 0;
        for (size_t l = 0; l < 3; ++l) sum += std::exp(scores[l][i] + (l == column ? change : 0));
        const auto own = static_cast<size_t>(data.labels()[i]);
        return std::log(sum) - scores[own][i] - (own == column ? change : 0);
      };
      const double step = 1e-4;
      EXPECT_NEAR(found[i].first, (loss(step) - loss(-step)) / (2 * step), 1e-6);
      EXPECT_NEAR(found[i].second, (loss(step) - 2 * loss(0) + loss(-step)) / (step * step), 1e-6);
    }
  }
}

TEST(QueryRmse, GradientsAreDerivativesOfTheLossWithinQueries) {
  const Dataset data = tree_data(4, 8);
  const std::vector<float> scores = random_scores(data.documents(), 5);
  const auto found = gradients_of(query_rmse(), {}, data, 0, {scores});
  const std::vector<double> grades = exponential_grades(data.max_label() + 1);
  std::vector<double> at(scores.begin(), scores.end());
  const auto loss = [&](size_t q) {
    double mean = 0;
    for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i)
      mean += (at[i] - grades[data.labels()[i]]) / static_cast<double>(data.queries().length(q));
    double sum = 0;
    for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i)
      sum += std::pow(at[i] - grades[data.labels()[i]] - mean, 2) / 2;
    return sum;
  };
  for (size_t q = 0; q < data.queries().size(); ++q)
    for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i) {
      const double here = std::exchange(at[i], at[i] + 1e-4);
      const double up = loss(q);
      at[i] = here - 1e-4;
      EXPECT_NEAR(found[i].first, (up - loss(q)) / 2e-4, 1e-4) << i;
      EXPECT_EQ(found[i].second, 1);
      at[i] = here;
    }
}

// Cross entropy of a query's softmax and the distribution that the third round draws for it, its first and
// second derivatives by differences, and the first terms of (D - O)^-1 g, D the second derivatives' diagonal
// and -O the others.
TEST(XeNdcg, GradientsAreDerivativesOfTheCrossEntropy) {
  const Dataset data = tree_data(4, 8);
  const std::vector<float> scores = random_scores(data.documents(), 6);
  const auto found = gradients_of(xendcg(), {}, data, 0, {scores});
  const std::vector<double> grades = exponential_grades(data.max_label() + 1);
  for (size_t q = 0; q < data.queries().size(); ++q) {
    const size_t first = data.queries().begin(q);
    const size_t n = data.queries().length(q);
    Random random(derive_seed(Context().seed(), "xendcg") ^
                  (3 * 0x9e3779b97f4a7c15ULL + q) * 0xd1342543de82ef95ULL);
    std::vector<double> phi;
    for (size_t i = 0; i < n; ++i) phi.push_back(grades[data.labels()[first + i]] + 1 - random.uniform());
    const double all = std::accumulate(phi.begin(), phi.end(), 0.0);
    std::vector<double> at(scores.begin() + static_cast<std::ptrdiff_t>(first),
                           scores.begin() + static_cast<std::ptrdiff_t>(first + n));
    const auto loss = [&] {
      double odds = 0;
      for (const double score : at) odds += std::exp(score);
      double sum = 0;
      for (size_t i = 0; i < n; ++i) sum -= phi[i] / all * (at[i] - std::log(odds));
      return sum;
    };
    const auto moved = [&](size_t i, double by, const auto& value) {
      const double here = std::exchange(at[i], at[i] + by);
      const double result = value();
      at[i] = here;
      return result;
    };
    constexpr double kStep = 1e-3;
    const auto slope = [&](size_t i) {
      return (moved(i, kStep, loss) - moved(i, -kStep, loss)) / (2 * kStep);
    };
    std::vector<double> diagonal(n);
    std::vector<double> term(n);
    for (size_t i = 0; i < n; ++i) {
      const auto of_i = [&] { return slope(i); };
      diagonal[i] = (moved(i, kStep, of_i) - moved(i, -kStep, of_i)) / (2 * kStep);
      term[i] = slope(i);
    }
    std::vector<double> sum = term;
    for (int k = 1; k < 3; ++k) {
      std::vector<double> next(n, 0.0);
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j) {
          if (i == j) continue;
          const auto of_i = [&] { return slope(i); };
          const double mixed = (moved(j, kStep, of_i) - moved(j, -kStep, of_i)) / (2 * kStep);
          next[i] -= mixed * term[j] / diagonal[j];
        }
      term = next;
      for (size_t i = 0; i < n; ++i) sum[i] += term[i];
    }
    for (size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(found[first + i].first, n > 1 ? sum[i] : 0, 1e-4) << q << ' ' << i;
      EXPECT_NEAR(found[first + i].second, n > 1 ? diagonal[i] : 0, 1e-4) << q << ' ' << i;
    }
  }
}

// Cut for cut: every leaf's best cut by adding up its documents for each feature and bin, from the same
// fixed-point words.
struct PlainTree {
  std::vector<Cut> cuts;
  std::vector<uint8_t> split_leaf;
  std::vector<double> values;
};

PlainTree plain_tree(const BinnedDataset& bins, const BinCuts& cuts, const std::vector<uint64_t>& words,
                     const WordScale& scale, const GradientGrowth& options) {
  struct Best {
    double gain = 0;
    Cut cut;
  };
  const auto sums = [&](const std::vector<size_t>& set) {
    std::pair<int64_t, int64_t> sum = {0, 0};
    for (const size_t i : set) {
      sum.first += packed_gradient(words[i]);
      sum.second += packed_hessian(words[i]);
    }
    return sum;
  };
  const double l2 = options.l2 * scale.hessian;
  // The best value of a leaf within the bounds, and what it gains there.
  using Bounds = std::pair<double, double>;
  const auto best_value = [&](std::pair<int64_t, int64_t> sum, const Bounds& bounds) {
    const double free = -(static_cast<double>(sum.first) / scale.gradient) /
                        (static_cast<double>(sum.second) / scale.hessian + options.l2);
    return std::clamp(free, bounds.first, bounds.second);
  };
  const auto value = [&](std::pair<int64_t, int64_t> sum, const Bounds& bounds) {
    const double w = best_value(sum, bounds) * scale.gradient / scale.hessian;
    return -2 * static_cast<double>(sum.first) * w - (static_cast<double>(sum.second) + l2) * w * w;
  };
  const auto direction = [&](const Cut& cut) {
    const bool only_missing = cut.bin == 0 && cuts.has_missing(cut.feature);
    return options.monotone.empty() || only_missing ? 0 : options.monotone[cut.feature];
  };
  std::vector<Bounds> bounds = {{-HUGE_VAL, HUGE_VAL}};
  std::vector<std::vector<size_t>> leaves(1);
  std::vector<int> depth = {0};
  for (size_t i = 0; i < words.size(); ++i) leaves[0].push_back(i);
  const auto is_missing = [&](size_t i, uint32_t feature) {
    return cuts.has_missing(feature) && bins.bin(i, feature) == 0;
  };
  const auto side = [&](const std::vector<size_t>& set, const Cut& cut, bool above) {
    std::vector<size_t> chosen;
    for (const size_t i : set) {
      const bool passes = is_missing(i, cut.feature) ? cut.missing_above : bins.bin(i, cut.feature) > cut.bin;
      if (passes == above) chosen.push_back(i);
    }
    return chosen;
  };
  const auto lacks_some = [&](const std::vector<size_t>& set, uint32_t feature) {
    return std::any_of(set.begin(), set.end(), [&](size_t i) { return is_missing(i, feature); });
  };
  PlainTree tree;
  while (leaves.size() < static_cast<size_t>(options.leaves)) {
    Best best;
    size_t from = 0;
    for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
      const auto& set = leaves[leaf];
      if (set.size() < 2 * static_cast<size_t>(options.min_documents)) continue;
      if (options.depth > 0 && depth[leaf] >= options.depth) continue;
      const auto total = sums(set);
      const double least = std::max({1.0, options.min_hessian * scale.hessian,
                                     (options.min_documents - 0.5) * static_cast<double>(total.second) /
                                         static_cast<double>(set.size())});
      for (uint32_t j = 0; j < cuts.features(); ++j) {
        const size_t cuts_of_a_side = cuts.bins(j) - 1;
        for (size_t k = 0; k < cuts_of_a_side * (lacks_some(set, j) ? 2 : 1); ++k) {
          const Cut cut = {j, static_cast<uint8_t>(k % cuts_of_a_side), k >= cuts_of_a_side};
          const auto below = sums(side(set, cut, false));
          const std::pair<int64_t, int64_t> above = {total.first - below.first, total.second - below.second};
          if (static_cast<double>(below.second) < least || static_cast<double>(above.second) < least)
            continue;
          const int order = direction(cut);
          if (order * best_value(below, bounds[leaf]) > order * best_value(above, bounds[leaf])) continue;
          const double gain =
              value(below, bounds[leaf]) + value(above, bounds[leaf]) - value(total, bounds[leaf]);
          // What is ahead by rounding only is a tie.
          if (gain > best.gain * (1 + 1e-6)) {
            best = {gain, cut};
            from = leaf;
          }
        }
      }
    }
    if (best.gain <= 0) break;
    if (!lacks_some(leaves[from], best.cut.feature))
      best.cut.missing_above = 2 * side(leaves[from], best.cut, true).size() > leaves[from].size();
    tree.cuts.push_back(best.cut);
    tree.split_leaf.push_back(static_cast<uint8_t>(from));
    bounds.push_back(bounds[from]);
    if (const int order = direction(best.cut); order != 0) {
      const double middle = (best_value(sums(side(leaves[from], best.cut, false)), bounds[from]) +
                             best_value(sums(side(leaves[from], best.cut, true)), bounds[from])) /
                            2;
      (order > 0 ? bounds[from].second : bounds[from].first) = middle;
      (order > 0 ? bounds.back().first : bounds.back().second) = middle;
    }
    leaves.push_back(side(leaves[from], best.cut, true));
    leaves[from] = side(leaves[from], best.cut, false);
    depth.push_back(++depth[from]);
  }
  for (size_t k = 0; k < leaves.size(); ++k) tree.values.push_back(best_value(sums(leaves[k]), bounds[k]));
  return tree;
}

// The same documents; in every third feature no value is missing, in the next any, in the next more the
// higher the grade, and all of the fifth.
Dataset with_missing(const Dataset& data, uint64_t seed) {
  Random random(seed);
  std::vector<float> features(data.values().begin(), data.values().end());
  for (size_t k = 0; k < features.size(); ++k) {
    const size_t j = k % data.features();
    const double share = j % 3 == 0 ? 0 : j % 3 == 1 ? 0.3 : 0.2 * data.labels()[k / data.features()];
    if (j == 4 || random.uniform() < share) features[k] = std::numeric_limits<float>::quiet_NaN();
  }
  std::vector<size_t> offsets = {0};
  for (size_t q = 0; q < data.queries().size(); ++q) offsets.push_back(data.queries().end(q));
  return with_queries(std::move(features), data.features(), {data.labels().begin(), data.labels().end()},
                      std::move(offsets));
}

void expect_plain_trees(const Dataset& data, const std::vector<int8_t>& monotone = {}) {
  for (const size_t max_bins : {20, 255})
    for (const int depth : {0, 3})
      for (const double l2 : {0.0, 5.0}) {
        const Context context(2);
        const BinCuts cuts = find_cuts(data, max_bins, context);
        const BinnedDataset bins(data, cuts, BinLayout::kPanels, context);
        Random random(9);
        std::vector<uint64_t> words(data.documents());
        for (size_t i = 0; i < words.size(); ++i)
          words[i] = raw_word(static_cast<float>(random.normal() - data.labels()[i]),
                              static_cast<float>(random.uniform()));
        const WordScale scale = {1e5F, 1e5F};
        gradient_kernels().pack_words(words.data(), 0, words.size(), scale.gradient, scale.hessian);
        GradientGrowth options;
        options.leaves = 12;
        options.depth = depth;
        options.l2 = l2;
        options.min_documents = 7;
        options.monotone = monotone;
        TreeGrower grower(bins, cuts, options, nullptr, 0, 0, context);
        const GrownTree fast = grower.grow(words.data(), scale, {nullptr, words.size()}, {}, random);
        const PlainTree plain = plain_tree(bins, cuts, words, scale, options);
        ASSERT_EQ(fast.tree.cuts.size(), plain.cuts.size());
        EXPECT_GE(plain.cuts.size(), 5U);
        for (size_t k = 0; k < plain.cuts.size(); ++k) {
          EXPECT_EQ(fast.tree.cuts[k].feature, plain.cuts[k].feature) << k;
          EXPECT_EQ(fast.tree.cuts[k].bin, plain.cuts[k].bin) << k;
          EXPECT_EQ(fast.tree.cuts[k].missing_above, plain.cuts[k].missing_above) << k;
          EXPECT_EQ(fast.tree.split_leaf[k], plain.split_leaf[k]) << k;
        }
        for (size_t k = 0; k < plain.values.size(); ++k)
          EXPECT_NEAR(fast.tree.values[k], plain.values[k], 1e-5 * (1 + std::abs(plain.values[k])));
      }
}

TEST(TreeGrower, EqualsThePlainTreeCutForCut) {
  expect_plain_trees(tree_data(5, 60));
  expect_plain_trees(with_missing(tree_data(5, 60), 1));
}

TEST(TreeGrower, EqualsThePlainTreeOfMonotoneFeatures) {
  // Half of the features may only rise or only fall, among them those with missing values.
  std::vector<int8_t> monotone;
  for (int j = 0; j < 13; ++j) monotone.push_back(static_cast<int8_t>(j % 4 == 1 ? 1 : j % 4 == 2 ? -1 : 0));
  expect_plain_trees(tree_data(5, 60), monotone);
  expect_plain_trees(with_missing(tree_data(5, 60), 1), monotone);
  for (int8_t& direction : monotone) direction = -1;
  expect_plain_trees(tree_data(5, 60), monotone);
}

// Falls of the score while a feature rises through all its thresholds, in units of the range of scores, or
// rises where it may not.
double worst_turn(const Model& model, const Dataset& data, size_t feature, int direction,
                  const Context& context) {
  std::set<float> values = {-1e30F, 1e30F};
  for (size_t i = 0; i < data.documents(); ++i)
    if (!std::isnan(data.row(i)[feature])) values.insert(data.row(i)[feature]);
  std::vector<float> features;
  size_t documents = 0;
  for (size_t i = 0; i < data.documents(); i += 29)
    for (const float value : values) {
      features.insert(features.end(), data.row(i).begin(), data.row(i).end());
      features[documents++ * data.features() + feature] = value;
    }
  const Dataset swept =
      with_queries(std::move(features), data.features(), std::vector<int32_t>(documents, 0), {0, documents});
  double worst = 0;
  std::vector<size_t> points(model.points().size());
  std::iota(points.begin(), points.end(), size_t{0});
  for (const ScoreMatrix& scores : model.score(swept, points, context))
    for (size_t i = 1; i < documents; ++i)
      if (i % values.size() != 0)
        worst = std::max(worst, direction * (static_cast<double>(scores.row(i - 1)[0]) - scores.row(i)[0]));
  return worst;
}

TEST(TreeLearners, ScoresNeverTurnAgainstAMonotoneFeature) {
  const Context context(2);
  const Dataset whole = tree_data(21, 60);
  const Dataset holes = with_missing(whole, 3);
  std::vector<std::pair<std::string, Settings>> learners;
  for (const std::string& type : kTypes)
    if (registry().expect(type).one_column) learners.push_back({type, small(type)});
  learners.push_back({"lambdamart", {{"bandit", "value"}, {"leaves", "16"}, {"min_documents", "1"}}});
  learners.push_back({"mart", {{"row_fraction", "0.5"}, {"feature_fraction", "0.5"}, {"l2", "3"}}});
  double free_turn = 0;
  for (const auto& [type, given] : learners)
    for (const Dataset* data : {&whole, &holes}) {
      Settings settings = given;
      settings.emplace_back("monotone",
                            "{1: increasing, 2: decreasing, 3: decreasing, 5: increasing, 6: increasing}");
      const LearnedModel learned = test::train_by_name(*data, type, settings, {3, 30}, context);
      const std::vector<int8_t> expected = {1, -1, -1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0};
      EXPECT_EQ(learned.model->monotone(), expected);
      const std::vector<uint8_t> bytes = test::bytes_of(*learned.model);
      BinaryReader in(bytes, "model");
      EXPECT_EQ(learned.learner->load(in)->monotone(), expected);
      const LearnedModel free = test::train_by_name(*data, type, given, {3, 30}, context);
      EXPECT_TRUE(free.model->monotone().empty());
      for (size_t j = 0; j < expected.size(); ++j) {
        if (expected[j] == 0) continue;
        EXPECT_EQ(worst_turn(*learned.model, *data, j, expected[j], context), 0) << type << ' ' << j;
        free_turn = std::max(free_turn, worst_turn(*free.model, *data, j, expected[j], context));
      }
      std::vector<double> importance = learned.model->importance();
      EXPECT_GT(importance[0] + importance[4] + importance[5], 0) << type;
    }
  EXPECT_GT(free_turn, 0.01);
}

TEST(TreeLearners, MonotoneFeaturesThatAreNoneAreRefused) {
  const Context context;
  const Dataset data = tree_data(1, 5);
  for (const char* text : {"{14: increasing}", "{0: increasing}", "{1: up}", "{1}", "increasing"})
    EXPECT_THROW(test::train_by_name(data, "mart", {{"monotone", text}}, {1}, context), InputError) << text;
  for (const char* type : {"adaboost_mh", "logitboost", "ranksvm"})
    EXPECT_THROW(test::train_by_name(data, type, {{"monotone", "{1: increasing}"}}, {1}, context),
                 InputError);
}

// A missing value alone tells the grade; the values do not.
TEST(Mart, MissingValuesTakeTheSideThatIsRight) {
  const float missing = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> features;
  std::vector<int32_t> labels;
  for (int i = 0; i < 12; ++i) {
    features.insert(features.end(),
                    {i % 3 == 0 ? missing : static_cast<float>(i % 2), static_cast<float>(i % 2)});
    labels.push_back(i % 3 == 0 ? 1 : 0);
  }
  const Dataset data = with_queries(features, 2, labels, {0, 12});
  const Context context(1);
  const LearnedModel learned = test::train_by_name(
      data, "mart", {{"iterations", "1"}, {"leaves", "8"}, {"shrinkage", "1"}, {"min_documents", "1"}}, {1},
      context);
  const auto& model = dynamic_cast<const TreeModel&>(*learned.model);
  const Tree& tree = model.trees().at(0);
  ASSERT_EQ(tree.cuts.size(), 1U);
  EXPECT_EQ(tree.cuts[0].feature, 0U);
  EXPECT_FALSE(tree.cuts[0].missing_above);
  EXPECT_EQ(model.cuts().thresholds(0)[tree.cuts[0].bin], BinCuts::kLowest);
  const size_t point[1] = {0};
  const Dataset low = with_queries({-3e38F, 0, missing, missing}, 2, {0, 0}, {0, 2});
  const ScoreMatrix scores = std::move(model.score(low, point, context)[0]);
  EXPECT_NEAR(scores.row(0)[0], 0, 1e-5);
  EXPECT_NEAR(scores.row(1)[0], 1, 1e-5);
}

// Walked node by node, also where values are missing that training always had.
TEST(TreeLearners, ScoresAreThoseOfThePlainTrees) {
  const Dataset whole = tree_data(8, 60);
  const Dataset holes = with_missing(whole, 2);
  const Dataset other = with_missing(tree_data(9, 60), 3);
  const Context context(2);
  for (const std::string& type : kTypes)
    for (const Dataset* train : {&whole, &holes}) {
      const LearnedModel learned = test::train_by_name(*train, type, small(type), {10}, context);
      const size_t point[1] = {0};
      const PlainModel plain = learned.model->plain(0);
      EXPECT_EQ(plain.missing.empty(), train == &whole);
      const ScoreMatrix scores = std::move(learned.model->score(other, point, context)[0]);
      for (size_t i = 0; i < other.documents(); ++i) {
        std::vector<double> sum = plain.start;
        for (const auto& tree : plain.trees)
          for (size_t c = 0; c < plain.columns; ++c)
            sum[c] += tree.values[tree.leaf(other.row(i)) * plain.columns + c];
        for (size_t c = 0; c < plain.columns; ++c) EXPECT_NEAR(scores.row(i)[c], sum[c], 1e-4) << type;
      }
    }
}

// Nothing but whether values are missing tells the grade.
TEST(TreeLearners, FindWhatMissingValuesTell) {
  const Context context(2);
  const auto planted = [](uint64_t seed) {
    Random random(seed);
    std::vector<float> features;
    std::vector<int32_t> labels;
    std::vector<size_t> offsets = {0};
    for (size_t i = 0; i < 1500; ++i) {
      const auto label = static_cast<int32_t>(random.below(3));
      for (size_t j = 0; j < 6; ++j) {
        const bool missing = j < 2 && random.uniform() < (j == 0 ? 0.45 * label : 0.9 - 0.45 * label);
        features.push_back(missing ? std::numeric_limits<float>::quiet_NaN()
                                   : static_cast<float>(random.normal()));
      }
      labels.push_back(label);
      if (i % 10 == 9) offsets.push_back(i + 1);
    }
    return with_queries(std::move(features), 6, std::move(labels), std::move(offsets));
  };
  const Dataset train = planted(1);
  const Dataset other = planted(2);
  const SelectionMetric metric(other.queries(), other.labels(), exponential_grades(3));
  const double chance = metric(std::vector<float>(other.documents(), 0.0F));
  std::vector<std::pair<std::string, Settings>> learners;
  for (const std::string& type : kTypes) learners.push_back({type, small(type)});
  learners.push_back({"lambdamart", {{"bandit", "value"}, {"arms_per_pull", "2"}}});
  for (const char* base : {"stump", "product", "tree"})
    for (const char* bandit : {"none", "value"})
      learners.push_back({"adaboost_mh", {{"base", base}, {"bandit", bandit}}});
  for (const char* votes : {"shared", "real"}) learners.push_back({"adaboost_mh", {{"votes", votes}}});
  for (const auto& [type, settings] : learners) {
    const LearnedModel learned = test::train_by_name(train, type, settings, {40}, context);
    const size_t point[1] = {0};
    const ScoreMatrix scores = std::move(learned.model->score(other, point, context)[0]);
    std::vector<float> ranking;
    for (size_t i = 0; i < other.documents(); ++i)
      ranking.push_back(scores.columns() == 1 ? scores.row(i)[0] : scores.row(i)[2] - scores.row(i)[0]);
    EXPECT_GT(metric(ranking), chance + 0.15) << type << ' ' << testing::PrintToString(settings);
  }
}

TEST(Mart, OneRoundByHand) {
  // Twelve documents, one feature that takes 1..12; grades 0, 1 and 3 in runs of 6, 3 and 3.
  std::vector<float> features;
  std::vector<int32_t> labels;
  for (int i = 1; i <= 12; ++i) {
    features.push_back(static_cast<float>(i));
    labels.push_back(i <= 6 ? 0 : i <= 9 ? 1 : 2);
  }
  const Dataset data = with_queries(features, 1, labels, {0, 12});
  const Context context(1);
  const LearnedModel learned = test::train_by_name(
      data, "mart", {{"iterations", "1"}, {"leaves", "3"}, {"shrinkage", "0.5"}, {"min_documents", "1"}}, {1},
      context);
  const auto& model = dynamic_cast<const TreeModel&>(*learned.model);
  // The mean is 1; the first cut takes the 3s apart, the second the 1s from the 0s.
  ASSERT_EQ(model.trees().size(), 1U);
  const Tree& tree = model.trees()[0];
  ASSERT_EQ(tree.cuts.size(), 2U);
  EXPECT_EQ(tree.split_leaf, (std::vector<uint8_t>{0, 0}));
  const auto threshold = [&](size_t k) { return model.cuts().thresholds(0)[tree.cuts[k].bin]; };
  EXPECT_GT(threshold(0), 9);
  EXPECT_LE(threshold(0), 10);
  EXPECT_GT(threshold(1), 6);
  EXPECT_LE(threshold(1), 7);
  ASSERT_EQ(tree.values.size(), 3U);
  EXPECT_NEAR(tree.values[0], -0.5, 1e-5);
  EXPECT_NEAR(tree.values[1], 1.0, 1e-5);
  EXPECT_NEAR(tree.values[2], 0.0, 1e-5);
  const size_t point[1] = {0};
  const ScoreMatrix scores = std::move(model.score(data, point, context)[0]);
  EXPECT_NEAR(scores.row(0)[0], 0.5, 1e-5);
  EXPECT_NEAR(scores.row(11)[0], 2.0, 1e-5);
}

TEST(Mart, TrainingLossFalls) {
  const Dataset data = tree_data(6, 80);
  const Context context(2);
  std::vector<int64_t> lengths(40);
  std::iota(lengths.begin(), lengths.end(), 1);
  const LearnedModel learned =
      test::train_by_name(data, "mart", {{"iterations", "40"}, {"leaves", "8"}}, lengths, context);
  std::vector<size_t> all(lengths.size());
  std::iota(all.begin(), all.end(), size_t{0});
  const std::vector<double> grades = exponential_grades(data.max_label() + 1);
  double before = 1e300;
  for (const ScoreMatrix& scores : learned.model->score(data, all, context)) {
    double loss = 0;
    for (size_t i = 0; i < data.documents(); ++i)
      loss += std::pow(scores.row(i)[0] - grades[data.labels()[i]], 2);
    EXPECT_LT(loss, before);
    before = loss;
  }
}

TEST(TreeLearners, LearnToRank) {
  const Dataset train = tree_data(1, 150);
  const Dataset other = tree_data(2, 150);
  const Context context(2);
  for (const std::string& type : kTypes) {
    const LearnedModel learned =
        test::train_by_name(train, type, {{"iterations", "40"}, {"leaves", "16"}}, {40}, context);
    const size_t point[1] = {0};
    const ScoreMatrix scores = std::move(learned.model->score(other, point, context)[0]);
    std::vector<float> ranking;
    for (size_t i = 0; i < other.documents(); ++i) {
      double sum = 0;  // of several columns, the higher labels'
      for (size_t c = 0; c < scores.columns(); ++c)
        sum += scores.row(i)[c] * (scores.columns() == 1 ? 1.0 : static_cast<double>(c));
      ranking.push_back(static_cast<float>(sum));
    }
    const SelectionMetric metric(other.queries(), other.labels(), exponential_grades(5));
    const double chance = metric(std::vector<float>(other.documents(), 0.0F));
    EXPECT_GT(metric(ranking), chance + 0.1) << type;
  }
}

TEST(TreeLearners, SameBytesOnAnyNumberOfThreads) {
  const Dataset data = with_missing(tree_data(8, 120), 4);
  for (const std::string& type : kTypes)
    for (const std::string variant : {"", "rows", "bandit"}) {
      Settings settings = small(type);
      const bool forest = type == "random_forest" || type == "extra_trees";
      if (variant == "rows") {
        settings.emplace_back("row_fraction", "0.6");
        settings.emplace_back("feature_fraction", "0.5");
      }
      if (variant == "bandit") {
        if (forest) continue;
        settings.emplace_back("bandit", "value");
        settings.emplace_back("arms_per_pull", "3");
      }
      std::vector<uint8_t> first;
      for (const int threads : {1, 2, 4}) {
        const LearnedModel learned = test::train_by_name(data, type, settings, {3, 12}, Context(threads));
        const std::vector<uint8_t> bytes = test::bytes_of(*learned.model);
        if (first.empty()) first = bytes;
        EXPECT_EQ(bytes, first) << type << ' ' << variant << ' ' << threads;
      }
    }
}

// With so many documents threads share the histograms of some features: two, one and a half, or part of one
// tile each.
TEST(GradientTrees, SharedHistogramsAreTheSameOnAnyNumberOfThreads) {
  const Dataset data = make_synthetic({.queries = 900, .features = 23, .labels = 3, .seed = 6}, Context(2));
  ASSERT_GT(data.documents(), 2 * 4096U);  // also the smaller half of a cut is shared
  for (const char* fraction : {"1", "0.3"}) {
    std::vector<uint8_t> first;
    for (const int threads : {1, 2, 3, 5, 8}) {
      const LearnedModel learned = test::train_by_name(
          data, "lambdamart", {{"leaves", "12"}, {"iterations", "3"}, {"feature_fraction", fraction}}, {3},
          Context(threads));
      const std::vector<uint8_t> bytes = test::bytes_of(*learned.model);
      if (first.empty()) first = bytes;
      EXPECT_EQ(bytes, first) << threads << ' ' << fraction;
    }
  }
}

TEST(TreeLearners, GoOnWhereTheyStopped) {
  const Dataset data = with_missing(tree_data(9, 60), 5);
  const Dataset valid = with_missing(tree_data(10, 30), 6);
  const Context context(2);
  BinCache cache(data);
  const TrainingData training(cache);
  for (const std::string& type : kTypes)
    for (const bool drawn : {false, true}) {
      const LearnerEntry& learner = registry().expect(type);
      const bool forest = type == "random_forest" || type == "extra_trees";
      Settings given = small(type);
      if (!forest) given.emplace_back("patience", "50");
      if (drawn) given.emplace_back("row_fraction", "0.7");
      if (drawn && !forest) given.emplace_back("bandit", "value");
      const Settings settings = learner.complete(given);
      const auto whole = learner.start({training, settings, {4, 15}, &valid}, context);
      while (!whole->step(0)) {
      }
      const auto part = learner.start({training, settings, {4}, &valid}, context);
      while (!part->step(0)) {
      }
      BinaryWriter out;
      part->save_state(out);
      BinaryReader in(out.bytes(), "state");
      const auto rest = learner.resume({training, settings, {4, 15}, &valid}, in, context);
      in.expect_end();
      // What was loaded is there before training goes on.
      EXPECT_EQ(rest->facts().at(0).name, "rounds");
      EXPECT_EQ(std::get<int64_t>(rest->facts().at(0).value), 4);
      while (!rest->step(0)) {
      }
      EXPECT_EQ(test::bytes_of(*rest->model()), test::bytes_of(*whole->model())) << type << drawn;
    }
}

TEST(TreeLearners, KeepSaveAndLoad) {
  const Dataset data = tree_data(11, 50);
  const Dataset other = tree_data(12, 20);
  const Context context(2);
  for (const std::string& type : kTypes) {
    const LearnedModel long_run = test::train_by_name(data, type, small(type), {2, 5, 12}, context);
    const LearnedModel short_run = test::train_by_name(data, type, small(type), {2, 5}, context);
    const size_t kept[2] = {0, 1};
    EXPECT_EQ(test::bytes_of(*long_run.model->keep(kept)), test::bytes_of(*short_run.model)) << type;
    const std::vector<uint8_t> bytes = test::bytes_of(*long_run.model);
    BinaryReader in(bytes, "model");
    const auto loaded = long_run.learner->load(in);
    in.expect_end();
    const size_t points[3] = {0, 1, 2};
    const auto a = long_run.model->score(other, points, context);
    const auto b = loaded->score(other, points, context);
    const auto c = long_run.model->keep(kept)->score(other, kept, context);
    for (size_t p = 0; p < 3; ++p) {
      EXPECT_TRUE(std::equal(a[p].values().begin(), a[p].values().end(), b[p].values().begin())) << type;
      if (p < 2) {
        EXPECT_TRUE(std::equal(a[p].values().begin(), a[p].values().end(), c[p].values().begin())) << type;
      }
    }
    EXPECT_FALSE(std::equal(a[0].values().begin(), a[0].values().end(), a[2].values().begin())) << type;
    const std::vector<double> importance = long_run.model->importance();
    EXPECT_NEAR(std::accumulate(importance.begin(), importance.end(), 0.0), 1, 1e-9);
    double largest = 0;
    for (const float score : a[2].values()) largest = std::max(largest, std::abs(static_cast<double>(score)));
    EXPECT_LE(largest, long_run.model->range(2) * (1 + 1e-5));
    for (size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 40) {
      BinaryReader cut_off({bytes.data(), size}, "model");
      EXPECT_THROW(long_run.learner->load(cut_off), InputError) << type << ' ' << size;
    }
  }
}

TEST(TreeLearners, StopEarlyAndKeepNominalPoints) {
  const Dataset data = tree_data(13, 60);
  const Dataset valid = with_missing(tree_data(14, 30), 7);  // of values that training always had
  const Context context(2);
  BinCache cache(data);
  const TrainingData training(cache);
  const LearnerEntry& learner = registry().expect("lambdamart");
  const Settings settings = learner.complete({{"patience", "5"}, {"leaves", "16"}, {"min_documents", "3"}});
  const auto trainer = learner.start({training, settings, {10, 5000}, &valid}, context);
  while (!trainer->step(0)) {
  }
  const auto model = trainer->model();
  EXPECT_EQ(model->points().back().length, 5000);
  const auto& trees = dynamic_cast<const TreeModel&>(*model);
  const auto rounds = std::get<int64_t>(trainer->facts().at(0).value);
  const auto best = std::get<int64_t>(trainer->facts().at(1).value);
  EXPECT_LT(rounds, 5000);
  EXPECT_EQ(best + 5, rounds);
  EXPECT_EQ(trees.rounds(1), static_cast<uint64_t>(best));
  const size_t last[1] = {1};
  const ScoreMatrix scores = std::move(model->score(valid, last, context)[0]);
  const SelectionMetric metric(valid.queries(), valid.labels(), training.grades());
  EXPECT_EQ(metric(scores.values()), std::get<double>(trainer->facts().at(2).value));
}

TEST(TreeLearners, OddData) {
  const Context context(2);
  // Queries of one document, a query with one label, a constant feature, two labels, a feature with two
  // values.
  std::vector<float> features;
  std::vector<int32_t> labels;
  for (int i = 0; i < 60; ++i) {
    features.insert(features.end(), {7.0F, static_cast<float>(i * 37 % 60), static_cast<float>(i % 2)});
    labels.push_back(i >= 40 ? 0 : (i * 37 % 60) > 30 ? 1 : 0);
  }
  const Dataset mixed = with_queries(features, 3, labels, {0, 1, 2, 3, 20, 40, 60});
  const Dataset singles = with_queries({1, 2, 3}, 1, {0, 1, 1}, {0, 1, 2, 3});
  const Dataset constant = with_queries({1, 1, 1, 1}, 1, {0, 1, 1, 0}, {0, 4});
  const Dataset one_label = with_queries({1, 2, 3, 4}, 1, {0, 0, 0, 0}, {0, 2, 4});
  const float missing = std::numeric_limits<float>::quiet_NaN();
  const Dataset all_missing = with_queries(std::vector<float>(4, missing), 1, {0, 1, 1, 0}, {0, 4});
  const Dataset one_value = with_queries({1, missing, 1, missing}, 1, {0, 1, 0, 1}, {0, 4});
  const Dataset one_document = with_queries({missing, 1}, 2, {1}, {0, 1});
  for (const std::string& type : kTypes)
    for (const Dataset* data :
         {&mixed, &singles, &constant, &one_label, &all_missing, &one_value, &one_document}) {
      const LearnedModel learned =
          test::train_by_name(*data, type, {{"min_documents", "2"}}, {1, 20}, context);
      const size_t points[2] = {0, 1};
      for (const ScoreMatrix& scores : learned.model->score(*data, points, context))
        for (const float score : scores.values()) EXPECT_TRUE(std::isfinite(score)) << type;
      if (data == &mixed) {
        EXPECT_EQ(learned.model->importance()[0], 0) << type;
        EXPECT_GT(learned.model->importance()[1], 0.5) << type;
      }
      EXPECT_EQ(learned.model->columns(), type == "logitboost" ? 2U : 1U);
    }
}

TEST(TreeLearners, RefuseWhatCannotBeRight) {
  const Context context(1);
  const Dataset data = tree_data(1, 5);
  EXPECT_THROW(test::train_by_name(data, "lambdamart", {{"leaves", "1"}}, {1}, context), InputError);
  EXPECT_THROW(test::train_by_name(data, "mart", {{"truncation", "5"}}, {1}, context), InputError);
  EXPECT_THROW(test::train_by_name(data, "random_forest", {{"shrinkage", "0.1"}}, {1}, context), InputError);
  const LearnedModel learned = test::train_by_name(data, "mart", {}, {1}, context);
  const Dataset narrow = with_queries({1, 2}, 1, {0, 1}, {0, 2});
  const size_t point[1] = {0};
  EXPECT_THROW(learned.model->score(narrow, point, context), InputError);
}

}  // namespace
}  // namespace tunemix
