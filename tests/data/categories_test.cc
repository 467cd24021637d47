// Categorical features as mean grades and counts.
#include "tunemix/data/categories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tunemix/core/random.h"
#include "tunemix/data/missing.h"

namespace tunemix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<double> kGrades = {0, 1, 3};
const std::vector<uint32_t> kSecond = {1};

// Feature 1 is a category, the others are numbers.
Dataset documents(const std::vector<float>& categories, std::vector<int32_t> labels,
                  std::vector<size_t> offsets, std::vector<float> weights = {}) {
  FloatBuffer values(3 * categories.size());
  for (size_t i = 0; i < categories.size(); ++i) {
    values.data()[3 * i] = static_cast<float>(i);
    values.data()[3 * i + 1] = categories[i];
    values.data()[3 * i + 2] = 0.5F;
  }
  std::vector<std::string> ids;
  for (size_t q = 0; q + 1 < offsets.size(); ++q) ids.push_back(std::to_string(q));
  return Dataset(std::move(values), 3,
                 {.labels = std::move(labels),
                  .queries = QueryIndex(std::move(offsets), std::move(ids)),
                  .weights = std::move(weights)});
}

// 60 queries of 5 documents, of 12 values.
Dataset many(uint64_t seed, bool weighted = false) {
  Random random(seed);
  std::vector<float> categories, weights;
  std::vector<int32_t> labels;
  std::vector<size_t> offsets = {0};
  for (size_t i = 0; i < 300; ++i) {
    categories.push_back(random.below(10) == 0 ? kMissing : static_cast<float>(random.below(12)) - 3);
    labels.push_back(static_cast<int32_t>(random.below(3)));
    if (weighted) weights.push_back(static_cast<float>(random.below(4)));
    if (i % 5 == 4) offsets.push_back(i + 1);
  }
  return documents(categories, std::move(labels), std::move(offsets), std::move(weights));
}

std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Categories, AreMeanGradesDrawnToThatOfAll) {
  const Dataset data = documents({7, -2, 7, kMissing, 7}, {0, 2, 2, 2, 1}, {0, 2, 5});
  const Categories categories = Categories::fit(data, kSecond, kGrades);
  const double prior = (0 + 3 + 3 + 1) / 4.0;
  const double k = Categories::kPrior;
  ASSERT_EQ(categories.size(), 1U);
  EXPECT_EQ(categories.features()[0].number, 1U);
  const std::vector<Categories::Value>& values = categories.features()[0].values;
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[0].name, "-2");
  EXPECT_EQ(values[1].name, "7");
  EXPECT_EQ(values[1].count, 3);
  EXPECT_DOUBLE_EQ(values[0].mean, (3 + k * prior) / (1 + k));
  EXPECT_DOUBLE_EQ(values[1].mean, (4 + k * prior) / (3 + k));
  // Of new documents; 8 is new to it.
  const Dataset applied = categories.apply(documents({7, 8, kMissing}, {0, 0, 0}, {0, 3}));
  EXPECT_THAT(applied.row(0), ElementsAre(0, static_cast<float>(values[1].mean), 0.5F,
                                          testing::FloatNear(std::log(4.0F), 1e-6F)));
  for (const size_t i : {1U, 2U}) {
    EXPECT_TRUE(is_missing(applied.row(i)[1]));
    EXPECT_EQ(applied.row(i)[3], 0);
  }
  FeatureNames names;
  names.set(1, "brand");
  EXPECT_EQ(categories.names(names, 3)[3], "brand (count)");
  EXPECT_EQ(categories.names(names, 3)[1], "brand");
}

TEST(Categories, OfNoFeatureLeaveTheDataWhereItIs) {
  const Dataset data = many(1);
  const Categories none = Categories::fit(data, {}, kGrades);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.apply(data).values().data(), data.values().data());
  EXPECT_EQ(none.apply_apart(data, kGrades).values().data(), data.values().data());
}

// Whatever its labels are, a query's documents get the same numbers.
TEST(Categories, OfTrainingSeeNoLabelOfTheirOwnQuery) {
  const Dataset data = many(2);
  const Dataset before = Categories::fit(data, kSecond, kGrades).apply_apart(data, kGrades);
  size_t changed = 0;
  for (size_t q = 0; q < data.queries().size(); ++q) {
    Documents about = data.about();
    for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i)
      about.labels[i] = 2 - about.labels[i];
    const Dataset other = data.with_documents(std::move(about));
    const Dataset after = Categories::fit(other, kSecond, kGrades).apply_apart(other, kGrades);
    for (size_t i = 0; i < data.documents(); ++i) {
      const bool same = hash_bytes(before.row(i).data(), 4 * sizeof(float)) ==
                        hash_bytes(after.row(i).data(), 4 * sizeof(float));
      EXPECT_TRUE(same || i < data.queries().begin(q) || i >= data.queries().end(q)) << i;
      changed += same ? 0 : 1;
    }
  }
  EXPECT_GT(changed, 1000U);
}

