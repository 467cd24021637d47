#include "tunemix/data/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>

#include "tunemix/core/error.h"
#include "tunemix/core/random.h"
#include "tunemix/data/derived.h"
#include "tunemix/data/score_matrix.h"
#include "tunemix/data/split.h"
#include "tunemix/data/standardize.h"
#include "tunemix/data/synthetic.h"

namespace tunemix {
namespace {

using testing::ElementsAre;

Dataset small(std::vector<float> features = {1, 2, 3, 4, 5, 6}, std::vector<int32_t> labels = {0, 1, 2},
              std::vector<std::string> ids = {"a", "b"}) {
  NameTable names;
  for (const char* name : {"x", "", "z"}) names.add(name);
  return Dataset(features, 2, {labels, QueryIndex({0, 1, 3}, ids), names});
}

TEST(Dataset, SharesTheFeaturesOfWhatItWasMadeFrom) {
  const Dataset original = small();
  const Dataset copy = original;
  EXPECT_EQ(copy.values().data(), original.values().data());
  // Somebody else's memory stays where it is, and is let go of with the last copy.
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4, 5, 6});
  const std::weak_ptr<std::vector<float>> held = owner;
  {
    const Dataset borrowed(*owner, owner, 2, {{0, 1, 2}, QueryIndex({0, 1, 3}, {"a", "b"})});
    EXPECT_EQ(borrowed.values().data(), owner->data());
    EXPECT_EQ(borrowed.fingerprint(), original.fingerprint());
    owner.reset();
    EXPECT_THAT(borrowed.row(2), ElementsAre(5, 6));
    EXPECT_FALSE(held.expired());
  }
  EXPECT_TRUE(held.expired());
}

TEST(Dataset, FingerprintIsOfTheContent) {
  const Hash128 original = small().fingerprint();
  EXPECT_EQ(small().fingerprint(), original);
  EXPECT_NE(small({1, 2, 3, 4, 5, 7}).fingerprint(), original);
  EXPECT_NE(small({1, 2, 3, 4, 5, 6}, {0, 1, 1}).fingerprint(), original);
  EXPECT_NE(small({1, 2, 3, 4, 5, 6}, {0, 1, 2}, {"a", "c"}).fingerprint(), original);
  const std::vector<float> features = {1, 2, 3, 4, 5, 6};
  const QueryIndex other_lengths({0, 2, 3}, {"a", "b"});
  EXPECT_NE(Dataset(features, 2, {{0, 1, 2}, other_lengths}).fingerprint(), original);
  // More than one block of the hash, asked for by several threads at once.
  std::vector<float> many(3000000, 0.5F);
  const Documents about{.labels = std::vector<int32_t>(1500000, 0),
                        .queries = QueryIndex({0, 1500000}, {"1"})};
  const Dataset large(many, 2, about);
  std::vector<Hash128> found(8);
  ThreadPool(3).run(found.size(), [&](size_t i) { found[i] = Dataset(large).fingerprint(); });
  EXPECT_THAT(found, testing::Each(Dataset(many, 2, about).fingerprint()));
  many.back() = 0.25F;
  EXPECT_NE(Dataset(many, 2, about).fingerprint(), found[0]);
}

TEST(Dataset, SelectsQueries) {
  const std::vector<size_t> order = {1, 0};
  const Dataset picked = small().select_queries(order);
  EXPECT_THAT(picked.values(), ElementsAre(3, 4, 5, 6, 1, 2));
  EXPECT_THAT(picked.labels(), ElementsAre(1, 2, 0));
  EXPECT_THAT(picked.queries().ids(), ElementsAre("b", "a"));
  EXPECT_THAT(picked.queries().offsets(), ElementsAre(0, 2, 3));
  EXPECT_EQ(picked.names()[1], "z");
  EXPECT_EQ(picked.names()[2], "x");
}

TEST(Dataset, QueriesThatFollowOneAnotherShareFeatures) {
  const Dataset all(std::vector<float>{1, 2, 3, 4}, 1,
                    {{0, 1, 0, 1}, QueryIndex({0, 1, 3, 4}, {"a", "b", "c"})});
  const Dataset last = all.select_queries(std::vector<size_t>{1, 2});
  EXPECT_EQ(last.values().data(), all.values().data() + 1);
  EXPECT_THAT(last.values(), ElementsAre(2, 3, 4));
  EXPECT_THAT(last.labels(), ElementsAre(1, 0, 1));
  EXPECT_EQ(
      last.fingerprint(),
      Dataset(std::vector<float>{2, 3, 4}, 1, {{1, 0, 1}, QueryIndex({0, 2, 3}, {"b", "c"})}).fingerprint());
  EXPECT_THAT(all.select_queries(std::vector<size_t>{0, 2}).values(), ElementsAre(1, 4));
  EXPECT_EQ(all.select_queries({}).documents(), 0U);
}

