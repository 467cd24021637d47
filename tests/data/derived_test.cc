// Data sets made from others: shares of features, some features, other labels, copies of queries.
#include "tunemix/data/derived.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tunemix/data/feature_cdf.h"
#include "tunemix/data/synthetic.h"

namespace tunemix {
namespace {

Dataset made(size_t queries, uint64_t seed = 1) {
  return make_synthetic({.queries = queries, .features = 6, .labels = 3, .mean_length = 9, .seed = seed},
                        Context());
}

struct Counts {
  double absent = 0;
  double negative = 0;
  double smaller = 0;
  double equal = 0;
};

Counts count(const Dataset& data, size_t feature, float value) {
  Counts counts;
  for (size_t i = 0; i < data.documents(); ++i) {
    const float x = data.row(i)[feature];
    counts.absent += x == 0 ? 1 : 0;
    counts.negative += x < 0 ? 1 : 0;
    counts.smaller += x < value ? 1 : 0;
    counts.equal += x == value ? 1 : 0;
  }
  return counts;
}

bool can_be_absent(const Dataset& data, size_t feature) {
  const Counts counts = count(data, feature, 0);
  return counts.absent > 0 && counts.negative == 0;
}

// |{j: x_j < x}| / (n - 1), as the definition reads; where 0 stands for absent, 0 for that, and of the
// documents that have the feature those with a smaller value and half of those with the same.
double slow_share(const Dataset& data, size_t feature, float value) {
  const Counts counts = count(data, feature, value);
  const auto n = static_cast<double>(data.documents());
  if (!can_be_absent(data, feature)) return std::min(1.0, counts.smaller / (n - 1));
  return value <= 0 ? 0 : (counts.smaller - counts.absent + counts.equal / 2) / (n - counts.absent);
}

TEST(Derived, WidenedDataHasZerosBehind) {
  const Dataset data = made(3);
  const Dataset wide = widened(data, data.features() + 2, Context(2));
  ASSERT_EQ(wide.features(), data.features() + 2);
  for (size_t i = 0; i < data.documents(); ++i) {
    EXPECT_TRUE(std::equal(data.row(i).begin(), data.row(i).end(), wide.row(i).begin()));
    EXPECT_EQ(wide.row(i)[data.features()], 0);
    EXPECT_EQ(wide.row(i)[data.features() + 1], 0);
  }
  EXPECT_EQ(widened(data, data.features(), Context(1)).values().data(), data.values().data());
}

TEST(FeatureCdf, IsTheDefinitionWhereValuesAreFew) {
  const Dataset data = made(20);
  ASSERT_LE(data.documents(), FeatureCdf::kKnots);
  const Dataset shares = FeatureCdf::fit(data, Context(2)).apply(data, Context(2));
  ASSERT_EQ(shares.features(), data.features());
  for (size_t i = 0; i < data.documents(); ++i)
    for (size_t j = 0; j < data.features(); ++j)
      EXPECT_FLOAT_EQ(shares.row(i)[j], static_cast<float>(slow_share(data, j, data.row(i)[j])));
  // Also for values that it has not seen; where some are absent, these are on a line between those that it
  // has.
  const FeatureCdf cdf = FeatureCdf::fit(data, Context());
  const Dataset other = made(10, 2);
  size_t of_each_kind[2] = {0, 0};
  for (size_t i = 0; i < other.documents(); ++i)
    for (size_t j = 0; j < data.features(); ++j) {
      const float value = other.row(i)[j];
      const bool absent = can_be_absent(data, j);
      const double tolerance = absent && value > 0 && count(data, j, value).equal == 0 ? 0.1 : 1e-6;
      EXPECT_NEAR(cdf.at(j, value), slow_share(data, j, value), tolerance);
      ++of_each_kind[absent ? 1 : 0];
    }
  EXPECT_GT(of_each_kind[0], 0U);
  EXPECT_GT(of_each_kind[1], 0U);
  EXPECT_TRUE(std::equal(shares.labels().begin(), shares.labels().end(), data.labels().begin()));
}

// A rare feature keeps its scale, and one that is there or not is not lost.
TEST(FeatureCdf, LeavesOutDocumentsThatDoNotHaveTheFeature) {
  std::vector<float> values(3 * 100, 0.0F);
  for (size_t i = 0; i < 4; ++i) {
    values[3 * i] = static_cast<float>(i + 1);  // 1, 2, 3, 4 and 96 times absent
    values[3 * i + 1] = 7;                      // there or not
  }
  for (size_t i = 0; i < 100; ++i)
    values[3 * i + 2] = static_cast<float>(i) - 50;  // 0 is a value like others
  const Dataset data(values, 3, {std::vector<int32_t>(100, 0), QueryIndex({0, 100}, {"q"})});
  const FeatureCdf cdf = FeatureCdf::fit(data, Context());
  EXPECT_EQ(cdf.at(0, 0), 0);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_FLOAT_EQ(cdf.at(0, static_cast<float>(i + 1)), (static_cast<float>(i) + 0.5F) / 4);
  EXPECT_FLOAT_EQ(cdf.at(0, 2.5F), 0.5F);
  EXPECT_EQ(cdf.at(0, 9), 1);
  EXPECT_EQ(cdf.at(1, 0), 0);
  EXPECT_FLOAT_EQ(cdf.at(1, 7), 0.5F);
  EXPECT_FLOAT_EQ(cdf.at(2, 0), 50.0F / 99);
}

TEST(FeatureCdf, IsCloseAndNeverFallsWhereValuesAreMany) {
  const Dataset data = made(200);
  const Dataset other = made(50, 2);
  ASSERT_GT(data.documents(), 2 * FeatureCdf::kKnots);
  const FeatureCdf cdf = FeatureCdf::fit(data, Context());
  for (size_t j = 0; j < data.features(); ++j) {
    std::vector<std::pair<float, float>> points;
    for (size_t i = 0; i < other.documents(); ++i) {
      const float value = other.row(i)[j];
      points.emplace_back(value, cdf.at(j, value));
      EXPECT_NEAR(points.back().second, slow_share(data, j, value), 2.0 / FeatureCdf::kKnots);
    }
    std::sort(points.begin(), points.end());
    for (size_t i = 1; i < points.size(); ++i) EXPECT_GE(points[i].second, points[i - 1].second);
    EXPECT_EQ(cdf.at(j, -1e30F), 0);
    EXPECT_EQ(cdf.at(j, 1e30F), 1);
  }
}

TEST(FeatureCdf, ComesBackFromItsBytesAndRefusesOthers) {
  const Dataset data = made(30);
  BinaryWriter out;
  FeatureCdf::fit(data, Context()).save(out);
  BinaryReader in(out.bytes(), "shares");
  const FeatureCdf loaded = FeatureCdf::load(in);
  in.expect_end();
  EXPECT_EQ(loaded.apply(data, Context()).fingerprint(),
            FeatureCdf::fit(data, Context()).apply(data, Context()).fingerprint());
  const std::vector<uint8_t> bytes(out.bytes().begin(), out.bytes().end());
  for (size_t size = 0; size < bytes.size(); size += 37) {
    BinaryReader cut(std::span<const uint8_t>(bytes).first(size), "cut");
    EXPECT_THROW(FeatureCdf::load(cut), InputError);
  }
}

TEST(Derived, SomeFeaturesAndOtherLabels) {
  const Dataset data = made(5);
  const std::vector<uint32_t> columns = {1, 4};
  const Dataset some = select_features(data, columns, Context());
  ASSERT_EQ(some.features(), 2U);
  for (size_t i = 0; i < data.documents(); ++i)
    EXPECT_THAT(some.row(i), testing::ElementsAre(data.row(i)[1], data.row(i)[4]));
  std::vector<int32_t> labels(data.documents(), 0);
  labels[0] = 1;
  const Dataset other = with_labels(data, labels);
  EXPECT_EQ(other.max_label(), 1);
  EXPECT_TRUE(std::equal(other.values().begin(), other.values().end(), data.values().begin()));
}

TEST(Derived, CopiesLeaveDocumentsOut) {
  const Dataset data = made(60);
  const Dataset more = with_copies(data, 3, 0.25, Random(5));
  ASSERT_EQ(more.queries().size(), 4 * data.queries().size());
  size_t kept = 0;
  for (size_t q = 0; q < more.queries().size(); ++q) {
    const size_t from = q % data.queries().size();
    const bool copy = q >= data.queries().size();
    ASSERT_GE(more.queries().length(q), 1U);
    if (copy) {
      kept += more.queries().length(q);
    } else {
      EXPECT_EQ(more.queries().length(q), data.queries().length(from));
    }
    // A copy is a part of its query, in its order.
    size_t at = data.queries().begin(from);
    for (size_t i = more.queries().begin(q); i < more.queries().end(q); ++i, ++at) {
      const auto same = [&](size_t document) {
        return more.labels()[i] == data.labels()[document] &&
               std::equal(more.row(i).begin(), more.row(i).end(), data.row(document).begin());
      };
      while (at < data.queries().end(from) && !same(at)) ++at;
      ASSERT_LT(at, data.queries().end(from));
    }
  }
  EXPECT_NEAR(static_cast<double>(kept) / static_cast<double>(3 * data.documents()), 0.75, 0.05);
  const std::set<std::string> ids(more.queries().ids().begin(), more.queries().ids().end());
  EXPECT_EQ(ids.size(), more.queries().size());
  // Nothing left out but for one document.
  EXPECT_EQ(with_copies(data, 1, 1.0, Random(5)).documents(), data.documents() + data.queries().size());
}

}  // namespace
}  // namespace tunemix
