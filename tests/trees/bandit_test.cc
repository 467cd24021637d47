#include "trees/bandit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tunemix {
namespace {

const std::vector<BanditKind> kKinds = {BanditKind::kExp3A, BanditKind::kValue, BanditKind::kExp3G,
                                        BanditKind::kExp3,  BanditKind::kExp3P, BanditKind::kUcb1,
                                        BanditKind::kUcbV,  BanditKind::kRandom};

BanditOptions of(BanditKind kind) {
  BanditOptions options;
  options.kind = kind;
  return options;
}

// Draws and pays each arm what `paid` says of it.
template <typename Paid>
std::vector<uint32_t> play_once(Bandit& bandit, size_t count, Random& random, Paid paid, double weight = 1) {
  std::vector<uint32_t> arms = bandit.draw(count, random);
  std::vector<double> rewards;
  for (const uint32_t arm : arms) rewards.push_back(paid(arm));
  bandit.reward(arms, rewards, weight);
  return arms;
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

TEST(Bandit, ProbabilitiesSumToOneAndStayPositiveOverManyPulls) {
  for (const BanditKind kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    const int pulls = 100000;
    auto bandit = make_bandit(of(kind), 1000);
    Random random(7);
    for (int t = 0; t < pulls; ++t) {
      // Rewards of up to 1 for the first arms: the worst for overflow.
      const std::vector<uint32_t> arms = play_once(*bandit, 2, random, [](uint32_t arm) {
        return arm < 3 ? 1.0 : arm % 2 == 0 ? 0.1 : 0.0;
      });
      if (kind != BanditKind::kValue || t > 0) {
        ASSERT_EQ(arms.size(), 2U);
        ASSERT_NE(arms[0], arms[1]);
      }
      if (t % 10000 == 0 || t == pulls - 1) {
        const std::vector<double> p = bandit->probabilities();
        EXPECT_NEAR(sum(p), 1, 1e-9);
        EXPECT_GT(*std::min_element(p.begin(), p.end()), 0);
      }
    }
  }
}

TEST(Bandit, PrefersAMuchBetterArm) {
  for (const BanditKind kind : kKinds) {
    if (kind == BanditKind::kRandom) continue;
    SCOPED_TRACE(static_cast<int>(kind));
    BanditOptions options = of(kind);
    options.horizon = 20000;
    auto bandit = make_bandit(options, 10);
    Random random(3);
    std::vector<int> drawn(10, 0);
    for (int t = 0; t < 20000; ++t)
      play_once(*bandit, 1, random, [&](uint32_t arm) {
        ++drawn[arm];
        return random.uniform() < (arm == 6 ? 0.7 : 0.2) ? 1.0 : 0.0;
      });
    EXPECT_EQ(std::max_element(drawn.begin(), drawn.end()) - drawn.begin(), 6);
    EXPECT_GT(drawn[6], 2200);
  }
}

// What boosting pays. A few arms earn .020 where the others earn .015, give or take, and all of it shrinks.
// Relative to chance, as `value` is paid: the others a fifth, give or take as much as they have in late
// rounds of mslr10k, and the good ones two and a half times as much.
struct Shrinking {
  explicit Shrinking(BanditKind kind) : relative(kind == BanditKind::kValue) {}

  bool relative;
  size_t arms = 200;
  size_t good = 10;
  size_t first_good = 0;
  double shrink = 1e-4;  // a pull
  double scale = 1;

  double paid(uint32_t arm, Random& random) const {
    if (relative) return (is_good(arm) ? 0.5 : 0.2) + 0.3 * (random.uniform() - 0.5);
    return scale * ((is_good(arm) ? 0.020 : 0.015) + 0.004 * (random.uniform() - 0.5));
  }
  bool is_good(uint32_t arm) const { return (arm + arms - first_good) % arms < good; }
  // The share of good arms among those drawn.
  double play(Bandit& bandit, size_t count, int pulls, Random& random, double* largest = nullptr) {
    double hits = 0;
    for (int t = 0; t < pulls; ++t) {
      play_once(bandit, count, random, [&](uint32_t arm) {
        hits += is_good(arm) ? 1 : 0;
        return paid(arm, random);
      });
      scale *= 1 - shrink;
      if (largest != nullptr && t % 50 == 0) {
        const std::vector<double> p = bandit.probabilities();
        *largest = std::max(*largest, *std::max_element(p.begin(), p.end()));
      }
    }
    return hits / (static_cast<double>(pulls) * static_cast<double>(count));
  }
};

TEST(Bandit, LearnsFromRewardsOfTheRealSize) {
  for (const BanditKind kind : {BanditKind::kExp3A, BanditKind::kValue})
    for (const size_t count : {1, 4}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(kind) << ", " << count << " arms");
      Random random(17);
      Shrinking problem(kind);
      auto bandit = make_bandit(of(kind), problem.arms);
      double largest = 0;
      problem.play(*bandit, count, static_cast<int>(1200 / count), random, &largest);
      // 1200 arms are six each: by then the good ones, a twentieth of all, come more than twice as often.
      EXPECT_GT(problem.play(*bandit, count, static_cast<int>(2000 / count), random, &largest), 2.2 * 0.05);
      EXPECT_LT(largest, 0.5);
    }
}

// With as many pulls as arms, drawing without repetition would give each its turn and nothing more.
TEST(Bandit, PullsGoodArmsAgainBeforeAllHaveBeenPulled) {
  Random random(29);
  Shrinking problem(BanditKind::kExp3A);
  problem.arms = 1000;
  auto bandit = make_bandit(of(BanditKind::kExp3A), problem.arms);
  problem.play(*bandit, 1, 500, random);
  const double share = static_cast<double>(problem.good) / static_cast<double>(problem.arms);
  EXPECT_GT(problem.play(*bandit, 1, 500, random), 2 * share);
}

TEST(Bandit, ValueSeesAllArmsFirstAndKnowsTheGoodOnesFromThenOn) {
  Random random(29);
  Shrinking problem(BanditKind::kValue);
  problem.arms = 1000;
  auto bandit = make_bandit(of(BanditKind::kValue), problem.arms);
  EXPECT_EQ(play_once(*bandit, 4, random, [&](uint32_t arm) { return problem.paid(arm, random); }).size(),
            1000U);
  const double share = static_cast<double>(problem.good) / static_cast<double>(problem.arms);
  EXPECT_GT(problem.play(*bandit, 1, 5000, random), 2 * share);
}

TEST(Bandit, LearnsAnewWhenOtherArmsBecomeGood) {
  for (const BanditKind kind : {BanditKind::kExp3A, BanditKind::kValue}) {
    SCOPED_TRACE(static_cast<int>(kind));
    Random random(19);
    Shrinking problem(kind);
    auto bandit = make_bandit(of(kind), problem.arms);
    problem.play(*bandit, 4, 2000, random);
    problem.first_good = 100;
    problem.play(*bandit, 4, 1500, random);
    EXPECT_GT(problem.play(*bandit, 4, 1000, random), 1.7 * 0.05);
  }
}

// Where some arms are surely better than chance they are as likely as each other, however much better they
// are; and where none is, all are.
TEST(Bandit, ValueTellsArmsFromChanceAndNoMore) {
  for (const double good : {1.0, 0.2}) {
    Random random(37);
    auto bandit = make_bandit(of(BanditKind::kValue), 100);
    for (int t = 0; t < 500; ++t)
      play_once(*bandit, 4, random, [&](uint32_t arm) { return arm < 20 ? good : 0.2; });
    const std::vector<double> p = bandit->probabilities();
    const auto [least, most] = std::minmax_element(p.begin(), p.begin() + 20);
    EXPECT_DOUBLE_EQ(*least, *most);
    if (good == 1)
      EXPECT_GT(*least, 2 * p[50]);
    else
      EXPECT_DOUBLE_EQ(*least, p[50]);
  }
}

// The more of its arms are good anyhow, the more a draw of several is uniform; one arm alone never is.
TEST(Bandit, ValueDrawsUniformlyWhereManyArmsAreGood) {
  const size_t arms = 100;
  for (const size_t good : {3, 10, 20, 50})
    for (const size_t count : {1, 4, 16}) {
      SCOPED_TRACE(testing::Message() << good << " good arms, " << count << " drawn");
      Random random(41);
      auto bandit = make_bandit(of(BanditKind::kValue), arms);
      const auto paid = [&](uint32_t arm) { return arm < good ? 1.0 : 0.1; };
      for (int t = 0; t < 3; ++t) play_once(*bandit, count, random, paid);
      std::vector<double> w;
      for (uint32_t j = 0; j < arms; ++j) w.push_back(std::max(std::pow(paid(j), 4), 0.01));
      double squares = 0;
      for (const double weight : w) squares += weight * weight;
      const double share = sum(w) * sum(w) / squares / static_cast<double>(arms);
      const double uniform = std::clamp(static_cast<double>(count - 1) * share, 0.4, 1.0);
      const std::vector<double> p = bandit->probabilities();
      for (size_t j = 0; j < arms; ++j)
        EXPECT_NEAR(p[j], (1 - uniform) * w[j] / sum(w) + uniform / static_cast<double>(arms), 1e-12);
      EXPECT_EQ(p[0] > 1.01 * p[99], count == 1 || 10 * (count - 1) * good < 9 * arms);
    }
}

TEST(Bandit, NoArmTakesOverWhereAllAreAlike) {
  for (const BanditKind kind : kKinds)
    for (const double size : {0.02, 0.4}) {  // of the rewards: of stumps, and inside trees
      SCOPED_TRACE(testing::Message() << static_cast<int>(kind) << ", rewards of " << size);
      Random random(23);
      auto bandit = make_bandit(of(kind), 46);
      double largest = 0;
      for (int t = 0; t < 30000; ++t) {
        play_once(*bandit, 1, random, [&](uint32_t) { return size * (0.5 + random.uniform()); });
        if (t % 100 != 0 || t < 1000) continue;
        const std::vector<double> p = bandit->probabilities();
        largest = std::max(largest, *std::max_element(p.begin(), p.end()));
      }
      EXPECT_LT(largest, 0.5);
    }
}

std::vector<double> state_probabilities(Bandit& bandit, std::span<const uint8_t> state) {
  BinaryReader in(state, "state");
  bandit.load(in);
  return bandit.probabilities();
}

TEST(Bandit, DrawsAsItsProbabilitiesSay) {
  for (const BanditKind kind :
       {BanditKind::kExp3A, BanditKind::kValue, BanditKind::kExp3G, BanditKind::kExp3}) {
    SCOPED_TRACE(static_cast<int>(kind));
    auto bandit = make_bandit(of(kind), 5);
    Random random(11);
    for (int t = 0; t < 40; ++t) play_once(*bandit, 2, random, [](uint32_t arm) { return 0.1 * arm; });
    const std::vector<double> p = bandit->probabilities();
    std::vector<double> share(5, 0.0);
    const int draws = 200000;
    for (int t = 0; t < draws; ++t) share[bandit->draw(1, random)[0]] += 1.0 / draws;
    for (size_t j = 0; j < 5; ++j) EXPECT_NEAR(share[j], p[j], 5 * std::sqrt(p[j] / draws));
  }
}

// exp3 adds (g/A) * estimate to ln w of a drawn arm and nothing to the others. Over many draws of several
// arms from the same state, the estimates must average to the rewards themselves.
TEST(Bandit, EstimatesFromSeveralArmsAreRightOnAverage) {
  const size_t arms = 6;
  const double g = 0.05;
  auto bandit = make_bandit(of(BanditKind::kExp3), arms);
  BinaryWriter uneven;
  uneven.put(std::vector<double>{0.0, 2.0, 1.0, 0.5, -1.0, 1.5});
  const std::vector<double> paid = {0.3, 0.2, 0.5, 0.1, 0.4, 0.25};
  const auto log_weights = [&](const std::vector<double>& p) {
    std::vector<double> logs(arms);
    for (size_t j = 0; j < arms; ++j) logs[j] = std::log((p[j] - g / arms) / (1 - g));
    return logs;
  };
  for (const size_t count : {1, 3, 5}) {
    Random random(29);
    const int draws = 60000;
    std::vector<double> mean(arms, 0.0);
    std::vector<double> square(arms, 0.0);
    for (int t = 0; t < draws; ++t) {
      const std::vector<double> before = log_weights(state_probabilities(*bandit, uneven.bytes()));
      const std::vector<uint32_t> drawn =
          play_once(*bandit, count, random, [&](uint32_t arm) { return paid[arm]; });
      const std::vector<double> after = log_weights(bandit->probabilities());
      uint32_t still = 0;  // an arm that was not drawn, whose ln w stays
      while (std::find(drawn.begin(), drawn.end(), still) != drawn.end()) ++still;
      const double start[] = {0.0, 2.0, 1.0, 0.5, -1.0, 1.5};
      for (const uint32_t arm : drawn) {
        const double gained = (after[arm] - after[still]) - (before[arm] - before[still]);
        const double estimate = (gained + 0.01 * start[arm]) * arms / g;  // 0.01 of ln w is forgotten
        mean[arm] += estimate / draws;
        square[arm] += estimate * estimate / draws;
      }
    }
    for (size_t j = 0; j < arms; ++j)
      EXPECT_NEAR(mean[j], paid[j], 5 * std::sqrt(square[j] / draws)) << count << " arms, arm " << j;
  }
}

// Against the formulas, written out without log space and prefix sums.
TEST(Bandit, FollowsTheFormulas) {
  const size_t arms = 4;
  for (const BanditKind kind :
       {BanditKind::kExp3A, BanditKind::kValue, BanditKind::kExp3G, BanditKind::kExp3, BanditKind::kExp3P}) {
    SCOPED_TRACE(static_cast<int>(kind));
    std::vector<double> paid = {0.10, 0.05, 0.30, 0.28};
    BanditOptions options = with_defaults(of(kind));
    options.horizon = 100;
    auto bandit = make_bandit(options, arms);
    const double g = options.exploration;
    std::vector<double> w(arms, 1.0);
    std::vector<double> values(arms);
    std::vector<double> seen;  // the rewards so far
    const auto probabilities = [&] {
      std::vector<double> p(arms);
      for (size_t j = 0; j < arms; ++j) {
        p[j] = (1 - g) * w[j] / sum(w);
        p[j] += kind == BanditKind::kExp3G ? g / std::max(4.0, static_cast<double>(seen.size())) : g / 4;
      }
      const double all = sum(p);
      for (double& value : p) value /= all;
      return p;
    };
    double mean = 0;
    double deviation = 0;
    Random random(31);
    if (kind == BanditKind::kValue) {
      for (double& reward : paid) reward *= 2.5;  // so that some are above 1/A after the fourth power
      EXPECT_EQ(play_once(
                    *bandit, 1, random, [&](uint32_t arm) { return paid[arm]; }, 0.1)
                    .size(),
                arms);
      for (size_t j = 0; j < arms; ++j) {
        values[j] = paid[j];
        w[j] = std::max(0.25, std::pow(values[j], 4));
      }
    }
    for (int t = 0; t < 30; ++t) {
      const std::vector<double> p = probabilities();
      const double larger = 1 + 0.1 * (t % 3);
      const double weight = t % 4 == 3 ? 0.1 : 1;
      const uint32_t arm = play_once(
                               *bandit, 1, random, [&](uint32_t j) { return paid[j] * larger; }, weight)
                               .at(0);
      if (kind == BanditKind::kExp3G && t < 4) {
        EXPECT_EQ(arm, static_cast<uint32_t>(t));
      }
      const double reward = paid[arm] * larger;
      switch (kind) {
        case BanditKind::kExp3:
          w[arm] = std::pow(w[arm], 0.99) * std::exp(g / 4 * reward / p[arm]);
          break;
        case BanditKind::kExp3P:
          w[arm] = std::pow(w[arm], 0.99) * std::exp(g / (3 * 4) * reward / p[arm]);
          for (size_t j = 0; j < arms; ++j)
            w[j] *= std::exp(g / (3 * 4) * options.confidence / (p[j] * std::sqrt(4 * 100.0)));
          break;
        case BanditKind::kExp3G:
          w[arm] = std::min(4.0, std::pow(w[arm], 0.95) * std::exp(0.5 * reward));
          break;
        case BanditKind::kExp3A: {
          const double advantage =
              deviation > 0 ? std::clamp((reward - mean) / (2 * deviation), -1.0, 1.0) : 0.0;
          const double step = std::clamp(options.rate / 4 * advantage / p[arm], -2.0, 2.0);
          w[arm] = std::clamp(std::pow(w[arm], 0.95) * std::exp(step), 0.5, 2.0);
          break;
        }
        default: {
          values[arm] += options.rate * weight * (reward - values[arm]);
          w[arm] = std::max(0.25, std::pow(values[arm], 4));
        }
      }
      // Both over all rewards so far, as long as they are few.
      seen.push_back(reward);
      const double n = static_cast<double>(seen.size());
      deviation = (deviation * (n - 1) + std::abs(reward - mean)) / n;
      mean = sum(seen) / n;
      const std::vector<double> expected = probabilities();
      const std::vector<double> actual = bandit->probabilities();
      for (size_t j = 0; j < arms; ++j) EXPECT_NEAR(actual[j], expected[j], 1e-9) << "pull " << t;
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
        const auto arms = play_once(bandit, 3, r, [](uint32_t arm) { return arm / 100.0; });
        all.insert(all.end(), arms.begin(), arms.end());
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
    EXPECT_EQ(play_once(*bandit, 6, random, [](uint32_t) { return 0.1; }).size(), 6U);
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
