#include "tunemix/trees/bandit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tunemix {
namespace {

const std::vector<BanditKind> kKinds = {BanditKind::kExp3G, BanditKind::kExp3, BanditKind::kExp3P,
                                        BanditKind::kUcb1,  BanditKind::kUcbV, BanditKind::kRandom};

BanditOptions of(BanditKind kind) {
  BanditOptions options;
  options.kind = kind;
  return options;
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

TEST(Bandit, ProbabilitiesSumToOneAndStayPositiveOverManyPulls) {
  for (const BanditKind kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    const int pulls = 100000;
    auto bandit = make_bandit(of(kind), 1000);
    Random random(7);
    for (int t = 0; t < pulls; ++t) {
      const std::vector<uint32_t> arms = bandit->draw(2, random);
      ASSERT_EQ(arms.size(), 2U);
      ASSERT_NE(arms[0], arms[1]);
      // Rewards of up to 1 for the first arms: the worst for overflow.
      bandit->reward(arms, std::vector<double>{arms[0] < 3 ? 1.0 : 0.1, arms[1] < 3 ? 1.0 : 0.0});
      if (t % 10000 == 0 || t == pulls - 1) {
        const std::vector<double> p = bandit->probabilities();
        EXPECT_NEAR(sum(p), 1, 1e-9);
        EXPECT_GT(*std::min_element(p.begin(), p.end()), 0);
      }
    }
  }
}

TEST(Bandit, PrefersTheBetterArm) {
  for (const BanditKind kind : kKinds) {
    if (kind == BanditKind::kRandom) continue;
    SCOPED_TRACE(static_cast<int>(kind));
    BanditOptions options = of(kind);
    options.horizon = 20000;
    auto bandit = make_bandit(options, 10);
    Random random(3);
    std::vector<int> drawn(10, 0);
    for (int t = 0; t < 20000; ++t) {
      const std::vector<uint32_t> arms = bandit->draw(1, random);
      ++drawn[arms[0]];
      const double mean = arms[0] == 6 ? 0.7 : 0.2;
      bandit->reward(arms, std::vector<double>{random.uniform() < mean ? 1.0 : 0.0});
    }
    EXPECT_EQ(std::max_element(drawn.begin(), drawn.end()) - drawn.begin(), 6);
    EXPECT_GT(drawn[6], 4000);
    const std::vector<double> p = bandit->probabilities();
    EXPECT_EQ(std::max_element(p.begin(), p.end()) - p.begin(), 6);
  }
}

TEST(Bandit, DrawsAsItsProbabilitiesSay) {
  auto bandit = make_bandit(of(BanditKind::kExp3G), 5);
  bandit->reward(std::vector<uint32_t>{1, 3}, std::vector<double>{0.2, 0.4});
  const std::vector<double> p = bandit->probabilities();
  Random random(11);
  std::vector<double> share(5, 0.0);
  const int draws = 200000;
  for (int t = 0; t < draws; ++t) share[bandit->draw(1, random)[0]] += 1.0 / draws;
  for (size_t j = 0; j < 5; ++j) EXPECT_NEAR(share[j], p[j], 5 * std::sqrt(p[j] / draws));
}

// Against the formulas of the spec, written out without log space.
TEST(Bandit, FollowsTheFormulas) {
  const double g = 0.05;
  const size_t arms = 4;
  const std::vector<std::pair<uint32_t, double>> paid = {{2, 0.3}, {0, 0.1}, {2, 0.25}, {3, 0.05}};
  for (const BanditKind kind : {BanditKind::kExp3G, BanditKind::kExp3, BanditKind::kExp3P}) {
    SCOPED_TRACE(static_cast<int>(kind));
    BanditOptions options = of(kind);
    options.horizon = 100;
    const double a = options.confidence;
    auto bandit = make_bandit(options, arms);
    std::vector<double> w(arms,
                          kind == BanditKind::kExp3P ? std::exp(a * g / 3 * std::sqrt(100.0 / 4)) : 1.0);
    const auto probabilities = [&] {
      std::vector<double> p(arms);
      for (size_t j = 0; j < arms; ++j) p[j] = (1 - g) * w[j] / sum(w) + g / 4;
      return p;
    };
    for (const auto& [arm, reward] : paid) {
      const std::vector<double> p = probabilities();
      bandit->reward(std::vector<uint32_t>{arm}, std::vector<double>{reward});
      if (kind == BanditKind::kExp3P)
        for (size_t j = 0; j < arms; ++j) {
          const double estimate = j == arm ? reward / p[j] : 0;
          w[j] *= std::exp(g / (3 * 4) * (estimate + a / (p[j] * std::sqrt(4 * 100.0))));
        }
      else
        w[arm] *= std::exp((kind == BanditKind::kExp3 ? g / 4 : 0.5) * reward / p[arm]);
      const std::vector<double> expected = probabilities();
      const std::vector<double> actual = bandit->probabilities();
      for (size_t j = 0; j < arms; ++j) EXPECT_NEAR(actual[j], expected[j], 1e-12);
    }
  }
}

TEST(Bandit, GoesOnAfterSaveAndLoadAsBefore) {
  for (const BanditKind kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    auto one = make_bandit(of(kind), 50);
    Random random(5);
    const auto play = [](Bandit& bandit, Random& r) {
      std::vector<uint32_t> all;
      for (int t = 0; t < 200; ++t) {
        const std::vector<uint32_t> arms = bandit.draw(3, r);
        all.insert(all.end(), arms.begin(), arms.end());
        std::vector<double> rewards;
        for (const uint32_t arm : arms) rewards.push_back(arm / 100.0);
        bandit.reward(arms, rewards);
      }
      return all;
    };
    play(*one, random);
    one->settle();
    BinaryWriter out;
    one->save(out);
    auto two = make_bandit(of(kind), 50);
    BinaryReader in(out.bytes(), "state");
    two->load(in);
    Random copy = random;
    EXPECT_EQ(play(*one, random), play(*two, copy));
  }
}

TEST(Bandit, ManyArmsAreDrawnAtOnce) {
  for (const BanditKind kind : kKinds) {
    Random random(1);
    auto bandit = make_bandit(of(kind), 6);
    EXPECT_EQ(bandit->draw(6, random).size(), 6U);
    EXPECT_EQ(bandit->draw(100, random).size(), 6U);
    std::vector<uint32_t> five = bandit->draw(5, random);
    std::sort(five.begin(), five.end());
    EXPECT_EQ(std::unique(five.begin(), five.end()) - five.begin(), 5);
  }
  EXPECT_THROW(make_bandit(of(BanditKind::kNone), 3), InputError);
  EXPECT_THROW(make_bandit(of(BanditKind::kExp3G), 0), InputError);
}

TEST(Bandit, TheRewardIsThatOfThePaperAndBounded) {
  EXPECT_NEAR(bandit_reward(0.5), -std::log(std::sqrt(1 - 0.25)), 1e-15);
  EXPECT_EQ(bandit_reward(0), 0);
  EXPECT_EQ(bandit_reward(1), 1);
  EXPECT_EQ(bandit_reward(0.99), 1);
}

}  // namespace
}  // namespace tunemix
