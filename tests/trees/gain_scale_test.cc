#include "trees/gain_scale.h"

#include <gtest/gtest.h>

#include "tunemix/core/random.h"

namespace tunemix::trees {
namespace {

double reward_of(GainScale& scale, double gain, size_t documents, size_t all) {
  std::vector<double> gains = {gain};
  scale.reward(gains, documents, all);
  return gains[0];
}

// One search has one scale, and the first its own: the order of the features must not matter.
TEST(GainScale, TheFirstSearchIsMeasuredByItself) {
  std::vector<double> gains(1000);
  for (size_t k = 0; k < gains.size(); ++k) gains[k] = static_cast<double>(1 + (k * 7) % 1000);
  std::vector<double> rewards = gains;
  GainScale scale;
  scale.reward(rewards, 50, 50);
  for (size_t k = 0; k < gains.size(); ++k) EXPECT_NEAR(rewards[k], gains[k] / (2 * 901), 1e-12) << k;
  EXPECT_NEAR(reward_of(scale, 901, 50, 50), 0.5, 1e-12);
}

TEST(GainScale, RewardsKeepTheirSizeAsGainsShrink) {
  GainScale scale;
  Random random(3);
  double gain = 1e9;
  double early = 0;
  double late = 0;
  for (int t = 0; t < 20000; ++t) {
    const double reward = reward_of(scale, gain * random.uniform(), 1000, 1000);
    ASSERT_GE(reward, 0);
    ASSERT_LE(reward, 1);
    if (t >= 1000 && t < 2000) early += reward / 1000;
    if (t >= 19000) late += reward / 1000;
    gain *= 0.9995;
  }
  EXPECT_LT(gain, 1e5);
  // The mean of uniform gains is 0.5; twice their 0.9-quantile is 1.8.
  EXPECT_NEAR(early, 0.5 / 1.8, 0.03);
  EXPECT_NEAR(late, 0.5 / 1.8, 0.03);
}

TEST(GainScale, SmallLeavesAreMeasuredAmongThemselves) {
  GainScale scale;
  double root = 0;
  double leaf = 0;
  for (int t = 0; t < 2000; ++t) {
    root = reward_of(scale, 100 + t % 7, 1024, 1024);
    leaf = reward_of(scale, 1 + 0.01 * (t % 7), 16, 1024);
  }
  EXPECT_GT(leaf, 0.8 * root);
}

TEST(GainScale, NothingGainedIsNothingPaid) {
  GainScale scale;
  EXPECT_EQ(reward_of(scale, 0, 10, 10), 0);
  EXPECT_EQ(reward_of(scale, -1e-9, 10, 10), 0);
  EXPECT_GT(reward_of(scale, 1e-9, 10, 10), 0);
  EXPECT_GT(reward_of(scale, 1, 0, 10), 0) << "no documents are the smallest leaf";
}

TEST(GainScale, GoesOnAfterSaveAndLoadAsBefore) {
  GainScale one;
  Random random(5);
  for (int t = 0; t < 100; ++t) reward_of(one, random.uniform(), 1 + random.below(1000), 1000);
  BinaryWriter out;
  one.save(out);
  GainScale two;
  BinaryReader in(out.bytes(), "state");
  two.load(in);
  for (int t = 0; t < 100; ++t) {
    const double gain = random.uniform();
    const size_t documents = 1 + random.below(1000);
    EXPECT_EQ(reward_of(one, gain, documents, 1000), reward_of(two, gain, documents, 1000));
  }
  BinaryReader truncated(out.bytes().first(20), "state");
  EXPECT_THROW(two.load(truncated), InputError);
}

}  // namespace
}  // namespace tunemix::trees
