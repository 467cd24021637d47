// What the mixtures of a fold are chosen by.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "pipeline/stages/mix.h"
#include "tests/support.h"

namespace tunemix {
namespace {

// Two members of one learner: the first ranks every query of validation right and every one of training
// wrong, the second the other way round. Of each query one document of two is relevant.
class ChooseByTest : public testing::Test {
 protected:
  ChooseByTest() {
    info_.labels = 2;
    info_.valid = split(2);
    info_.train = split(8);
    info_.test = split(1);
    ScoreMatrix scores(4, 1, "m");
    for (size_t i = 0; i < 4; ++i) scores.row(i)[0] = static_cast<float>(i);
    const std::vector<int32_t> labels = {0, 1, 0, 1};
    const QueryIndex queries({0, 2, 4}, {"a", "b"});
    const std::vector<double> grades = {0, 1};
    const Point at = plan_.config.learners[0].points()[0];
    members_.members.resize(1);
    for (const char* spec : {"rbc.linear.ndcg", "rbc.linear.raw"})
      members_.members[0].push_back({0, at,
                                     Calibrator::fit(CalibrationSpec::parse(spec),
                                                     {scores, labels, queries, grades}, {}, 1, Context(1))});
    members_.choosing = info_.valid;
    members_.choosing_scores = {scores_of(2, {1, 0})};
    members_.test = {scores_of(1, {1, 0})};
  }
  static SplitInfo split(size_t queries) {
    SplitInfo result;
    std::vector<size_t> offsets = {0};
    std::vector<std::string> ids;
    for (size_t q = 0; q < queries; ++q) {
      result.labels.insert(result.labels.end(), {1, 0});
      offsets.push_back(result.labels.size());
      ids.push_back(std::to_string(q));
    }
    result.queries = QueryIndex(std::move(offsets), std::move(ids));
    return result;
  }
  // Of so many queries by both members: the first document of each by the first, the second by the second.
  static std::vector<float> scores_of(size_t queries, std::pair<float, float> first) {
    std::vector<float> scores;
    for (const auto& [a, b] : {first, std::pair(first.second, first.first)})
      for (size_t q = 0; q < queries; ++q) scores.insert(scores.end(), {a, b});
    return scores;
  }
  MixRow row(const std::string& name) const {
    for (MixRow& row : mix_fold(plan_, info_, members_, Context(1)))
      if (row.name == name) return std::move(row);
    throw InternalError("no such row");
  }

  test::ScratchDirectory scratch_;
  ArtifactStore store_{scratch_ / "store"};
  Plan plan_ = make_plan(parse_config("name: n\ndata: {synthetic: {preset: quickstart}}\n"
                                      "learners: [{type: linear_regression}]\nmix: {parts: 1}\n",
                                      "test", {}),
                         store_);
  FoldInfo info_;
  FoldMembers members_;
};

TEST_F(ChooseByTest, ValidationAlone) {
  EXPECT_EQ(row("LR+OneBest").sources[0].member, 0U);
  const MixRow all = row("LR+EXP");
  EXPECT_EQ(all.diagnostics[0].quality, 1);
  EXPECT_EQ(all.validation, 1);
}

TEST_F(ChooseByTest, TrainingQueriesThatBagsHaveLeftOutToo) {
  members_.choosing = info_.valid;
  members_.choosing.append(info_.train.select_queries(std::vector<size_t>{1, 3, 4, 6, 7}));
  LearnerScores scores;
  scores.queries = {0, 1, 3, 4, 5, 6, 7};
  scores.points.resize(1);
  scores.points[0].left_out = ScoreMatrix(14, 1, "m");
  for (size_t q = 0; q < 7; ++q) scores.points[0].left_out.row(2 * q + 1)[0] = 1;  // wrong
  const std::vector<float> both =
      with_out_of_fold(scores_of(2, {1, 0}), scores, members_.members[0], info_.train.queries,
                       std::vector<size_t>{1, 3, 4, 6, 7}, Context(1));
  ASSERT_EQ(both.size(), 2U * 14);
  for (size_t m = 0; m < 2; ++m)
    for (size_t q = 0; q < 5; ++q) EXPECT_LT(both[14 * m + 4 + 2 * q], both[14 * m + 4 + 2 * q + 1]);
  // The second member is right where the first is wrong.
  members_.choosing_scores = {both};
  for (size_t q = 0; q < 5; ++q)
    std::swap(members_.choosing_scores[0][14 + 4 + 2 * q], members_.choosing_scores[0][14 + 5 + 2 * q]);
  const double second = 1 / std::log2(3.0);  // NDCG of a relevant document at rank 2
  const MixRow best = row("LR+OneBest");
  EXPECT_EQ(best.sources[0].member, 1U);
  // Said of the validation queries.
  EXPECT_EQ(best.valid.size(), 4U);
  EXPECT_NEAR(best.validation, second, 1e-12);
  const MixRow all = row("LR+EXP");
  EXPECT_NEAR(all.diagnostics[0].quality, (2 + 5 * second) / 7, 1e-12);
  EXPECT_NEAR(all.diagnostics[1].quality, (2 * second + 5) / 7, 1e-12);
  EXPECT_NEAR(mix_row_at(plan_, info_, members_, "LR+EXP", 10, 0, Context(1)).diagnostics[0].weight,
              1 / (1 + std::exp(10 * (3 - 3 * second) / 7)), 1e-12);
}

TEST(LeftOutQueries, AreThoseOfTheLearnerWithTheFewestBags) {
  const test::ScratchDirectory scratch;
  const Config config = parse_config(
      "name: n\ndata: {synthetic: {preset: quickstart}}\n"
      "learners: [{type: linear_regression, bags: 4}, {type: svm, bags: 2}]\nmix: {choose_by: all}\n",
      "test", {});
  std::vector<size_t> offsets = {0};
  std::vector<std::string> ids;
  for (size_t q = 0; q < 20; ++q) {
    ids.push_back(std::to_string(q));
    offsets.push_back(offsets.back() + 1);
  }
  const QueryIndex queries(offsets, ids);
  std::vector<size_t> expected;
  for (const int bag : {0, 1}) {
    const auto part = bag_split(config, queries, 0, bag).calibration;
    expected.insert(expected.end(), part.begin(), part.end());
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(queries_left_out(config, queries, 0), expected);
}

}  // namespace
}  // namespace tunemix
