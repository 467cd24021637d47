#include "tunemix/data/binning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tests/support.h"
#include "tunemix/core/error.h"
#include "tunemix/core/random.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/data/synthetic.h"

namespace tunemix {
namespace {

// One query, features given row by row.
Dataset dataset(std::vector<float> values, size_t d) {
  const size_t n = values.size() / d;
  return Dataset(values, d, {std::vector<int32_t>(n, 0), QueryIndex({0, n}, {"1"})});
}

std::vector<float> column(const Dataset& data, size_t j) {
  std::vector<float> values;
  for (size_t i = 0; i < data.documents(); ++i) values.push_back(data.row(i)[j]);
  return values;
}

void expect_bins_follow_cuts(const Dataset& data, const BinCuts& cuts) {
  for (const BinLayout layout : {BinLayout::kColumns, BinLayout::kPanels}) {
    const BinnedDataset binned(data, cuts, layout, Context(3));
    ASSERT_EQ(binned.layout(), layout);
    for (size_t j = 0; j < data.features(); ++j) {
      const auto t = cuts.thresholds(j);
      for (size_t i = 0; i < data.documents(); ++i) {
        const float x = data.row(i)[j];
        size_t slow = 0;
        for (const float threshold : t) slow += threshold <= x;
        const BinnedDataset::Place& place = binned.place(j);
        const uint8_t byte = binned.column(place.column)[i * binned.width(place.column)];
        for (const size_t given : {slow, slow - std::min<size_t>(slow, 1)})
          for (const bool missing_above : {false, true}) {
            const bool goes_above = missing_above && slow == 0 && cuts.has_missing(j);
            ASSERT_EQ(place.above(static_cast<uint8_t>(given), missing_above)[byte],
                      slow > given || goes_above ? 1 : 0);
          }
        ASSERT_EQ(binned.bin(i, j), slow) << "document " << i << " feature " << j;
        ASSERT_EQ(cuts.bin(j, x), slow);
      }
    }
  }
}

RC_GTEST_PROP(Binning, ExactWhereValuesAreFew, (uint64_t seed)) {
  Random random(seed);
  const size_t d = 1 + random.below(20);
  const size_t n = 1 + random.below(300);
  const size_t distinct = 1 + random.below(60);
  std::vector<float> pool;
  for (size_t k = 0; k < distinct; ++k)
    pool.push_back(random.below(3) == 0 ? static_cast<float>(k) * 1e-45F
                                        : static_cast<float>(random.normal() * 1e3));
  std::vector<float> values(n * d);
  for (float& x : values) x = pool[random.below(distinct)];
  const Dataset data = dataset(values, d);
  const BinCuts cuts = find_cuts(data, 64, Context(2));
  for (size_t j = 0; j < d; ++j) {
    const std::vector<float> x = column(data, j);
    RC_ASSERT(cuts.bins(j) == std::set<float>(x.begin(), x.end()).size());
    // Same bin if and only if same value, and in the same order.
    for (size_t i = 0; i + 1 < n; ++i) {
      RC_ASSERT((x[i] < x[i + 1]) == (cuts.bin(j, x[i]) < cuts.bin(j, x[i + 1])));
      RC_ASSERT((x[i] == x[i + 1]) == (cuts.bin(j, x[i]) == cuts.bin(j, x[i + 1])));
    }
  }
  expect_bins_follow_cuts(data, cuts);
}

RC_GTEST_PROP(Binning, MissingValuesHaveABinOfTheirOwn, (uint64_t seed)) {
  Random random(seed);
  const size_t d = 1 + random.below(20);
  const size_t n = 1 + random.below(600);
  const size_t distinct = 1 + random.below(400);
  std::vector<double> share(d);  // of missing values, in some features none, in some nothing else
  for (double& s : share) s = random.below(3) == 0 ? 0 : random.uniform() * 1.2;
  std::vector<float> values(n * d);
  for (size_t k = 0; k < values.size(); ++k) {
    const bool missing = random.uniform() < share[k % d];
    values[k] =
        missing ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(random.below(distinct));
  }
  const size_t max_bins = 2 + random.below(254);
  const Dataset data = dataset(values, d);
  const BinCuts cuts = find_cuts(data, max_bins, Context(2));
  const BinCuts all = cuts.with_missing();
  for (size_t j = 0; j < d; ++j) {
    std::vector<float> own;
    for (const float x : column(data, j))
      if (!std::isnan(x)) own.push_back(x);
    const bool some = own.size() < n;
    RC_ASSERT(cuts.has_missing(j) == some);
    RC_ASSERT(all.has_missing(j));
    RC_ASSERT(cuts.bins(j) <= std::min<size_t>(255, max_bins + (some ? 1 : 0)));
    for (size_t i = 0; i < n; ++i) {
      const float x = data.row(i)[j];
      if (some) RC_ASSERT((cuts.bin(j, x) == 0) == std::isnan(x));
      RC_ASSERT((all.bin(j, x) == 0) == std::isnan(x));
      if (!std::isnan(x)) RC_ASSERT(all.bin(j, x) == cuts.bin(j, x) + (some ? 0 : 1));
    }
    // The other bins are those of the present values alone.
    if (own.empty()) continue;
    const BinCuts alone =
        find_cuts(dataset(own, 1), some ? std::min<size_t>(max_bins, 254) : max_bins, Context(1));
    RC_ASSERT(std::ranges::equal(alone.thresholds(0), cuts.thresholds(j).subspan(some ? 1 : 0)));
  }
  expect_bins_follow_cuts(data, cuts);
  expect_bins_follow_cuts(data, all);
}

RC_GTEST_PROP(Binning, MonotoneWithinTheLimit, (uint64_t seed)) {
  Random random(seed);
  const size_t n = 1 + random.below(2000);
  const size_t max_bins = 2 + random.below(254);
  std::vector<float> values(n);
  for (float& x : values) x = random.below(4) == 0 ? 0.0F : static_cast<float>(std::exp(4 * random.normal()));
  const Dataset data = dataset(values, 1);
  const BinCuts cuts = find_cuts(data, max_bins, Context(1));
  RC_ASSERT(cuts.bins(0) <= max_bins);
  const auto t = cuts.thresholds(0);
  RC_ASSERT(std::adjacent_find(t.begin(), t.end(), std::greater_equal<>()) == t.end());
  for (const float x : values)
    for (size_t b = 0; b < t.size(); ++b) RC_ASSERT((x >= t[b]) == (cuts.bin(0, x) > b));
  expect_bins_follow_cuts(data, cuts);
}

TEST(Binning, QuantilesAreEven) {
  Random random(5);
  std::vector<float> values(200000);
  for (float& x : values) x = static_cast<float>(random.normal());
  const Dataset data = dataset(values, 1);
  const BinCuts cuts = find_cuts(data, 255, Context(2));
  EXPECT_EQ(cuts.bins(0), 255U);
  std::vector<size_t> counts(255, 0);
  for (const float x : values) ++counts[cuts.bin(0, x)];
  EXPECT_GT(*std::min_element(counts.begin(), counts.end()), 784U / 2);
  EXPECT_LT(*std::max_element(counts.begin(), counts.end()), 784U * 2);
}

TEST(Binning, RareValuesBeyondTheSampleAreFound) {
  // 120 000 documents, more than are sampled; one value in a thousand of a feature is rare.
  constexpr size_t kDocuments = 120000;
  std::vector<float> values(kDocuments * 3);
  for (size_t i = 0; i < kDocuments; ++i) {
    values[3 * i] = static_cast<float>(i % 5);
    values[3 * i + 1] = i % 600 == 7 ? static_cast<float>(1 + i / 600) : 0.0F;  // 200 rare values
    values[3 * i + 2] = i % 300 == 7 ? static_cast<float>(1 + i / 300) : 0.0F;  // 400 of them
  }
  const Dataset data = dataset(values, 3);
  const BinCuts cuts = find_cuts(data, 255, Context(2));
  EXPECT_THAT(cuts.thresholds(0), testing::ElementsAre(0.5F, 1.5F, 2.5F, 3.5F));
  EXPECT_EQ(cuts.bins(1), 201U);
  EXPECT_LE(cuts.bins(2), 255U);
  EXPECT_GT(cuts.bins(2), 100U);
  const BinCuts again = find_cuts(data, 255, Context(1));
  for (size_t j = 0; j < 3; ++j)
    EXPECT_TRUE(std::ranges::equal(cuts.thresholds(j), again.thresholds(j))) << "feature " << j;
  expect_bins_follow_cuts(data, cuts);
}

TEST(Binning, AMissingValueBeyondTheSampleIsFound) {
  constexpr size_t kDocuments = 120000;
  std::vector<float> values(kDocuments * 3);
  for (size_t i = 0; i < kDocuments; ++i)
    for (size_t j = 0; j < 3; ++j) values[3 * i + j] = static_cast<float>(i % (j == 0 ? 5 : 1000));
  // In a feature of few values and in one of many; most documents lack the third.
  values[3 * 77777] = std::numeric_limits<float>::quiet_NaN();
  values[3 * 99999 + 1] = std::numeric_limits<float>::quiet_NaN();
  for (size_t i = 0; i < kDocuments; ++i)
    if (i != 31415) values[3 * i + 2] = std::numeric_limits<float>::quiet_NaN();
  const Dataset data = dataset(values, 3);
  const BinCuts cuts = find_cuts(data, 255, Context(2));
  EXPECT_THAT(cuts.thresholds(0), testing::ElementsAre(BinCuts::kLowest, 0.5F, 1.5F, 2.5F, 3.5F));
  EXPECT_EQ(cuts.bins(1), 255U);
  EXPECT_THAT(cuts.thresholds(2), testing::ElementsAre(BinCuts::kLowest));
  expect_bins_follow_cuts(data, cuts);
}

TEST(Binning, MiddleOfNeighboursEvenAtTheEdgesOfFloat) {
  const float big = 3e38F;
  const float tiny = 1e-45F;
  const Dataset data = dataset({-big, 0, tiny, big, 1, std::nextafter(1.0F, 2.0F)}, 1);
  const BinCuts cuts = find_cuts(data, 255, Context(1));
  EXPECT_EQ(cuts.bins(0), 6U);
  for (const float t : cuts.thresholds(0)) EXPECT_TRUE(std::isfinite(t));
  expect_bins_follow_cuts(data, cuts);
}

TEST(Binning, CutsAreSavedAndLoaded) {
  SyntheticOptions options;
  options.queries = 20;
  const Dataset data = make_synthetic(options, Context(1));
  const BinCuts cuts = find_cuts(data, 32, Context(1));
  BinaryWriter out;
  cuts.save(out);
  BinaryReader in(out.bytes(), "cuts");
  const BinCuts loaded = BinCuts::load(in);
  ASSERT_EQ(loaded.features(), cuts.features());
  for (size_t j = 0; j < cuts.features(); ++j)
    EXPECT_TRUE(std::ranges::equal(loaded.thresholds(j), cuts.thresholds(j)));
  BinaryWriter bad;
  bad.put(std::vector<uint64_t>{0, 2});
  bad.put(std::vector<float>{2, 1});
  BinaryReader bad_in(bad.bytes(), "cuts");
  EXPECT_THROW(BinCuts::load(bad_in), InputError);
}

TEST(Binning, FeaturesWithFewBinsShareColumns) {
  // 10 features with 2 values, 4 with 7 and 119 with 50: these need 3 + 119 columns or more, and 128 are as
  // good, being as many steps of 8.
  constexpr size_t kFeatures = 133;
  Random random(3);
  std::vector<float> values;
  for (size_t i = 0; i < 400; ++i)
    for (size_t j = 0; j < kFeatures; ++j)
      values.push_back(static_cast<float>(random.below(j % 13 == 5 ? 2 : j % 40 == 7 ? 7 : 50)));
  const Dataset data = dataset(values, kFeatures);
  const BinCuts cuts = find_cuts(data, 255, Context(1));
  const BinnedDataset binned(data, cuts, BinLayout::kPanels, Context(2));
  EXPECT_EQ(binned.columns(), 128);
  EXPECT_EQ(BinnedDataset(data, cuts, BinLayout::kColumns, Context(2)).columns(), kFeatures);
  std::vector<int> seen(kFeatures);
  size_t shared = 0;
  for (size_t c = 0; c < binned.columns(); ++c) {
    size_t bins = 1;
    for (const uint32_t j : binned.features_of(c)) {
      ++seen[j];
      bins *= cuts.bins(j);
      EXPECT_EQ(binned.place(j).column, c);
    }
    EXPECT_EQ(binned.column_bins(c), bins);
    EXPECT_LE(bins, 256);
    if (binned.features_of(c).size() > 1) ++shared;
  }
  EXPECT_EQ(seen, std::vector<int>(kFeatures, 1));
  EXPECT_EQ(shared, 1);
  expect_bins_follow_cuts(data, cuts);
}

TEST(Binning, RefusesWhatDoesNotFit) {
  const Dataset data = dataset({1, 2, 3, 4}, 2);
  EXPECT_THROW(find_cuts(data, 1, Context(1)), InputError);
  EXPECT_THROW(find_cuts(data, 256, Context(1)), InputError);
  const BinCuts other(std::vector<std::vector<float>>{{1.0F}});
  EXPECT_THROW(BinnedDataset(data, other, BinLayout::kPanels, Context(1)), InputError);
}

TEST(Binning, RealSet) {
  TUNEMIX_NEED_SHARED_DATA();
  const Dataset data = read_letor(test::shared_data() / "MSLR-sample" / "vali.txt", {}, Context(2));
  const BinCuts cuts = find_cuts(data, 255, Context(2));
  for (size_t j = 0; j < data.features(); ++j) {
    const std::vector<float> x = column(data, j);
    const size_t distinct = std::set<float>(x.begin(), x.end()).size();
    if (distinct <= 255)
      EXPECT_EQ(cuts.bins(j), distinct) << "feature " << j + 1;
    else
      EXPECT_GT(cuts.bins(j), 128U) << "feature " << j + 1;
  }
  expect_bins_follow_cuts(data, cuts);
}

}  // namespace
}  // namespace tunemix
