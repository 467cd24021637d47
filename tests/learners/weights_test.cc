// What the weights of documents do to every learner of the registry.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/learners/train_by_name.h"
#include "tunemix/core/random.h"
#include "tunemix/learners/registry.h"

namespace tunemix {
namespace {

constexpr size_t kQueries = 24;
constexpr size_t kLength = 9;
constexpr size_t kFeatures = 5;

// Queries as lists of documents, to be repeated at will. Features are whole numbers below 20: bins are exact,
// however often a value occurs.
struct Document {
  std::vector<float> features;
  int32_t label;
  float weight = 1;
};
using Queries = std::vector<std::vector<Document>>;

Queries made_queries(uint64_t seed, size_t queries = kQueries) {
  Random random(seed, "weights");
  Queries result(queries);
  for (auto& query : result)
    for (size_t i = 0; i < kLength; ++i) {
      Document document;
      double quality = random.normal();
      for (size_t j = 0; j < kFeatures; ++j) {
        document.features.push_back(static_cast<float>(random.below(20)));
        quality += (j < 3 ? 0.15 : -0.1) * static_cast<double>(document.features.back());
      }
      document.label = quality > 3.5 ? 2 : quality > 1.5 ? 1 : 0;
      query.push_back(std::move(document));
    }
  return result;
}

Dataset as_data(const Queries& queries, bool with_weights) {
  std::vector<float> features;
  tunemix::Documents about;
  for (const auto& query : queries) {
    for (const Document& document : query) {
      features.insert(features.end(), document.features.begin(), document.features.end());
      about.labels.push_back(document.label);
      if (with_weights) about.weights.push_back(document.weight);
    }
    about.queries.add(std::to_string(about.queries.size() + 1), query.size());
  }
  return Dataset(features, kFeatures, std::move(about));
}

// Nothing random but what has its own seed, solutions to many digits, and no limits that count documents.
Settings precise_settings(const LearnerEntry& learner) {
  Settings given;
  for (const OptionInfo& option : learner.options) {
    for (const auto& [key, value] : Settings{{"min_documents", "1"},
                                             {"leaves", "4"},
                                             {"feature_fraction", "1"},
                                             {"bootstrap", "false"},
                                             {"bandit", "none"},
                                             {"gap", "1e-7"},
                                             {"max_epochs", "100000"},
                                             {"tolerance", "1e-9"}})
      if (option.name == key) given.emplace_back(key, value);
    if (option.name == "C") given.emplace_back("C", "[0.1, 1]");
    if (option.name == "iterations" && option.role != OptionRole::kLength)
      given.emplace_back("iterations", "5000");
  }
  return learner.complete(given);
}

std::unique_ptr<Model> trained(const LearnerEntry& learner, const TrainingData& data) {
  std::vector<int64_t> lengths;
  if (learner.length_option() != nullptr) lengths = {2, 5};
  const Context context(2, 3);
  const std::unique_ptr<Trainer> trainer =
      learner.start({data, precise_settings(learner), lengths, nullptr}, context);
  while (!trainer->step(0)) {
  }
  return trainer->model();
}

std::unique_ptr<Model> trained(const LearnerEntry& learner, const Dataset& data) {
  BinCache bins(data);
  return trained(learner, TrainingData(bins));
}

// The largest difference of two models' scores beside the spread of the scores.
double difference(const Model& a, const Model& b, const Dataset& data) {
  std::vector<size_t> points(a.points().size());
  std::iota(points.begin(), points.end(), size_t{0});
  const std::vector<ScoreMatrix> x = a.score(data, points, Context());
  const std::vector<ScoreMatrix> y = b.score(data, points, Context());
  double worst = 0;
  for (size_t p = 0; p < x.size(); ++p) {
    const auto [low, high] = std::minmax_element(x[p].values().begin(), x[p].values().end());
    const double spread = std::max(1e-6, static_cast<double>(*high - *low));
    for (size_t i = 0; i < x[p].values().size(); ++i)
      worst = std::max(worst, std::abs(static_cast<double>(x[p].values()[i] - y[p].values()[i])) / spread);
  }
  return worst;
}

class WeightsOf : public testing::TestWithParam<std::string> {
 protected:
  const LearnerEntry& learner_ = registry().expect(GetParam());
  Dataset other_ = as_data(made_queries(9, 10), false);
};

TEST_P(WeightsOf, OnesAreAsGoodAsNone) {
  const Queries queries = made_queries(1);
  const Dataset none = as_data(queries, false);
  const Dataset ones = as_data(queries, true);
  EXPECT_EQ(ones.fingerprint(), none.fingerprint());
  EXPECT_EQ(test::bytes_of(*trained(learner_, ones)), test::bytes_of(*trained(learner_, none)));
}

TEST_P(WeightsOf, TwoIsTwice) {
  // Of equal NDCG the rounding of a sum decides, and random orders belong to the number of a query.
  if (GetParam() == "coordinate_ascent" || GetParam() == "yetirank" || GetParam() == "xendcg") GTEST_SKIP();
  if (learner_.weights == WeightUse::kNone) GTEST_SKIP() << "learns nothing";
  Queries weighted = made_queries(1);
  Queries repeated;
  Random random(5, "who counts twice");
  for (auto& query : weighted) {
    auto& copy = repeated.emplace_back(query);
    if (learner_.weights == WeightUse::kDocument) {
      for (Document& document : query) {
        if (random.below(3) != 0) continue;
        document.weight = 2;
        copy.push_back(document);
      }
    } else if (random.below(3) == 0) {
      for (Document& document : query) document.weight = 2;
      repeated.push_back(copy);
    }
  }
  const auto model = trained(learner_, as_data(weighted, true));
  EXPECT_LT(difference(*model, *trained(learner_, as_data(repeated, false)), other_), 1e-3);
  EXPECT_GT(difference(*model, *trained(learner_, as_data(weighted, false)), other_), 1e-3);
}

TEST_P(WeightsOf, ZeroIsAbsent) {
  if (learner_.weights == WeightUse::kNone) GTEST_SKIP() << "learns nothing";
  Queries queries = made_queries(2);
  for (size_t q = kQueries * 2 / 3; q < kQueries; ++q)
    for (Document& document : queries[q]) document.weight = 0;
  const Dataset weighted = as_data(queries, true);
  const Dataset plain = as_data(queries, false);
  BinCache bins(plain);
  std::vector<size_t> kept(kQueries * 2 / 3);
  std::iota(kept.begin(), kept.end(), size_t{0});
  const TrainingData part(bins, kept, 3, {0, 1, 3});
  const auto model = trained(learner_, weighted);
  EXPECT_LT(difference(*model, *trained(learner_, part), other_), 1e-3);
  EXPECT_GT(difference(*model, *trained(learner_, plain), other_), 1e-3);
}

TEST_P(WeightsOf, NothingButZerosIsRefused) {
  Queries queries = made_queries(3, 4);
  for (size_t q = 0; q < 3; ++q)
    for (Document& document : queries[q]) document.weight = 0;
  const Dataset data = as_data(queries, true);
  BinCache bins(data);
  EXPECT_THROW(TrainingData(bins, {0, 1, 2}, 3, {0, 1, 3}), InputError);
}

TEST(Weights, OnlyWhatLearnsNothingTakesNoNotice) {
  for (const auto& entry : registry().entries())
    EXPECT_EQ(entry->weights == WeightUse::kNone, !entry->start || entry->type == "random") << entry->type;
}

INSTANTIATE_TEST_SUITE_P(Learners, WeightsOf, testing::ValuesIn(test::trained_types()),
                         [](const auto& type) { return type.param; });

}  // namespace
}  // namespace tunemix
