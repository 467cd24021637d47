// Models put together from others: grouped labels, ordinal problems, mapped features.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/learners/train_by_name.h"
#include "tunemix/data/derived.h"
#include "tunemix/data/synthetic.h"
#include "tunemix/learn/composed_model.h"

namespace tunemix {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    LabelGroups::parse(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(LabelGroups, ReadsWhatItWritesAndRefusesTheRest) {
  const LabelGroups groups = LabelGroups::parse("[[0,1],[2], [3,4]]");
  EXPECT_EQ(groups.text(), "[[0, 1], [2], [3, 4]]");
  EXPECT_EQ(LabelGroups::parse(groups.text()), groups);
  EXPECT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups.labels(), 5U);
  EXPECT_THAT(groups.map(std::vector<int32_t>{4, 0, 2, 1}), ElementsAre(2, 0, 1, 0));
  EXPECT_THAT(groups.grades(std::vector<double>{0, 1, 3, 7, 15}), ElementsAre(0.5, 3, 11));
  for (const char* bad :
       {"", "[]", "[[0]]", "[[0, 1]]", "[[0], [2]]", "[[1], [0]]", "[[0], [0, 1]]", "[[0], []]", "[0, 1]",
        "[[0], [1]", "[[0]], [1]]]", "[[0], [a]]", "[[0], [99999999999]]"})
    EXPECT_THAT(refusal(bad), HasSubstr("no grouping of labels")) << bad;
}

TEST(Ordinal, ClassProbabilitiesAreDifferences) {
  std::vector<double> classes(4);
  class_probabilities(std::vector<double>{0.9, 0.5, 0.2}, classes);
  EXPECT_THAT(classes, ElementsAre(DoubleNear(0.1, 1e-12), DoubleNear(0.4, 1e-12), DoubleNear(0.3, 1e-12),
                                   DoubleNear(0.2, 1e-12)));
  // Those in the wrong order are pooled: 0.3 and 0.7 become 0.5.
  class_probabilities(std::vector<double>{0.3, 0.7, 0.1}, classes);
  EXPECT_THAT(classes, ElementsAre(DoubleNear(0.5, 1e-12), DoubleNear(0, 1e-12), DoubleNear(0.4, 1e-12),
                                   DoubleNear(0.1, 1e-12)));
  Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> above(1 + random.below(8));
    for (double& p : above) p = random.uniform();
    std::vector<double> p(above.size() + 1);
    class_probabilities(above, p);
    EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 1, 1e-12);
    for (const double one : p) EXPECT_GE(one, -1e-15);
    const bool falls = std::is_sorted(above.rbegin(), above.rend());
    for (size_t l = 1; falls && l < above.size(); ++l) EXPECT_NEAR(p[l], above[l - 1] - above[l], 1e-12);
  }
}

TEST(Ordinal, ChancesAreThoseOfTheData) {
  // Drawn by slope 2 and offset -1.
  Random random(4);
  std::vector<double> margins;
  std::vector<bool> above;
  for (int i = 0; i < 20000; ++i) {
    margins.push_back(4 * random.uniform() - 2);
    above.push_back(random.uniform() < 1 / (1 + std::exp(-(2 * margins.back() - 1))));
  }
  const OrdinalProblem::Chance chance = fit_chance(margins, above);
  EXPECT_NEAR(chance.slope, 2, 0.1);
  EXPECT_NEAR(chance.offset, -1, 0.1);
  // A weight of 2 is the document twice.
  std::vector<double> twice = margins;
  std::vector<bool> above_twice = above;
  std::vector<float> weights(margins.size(), 1.0F);
  for (size_t i = 0; i < margins.size(); i += 3) {
    weights[i] = 2;
    twice.push_back(margins[i]);
    above_twice.push_back(above[i]);
  }
  const OrdinalProblem::Chance weighted = fit_chance(margins, above, weights);
  EXPECT_NEAR(weighted.slope, fit_chance(twice, above_twice).slope, 1e-6);
  EXPECT_NEAR(weighted.offset, fit_chance(twice, above_twice).offset, 1e-6);
  EXPECT_NE(weighted.slope, chance.slope);
  // One class, or margins that tell nothing: finite, and near the share of the class.
  const OrdinalProblem::Chance none = fit_chance(std::vector<double>{1, 2, 3}, {false, false, false});
  EXPECT_TRUE(std::isfinite(none.slope) && std::isfinite(none.offset));
  const OrdinalProblem::Chance flat =
      fit_chance(std::vector<double>{1, 1, 1, 1}, {true, false, false, false});
  EXPECT_NEAR(1 / (1 + std::exp(-(flat.slope + flat.offset))), 0.35, 0.1);
}

