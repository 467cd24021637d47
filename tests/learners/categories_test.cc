// A category that tells nothing brings nothing.
#include "tunemix/data/categories.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/learners/train_by_name.h"
#include "tunemix/data/derived.h"
#include "tunemix/data/synthetic.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

constexpr size_t kPlainFeatures = 8;
const std::vector<uint32_t> kPlainOnes = {0, 1, 2, 3, 4, 5, 6, 7};

// With a category in its last feature, drawn at random from so many.
Dataset with_category(uint64_t seed, size_t values) {
  const Dataset data = make_synthetic(
      {.queries = 120, .features = kPlainFeatures, .mean_length = 20, .seed = seed}, Context());
  Random random(seed, "category");
  FloatBuffer wide(data.documents() * (kPlainFeatures + 1));
  for (size_t i = 0; i < data.documents(); ++i) {
    float* row = wide.data() + i * (kPlainFeatures + 1);
    std::copy_n(data.row(i).data(), kPlainFeatures, row);
    row[kPlainFeatures] = static_cast<float>(random.below(values));
  }
  return data.with_features(std::move(wide), kPlainFeatures + 1);
}

double ndcg(const Dataset& train, const Dataset& valid) {
  const Settings settings = {{"leaves", "8"}, {"shrinkage", "0.1"}, {"iterations", "40"}};
  const LearnedModel learned = test::train_by_name(train, "lambdamart", settings, {40}, Context(2, 1));
  const size_t points[] = {0};
  return SelectionMetric(valid.queries(), valid.labels(),
                         exponential_grades(5))(learned.model->score(valid, points, Context(2))[0].values());
}

TEST(RandomCategories, BringNothing) {
  const std::vector<double> grades = exponential_grades(5);
  const std::vector<uint32_t> features = {kPlainFeatures};
  for (const size_t values : {size_t{10000}, size_t{300}}) {
    double with = 0, without = 0, leaking = 0;
    constexpr int kSeeds = 4;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const Dataset train = with_category(2 * seed, values);
      const Dataset valid = with_category(2 * seed + 1, values);
      const Categories categories = Categories::fit(train, features, grades);
      const Dataset applied = categories.apply(valid);
      with += ndcg(categories.apply_apart(train, grades), applied) / kSeeds;
      leaking += ndcg(categories.apply(train), applied) / kSeeds;
      without +=
          ndcg(select_features(train, kPlainOnes, Context()), select_features(valid, kPlainOnes, Context())) /
          kSeeds;
    }
    EXPECT_NEAR(with, without, 0.01) << values;
    // Documents that see their own labels spoil the model, so the above could fail.
    EXPECT_LT(leaking, without - 0.03) << values;
  }
}

}  // namespace
}  // namespace tunemix