// Each value by the documents of nine tenths of the queries, one loop a document.
TEST(Categories, OfTrainingAreThoseOfTheOtherFolds) {
  for (const bool weighted : {false, true}) {
    const Dataset data = many(3, weighted);
    const Dataset applied = Categories::fit(data, kSecond, kGrades).apply_apart(data, kGrades);
    std::vector<size_t> order(data.queries().size());
    for (size_t q = 0; q < order.size(); ++q) order[q] = q;
    Random(1, "categories").shuffle(std::span<size_t>(order));
    std::vector<size_t> fold(data.documents());
    for (size_t k = 0; k < order.size(); ++k)
      for (size_t i = data.queries().begin(order[k]); i < data.queries().end(order[k]); ++i)
        fold[i] = k % Categories::kFolds;
    for (size_t i = 0; i < data.documents(); ++i) {
      const float value = data.row(i)[1];
      double sum = 0, weight = 0, all_sum = 0, all_weight = 0;
      size_t others = 0;
      for (size_t j = 0; j < data.documents(); ++j) {
        if (fold[j] == fold[i] || is_missing(data.row(j)[1])) continue;
        const double w = weighted ? static_cast<double>(data.weights()[j]) : 1;
        const double grade = kGrades[static_cast<size_t>(data.labels()[j])];
        all_sum += w * grade;
        all_weight += w;
        if (data.row(j)[1] != value) continue;
        ++others;
        sum += w * grade;
        weight += w;
      }
      ASSERT_EQ(is_missing(applied.row(i)[1]), is_missing(value) || others == 0);
      if (is_missing(applied.row(i)[1])) continue;
      const double k = Categories::kPrior;
      EXPECT_FLOAT_EQ(applied.row(i)[1], static_cast<float>((sum + k * all_sum / all_weight) / (weight + k)));
      EXPECT_FLOAT_EQ(applied.row(i)[3], static_cast<float>(std::log1p(weight)));
    }
  }
}

TEST(Categories, WordsAreKnownByThemselves) {
  Documents about{.labels = {0, 2, 1}, .queries = QueryIndex({0, 3}, {"q"})};
  about.words.set(0, {"acme", "zeta", "nobody's"});
  const Dataset data(FloatBuffer(std::vector<float>{1, 0, 1}), 1, about);
  const std::vector<uint32_t> first = {0};
  const Categories categories = Categories::fit(data, first, kGrades);
  EXPECT_EQ(categories.features()[0].values[0].name, "acme");
  EXPECT_EQ(categories.features()[0].values[1].count, 2);
  // Other numbers for the same words, and a number that is no word.
  about.words = {};
  about.words.set(0, {"new", "zeta", "acme"});
  const Dataset other = categories.apply(Dataset(FloatBuffer(std::vector<float>{2, 1, 0}), 1, about));
  const Dataset own = categories.apply(data);
  EXPECT_EQ(other.row(0)[0], own.row(1)[0]);
  EXPECT_EQ(other.row(1)[0], own.row(0)[0]);
  EXPECT_TRUE(is_missing(other.row(2)[0]));
  EXPECT_NE(Dataset(FloatBuffer(std::vector<float>{1, 0, 1}), 1, about).fingerprint(), data.fingerprint());
  EXPECT_THAT(refusal([&] { Categories().expect_words(data); }),
              HasSubstr("feature 1 has words for values, as 'acme', and is not categorical"));
  categories.expect_words(data);
  EXPECT_THAT(refusal([&] {
                Documents joined = data.about();
                joined.append(about);
              }),
              HasSubstr("the values of feature 1 have other words"));
  EXPECT_THAT(refusal([&] {
                Documents joined = data.about();
                joined.append({.labels = {0}, .queries = QueryIndex({0, 1}, {"no words"})});
              }),
              HasSubstr("the values of feature 1 have other words"));
  Documents longer = data.about();
  about.words = {};
  about.words.set(0, {"acme", "zeta", "nobody's", "more"});
  longer.append(about);
  EXPECT_EQ(longer.words.of(0)->size(), 4U);
  BinaryWriter out;
  longer.save(out);
  BinaryReader in(out.bytes(), "documents");
  EXPECT_EQ(*Documents::load(in).words.of(0), *longer.words.of(0));
  in.expect_end();
}

TEST(Categories, RefuseWhatIsNoCategory) {
  for (const float value : {0.5F, 2e7F, -2e7F})
    EXPECT_THAT(refusal([&] {
                  Categories::fit(documents({value}, {0}, {0, 1}), kSecond, kGrades);
                }),
                HasSubstr("document 1 has"))
        << value;
  const std::vector<uint32_t> ninth = {8};
  EXPECT_THAT(refusal([&] { Categories::fit(many(1), ninth, kGrades); }),
              HasSubstr("feature 9 is categorical, and the data has features 1 to 3"));
}

TEST(Categories, ComeBackFromTheirBytesAndRefuseOthers) {
  const Categories categories = Categories::fit(many(4), kSecond, kGrades);
  BinaryWriter out;
  categories.save(out);
  BinaryReader in(out.bytes(), "categories");
  EXPECT_EQ(Categories::load(in), categories);
  in.expect_end();
  const auto bytes = std::vector<uint8_t>(out.bytes().begin(), out.bytes().end());
  for (size_t size = 0; size < bytes.size(); size += 7)
    EXPECT_THROW(
        {
          BinaryReader cut(std::span<const uint8_t>(bytes).first(size), "cut");
          Categories::load(cut);
          cut.expect_end();
        },
        InputError);
}

}  // namespace
}  // namespace tunemix
