#include "tunemix/export/importance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/learners/train_by_name.h"
#include "tunemix/data/synthetic.h"
#include "tunemix/export/student.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

Dataset made(uint64_t seed) {
  return make_synthetic({.queries = 25, .features = 7, .labels = 4, .mean_length = 9, .seed = seed},
                        Context());
}

Bundle bundle_of(const Dataset& data, const std::string& learner, const Settings& settings,
                 std::vector<int64_t> lengths, const Context& context) {
  BundleInfo info;
  info.name = "mine";
  info.features = data.features();
  info.labels = 4;
  return bundle_of_model(info, test::train_by_name(data, learner, settings, std::move(lengths), context),
                         learner);
}

// Straight from the definition: every query of every repeat is shuffled and scored on its own.
std::vector<double> slow_losses(const Bundle& bundle, const Dataset& data, size_t feature, size_t repeats,
                                uint64_t seed) {
  const Context context;
  const std::vector<double> grades = {0, 1, 3, 7};
  const auto ndcg = [&](const Dataset& one) {
    const std::vector<float> scores = bundle.predict(one, context);
    return SelectionMetric(one.queries(), one.labels(), grades)(scores);
  };
  std::vector<double> losses;
  for (size_t q = 0; q < data.queries().size(); ++q) {
    const size_t query[] = {q};
    const Dataset one = data.select_queries(query);
    double loss = 0;
    for (size_t r = 0; r < repeats; ++r) {
      std::vector<float> column;
      for (size_t i = 0; i < one.documents(); ++i) column.push_back(one.row(i)[feature]);
      Random(seed, fmt::format("importance/{}/{}/{}", feature, r, q)).shuffle(std::span<float>(column));
      std::vector<float> values(one.values().begin(), one.values().end());
      for (size_t i = 0; i < one.documents(); ++i) values[i * one.features() + feature] = column[i];
      loss += ndcg(one) - ndcg(Dataset(values, one.features(),
                                       {{one.labels().begin(), one.labels().end()}, one.queries()}));
    }
    losses.push_back(loss / static_cast<double>(repeats));
  }
  return losses;
}

TEST(Importance, IsThatOfTheDefinition) {
  const Context context;
  const Bundle bundle = bundle_of(made(1), "lambdamart", {{"leaves", "4"}}, {20}, context);
  const Dataset data = made(2);
  const Importance found = permutation_importance(bundle, data, {3, 7}, context);
  ASSERT_EQ(found.features.size(), 7U);
  EXPECT_EQ(found.queries, 25U);
  for (size_t j = 0; j < 7; ++j) {
    const std::vector<double> losses = slow_losses(bundle, data, j, 3, 7);
    double mean = 0;
    for (const double loss : losses) mean += loss / 25;
    double squares = 0;
    for (const double loss : losses) squares += (loss - mean) * (loss - mean);
    EXPECT_EQ(found.features[j].feature, j);
    EXPECT_NEAR(found.features[j].loss, mean, 1e-12);
    ASSERT_TRUE(found.features[j].error);
    EXPECT_NEAR(*found.features[j].error, std::sqrt(squares / 24 / 25), 1e-12);
  }
  const Importance parallel = permutation_importance(bundle, data, {3, 7}, Context(4));
  for (size_t j = 0; j < 7; ++j) EXPECT_EQ(parallel.features[j].loss, found.features[j].loss);
}

TEST(Importance, IsNothingForFeaturesThatTheEnsembleDoesNotRead) {
  const Context context;
  const Bundle bundle = bundle_of(made(1), "best_feature", {}, {}, context);
  const std::vector<double> shares = bundle.models()[0].learned.model->importance();
  const Importance found = permutation_importance(bundle, made(2), {4, 1}, context);
  size_t used = 0;
  for (size_t j = 0; j < shares.size(); ++j) {
    if (shares[j] > 0) {
      ++used;
      EXPECT_GT(found.features[j].loss, 2 * *found.features[j].error);
    } else {
      EXPECT_EQ(found.features[j].loss, 0);
      EXPECT_EQ(found.features[j].error, 0);
    }
  }
  EXPECT_EQ(used, 1U);
}