TEST(Dataset, PartsMustFitTogether) {
  const std::vector<float> features = {1, 2, 3, 4};
  EXPECT_THROW(Dataset(features, 3, {{0, 1}, QueryIndex({0, 2}, {"1"})}), InternalError);
  EXPECT_THROW(Dataset(features, 2, {{0, 1}, QueryIndex({0, 1}, {"1"})}), InternalError);
  EXPECT_THROW(Dataset(features, 2, {{0, -1}, QueryIndex({0, 2}, {"1"})}), InternalError);
  EXPECT_THROW(Dataset(features, 2, {{0, 1}, QueryIndex({0, 2}, {"1"}), {}, {1}}), InternalError);
  EXPECT_THROW(QueryIndex({0, 2, 2}, {"1", "2"}), InternalError);
}

TEST(ScoreMatrix, KnowsItsData) {
  const Dataset data = small();
  ScoreMatrix scores(3, 2, "model");
  scores.set_data(data.fingerprint());
  EXPECT_NO_THROW(scores.expect_data(data.fingerprint()));
  EXPECT_THROW(scores.expect_data(small({1, 2, 3, 4, 5, 7}).fingerprint()), InputError);
}

TEST(Standardize, EqualsTheDefinition) {
  SyntheticOptions options;
  options.queries = 40;
  const Dataset data = make_synthetic(options, Context(2));
  const size_t d = data.features();
  const Dataset replaced = standardize(data, Standardize::kReplace, Context(2));
  const Dataset appended = standardize(data, Standardize::kAppend, Context(1));
  ASSERT_EQ(replaced.features(), d);
  ASSERT_EQ(appended.features(), 2 * d);
  EXPECT_EQ(standardize(data, Standardize::kNone, Context(1)).fingerprint(), data.fingerprint());
  EXPECT_EQ(standardize(data, Standardize::kReplace, Context(1)).fingerprint(), replaced.fingerprint());
  for (size_t q = 0; q < data.queries().size(); ++q)
    for (size_t j = 0; j < d; ++j) {
      std::vector<long double> x;
      for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i) x.push_back(data.row(i)[j]);
      const auto n = static_cast<long double>(x.size());
      long double mean = 0;
      for (const long double value : x) mean += value / n;
      long double variance = 0;
      for (const long double value : x) variance += (value - mean) * (value - mean) / n;
      const bool constant = std::set<long double>(x.begin(), x.end()).size() == 1;
      for (size_t k = 0; k < x.size(); ++k) {
        const size_t i = data.queries().begin(q) + k;
        const long double expected = constant ? 0 : (x[k] - mean) / std::sqrt(variance);
        ASSERT_NEAR(replaced.row(i)[j], static_cast<double>(expected),
                    2e-6 * (1 + std::abs(static_cast<double>(expected))));
        ASSERT_EQ(appended.row(i)[d + j], replaced.row(i)[j]);
        ASSERT_EQ(appended.row(i)[j], data.row(i)[j]);
      }
    }
}

TEST(Standardize, ConstantsBecomeZeroWhateverTheirSize) {
  std::vector<float> features;
  for (int i = 0; i < 7; ++i)
    features.insert(features.end(), {0.1F, 1e30F, -3.3e-20F, 16777216.0F + 2.0F * static_cast<float>(i % 2)});
  const Dataset data(features, 4, {std::vector<int32_t>(7, 0), QueryIndex({0, 7}, {"1"})});
  const Dataset result = standardize(data, Standardize::kReplace, Context(1));
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(result.row(i)[0], 0.0F);
    EXPECT_EQ(result.row(i)[1], 0.0F);
    EXPECT_EQ(result.row(i)[2], 0.0F);
    EXPECT_NE(result.row(i)[3], 0.0F);  // neighbouring floats are not constant
  }
}

TEST(Standardize, ContextHasTheMeansOfTheQueriesToo) {
  const Dataset data = make_synthetic({.queries = 30, .features = 7}, Context(1));
  const Dataset appended = standardize(data, Standardize::kAppend, Context(1));
  const Dataset context = standardize(data, Standardize::kContext, Context(2));
  ASSERT_EQ(context.features(), 21U);
  for (size_t q = 0; q < data.queries().size(); ++q)
    for (size_t j = 0; j < 7; ++j) {
      long double mean = 0;
      for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i)
        mean += static_cast<long double>(data.row(i)[j]) / static_cast<long double>(data.queries().length(q));
      for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i) {
        ASSERT_EQ(context.row(i)[j], appended.row(i)[j]);
        ASSERT_EQ(context.row(i)[7 + j], appended.row(i)[7 + j]);
        ASSERT_NEAR(context.row(i)[14 + j], static_cast<double>(mean),
                    1e-6 * (1 + std::abs(static_cast<double>(mean))));
      }
    }
}

