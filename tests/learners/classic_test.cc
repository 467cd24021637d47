// What holds for every classic ranker.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/learners/train_by_name.h"
#include "tests/support.h"
#include "tunemix/data/synthetic.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

class Classic : public testing::TestWithParam<const char*> {
 protected:
  const LearnerEntry& learner() const { return registry().expect(GetParam()); }
  std::vector<int64_t> lengths() const {
    return learner().length_option() != nullptr ? std::vector<int64_t>{3, 7} : std::vector<int64_t>{};
  }
  LearnedModel train(const Dataset& data, const Context& context, const Settings& settings = {}) const {
    return test::train_by_name(data, GetParam(), settings, lengths(), context);
  }
};

std::vector<uint8_t> bytes(const Model& model) {
  BinaryWriter out;
  model.save(out);
  return {out.bytes().begin(), out.bytes().end()};
}

std::vector<size_t> all_points(const Model& model) {
  std::vector<size_t> all(model.points().size());
  for (size_t p = 0; p < all.size(); ++p) all[p] = p;
  return all;
}

std::vector<std::vector<float>> all_scores(const Model& model, const Dataset& data, const Context& context) {
  std::vector<std::vector<float>> result;
  for (const ScoreMatrix& scores : model.score(data, all_points(model), context))
    result.emplace_back(scores.values().begin(), scores.values().end());
  return result;
}

Dataset made_up(int labels, size_t queries = 60, uint64_t seed = 1) {
  return make_synthetic({.queries = queries, .features = 11, .labels = labels, .seed = seed}, Context());
}

// Queries given by their lengths, features by a function.
template <typename Feature>
Dataset built(std::vector<size_t> query_lengths, const std::vector<int32_t>& labels, size_t d,
              Feature feature) {
  std::vector<size_t> offsets = {0};
  std::vector<std::string> ids;
  for (const size_t length : query_lengths) {
    offsets.push_back(offsets.back() + length);
    ids.push_back(std::to_string(offsets.size()));
  }
  FloatBuffer features(labels.size() * d);
  for (size_t i = 0; i < labels.size(); ++i)
    for (size_t j = 0; j < d; ++j) features.data()[i * d + j] = feature(i, j);
  return Dataset(std::move(features), d, {labels, QueryIndex(std::move(offsets), std::move(ids))});
}

TEST_P(Classic, PointsAreThoseAnnounced) {
  const Context context;
  const LearnedModel learned = train(made_up(3), context);
  EXPECT_EQ(learned.model->points(), learner().points(learner().complete({}), lengths()));
  EXPECT_EQ(learned.model->columns(), 1U);
  EXPECT_TRUE(learner().one_column);
  EXPECT_EQ(learner().family, GetParam());
}

TEST_P(Classic, SameBytesOnAnyNumberOfThreads) {
  for (const int labels : {2, 5}) {
    const Dataset data = made_up(labels, 300);
    const Context one(1), three(3);
    const LearnedModel a = train(data, one);
    const LearnedModel b = train(data, three);
    EXPECT_EQ(bytes(*a.model), bytes(*b.model));
    EXPECT_EQ(all_scores(*a.model, data, one), all_scores(*a.model, data, three));
  }
}

TEST_P(Classic, LearnsMoreThanChance) {
  const Context context;
  const Dataset data = made_up(5, 200), other = made_up(5, 200, 2);
  const LearnedModel learned = train(data, context);
  const SelectionMetric metric(other.queries(), other.labels(), exponential_grades(5));
  const double chance = metric(std::vector<float>(other.documents(), 0.0F));
  for (const std::vector<float>& scores : all_scores(*learned.model, other, context))
    EXPECT_GT(metric(scores), chance + 0.05);
}

TEST_P(Classic, SavedAndLoadedIsTheSame) {
  const Context context;
  const Dataset data = made_up(3);
  const LearnedModel learned = train(data, context);
  const std::vector<uint8_t> saved = test::bytes_of(learned);
  const LearnedModel loaded = test::load_model(saved);
  EXPECT_EQ(test::bytes_of(loaded), saved);
  EXPECT_EQ(all_scores(*loaded.model, data, context), all_scores(*learned.model, data, context));
  EXPECT_EQ(loaded.model->importance(), learned.model->importance());
  for (size_t size = 0; size < saved.size(); size += 1 + saved.size() / 50)
    EXPECT_THROW(test::load_model(std::span(saved).first(size)), InputError) << size;
}

TEST_P(Classic, KeptPointsScoreAsBeforeAndDependOnNoOthers) {
  const Context context;
  const Dataset data = made_up(3);
  const LearnedModel learned = train(data, context);
  const auto scores = all_scores(*learned.model, data, context);
  for (const size_t p : all_points(*learned.model)) {
    const size_t one[] = {p};
    const auto kept = learned.model->keep(one);
    ASSERT_EQ(kept->points().size(), 1U);
    EXPECT_EQ(kept->points()[0], learned.model->points()[p]);
    EXPECT_EQ(all_scores(*kept, data, context)[0], scores[p]);
  }
  if (lengths().empty()) return;
  const size_t first[] = {0};
  const LearnedModel shorter = test::train_by_name(data, GetParam(), {}, {lengths()[0]}, context);
  EXPECT_EQ(bytes(*learned.model->keep(first)), bytes(*shorter.model));
}