TEST(Importance, NeedsLabels) {
  const Context context;
  const Dataset data = made(1);
  const Bundle bundle = bundle_of(data, "best_feature", {}, {}, context);
  const Dataset unlabelled(std::vector<float>(data.values().begin(), data.values().end()), data.features(),
                           {std::vector<int32_t>(data.documents(), 0), data.queries()});
  EXPECT_THROW(permutation_importance(bundle, unlabelled, {}, context), InputError);
}

// What distilling stands on: trees that learn real numbers by their differences within queries.
class Targets : public testing::Test {
 protected:
  std::vector<float> taught(const std::vector<float>& targets, int rounds) const {
    const LearnerEntry& learner = registry().expect("query_rmse");
    EXPECT_TRUE(learner.takes_targets);
    BinCache bins(data_);
    const TrainingData training(bins);
    const TrainingRequest request{
        training, learner.complete({{"leaves", "16"}, {"min_documents", "2"}}), {rounds}, nullptr, targets};
    const std::unique_ptr<Trainer> trainer = learner.start(request, context_);
    while (!trainer->step(0)) {
    }
    const size_t last[] = {0};
    const ScoreMatrix scores = std::move(trainer->model()->score(data_, last, context_)[0]);
    return {scores.values().begin(), scores.values().end()};
  }
  // Of the differences within queries.
  double squares(const std::vector<float>& a, const std::vector<float>& b) const {
    double sum = 0;
    for (size_t q = 0; q < data_.queries().size(); ++q) {
      const size_t begin = data_.queries().begin(q);
      const size_t end = data_.queries().end(q);
      double mean = 0;
      for (size_t i = begin; i < end; ++i) mean += (a[i] - b[i]) / static_cast<double>(end - begin);
      for (size_t i = begin; i < end; ++i) sum += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
    }
    return sum;
  }

  Context context_;
  Dataset data_ = made(3);
};

TEST_F(Targets, AreLearntUpToAConstantOfEachQuery) {
  std::vector<float> targets;
  for (size_t i = 0; i < data_.documents(); ++i)
    targets.push_back(std::sin(data_.row(i)[0]) - 0.25F * data_.row(i)[1]);
  const std::vector<float> nothing(data_.documents(), 0.0F);
  const double before = squares(targets, nothing);
  EXPECT_LT(squares(targets, taught(targets, 10)), 0.5 * before);
  const std::vector<float> scores = taught(targets, 200);
  EXPECT_LT(squares(targets, scores), 0.02 * before);

  // Multiples of 1/4 keep the floating-point differences exact.
  std::vector<float> quarters = targets;
  for (float& t : quarters) t = std::round(4 * t) / 4;
  std::vector<float> moved = quarters;
  for (size_t q = 0; q < data_.queries().size(); ++q)
    for (size_t i = data_.queries().begin(q); i < data_.queries().end(q); ++i)
      moved[i] += static_cast<float>(q % 5) - 2;
  const std::vector<float> a = taught(quarters, 30);
  const std::vector<float> b = taught(moved, 30);
  EXPECT_LT(squares(a, b), 1e-3 * squares(a, nothing));
  // And they are not the grades.
  EXPECT_GT(squares(taught({}, 30), a), 0.1 * squares(a, nothing));
}

TEST_F(Targets, AStudentScoresEachDocumentAlone) {
  const Bundle student = bundle_of(data_, "mart", {{"leaves", "8"}}, {5, 30}, context_);
  EXPECT_EQ(student.mixture().normalize(), Normalize::kNone);
  EXPECT_EQ(student.mixture().checkpoint(), 30);
  const std::vector<float> all = student.predict(data_, context_);
  const LearnedModel model = test::train_by_name(data_, "mart", {{"leaves", "8"}}, {5, 30}, context_);
  const size_t last[] = {1};
  const ScoreMatrix scores = std::move(model.model->score(data_, last, context_)[0]);
  EXPECT_EQ(all, std::vector<float>(scores.values().begin(), scores.values().end()));
  for (size_t i = 0; i < data_.documents(); i += 17) {
    const Dataset alone(std::vector<float>(data_.row(i).begin(), data_.row(i).end()), data_.features(),
                        {{0}, QueryIndex({0, 1}, {"q"})});
    EXPECT_EQ(student.predict(alone, context_)[0], all[i]);
  }
}

}  // namespace
}  // namespace tunemix
