#include "trees/reward_scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tunemix/data/synthetic.h"

namespace tunemix::trees {
namespace {

struct Problem {
  Problem()
      : data(make()),
        cuts(find_cuts(data, 255, Context(1))),
        bins(data, cuts, BinLayout::kColumns, Context(1)) {}
  static Dataset make() {
    SyntheticOptions options = synthetic_preset("quickstart");
    options.queries = 20;
    return make_synthetic(options, Context(1));
  }
  Dataset data;
  BinCuts cuts;
  BinnedDataset bins;
};

std::vector<double> with_chance(size_t drawn, double gain, size_t moved, double chance) {
  std::vector<double> gains(drawn, gain);
  gains.resize(drawn + moved, chance);
  return gains;
}

// Each moved column has its feature's values, each as often, on other documents; documents that were
// neighbours still are.
TEST(ChanceColumns, AreColumnsOfFeaturesAtOtherDocuments) {
  const Problem problem;
  ChanceColumns chance(problem.bins, problem.cuts);
  std::vector<SearchedColumn> columns;
  chance.append_next(columns);
  ASSERT_EQ(columns.size(), ChanceColumns::kColumns);
  const size_t n = problem.bins.documents();
  for (const SearchedColumn& column : columns) {
    const std::vector<uint8_t> own(problem.bins.column(column.feature),
                                   problem.bins.column(column.feature) + n);
    const std::vector<uint8_t> moved(column.bins, column.bins + n);
    ASSERT_GT(problem.cuts.bins(column.feature), 1U);
    EXPECT_NE(own, moved);
    std::vector<uint8_t> twice = own;
    twice.insert(twice.end(), own.begin(), own.end());
    const auto at = std::search(twice.begin(), twice.end(), moved.begin(), moved.end());
    ASSERT_NE(at, twice.end());
    EXPECT_GE(static_cast<size_t>(at - twice.begin()), n / 8);
    EXPECT_LE(static_cast<size_t>(at - twice.begin()), n - n / 8);
  }
}

TEST(ChanceColumns, ComeOneAtATimeAfterTheFirstSearchAndAllInTurn) {
  const Problem problem;
  ChanceColumns chance(problem.bins, problem.cuts);
  std::vector<SearchedColumn> first;
  chance.append_next(first);
  std::vector<const uint8_t*> seen;
  for (uint64_t search = 1; search <= ChanceColumns::kColumns * ChanceColumns::kEvery; ++search) {
    std::vector<SearchedColumn> columns;
    chance.append_next(columns);
    EXPECT_EQ(columns.size(), search % ChanceColumns::kEvery == 0 ? 1U : 0U);
    for (const SearchedColumn& column : columns) seen.push_back(column.bins);
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::unique(seen.begin(), seen.end()) - seen.begin(), std::ssize(first));
}

TEST(ChanceColumns, NoFeatureThatCanBeCutIsNoColumn) {
  Dataset data = Problem::make();
  std::vector<std::vector<float>> none(data.features());
  const BinCuts cuts(none);
  const BinnedDataset bins(data, cuts, BinLayout::kColumns, Context(1));
  ChanceColumns chance(bins, cuts);
  std::vector<SearchedColumn> columns;
  chance.append_next(columns);
  EXPECT_TRUE(columns.empty());
}

TEST(RewardScale, PaysByWhatChanceGains) {
  const Problem problem;
  const auto bandit = make_bandit({.kind = BanditKind::kValue}, problem.bins.features());
  RewardScale scale(bandit.get(), problem.bins, problem.cuts);
  std::vector<double> gains = {30, 10, 4, 0, -3, 2, 2, 2, 2};  // chance gains 2
  scale.reward(gains, 5, 100, 100);
  EXPECT_EQ(gains, (std::vector<double>{1, 1, 0.4, 0, 0}));
  // A hundredth of the documents has a scale of its own.
  gains = {3, 0.5, 0.2, 0.2};
  scale.reward(gains, 2, 1, 100);
  EXPECT_EQ(gains, (std::vector<double>{1, 0.5}));
  gains = {4};
  scale.reward(gains, 1, 100, 100);
  EXPECT_EQ(gains, std::vector<double>{0.4});
}

// In stumps chance often gains nothing. A gain that is tiny among the others is no sign of anything then.
TEST(RewardScale, WhereChanceGainsNothingTinyGainsArePaidLittle) {
  const Problem problem;
  const auto bandit = make_bandit({.kind = BanditKind::kValue}, problem.bins.features());
  RewardScale scale(bandit.get(), problem.bins, problem.cuts);
  std::vector<double> gains = with_chance(99, 8, 1, 0);
  gains[0] = 1e-6;
  gains[1] = 2.0;
  scale.reward(gains, 99, 100, 100);
  EXPECT_LT(gains[0], 1e-6);
  EXPECT_EQ(gains[1], 1);
}

TEST(RewardScale, RewardsKeepTheirSizeAsGainsShrink) {
  const Problem problem;
  const auto bandit = make_bandit({.kind = BanditKind::kValue}, problem.bins.features());
  RewardScale scale(bandit.get(), problem.bins, problem.cuts);
  std::vector<double> gains;
  for (double size = 1e9; size > 1e3; size *= 0.998) {
    gains = with_chance(4, 3 * size, 1, size);
    scale.reward(gains, 4, 50, 50);
  }
  for (const double reward : gains) EXPECT_NEAR(reward, 3.0 / 5, 0.1);
}

TEST(RewardScale, OtherBanditsAreNotComparedWithChance) {
  const Problem problem;
  const auto bandit = make_bandit({.kind = BanditKind::kExp3A}, problem.bins.features());
  RewardScale scale(bandit.get(), problem.bins, problem.cuts);
  EXPECT_EQ(scale.columns(std::vector<uint32_t>{1, 2}, true).size(), 2U);
}

TEST(RewardScale, GoesOnAfterSaveAndLoadAsBefore) {
  const Problem problem;
  const auto bandit = make_bandit({.kind = BanditKind::kValue}, problem.bins.features());
  RewardScale one(bandit.get(), problem.bins, problem.cuts);
  Random random(5);
  const auto play = [](RewardScale& scale, Random& r) {
    std::vector<double> all;
    for (int t = 0; t < 60; ++t) {
      std::vector<double> gains(scale.columns(std::vector<uint32_t>{0, 1, 2}, true).size());
      for (double& gain : gains) gain = r.uniform();
      scale.reward(gains, 3, 1 + r.below(1000), 1000);
      all.insert(all.end(), gains.begin(), gains.end());
    }
    return all;
  };
  play(one, random);
  BinaryWriter out;
  one.save(out);
  RewardScale two(bandit.get(), problem.bins, problem.cuts);
  BinaryReader in(out.bytes(), "state");
  two.load(in);
  Random same = Random::from_state(random.state());
  EXPECT_EQ(play(one, random), play(two, same));
  for (const size_t size : {size_t{20}, out.bytes().size() - 8}) {
    BinaryReader truncated(out.bytes().first(size), "state");
    EXPECT_THROW(two.load(truncated), InputError);
  }
}

}  // namespace
}  // namespace tunemix::trees