TEST_P(Classic, TrainsOnSomeQueriesAsOnACopyOfThem) {
  const Context context;
  const Dataset data = made_up(3);
  BinCache cache(data);
  const TrainingData some(cache, {2, 3, 5, 8, 13, 21, 34, 55}, 3, exponential_grades(3));
  const auto trainer = learner().start({some, learner().complete({}), lengths(), nullptr}, context);
  while (!trainer->step(0)) continue;
  const Dataset copy = some.select();
  const auto scores = all_scores(*trainer->model(), data, context);
  // Bins come from all the data, so thresholds may differ; everything else may not.
  const LearnedModel of_copy = train(copy, context);
  const bool bins = std::string(GetParam()) == "rankboost" || std::string(GetParam()) == "frank";
  if (!bins) {
    EXPECT_EQ(scores, all_scores(*of_copy.model, data, context));
  }
  for (const float s : scores[0]) EXPECT_TRUE(std::isfinite(s));
}

TEST_P(Classic, GoesOnWhereItStopped) {
  if (!learner().resumable) GTEST_SKIP() << "trains in one go";
  const Context context;
  const Dataset data = made_up(4);
  BinCache cache(data);
  const TrainingData training(cache);
  const Settings settings = learner().complete({});
  const auto finished = [&](Trainer& trainer) {
    while (!trainer.step(0)) continue;
    return bytes(*trainer.model());
  };
  const auto half = learner().start({training, settings, {6}, nullptr}, context);
  finished(*half);
  BinaryWriter state;
  half->save_state(state);
  BinaryReader in(state.bytes(), "state");
  // The rounds that it reports begin after those of the state: it does not start again.
  Context watched;
  std::vector<size_t> reported;
  watched.on_progress = [&](const Progress& progress) { reported.push_back(progress.done); };
  const auto resumed = learner().resume({training, settings, {6, 20}, nullptr}, in, watched);
  const auto whole = learner().start({training, settings, {6, 20}, nullptr}, context);
  EXPECT_EQ(finished(*resumed), finished(*whole));
  ASSERT_FALSE(reported.empty());
  EXPECT_GT(reported.front(), 6U);
  // A state that has more rounds than are wanted.
  BinaryReader again(state.bytes(), "state");
  const auto shorter = learner().resume({training, settings, {2}, nullptr}, again, context);
  const auto short_run = learner().start({training, settings, {2}, nullptr}, context);
  EXPECT_EQ(finished(*shorter), finished(*short_run));
}

TEST_P(Classic, OddDataIsScoredFinitely) {
  const Context context;
  const auto constant = [](size_t, size_t) { return 3.0F; };
  const auto mixed = [](size_t i, size_t j) {
    return j == 1 ? 7.0F : static_cast<float>((i * 7 + j * 3) % 5) * (j == 2 ? 1e8F : 1.0F);
  };
  const std::vector<Dataset> sets = [&] {
    std::vector<Dataset> s;
    s.push_back(built({6}, {0, 1, 0, 1, 1, 0}, 3, mixed));              // one query
    s.push_back(built({6}, {0, 1, 0, 1, 1, 0}, 3, constant));           // constant features
    s.push_back(built({1, 1, 1, 1}, {0, 1, 4, 2}, 3, mixed));           // queries of one document
    s.push_back(built({1, 3, 1, 2}, {0, 4, 2, 0, 1, 3, 1}, 3, mixed));  // some of them
    s.push_back(built({3, 3}, {0, 0, 0, 2, 2, 2}, 3, mixed));           // no pairs
    s.push_back(built({2, 2}, {1, 0, 0, 1}, 1, [](size_t i, size_t) { return static_cast<float>(i); }));
    return s;
  }();
  for (const Dataset& data : sets) {
    const LearnedModel learned = train(data, context);
    EXPECT_EQ(learned.model->points().size(), learner().points(learner().complete({}), lengths()).size());
    for (const auto& scores : all_scores(*learned.model, data, context))
      for (const float s : scores) EXPECT_TRUE(std::isfinite(s));
  }
}

TEST_P(Classic, RefusesOtherData) {
  const Context context;
  const LearnedModel learned = train(made_up(3), context);
  const Dataset other = make_synthetic({.queries = 5, .features = 12}, context);
  const size_t points[] = {0};
  EXPECT_THROW(learned.model->score(other, points, context), InputError);
  EXPECT_THROW(learner().complete({{"no_such_option", "1"}}), InputError);
}

INSTANTIATE_TEST_SUITE_P(All, Classic,
                         testing::Values("best_feature", "linear_regression", "ranksvm", "ranknet", "listnet",
                                         "coordinate_ascent", "adarank", "rankboost", "frank"),
                         [](const auto& about) { return std::string(about.param); });

}  // namespace
}  // namespace tunemix
