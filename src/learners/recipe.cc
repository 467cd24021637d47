#include "tunemix/learners/recipe.h"

#include <algorithm>

namespace tunemix {
namespace {

// Little data: many cheap and different members, whose errors average out; features are also standardised
// within each query, and linear rankers see them as shares too, which takes out their scale. No length below
// 100: with 20 to 50 validation queries chance now and then chooses it, and all families are short.
constexpr const char* kSmall = R"(data: {standardize: append}
learners:
  - {type: adaboost_mh, leaves: [8, 32], iterations: 500, checkpoints: [100, 200], shrinkage: 0.05, bandit: value, bags: 4}
  - {type: adaboost_mh, base: product, terms: 3, iterations: 500, checkpoints: [100, 200], shrinkage: 0.1, bandit: value, bags: 4}
  - {type: svm, bags: 2}
  - {type: svm, standardize: cdf, bags: 2}
  - {type: lambdamart, leaves: 8, iterations: 300, checkpoints: [100, 200], shrinkage: 0.05, bags: 4}
  - {type: ranksvm, bags: 2}
  - {type: ranksvm, standardize: cdf, bags: 2}
  - {type: extra_trees, checkpoints: [100], bags: 2}
)";

// Real votes and LambdaMART with small and large trees, each search through a bandit: faster than a search of
// all features, and with more data better too. Linear rankers, +-1 votes and averaged trees are behind by
// now, and some hundred validation queries are too few to take their weight away.
constexpr const char* kMiddle = R"(data: {standardize: append}
learners:
  - {type: adaboost_mh, votes: real, leaves: [16, 64], iterations: 1000, checkpoints: [200, 500], shrinkage: 0.05, bandit: value, bags: 4}
  - {type: lambdamart, leaves: [16, 64], iterations: 500, checkpoints: [100, 200, 300], shrinkage: 0.05, min_documents: 100, bandit: value, arms_per_pull: [4, 16], patience: 100, bags: 2}
)";

// The same with large trees only, and more of them.
constexpr const char* kMedium = R"(data: {standardize: append, calibration: {parts: 10}}
learners:
  - {type: adaboost_mh, votes: real, leaves: 64, iterations: 2000, checkpoints: [500, 1000], shrinkage: 0.05, bandit: value, bags: 4}
  - {type: lambdamart, leaves: 64, iterations: 1000, checkpoints: [200, 400, 700], shrinkage: 0.05, min_documents: 200, bandit: value, arms_per_pull: [4, 16], patience: 100, bags: 2}
)";

// The same, longer. Simple calibrations, which few queries are enough for.
constexpr const char* kLarge = R"(data: {calibration: {parts: 20}}
learners:
  - {type: adaboost_mh, votes: real, leaves: 64, iterations: 3000, checkpoints: [1000, 2000], shrinkage: 0.05, bandit: value, bags: 3}
  - {type: lambdamart, leaves: 64, iterations: 2000, checkpoints: [500, 1000, 1500], shrinkage: 0.05, min_documents: 500, bandit: value, arms_per_pull: [4, 16], patience: 100, bags: 2}
calibrate: {cpc: [shift, ls, ell], rbc: {regressors: [linear, poly2, poly3], targets: [raw]}}
)";

}  // namespace

const std::vector<Recipe>& recommended_recipes() {
  static const std::vector<Recipe> recipes = {
      {20000, kSmall}, {50000, kMiddle}, {300000, kMedium}, {Recipe::kAny, kLarge}};
  return recipes;
}

const Recipe& recommended_recipe(size_t documents) {
  const auto& recipes = recommended_recipes();
  return *std::find_if(recipes.begin(), recipes.end(),
                       [&](const Recipe& recipe) { return documents <= recipe.documents; });
}

}  // namespace tunemix