class Composed : public testing::Test {
 protected:
  static std::vector<uint8_t> bytes_of(const LearnedModel& model) {
    BinaryWriter out;
    model.save(out);
    return {out.bytes().begin(), out.bytes().end()};
  }
  // Same bytes and scores after a way through bytes; a kept point scores as it did; damage is refused.
  void expect_contract(LearnedModel learned, size_t columns) const {
    const std::vector<uint8_t> bytes = bytes_of(learned);
    BinaryReader in(bytes, "the model");
    const LearnedModel loaded = LearnedModel::load(in, registry());
    in.expect_end();
    EXPECT_EQ(bytes_of(loaded), bytes);
    EXPECT_EQ(learned.model->columns(), columns);
    const std::vector<size_t> points = {0, 1};
    const auto scores = learned.model->score(data_, points, Context(2));
    const auto again = loaded.model->score(data_, points, Context(1));
    for (size_t p = 0; p < 2; ++p) {
      EXPECT_EQ(scores[p].columns(), columns);
      EXPECT_THAT(again[p].values(), testing::ElementsAreArray(scores[p].values()));
      const std::unique_ptr<Model> kept = learned.model->keep(std::span(&p, 1));
      EXPECT_EQ(kept->points().size(), 1U);
      const size_t first[] = {0};
      EXPECT_THAT(kept->score(data_, first, Context())[0].values(),
                  testing::ElementsAreArray(scores[p].values()));
      EXPECT_EQ(kept->range(0), learned.model->range(p));
      for (const float score : scores[p].values()) ASSERT_TRUE(std::isfinite(score));
    }
    EXPECT_EQ(loaded.model->features(), learned.model->features());
    EXPECT_NEAR(sum_of(learned.model->importance()), 1, 1e-6);
    for (size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 60) {
      BinaryReader cut(std::span<const uint8_t>(bytes).first(size), "cut");
      EXPECT_THROW(LearnedModel::load(cut, registry()), InputError) << size;
    }
    for (size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 150) {
      std::vector<uint8_t> damaged = bytes;
      damaged[at] ^= 0xffU;
      try {
        BinaryReader reader(damaged, "damaged");
        const LearnedModel model = LearnedModel::load(reader, registry());
        reader.expect_end();
        if (model.model->features() == data_.features()) model.model->score(data_, points, Context());
      } catch (const InputError&) {  // as good
      }
    }
  }
  static double sum_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  }

  LearnedModel train(const Dataset& data, const char* type = "adaboost_mh") const {
    return test::train_by_name(data, type, {}, {4, 8}, Context(2, 1));
  }
  std::vector<int32_t> above(int32_t bound) const {
    std::vector<int32_t> result;
    for (const int32_t label : data_.labels()) result.push_back(label > bound ? 1 : 0);
    return result;
  }

  Dataset data_ =
      make_synthetic({.queries = 40, .features = 7, .labels = 3, .mean_length = 10, .seed = 2}, Context());
};

TEST_F(Composed, GroupedLabelsShareTheScoreOfTheirGroup) {
  const LabelGroups groups = LabelGroups::parse("[[0], [1, 2]]");
  const Dataset grouped = with_labels(data_, groups.map(data_.labels()));
  LearnedModel plain = train(grouped);
  const size_t points[] = {1};
  const ScoreMatrix two = plain.model->score(data_, points, Context())[0];
  LearnedModel wide{plain.learner, std::make_unique<ComposedModel>(std::move(plain.model), groups)};
  const ScoreMatrix three = wide.model->score(data_, points, Context())[0];
  for (size_t i = 0; i < data_.documents(); ++i)
    EXPECT_THAT(three.row(i), ElementsAre(two.row(i)[0], two.row(i)[1], two.row(i)[1]));
  expect_contract(std::move(wide), 3);
}

