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

// |{j: x_j < x}| / (n - 1), as the definition reads.
double slow_share(const Dataset& data, size_t feature, float value) {
  double below = 0;
  for (size_t i = 0; i < data.documents(); ++i) below += data.row(i)[feature] < value ? 1 : 0;
  return below / static_cast<double>(data.documents() - 1);
}

TEST(FeatureCdf, IsTheDefinitionWhereValuesAreFew) {
  const Dataset data = made(20);
  ASSERT_LE(data.documents(), FeatureCdf::kKnots);
  const Dataset shares = FeatureCdf::fit(data, Context(2)).apply(data, Context(2));
  ASSERT_EQ(shares.features(), data.features());
  for (size_t i = 0; i < data.documents(); ++i)
    for (size_t j = 0; j < data.features(); ++j)
      EXPECT_FLOAT_EQ(shares.row(i)[j], static_cast<float>(slow_share(data, j, data.row(i)[j])));
  // Also for values that it has not seen.
  const FeatureCdf cdf = FeatureCdf::fit(data, Context());
  const Dataset other = made(10, 2);
  for (size_t i = 0; i < other.documents(); ++i)
    for (size_t j = 0; j < data.features(); ++j)
      EXPECT_FLOAT_EQ(cdf.at(j, other.row(i)[j]),
                      static_cast<float>(std::min(1.0, slow_share(data, j, other.row(i)[j]))));
  EXPECT_TRUE(std::equal(shares.labels().begin(), shares.labels().end(), data.labels().begin()));
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
