#include "tunemix/core/random.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <set>

#include "tunemix/core/error.h"

namespace tunemix {
namespace {

// Sum of (seen - expected)^2 / expected over equally likely cells.
double chi_square(const std::vector<int>& counts) {
  const double expected =
      std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
  double sum = 0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

// Six standard deviations above what uniform cells give.
double chi_square_limit(size_t cells) {
  const auto freedom = static_cast<double>(cells - 1);
  return freedom + 6 * std::sqrt(2 * freedom);
}

TEST(Random, IsTheSameForTheSameSeedAndName) {
  Random a(7, "bags");
  Random b(7, "bags");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
}

TEST(Random, StreamsDifferBySeedAndName) {
  std::set<uint64_t> first;
  size_t streams = 0;
  for (const uint64_t seed : {0, 1, 2})
    for (const char* name : {"", "a", "b", "ab", "bags 1", "bags 2"}) {
      Random random(seed, name);
      first.insert(random.next());
      EXPECT_EQ(derive_seed(seed, name), derive_seed(seed, name));
      ++streams;
    }
  EXPECT_EQ(first.size(), streams);
  // Two streams share no run of bits: their outputs agree in about half of all bits.
  Random a(1, "a");
  Random b(1, "b");
  int agreeing = 0;
  for (int i = 0; i < 1000; ++i) agreeing += std::popcount(~(a.next() ^ b.next()));
  EXPECT_NEAR(agreeing, 32000, 6 * std::sqrt(64000 * 0.25));
}

TEST(Random, IsXoshiro256StarStar) {
  // One step by hand from the state {1, 2, 3, 4}: rotl(2 * 5, 7) * 9, and the state that follows.
  const std::vector<uint64_t> state = {1, 2, 3, 4, 0, 0};
  Random random = Random::from_state(state);
  EXPECT_EQ(random.next(), 11520U);
  const std::vector<uint64_t> after = {
      1ULL ^ 4 ^ 2, 2ULL ^ 3 ^ 1, 3ULL ^ 1 ^ (2ULL << 17), (4ULL ^ 2) << 45, 0, 0};
  EXPECT_EQ(random.state(), after);
}

TEST(Random, BelowIsInRangeAndUnbiased) {
  Random random(3);
  for (const uint64_t n : {1, 2, 3, 10, 37}) {
    std::vector<int> counts(n, 0);
    for (int i = 0; i < 60000; ++i) {
      const uint64_t x = random.below(n);
      ASSERT_LT(x, n);
      ++counts[x];
    }
    EXPECT_LT(chi_square(counts), chi_square_limit(n) + 1e-9) << n;
  }
  EXPECT_THROW(random.below(0), InternalError);
}

// With n = 3/4 of 2^64, taking a remainder (or a product without rejection) would hit a third of the results
// twice as often.
TEST(Random, BelowIsUnbiasedForHugeRanges) {
  Random random(4);
  const uint64_t n = 3ULL << 62;
  std::vector<int> thirds(3, 0);
  std::vector<int> residues(3, 0);
  for (int i = 0; i < 60000; ++i) {
    const uint64_t x = random.below(n);
    ASSERT_LT(x, n);
    ++thirds[x / (n / 3)];
    ++residues[x % 3];
  }
  EXPECT_LT(chi_square(thirds), chi_square_limit(3));
  EXPECT_LT(chi_square(residues), chi_square_limit(3));
}

TEST(Random, UniformFillsTheUnitInterval) {
  Random random(5);
  std::vector<int> cells(50, 0);
  for (int i = 0; i < 100000; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    ++cells[static_cast<size_t>(u * 50)];
  }
  EXPECT_LT(chi_square(cells), chi_square_limit(cells.size()));
}

TEST(Random, NormalHasTheMomentsOfAGaussian) {
  Random random(6);
  constexpr int kDraws = 200000;
  double power[5] = {};
  double lagged = 0;
  double last = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    for (int k = 1; k <= 4; ++k) power[k] += std::pow(x, k) / kDraws;
    lagged += x * last / kDraws;
    last = x;
  }
  // Standard deviations of the means of x, x^2, x^3, x^4: 1, sqrt 2, sqrt 15, sqrt 96 over sqrt n.
  const double unit = 5 / std::sqrt(kDraws);
  EXPECT_NEAR(power[1], 0, unit);
  EXPECT_NEAR(power[2], 1, unit * std::sqrt(2.0));
  EXPECT_NEAR(power[3], 0, unit * std::sqrt(15.0));
  EXPECT_NEAR(power[4], 3, unit * std::sqrt(96.0));
  EXPECT_NEAR(lagged, 0, unit);
}

TEST(Random, StateRoundTripsWithTheSpareGaussian) {
  for (const int drawn : {0, 1, 2, 3}) {
    Random random(8);
    for (int i = 0; i < drawn; ++i) random.normal();
    Random copy = Random::from_state(random.state());
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(copy.normal(), random.normal());
      EXPECT_EQ(copy.next(), random.next());
    }
  }
  EXPECT_THROW(Random::from_state(std::vector<uint64_t>{1, 2}), InputError);
}

TEST(Random, ShuffleReachesEveryOrderAlike) {
  Random random(9);
  std::vector<int> counts(24, 0);
  for (int i = 0; i < 48000; ++i) {
    std::vector<int> order = {0, 1, 2, 3};
    random.shuffle(std::span<int>(order));
    size_t rank = 0;
    for (size_t a = 0; a < 4; ++a) {
      rank *= 4 - a;
      for (size_t b = a + 1; b < 4; ++b) rank += order[b] < order[a];
    }
    ++counts[rank];
  }
  EXPECT_LT(chi_square(counts), chi_square_limit(counts.size()));
}

}  // namespace
}  // namespace tunemix
