#include "tunemix/learn/learner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunemix/data/synthetic.h"

namespace tunemix {
namespace {

using testing::ElementsAre;

struct Options {
  int size = 3;
  int rounds = 10;
};

const OptionTable<Options>& table() {
  static const OptionTable<Options> options = [] {
    OptionTable<Options> t;
    t.number("size", &Options::size, 1, 9, "how large");
    t.number("rounds", &Options::rounds, 1, 99, "how long");
    return t;
  }();
  return options;
}

LearnerEntry entry(const std::string& type) {
  LearnerEntry result;
  result.type = type;
  result.family = type;
  result.row = type;
  describe_options(result, table(), {{"rounds", OptionRole::kLength}});
  return result;
}

TEST(Learner, DefaultLengths) {
  EXPECT_THAT(default_lengths(1000), ElementsAre(10, 20, 50, 100, 200, 500, 1000));
  EXPECT_THAT(default_lengths(60), ElementsAre(10, 20, 50, 60));
  EXPECT_THAT(default_lengths(5), ElementsAre(5));
}

TEST(Learner, SettingsAreCompletedAndChecked) {
  const LearnerEntry learner = entry("toy");
  EXPECT_THAT(learner.complete({{"size", "7"}}),
              ElementsAre(std::pair("size", "7"), std::pair("rounds", "10")));
  EXPECT_THROW(learner.complete({{"size", "0"}}), InputError);
  EXPECT_THROW(learner.complete({{"sise", "7"}}), InputError);
  EXPECT_EQ(learner.length_option()->name, "rounds");
}

TEST(Learner, TitlesAndPointsHaveDefaults) {
  Registry registry;
  registry.add(entry("toy"));
  const LearnerEntry& learner = registry.expect("toy");
  EXPECT_EQ(learner.title(learner.complete({})), "toy");
  EXPECT_EQ(learner.title(learner.complete({{"size", "7"}, {"rounds", "20"}})), "toy size=7");
  const int64_t lengths[] = {5, 10};
  EXPECT_THAT(learner.points({}, lengths), ElementsAre(Point{5, ""}, Point{10, ""}));
  EXPECT_THAT(learner.points({}, {}), ElementsAre(Point{}));
  EXPECT_EQ((Point{5, ""}.name()), "T=5");
  EXPECT_EQ((Point{0, "C=1"}.name()), "C=1");
}

TEST(Registry, RefusesTheSameTwiceAndSuggestsTheNearest) {
  Registry registry;
  registry.add(entry("toy"));
  EXPECT_THROW(registry.add(entry("toy")), InternalError);
  EXPECT_EQ(registry.find("top"), nullptr);
  try {
    registry.expect("tox");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean 'toy'"));
  }
}

struct NoPoints : Model {
  size_t features() const override { return 1; }
  size_t columns() const override { return 1; }
  std::vector<Point> points() const override { return {}; }
  std::vector<ScoreMatrix> score(const Dataset&, std::span<const size_t>, const Context&) const override {
    return {};
  }
  std::unique_ptr<Model> keep(std::span<const size_t>) const override { return nullptr; }
  void save(BinaryWriter&) const override {}
};

TEST(LearnedModel, RefusesAModelWithoutPoints) {
  Registry registry;
  LearnerEntry learner = entry("toy");
  learner.load = [](BinaryReader&) { return std::make_unique<NoPoints>(); };
  registry.add(std::move(learner));
  BinaryWriter out;
  LearnedModel{&registry.expect("toy"), std::make_unique<NoPoints>()}.save(out);
  BinaryReader in(out.bytes(), "the model");
  EXPECT_THROW(LearnedModel::load(in, registry), InputError);
}

TEST(TrainingData, IsSomeQueriesOfAllTheData) {
  const Context context;
  const Dataset data = make_synthetic({.queries = 6, .features = 4, .labels = 3, .mean_length = 7}, context);
  BinCache cache(data);
  const TrainingData some(cache, {1, 4}, 3, {0, 1, 3});
  const Dataset copy = some.select();
  ASSERT_EQ(some.documents().size(), copy.documents());
  EXPECT_FALSE(some.is_all());
  EXPECT_EQ(some.queries().offsets(), copy.queries().offsets());
  EXPECT_TRUE(std::equal(copy.labels().begin(), copy.labels().end(), some.labels().begin()));
  for (size_t i = 0; i < copy.documents(); ++i)
    EXPECT_TRUE(std::equal(copy.row(i).begin(), copy.row(i).end(), data.row(some.documents()[i]).begin()));
  EXPECT_NE(some.fingerprint(), TrainingData(cache).fingerprint());
  // Bins are made once.
  const Bins bins = cache.bins(255, BinLayout::kPanels, context);
  EXPECT_EQ(bins.data, cache.bins(255, BinLayout::kPanels, context).data);
  EXPECT_EQ(bins.cuts, cache.bins(255, BinLayout::kColumns, context).cuts);
  EXPECT_NE(bins.cuts, cache.bins(2, BinLayout::kPanels, context).cuts);
}

}  // namespace
}  // namespace tunemix
