#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/learners/boost_support.h"
#include "tests/support.h"
#include "tunemix/data/synthetic.h"

namespace tunemix {
namespace {

using test::add_rounds;
using test::BoostRun;
using test::make_dataset;
using test::PlainLearner;
using test::random_dataset;
using test::scores_after;
using test::train_adaboost;

AdaBoostOptions with(const std::vector<std::pair<std::string, std::string>>& settings) {
  AdaBoostOptions options;
  for (const auto& [key, value] : settings) adaboost_option_table().set(options, key, value);
  return options;
}

// One of every kind of run.
std::vector<AdaBoostOptions> many_options() {
  return {with({{"base", "stump"}, {"shrinkage", "1"}}),
          with({{"base", "stump"}, {"bandit", "ucb1"}, {"weights", "uniform"}}),
          with({{"base", "tree"}, {"leaves", "9"}}),
          with({{"base", "tree"}, {"growth", "edge"}, {"shrinkage", "1"}}),
          with({{"base", "tree"}, {"votes", "shared"}, {"growth", "edge"}}),
          with({{"base", "tree"}, {"votes", "shared"}}),
          with({{"base", "tree"}, {"votes", "real"}, {"leaves", "16"}, {"shrinkage", "0.5"}}),
          with({{"base", "tree"}, {"bandit", "exp3g"}, {"leaves", "12"}}),
          with({{"base", "tree"}, {"bandit", "exp3p"}, {"arms_per_pull", "2"}}),
          with({{"base", "product"}, {"terms", "3"}, {"shrinkage", "1"}}),
          with({{"base", "product"}, {"terms", "4"}, {"bandit", "exp3"}}),
          with({{"base", "product"}, {"terms", "2"}, {"bandit", "random"}, {"arms_per_pull", "1"}}),
          with({{"base", "tree"}, {"bandit", "ucbv"}, {"growth", "edge"}}),
          with({{"base", "tree"}, {"bandit", "exp3a"}, {"votes", "shared"}}),
          with({{"base", "tree"}, {"bandit", "value"}, {"growth", "edge"}, {"arms_per_pull", "1"}}),
          with({{"base", "product"}, {"terms", "2"}, {"bandit", "value"}}),
          with({{"base", "stump"}, {"bandit", "exp3a"}, {"arms_per_pull", "1"}})};
}

std::vector<uint8_t> saved_bytes(const AdaBoostRounds& model) {
  BinaryWriter out;
  model.save(out);
  return {out.bytes().begin(), out.bytes().end()};
}

AdaBoostRounds loaded_from(std::span<const uint8_t> bytes) {
  BinaryReader in(bytes, "the test");
  AdaBoostRounds model = AdaBoostRounds::load(in);
  in.expect_end();
  return model;
}

std::vector<PlainLearner::PlainCut> plain_cuts(const AdaBoostRounds& model, int t) {
  std::vector<PlainLearner::PlainCut> cuts;
  for (const Cut& cut : model.trees[t].cuts)
    cuts.push_back({cut.feature, test::threshold(model, cut), cut.missing_above});
  return cuts;
}

// ---- By hand. Twelve documents of two labels: the first feature is 1..12, the second marks document 3.
// Documents 1 2 4 5 and 10 have label 0, the others label 1. All weights are 1/24.
Dataset twelve() {
  std::vector<float> features;
  std::vector<int32_t> labels;
  for (int i = 1; i <= 12; ++i) {
    features.push_back(static_cast<float>(i));
    features.push_back(i == 3 ? 1.0F : 0.0F);
    labels.push_back((i <= 5 && i != 3) || i == 10 ? 0 : 1);
  }
  return make_dataset(std::move(features), 2, std::move(labels));
}

// Weights after one round, as fractions of 1.
std::vector<double> weights_of(AdaBoostTrainer& trainer, size_t labels) {
  std::vector<double> result;
  for (size_t i = 0; i < trainer.weights().size() / trainer.labels(); ++i)
    for (size_t l = 0; l < labels; ++l)
      result.push_back(trainer.weights()[i * trainer.labels() + l] / trainer.weight_sum());
  return result;
}

void expect_weights(AdaBoostTrainer& trainer, const std::vector<int>& wrong, double right_weight,
                    double wrong_weight) {
  const std::vector<double> weights = weights_of(trainer, 2);
  for (int i = 1; i <= 12; ++i)
    for (size_t l = 0; l < 2; ++l)
      EXPECT_NEAR(weights[static_cast<size_t>(i - 1) * 2 + l],
                  std::count(wrong.begin(), wrong.end(), i) > 0 ? wrong_weight : right_weight, 1e-7)
          << "document " << i;
}

TEST(ByHand, Stump) {
  const Context context;
  const Dataset data = twelve();
  BoostRun trainer(data, with({{"base", "stump"}, {"shrinkage", "1"}, {"weights", "uniform"}}), context);
  ASSERT_EQ(add_rounds(trainer, 1), 1);
  const AdaBoostRounds model = trainer.rounds();
  // x_1 >= 5.5 votes for label 1 and against label 0; wrong on documents 3 and 10: edge (10 - 2) / 12.
  // Seven of the twelve documents pass it, where a missing value would go.
  EXPECT_THAT(plain_cuts(model, 0), testing::ElementsAre(PlainLearner::PlainCut{0, 5.5F, true}));
  EXPECT_THAT(model.trees[0].votes, testing::ElementsAre(0b10U, 0b01U));
  EXPECT_NEAR(model.trees[0].edge, 2.0 / 3, 1e-7);
  EXPECT_NEAR(model.trees[0].alpha, 0.5 * std::log(5.0), 1e-6);
  EXPECT_NEAR(model.trees[0].normalizer, std::sqrt(5.0) / 3, 1e-6);
  // Right: 1/24 e^-alpha / Z = 1/40; wrong: 1/24 e^alpha / Z = 1/8.
  expect_weights(trainer, {3, 10}, 1.0 / 40, 1.0 / 8);
}

TEST(ByHand, Tree) {
  const Context context;
  const Dataset data = twelve();
  BoostRun trainer(
      data, with({{"leaves", "8"}, {"growth", "edge"}, {"shrinkage", "1"}, {"weights", "uniform"}}), context);
  ASSERT_EQ(add_rounds(trainer, 1), 1);
  const AdaBoostRounds model = trainer.rounds();
  // The stump first; then document 3 leaves the lower leaf. Document 10 could leave the upper one only
  // together with a neighbour, or by two more cuts of which the first gains nothing: edge growth stalls at
  // three leaves.
  EXPECT_THAT(plain_cuts(model, 0), testing::ElementsAre(PlainLearner::PlainCut{0, 5.5F, true},
                                                         PlainLearner::PlainCut{1, 0.5F, false}));
  EXPECT_THAT(model.trees[0].split_leaf, testing::ElementsAre(0, 0));
  EXPECT_THAT(model.trees[0].votes, testing::ElementsAre(0b01U, 0b10U, 0b10U));
  EXPECT_NEAR(model.trees[0].edge, 10.0 / 12, 1e-7);
  EXPECT_NEAR(model.trees[0].alpha, 0.5 * std::log(11.0), 1e-6);
  expect_weights(trainer, {10}, 1.0 / 44, 1.0 / 4);
}

TEST(ByHand, Product) {
  const Context context;
  const Dataset data = twelve();
  BoostRun trainer(
      data, with({{"base", "product"}, {"terms", "2"}, {"shrinkage", "1"}, {"weights", "uniform"}}), context);
  ASSERT_EQ(add_rounds(trainer, 1), 1);
  const AdaBoostRounds model = trainer.rounds();
  EXPECT_THAT(plain_cuts(model, 0), testing::ElementsAre(PlainLearner::PlainCut{0, 5.5F, true},
                                                         PlainLearner::PlainCut{1, 0.5F, false}));
  // Documents that fail both cuts (1 2 4 5) are in leaf 0 and get label 0; one failure is leaf 1, label 1.
  EXPECT_THAT(model.trees[0].votes, testing::ElementsAre(0b01U, 0b10U));
  EXPECT_NEAR(model.trees[0].edge, 10.0 / 12, 1e-7);
  EXPECT_NEAR(model.trees[0].normalizer, std::sqrt(11.0) / 6, 1e-6);
  expect_weights(trainer, {10}, 1.0 / 44, 1.0 / 4);
}

TEST(ByHand, ShrinkageAndRealVotes) {
  const Context context;
  const Dataset data = twelve();
  BoostRun shrunk(data, with({{"base", "stump"}, {"shrinkage", "0.5"}, {"weights", "uniform"}}), context);
  add_rounds(shrunk, 1);
  const AdaBoostRounds model = shrunk.rounds();
  // h = alpha / 2: e^(alpha/2) = 5^(1/4); Z = (5 / 6) 5^(-1/4) + (1 / 6) 5^(1/4).
  EXPECT_NEAR(model.trees[0].alpha, 0.5 * std::log(5.0), 1e-6);
  EXPECT_NEAR(model.trees[0].normalizer, 5.0 / 6 * std::pow(5, -0.25) + std::pow(5, 0.25) / 6, 1e-6);
  EXPECT_NEAR(model.alpha_sum(1), 0.25 * std::log(5.0), 1e-6);

  BoostRun real(data, with({{"leaves", "2"}, {"votes", "real"}, {"shrinkage", "1"}, {"weights", "uniform"}}),
                context);
  add_rounds(real, 1);
  const AdaBoostRounds values = real.rounds();
  // Leaf 0: W+ = 1/24 and W- = 4/24 on label 1, the other way round on label 0; e = 1/24.
  EXPECT_NEAR(values.trees[0].values[0], 0.5 * std::log(5.0 / 2), 1e-6);
  EXPECT_NEAR(values.trees[0].values[1], -0.5 * std::log(5.0 / 2), 1e-6);
  EXPECT_NEAR(values.trees[0].values[3], 0.5 * std::log(7.0 / 2), 1e-6);
  EXPECT_NEAR(values.alpha_sum(1), 0.5 * std::log(7.0 / 2), 1e-6);
}

TEST(ByHand, InitialWeights) {
  const Context context;
  const Dataset data = make_dataset({0, 1, 2}, 1, {0, 2, 1});
  BoostRun uniform(data, with({{"weights", "uniform"}}), context);
  // 1/(2n) = 1/6 on the own label, 1/(2n(K-1)) = 1/12 on the others.
  EXPECT_THAT(weights_of(uniform, 3),
              testing::Pointwise(testing::DoubleNear(1e-7),
                                 std::vector<double>{1. / 6, 1. / 12, 1. / 12, 1. / 12, 1. / 12, 1. / 6,
                                                     1. / 12, 1. / 6, 1. / 12}));
  BoostRun exponential(data, with({}), context);
  // Documents weigh 1, 4 and 2 sevenths.
  EXPECT_THAT(weights_of(exponential, 3),
              testing::Pointwise(testing::DoubleNear(1e-7),
                                 std::vector<double>{2. / 28, 1. / 28, 1. / 28, 4. / 28, 4. / 28, 8. / 28,
                                                     2. / 28, 4. / 28, 2. / 28}));
}

// ---- Against the plain versions, cut for cut.

TEST(AgainstPlain, StumpAndProduct) {
  const Context context(2);
  for (const int choice : {1, 2, 3, 4, 5, 6}) {
    const int terms = (choice + 1) / 2;
    // With three terms so many features that some share a column of bins.
    const Dataset all = random_dataset(40, terms < 3 ? 5 : 17, 3, 100 + static_cast<uint64_t>(terms));
    const Dataset data = choice % 2 == 0 ? test::with_missing(all, 3) : all;
    BoostRun trainer(data, with({{"base", "product"}, {"terms", std::to_string(terms)}, {"shrinkage", "1"}}),
                     context);
    for (int t = 0; t < 6; ++t) {
      const PlainLearner plain(data, trainer, 3, context);
      const auto [edge, expected] = plain.product(static_cast<size_t>(terms), 3);
      ASSERT_EQ(add_rounds(trainer, 1), 1);
      const AdaBoostRounds model = trainer.rounds();
      std::vector<PlainLearner::PlainCut> cuts;
      for (const PlainLearner::Term& term : expected)
        if (term.cut) cuts.push_back(*term.cut);
      EXPECT_EQ(plain_cuts(model, t), cuts) << terms << " terms, round " << t;
      EXPECT_DOUBLE_EQ(model.trees[t].edge, edge / trees::kOne);
      for (size_t i = 0; i < data.documents(); ++i) {
        size_t failed = 0;
        for (const auto& cut : cuts) failed += plain.passes(i, cut) ? 0 : 1;
        for (size_t l = 0; l < 3; ++l) {
          int value = 1;
          for (const PlainLearner::Term& term : expected) value *= plain.term_value(term, i, l);
          EXPECT_EQ((model.trees[t].votes[failed % 2] >> l & 1) != 0, value > 0);
        }
      }
    }
  }
}

void expect_trees_as_plain(const Dataset& data, size_t labels, int rounds) {
  const Context context(2);
  for (const bool energy : {false, true}) {
    BoostRun trainer(
        data, with({{"leaves", "7"}, {"growth", energy ? "energy" : "edge"}, {"shrinkage", "0.7"}}), context);
    for (int t = 0; t < rounds; ++t) {
      const PlainLearner plain(data, trainer, labels, context);
      const PlainLearner::Tree expected = plain.tree(7, energy);
      ASSERT_EQ(add_rounds(trainer, 1), 1);
      const AdaBoostRounds model = trainer.rounds();
      EXPECT_EQ(plain_cuts(model, t), expected.cuts) << "round " << t;
      double edge = 0;
      for (size_t k = 0; k < expected.leaves.size(); ++k) {
        edge += plain.edge(expected.leaves[k]);
        for (size_t l = 0; l < labels; ++l) {
          int64_t sum = 0;
          for (const size_t i : expected.leaves[k]) sum += plain.weight(i, l) * plain.y(i, l);
          EXPECT_EQ((model.trees[t].votes[k] >> l & 1) != 0, sum > 0);
        }
      }
      EXPECT_NEAR(model.trees[t].edge, edge / trees::kOne, 1e-12);
    }
  }
}

// Of a few documents, and of enough that histograms are kept from leaf to leaf.
TEST(AgainstPlain, TreesOfBothGrowths) {
  expect_trees_as_plain(random_dataset(60, 11, 4, 8), 4, 8);
  expect_trees_as_plain(random_dataset(60, 26, 5, 9), 5, 8);  // some features share a column of bins
  expect_trees_as_plain(random_dataset(60, 11, 4, 7), 4, 8);
  expect_trees_as_plain(test::with_missing(random_dataset(60, 11, 4, 7), 1), 4, 8);
  expect_trees_as_plain(test::with_missing(random_dataset(60, 26, 5, 9), 2), 5, 8);
  expect_trees_as_plain(test::with_missing(random_dataset(4000, 3, 5, 9), 3), 5, 2);
  for (const int labels : {3, 5, 7}) expect_trees_as_plain(random_dataset(4000, 3, labels, 9), labels, 2);
}

// ---- Properties.

TEST(AdaBoost, TheErrorStaysBelowTheBoundAndWeightsStayNormalised) {
  const Context context(2);
  const Dataset data = random_dataset(300, 9, 3, 5);
  for (const AdaBoostOptions& options : many_options()) {
    BoostRun trainer(data, options, context);
    for (int t = 1; t <= 30 && add_rounds(trainer, 1) == 1; ++t) {
      const AdaBoostRounds model = trainer.rounds();
      const Tree& round = model.trees[t - 1];
      EXPECT_GT(round.alpha, 0);
      EXPECT_GT(round.edge, 0);
      EXPECT_LE(round.normalizer, 1 + 1e-6);
      if (options.shrinkage == 1 && options.votes != Votes::kReal) {
        EXPECT_NEAR(round.normalizer, std::sqrt(1 - round.edge * round.edge), 1e-6);
      }
      EXPECT_LE(hamming_error(scores_after(model, t, data, context), data.labels(), options.weights),
                model.error_bound() * (1 + 1e-5));
      double sum = 0;
      for (const float w : trainer.weights()) sum += static_cast<double>(w);
      EXPECT_NEAR(sum / trainer.weight_sum(), 1, 1e-9);
    }
    EXPECT_GT(trainer.rounds().count(), 5);
  }
}

TEST(AdaBoost, ScoresAreThoseOfTheDefinition) {
  const Context context(2);
  for (const int choice : {2, 3, 5, 9, 17, 32, -3, -5}) {
    const int labels = std::abs(choice);
    const Dataset all = random_dataset(331, 7, labels, 50);
    const Dataset data = choice < 0 ? test::with_missing(all, 4) : all;
    for (const AdaBoostOptions& options : many_options()) {
      const AdaBoostRounds model = train_adaboost(
          choice == -5 ? all : data,  // then values are missing that training always had
          [&] {
            AdaBoostOptions o = options;
            o.iterations = 12;
            return o;
          }(),
          context);
      const int rounds[2] = {model.count() / 2, model.count()};
      const std::vector<ScoreMatrix> scores = {scores_after(model, rounds[0], data, context),
                                               scores_after(model, rounds[1], data, context)};
      for (size_t i = 0; i < data.documents(); i += 10)
        for (size_t c = 0; c < 2; ++c) {
          const std::vector<double> expected = test::plain_scores(model, data.row(i), rounds[c]);
          for (size_t l = 0; l < expected.size(); ++l) {
            EXPECT_NEAR(scores[c].row(i)[l], expected[l], 1e-5);
            EXPECT_LE(std::abs(expected[l]), model.alpha_sum(rounds[c]) + 1e-9);
          }
        }
    }
  }
}

TEST(AdaBoost, TheSameBytesOnAnyNumberOfThreads) {
  // Large enough for the parallel paths.
  const Dataset data = random_dataset(40000, 20, 5, 9);
  for (AdaBoostOptions options : many_options()) {
    options.iterations = 4;
    const std::vector<uint8_t> one = saved_bytes(train_adaboost(data, options, Context(1, 5)));
    for (const int threads : {2, 4})
      EXPECT_EQ(saved_bytes(train_adaboost(data, options, Context(threads, 5))), one);
  }
}

TEST(AdaBoost, ExtendingGivesTheBytesOfTheLongRun) {
  const Context context(2, 3);
  const Dataset data = test::with_missing(random_dataset(500, 9, 3, 5), 5);
  for (AdaBoostOptions options : many_options()) {
    options.iterations = 40;
    const std::vector<uint8_t> whole = saved_bytes(train_adaboost(data, options, context));
    BoostRun first(data, options, context);
    add_rounds(first, 23);
    BinaryWriter state;
    first.save_state(state);
    // Another seed on the command line changes nothing: the state has its own.
    const Context later(1, 99);
    BinaryReader in(state.bytes(), "the state");
    BoostRun trainer(data, in, later);
    EXPECT_EQ(trainer.rounds().count(), 23);
    EXPECT_EQ(add_rounds(trainer, 40 - trainer.rounds().count()), 17) << "goes on; it does not start again";
    EXPECT_EQ(saved_bytes(trainer.rounds()), whole);
    const Dataset other = random_dataset(500, 9, 3, 6);
    BinaryReader again(state.bytes(), "the state");
    EXPECT_THROW(BoostRun(other, again, context), InputError);
  }
}

// Training on some queries of a data set is training on a data set of these queries, where all have the same
// cuts.
TEST(AdaBoost, SomeQueriesTrainAsADataSetOfTheirOwn) {
  const Context context(2, 5);
  Random random(3, "some queries");
  FloatBuffer features(3000 * 6);
  std::vector<int32_t> labels;
  std::vector<size_t> offsets = {0};
  std::vector<std::string> ids;
  for (size_t i = 0; i < 3000; ++i) {
    double sum = 0;
    for (size_t j = 0; j < 6; ++j) {
      const auto value = static_cast<float>(random.below(12));
      features.data()[i * 6 + j] = value;
      sum += value * static_cast<float>(j < 3);
    }
    labels.push_back(static_cast<int32_t>(std::min(2.0, (sum + 6 * random.normal()) > 22 ? 2.0
                                                        : sum > 14                       ? 1.0
                                                                                         : 0.0)));
    if (i % 10 == 9) {
      offsets.push_back(i + 1);
      ids.push_back(std::to_string(i));
    }
  }
  const Dataset data(features, 6, {labels, QueryIndex(offsets, ids)});
  std::vector<size_t> queries;
  for (size_t q = 0; q < 300; ++q)
    if (q % 5 != 2) queries.push_back(q);
  BinCache cache(data);
  const TrainingData some(cache, queries, 3, {0, 1, 3});
  const Dataset copy = some.select();
  for (const AdaBoostOptions& options : many_options()) {
    if (options.bandit != BanditKind::kNone) continue;
    AdaBoostTrainer of_some(some, options, {1}, nullptr, context);
    BoostRun of_copy(copy, options, context);
    add_rounds(of_some, 10);
    add_rounds(of_copy, 10);
    // Fixed-point weights are rounded by the documents' numbers, which differ.
    const AdaBoostRounds a = of_some.rounds();
    const AdaBoostRounds b = of_copy.rounds();
    ASSERT_EQ(a.count(), b.count());
    EXPECT_NEAR(a.error_bound(), b.error_bound(), 2e-3) << "but for near ties";
    for (int t = 0; t < 3; ++t) EXPECT_EQ(plain_cuts(a, t).size(), plain_cuts(b, t).size());
    EXPECT_NEAR(a.trees[0].edge, b.trees[0].edge, 1e-6);
    BinaryWriter state;
    of_some.save_state(state);
    BinaryReader in(state.bytes(), "state");
    AdaBoostTrainer resumed(some, options, {1}, &in, context);
    add_rounds(resumed, 5);
    add_rounds(of_some, 5);
    EXPECT_EQ(saved_bytes(resumed.rounds()), saved_bytes(of_some.rounds()));
  }
}

TEST(AdaBoost, SavesAndLoads) {
  const Context context;
  for (const int labels : {2, 5, 32}) {
    const Dataset data = random_dataset(300, 9, labels, 5);
    for (AdaBoostOptions options : many_options()) {
      options.iterations = 10;
      const AdaBoostRounds model = train_adaboost(data, options, context);
      const std::vector<uint8_t> bytes = saved_bytes(model);
      const AdaBoostRounds loaded = loaded_from(bytes);
      EXPECT_EQ(saved_bytes(loaded), bytes);
      EXPECT_EQ(loaded.id, model.id);
      const ScoreMatrix before = scores_after(model, model.count(), data, context);
      const ScoreMatrix after = scores_after(loaded, model.count(), data, context);
      EXPECT_TRUE(std::equal(before.values().begin(), before.values().end(), after.values().begin()));
    }
  }
}

TEST(AdaBoost, DamagedBytesAreRefused) {
  const Context context;
  const Dataset data = random_dataset(200, 9, 3, 5);
  AdaBoostOptions options = with({{"bandit", "exp3g"}, {"iterations", "5"}});
  const std::vector<uint8_t> good = saved_bytes(train_adaboost(data, options, context));
  size_t refused = 0;
  // A changed byte is refused or harmless.
  for (size_t at = 0; at < good.size(); ++at) {
    std::vector<uint8_t> bytes = good;
    bytes[at] = static_cast<uint8_t>(bytes[at] ^ 0xff);
    try {
      const AdaBoostRounds model = loaded_from(bytes);
      if (model.cuts.features() == data.features()) scores_after(model, model.count(), data, context);
    } catch (const InputError&) {
      ++refused;
    }
    at += at / 64;
  }
  EXPECT_GT(refused, 20U);
  for (size_t size = 0; size < good.size(); size += 97)
    EXPECT_THROW(loaded_from(std::span(good).first(size)), InputError);
}

// ---- Corners.

TEST(AdaBoost, ConstantDataGivesAConstantModel) {
  const Context context(2);
  const Dataset data = make_dataset(std::vector<float>(60, 1.0F), 2, [] {
    std::vector<int32_t> labels(30, 0);
    labels[3] = 1;
    labels[4] = 2;
    return labels;
  }());
  for (AdaBoostOptions options : many_options()) {
    options.iterations = 50;
    const AdaBoostRounds model = train_adaboost(data, options, context);
    const ScoreMatrix scores = scores_after(model, model.count(), data, context);
    for (const float value : scores.values()) EXPECT_TRUE(std::isfinite(value));
    for (size_t l = 0; l < 3; ++l) EXPECT_EQ(scores.row(0)[l], scores.row(29)[l]);
    for (int t = 0; t < model.count(); ++t) EXPECT_TRUE(model.trees[t].cuts.empty());
  }
}

TEST(AdaBoost, SeparableDataIsLearntWithoutOverflow) {
  const Context context;
  std::vector<float> features;
  std::vector<int32_t> labels;
  for (int i = 0; i < 100; ++i) {
    features.push_back(static_cast<float>(i));
    labels.push_back(i < 50 ? 0 : 1);
  }
  const Dataset data = make_dataset(features, 1, labels);
  for (AdaBoostOptions options : many_options()) {
    options.iterations = 200;
    const AdaBoostRounds model = train_adaboost(data, options, context);
    const ScoreMatrix scores = scores_after(model, model.count(), data, context);
    for (const float value : scores.values()) ASSERT_TRUE(std::isfinite(value));
    EXPECT_EQ(hamming_error(scores, data.labels(), options.weights), 0);
  }
}

TEST(AdaBoost, RefusesWhatCannotBeTrained) {
  const Context context;
  EXPECT_THROW(train_adaboost(make_dataset({1, 2}, 1, {0, 0}), AdaBoostOptions(), context), InputError);
  EXPECT_THROW(train_adaboost(make_dataset({1, 2}, 1, {0, 2}), with({{"labels", "2"}}), context), InputError);
  EXPECT_THROW(train_adaboost(make_dataset({1, 2}, 1, {0, 40}), AdaBoostOptions(), context), InputError);
  EXPECT_THROW(with({{"leaves", "1"}}), InputError);
  EXPECT_THROW(with({{"terms", "0"}}), InputError);
  EXPECT_THROW(with({{"iterations", "0"}}), InputError);
  EXPECT_THROW(with({{"bandit", "exp4"}}), InputError);
  EXPECT_THROW(with({{"shrinkage", "nan"}}), InputError);
  const AdaBoostRounds model =
      train_adaboost(random_dataset(50, 4, 2, 1), with({{"iterations", "3"}}), context);
  EXPECT_THROW(scores_after(model, 1, random_dataset(50, 5, 2, 1), context), InputError);
  // One label only is no error when the number of labels is given.
  EXPECT_GE(train_adaboost(make_dataset({1, 2}, 1, {0, 0}), with({{"labels", "3"}}), context).count(), 1);
}

TEST(AdaBoost, StopsAtTheEdgeFloor) {
  const Context context;
  const Dataset data = random_dataset(300, 9, 3, 5);
  const AdaBoostRounds model =
      train_adaboost(data, with({{"iterations", "500"}, {"shrinkage", "1"}, {"edge_floor", "0.2"}}), context);
  EXPECT_LT(model.count(), 500);
  EXPECT_TRUE(model.finished);
  for (int t = 0; t < model.count(); ++t) EXPECT_GT(model.trees[t].edge, 0.2);
}

// Rounding must not matter where single weights are a few units of fixed point.
TEST(AdaBoost, TheEdgeIsThatOfTheFloatWeightsOnManyDocuments) {
  const Context context(2);
  const Dataset data = random_dataset(1000000, 2, 5, 3);
  BoostRun trainer(data, with({{"base", "stump"}, {"shrinkage", "1"}, {"weights", "uniform"}}), context);
  add_rounds(trainer, 8);
  const AdaBoostRounds model = trainer.rounds();
  for (int t = 0; t < model.count(); ++t)
    EXPECT_NEAR(model.trees[t].normalizer, std::sqrt(1 - std::pow(model.trees[t].edge, 2)), 1e-5);
}

TEST(AdaBoost, TheBanditLearnsWhichFeaturesMatter) {
  const Context context(2, 4);
  SyntheticOptions synthetic;
  synthetic.queries = 200;
  synthetic.features = 200;
  synthetic.useful = 10;
  const Dataset data = make_synthetic(synthetic, context);
  for (const char* base : {"stump", "tree", "product"})
    for (const char* bandit : {"exp3a", "value"})
      for (const char* arms : {"1", "4"}) {
        SCOPED_TRACE(testing::Message() << base << " " << bandit << " " << arms);
        // A stump is one pull: 200 of them see each of the 200 features once, and nothing could be learned.
        const int rounds = std::string(base) == "stump" ? 1000 : 200;
        const auto bound = [&](const char* rule) {
          AdaBoostOptions options = with({{"base", base}, {"bandit", rule}, {"arms_per_pull", arms}});
          options.iterations = rounds;
          const AdaBoostRounds model = train_adaboost(data, options, context);
          EXPECT_EQ(model.bandit_samples.back().round, rounds);
          for (const FeatureShares& sample : model.bandit_samples)
            EXPECT_LT(*std::max_element(sample.shares.begin(), sample.shares.end()), 0.5);
          return model.error_bound();
        };
        EXPECT_LT(bound(bandit), bound("random"));
      }
}

}  // namespace
}  // namespace tunemix