// However a feature of a view is read, in memory or not, of some queries or of all.
TEST(Standardize, ViewsAreReadInAnyWay) {
  const Dataset data = make_synthetic({.queries = 30, .features = 5}, Context(1));
  const std::vector<size_t> some = {3, 4, 11, 29};
  for (const Standardize mode : {Standardize::kAppend, Standardize::kReplace, Standardize::kContext}) {
    const Dataset made = standardize(data, mode, Context(3));
    made.make(Context(3).pool());
    EXPECT_TRUE(made.made());
    for (const bool selected : {false, true}) {
      const Dataset view = standardize(data, mode, Context(2));
      const Dataset x = selected ? view.select_queries(some) : view;
      const Dataset y = selected ? made.select_queries(some) : made;
      EXPECT_TRUE(y.made());
      EXPECT_EQ(x.features(), viewed_features(mode, 5));
      std::vector<float> scratch(x.documents()), row(3);
      for (size_t j = 0; j < x.features(); ++j)
        for (const auto& [begin, count] : {std::pair{size_t{0}, x.documents()}, {size_t{7}, size_t{60}}}) {
          const FeatureColumn column = x.column(j, begin, count, scratch.data());
          for (size_t i = 0; i < count; ++i)
            ASSERT_EQ(column.values[i * column.stride], y.row(begin + i)[j]) << i << " " << j;
        }
      for (size_t i = 0; i < x.documents(); ++i) {
        x.read(i, 1, row);
        ASSERT_TRUE(std::equal(row.begin(), row.end(), y.row(i).begin() + 1));
        y.read(i, 2, row);
        ASSERT_TRUE(std::equal(row.begin(), row.end(), y.row(i).begin() + 2));
      }
      EXPECT_EQ(x.fingerprint(), y.fingerprint());
      EXPECT_FALSE(x.made());
      EXPECT_TRUE(std::equal(x.values().begin(), x.values().end(), y.values().begin(), y.values().end()));
      EXPECT_TRUE(x.made());
    }
    EXPECT_NE(made.fingerprint(), data.fingerprint());
    EXPECT_EQ(with_labels(made, std::vector<int32_t>(made.documents(), 1)).values().data(),
              made.values().data());
  }
}

TEST(Standardize, FeaturesKnowWhatTheyAreMadeOf) {
  EXPECT_EQ(feature_origin(Standardize::kNone, 3, 5), (std::pair<size_t, std::string_view>(3, "")));
  EXPECT_EQ(feature_origin(Standardize::kCdf, 3, 5).second, "");
  EXPECT_EQ(feature_origin(Standardize::kReplace, 3, 5).second, " (standardised)");
  EXPECT_EQ(feature_origin(Standardize::kAppend, 8, 5),
            (std::pair<size_t, std::string_view>(3, " (standardised)")));
  EXPECT_EQ(feature_origin(Standardize::kContext, 13, 5),
            (std::pair<size_t, std::string_view>(3, " (mean of the query)")));
}

TEST(Standardize, Names) {
  for (const auto& [word, mode] : standardize_words()) EXPECT_EQ(parse_standardize(to_string(mode)), mode);
  EXPECT_THROW(parse_standardize("both"), InputError);
}

RC_GTEST_PROP(Split, WholeQueriesOnceEach, (uint64_t seed)) {
  Random random(seed);
  const size_t n = 2 + random.below(200);
  std::vector<size_t> offsets(n + 1);
  std::vector<std::string> ids(n, "q");
  for (size_t q = 0; q <= n; ++q) offsets[q] = q * 3;
  const QueryIndex queries(offsets, ids);
  const double fraction = 0.01 + 0.98 * random.uniform();
  const QuerySplit split = split_queries(queries, fraction, Random(seed));
  RC_ASSERT(!split.train.empty() && !split.calibration.empty());
  RC_ASSERT(std::is_sorted(split.train.begin(), split.train.end()));
  RC_ASSERT(std::is_sorted(split.calibration.begin(), split.calibration.end()));
  std::set<size_t> all(split.train.begin(), split.train.end());
  all.insert(split.calibration.begin(), split.calibration.end());
  RC_ASSERT(all.size() == n && split.train.size() + split.calibration.size() == n);
  RC_ASSERT(*all.rbegin() == n - 1);
  const double share = static_cast<double>(split.calibration.size()) - fraction * static_cast<double>(n);
  RC_ASSERT(std::abs(share) <= 1.0);
  RC_ASSERT(split_queries(queries, fraction, Random(seed)).train == split.train);
}

TEST(Split, RefusesWhatCannotBeSplit) {
  EXPECT_THROW(split_queries(QueryIndex({0, 5}, {"1"}), 0.2, Random(1)), InputError);
  const QueryIndex two({0, 1, 2}, {"1", "2"});
  EXPECT_THROW(split_queries(two, 0, Random(1)), InputError);
  EXPECT_THROW(split_queries(two, 1, Random(1)), InputError);
  EXPECT_NE(split_queries(QueryIndex({0, 1, 2}, {"1", "2"}), 0.5, Random(1)).train,
            split_queries(two, 0.5, Random(1)).calibration);
}

}  // namespace
}  // namespace tunemix