TEST_F(Composed, OrdinalScoresAreLogOddsOfTheDifferences) {
  std::vector<OrdinalProblem> problems;
  std::vector<ScoreMatrix> margins;
  const LearnerEntry* learner = nullptr;
  const size_t points[] = {1};
  for (int32_t bound = 0; bound < 2; ++bound) {
    LearnedModel part = train(with_labels(data_, above(bound)));
    learner = part.learner;
    margins.push_back(part.model->score(data_, points, Context())[0]);
    problems.push_back({std::move(part.model), {{1, 0}, {2, bound == 0 ? 0.3 : -0.3}}});
  }
  LearnedModel learned{learner, std::make_unique<ComposedModel>(std::move(problems), std::nullopt)};
  const ScoreMatrix scores = learned.model->score(data_, points, Context())[0];
  for (size_t i = 0; i < data_.documents(); ++i) {
    double p[2];
    for (size_t l = 0; l < 2; ++l)
      p[l] =
          1 / (1 + std::exp(-(2.0 * (margins[l].row(i)[1] - margins[l].row(i)[0]) + (l == 0 ? 0.3 : -0.3))));
    if (p[0] < p[1]) p[0] = p[1] = (p[0] + p[1]) / 2;
    const double classes[] = {1 - p[0], p[0] - p[1], p[1]};
    for (size_t l = 0; l < 3; ++l) {
      const double q = std::min(std::max(classes[l], 1e-4), 1 - 1e-4);
      EXPECT_NEAR(scores.row(i)[l], std::log(q / (1 - q)), 1e-3);
    }
  }
  expect_contract(std::move(learned), 3);
}

TEST_F(Composed, OrdinalProblemsMayHaveOneClass) {
  LearnedModel part = train(with_labels(data_, above(0)));
  std::vector<OrdinalProblem> problems;
  problems.push_back({std::move(part.model), {{1, 0}, {1, 0}}});
  problems.push_back({nullptr, {{0, -7}, {0, -7}}});
  LearnedModel learned{part.learner, std::make_unique<ComposedModel>(std::move(problems), std::nullopt)};
  const size_t points[] = {0};
  const ScoreMatrix scores = learned.model->score(data_, points, Context())[0];
  for (size_t i = 0; i < data_.documents(); ++i) EXPECT_LT(scores.row(i)[2], -6);
  expect_contract(std::move(learned), 3);
}

TEST_F(Composed, MappedFeaturesAreTakenFromTheWholeData) {
  FeatureMap map{data_.features(), {0, 2, 3, 6}, std::nullopt};
  const Dataset some = select_features(data_, map.columns, Context());
  map.cdf = FeatureCdf::fit(some, Context());
  const Dataset mapped = map.cdf->apply(some, Context());
  LearnedModel plain = train(mapped);
  const size_t points[] = {1};
  const ScoreMatrix before = plain.model->score(mapped, points, Context())[0];
  const std::vector<double> shares = plain.model->importance();
  LearnedModel learned{plain.learner, std::make_unique<ComposedModel>(std::move(plain.model), map)};
  EXPECT_EQ(learned.model->features(), data_.features());
  EXPECT_THAT(learned.model->score(data_, points, Context())[0].values(),
              testing::ElementsAreArray(before.values()));
  const std::vector<double> importance = learned.model->importance();
  ASSERT_EQ(importance.size(), data_.features());
  EXPECT_EQ(importance[1], 0);
  EXPECT_EQ(importance[6], shares[3]);
  EXPECT_THROW(learned.model->score(mapped, points, Context()), InputError);
  expect_contract(std::move(learned), 3);
}

TEST_F(Composed, MapsGroupsAndProblemsGoTogether) {
  const LabelGroups groups = LabelGroups::parse("[[0, 1], [2]]");
  FeatureMap map{data_.features(), {1, 2, 5}, std::nullopt};
  const Dataset some = select_features(data_, map.columns, Context());
  LearnedModel part = train(with_labels(some, above(1)), "svm");
  std::vector<OrdinalProblem> problems;
  problems.push_back({std::move(part.model), std::vector<OrdinalProblem::Chance>(6, {1.5, 0.1})});
  auto inner = std::make_unique<ComposedModel>(std::move(problems), groups);
  LearnedModel learned{part.learner, std::make_unique<ComposedModel>(std::move(inner), map)};
  const std::vector<uint8_t> bytes = bytes_of(learned);
  BinaryReader in(bytes, "the model");
  const LearnedModel loaded = LearnedModel::load(in, registry());
  in.expect_end();
  const size_t points[] = {3};
  EXPECT_EQ(loaded.model->columns(), 3U);
  EXPECT_THAT(loaded.model->score(data_, points, Context())[0].values(),
              testing::ElementsAreArray(learned.model->score(data_, points, Context())[0].values()));
}

}  // namespace
}  // namespace tunemix
