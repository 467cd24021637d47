// Missing values: filled in by medians and indicators, and passed on by what standardises or shares.
#include "tunemix/data/missing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/data/with_missing.h"
#include "tunemix/data/feature_cdf.h"
#include "tunemix/data/feature_fill.h"
#include "tunemix/data/standardize.h"
#include "tunemix/data/synthetic.h"

namespace tunemix {
namespace {

using testing::ElementsAre;

constexpr FeatureSpan kNone;  // no feature is standardised

Dataset documents(std::vector<float> values, size_t features, std::vector<size_t> offsets) {
  std::vector<int32_t> labels(offsets.back(), 0);
  std::vector<std::string> ids(offsets.size() - 1, "q");
  return Dataset(FloatBuffer(values), features,
                 {.labels = std::move(labels), .queries = QueryIndex(std::move(offsets), std::move(ids))});
}

TEST(Missing, IsFoundAmongOtherValues) {
  EXPECT_FALSE(any_missing(std::vector<float>{}));
  EXPECT_FALSE(any_missing(std::vector<float>{0, -1e38F, 1e38F, INFINITY, -INFINITY}));
  for (size_t at = 0; at < 9; ++at) {
    std::vector<float> values(9, 1);
    values[at] = kMissing;
    EXPECT_TRUE(any_missing(values));
  }
}

TEST(FeatureFill, PutsMediansAndIndicators) {
  const float no = kMissing;
  // Feature 0 is always there; of 4 values the lower of the two in the middle; nobody has feature 2.
  const Dataset data = documents({5, 9, no, 1, no, no, 4, 1, no, 2, 3, no, 7, 2, no}, 3, {0, 2, 5});
  const FeatureFill fill = FeatureFill::fit(data, kNone, Context());
  EXPECT_EQ(fill.features(), 3U);
  EXPECT_EQ(fill.columns(), 5U);
  EXPECT_THAT(fill.indicators(), ElementsAre(1, 2));
  const Dataset filled = fill.apply(data, Context(2));
  EXPECT_THAT(filled.row(0), ElementsAre(5, 9, 0, 0, 1));
  EXPECT_THAT(filled.row(1), ElementsAre(1, 2, 0, 1, 1));
  // A feature that training always had may be missing now, without an indicator.
  const Dataset other = documents({no, 8, 3}, 3, {0, 1});
  EXPECT_THAT(fill.apply(other, Context()).row(0), ElementsAre(4, 8, 3, 0, 0));
}

TEST(FeatureFill, LeavesCompleteDataWhereItIs) {
  const Dataset data = make_synthetic({.queries = 5}, Context());
  const FeatureFill fill = FeatureFill::fit(data, kNone, Context());
  EXPECT_EQ(fill.columns(), data.features());
  EXPECT_EQ(fill.apply(data, Context()).values().data(), data.values().data());
}

// Sorted, as the definition reads.
float slow_median(std::vector<float> values) {
  std::erase_if(values, [](float x) { return std::isnan(x); });
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

TEST(FeatureFill, IsTheDefinitionOnAnyNumberOfThreads) {
  const Dataset data = test::with_missing(
      make_synthetic({.queries = 30, .features = 6, .mean_length = 7, .seed = 3}, Context()), 0.3, 1);
  constexpr FeatureSpan kStandardized{3, 5};
  const FeatureFill fill = FeatureFill::fit(data, kStandardized, Context(3));
  const Dataset filled = fill.apply(data, Context(3));
  ASSERT_EQ(fill.columns(), 12U);
  for (size_t q = 0; q < data.queries().size(); ++q)
    for (size_t j = 0; j < 6; ++j) {
      std::vector<float> values;
      const bool own = kStandardized.contains(j);
      for (size_t i = own ? data.queries().begin(q) : 0; i < (own ? data.queries().end(q) : data.documents());
           ++i)
        values.push_back(data.row(i)[j]);
      const float median = slow_median(values);
      for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i) {
        const float x = data.row(i)[j];
        EXPECT_EQ(filled.row(i)[j], std::isnan(x) ? median : x);
        EXPECT_EQ(filled.row(i)[6 + j], std::isnan(x) ? 1 : 0);
      }
    }
}

TEST(FeatureFill, ComesBackFromItsBytesAndRefusesOthers) {
  const Dataset data = test::with_missing(make_synthetic({.queries = 5, .features = 3}, Context()), 0.3, 1);
  BinaryWriter out;
  FeatureFill::fit(data, {2, 3}, Context()).save(out);
  BinaryReader in(out.bytes(), "the medians");
  const FeatureFill loaded = FeatureFill::load(in);
  in.expect_end();
  const Dataset filled = loaded.apply(data, Context());
  EXPECT_EQ(filled.fingerprint(),
            FeatureFill::fit(data, {2, 3}, Context()).apply(data, Context()).fingerprint());
  for (const auto& indicators : {std::vector<uint32_t>{1, 1}, {2, 1}, {3}}) {
    BinaryWriter bad;
    bad.put(std::vector<float>{1, 2, 3});
    bad.put(indicators);
    BinaryReader reader(bad.bytes(), "bad");
    EXPECT_THROW(FeatureFill::load(reader), InputError);
  }
  BinaryWriter infinite;
  infinite.put(std::vector<float>{INFINITY});
  infinite.put(std::vector<uint32_t>{});
  BinaryReader reader(infinite.bytes(), "infinite");
  EXPECT_THROW(FeatureFill::load(reader), InputError);
}

double mean(const std::vector<float>& values) {
  double sum = 0;
  for (const float x : values) sum += x;
  return sum / static_cast<double>(values.size());
}

// The query without the documents that miss a feature gives the others the same values.
TEST(Standardize, GoesByTheDocumentsThatHaveTheFeature) {
  const Dataset data = test::with_missing(
      make_synthetic({.queries = 20, .features = 5, .mean_length = 8, .seed = 5}, Context()), 0.4, 2);
  const Dataset replaced = standardize(data, Standardize::kReplace, Context(2));
  const Dataset appended = standardize(data, Standardize::kAppend, Context(2));
  const Dataset context = standardize(data, Standardize::kContext, Context(2));
  size_t constant = 0;
  for (size_t j = 0; j < 5; ++j)
    for (size_t q = 0; q < data.queries().size(); ++q) {
      std::vector<float> there;
      for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i)
        if (!is_missing(data.row(i)[j])) there.push_back(data.row(i)[j]);
      const size_t n = there.size();
      const Dataset alone = n == 0 ? documents({0}, 1, {0, 1}) : documents(there, 1, {0, n});
      const Dataset expected = standardize(alone, Standardize::kReplace, Context());
      constant += n == 1 ? 1 : 0;
      size_t k = 0;
      for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i) {
        const bool missing = is_missing(data.row(i)[j]);
        EXPECT_EQ(is_missing(replaced.row(i)[j]), missing);
        EXPECT_EQ(is_missing(appended.row(i)[j]), missing);
        EXPECT_EQ(is_missing(context.row(i)[10 + j]), n == 0);
        if (n > 0) {
          EXPECT_FLOAT_EQ(context.row(i)[10 + j], static_cast<float>(mean(there)));
        }
        if (!missing) {
          EXPECT_EQ(replaced.row(i)[j], expected.row(k)[0]);
          EXPECT_EQ(appended.row(i)[j], data.row(i)[j]);
          EXPECT_EQ(appended.row(i)[5 + j], expected.row(k++)[0]);
        }
      }
    }
  EXPECT_GT(constant, 0U);
}

TEST(FeatureCdf, LeavesMissingValuesOut) {
  const float no = kMissing;
  const Dataset data = documents({1, no, 2, no, no, no, 3, no}, 2, {0, 4});
  const FeatureCdf cdf = FeatureCdf::fit(data, Context());
  EXPECT_EQ(cdf.at(0, 1), 0);
  EXPECT_FLOAT_EQ(cdf.at(0, 2), 0.5F);
  EXPECT_FLOAT_EQ(cdf.at(0, 3), 1);
  EXPECT_TRUE(is_missing(cdf.at(0, no)));
  EXPECT_TRUE(is_missing(cdf.at(1, no)));  // nobody has it
  EXPECT_TRUE(std::isfinite(cdf.at(1, 5)));
  // The median of the shares is the share of the median.
  const Dataset shares = cdf.apply(data, Context());
  EXPECT_EQ(FeatureFill::fit(shares, kNone, Context()).apply(shares, Context()).row(2)[0], cdf.at(0, 2));
}

}  // namespace
}  // namespace tunemix
