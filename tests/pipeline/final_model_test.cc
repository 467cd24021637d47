#include "pipeline/stages/final_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "pipeline/stages/all_data.h"
#include "pipeline/stages/data_checks.h"
#include "tests/support.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/data/synthetic.h"

namespace tunemix {
namespace {

using testing::ElementsAre;

MixRow row_of(std::vector<GridPoint> grid) {
  MixRow row;
  row.grid = std::move(grid);
  return row;
}

TEST(FinalModelChoice, IsTheBestMeanOverFolds) {
  // Each fold alone would choose another point than both together.
  const MixRow a = row_of({{0, 10, 0.5}, {50, 10, 0.9}, {0, 20, 0.8}, {50, 20, 0.1}});
  const MixRow b = row_of({{0, 10, 0.9}, {50, 10, 0.1}, {0, 20, 0.8}, {50, 20, 0.5}});
  const GridPoint best = best_of_folds({&a, &b});
  EXPECT_EQ(best.c, 0);
  EXPECT_EQ(best.checkpoint, 20);
  EXPECT_DOUBLE_EQ(best.quality, 0.8);
  // Ties go to the smaller c, then to the smaller T.
  const MixRow tied = row_of({{50, 10, 0.5}, {0, 20, 0.5}, {0, 10, 0.5}});
  EXPECT_EQ(best_of_folds({&tied}).c, 0);
  EXPECT_EQ(best_of_folds({&tied}).checkpoint, 10);
}

Calibrator calibrator(const std::string& spec) {
  ScoreMatrix scores(4, 1, "m");
  for (size_t i = 0; i < 4; ++i) scores.row(i)[0] = static_cast<float>(i);
  const std::vector<int32_t> labels = {0, 1, 0, 1};
  const QueryIndex queries({0, 2, 4}, {"a", "b"});
  const std::vector<double> grades = {0, 1};
  return Calibrator::fit(CalibrationSpec::parse(spec), {scores, labels, queries, grades}, {}, 1, Context(1));
}

// Two folds of three learners, by hand.
class Averages : public testing::Test {
 protected:
  Averages()
      : plan_(make_plan(
            parse_config("name: n\ndata: {synthetic: {preset: quickstart, folds: 2}}\n"
                         "learners:\n  - {type: lambdamart, iterations: 20, checkpoints: [5, 10], bags: 2}\n"
                         "  - {type: svm, C: [0.1, 1]}\n  - {type: linear_regression}\n"
                         "mix: {normalize: none}\n",
                         "test", {}),
            store_)) {}
  // A mixture of members (learner, point) with weights.
  struct Part {
    uint32_t learner;
    size_t point;
    double weight;
  };
  void add_fold(const std::vector<Part>& parts) {
    std::vector<std::vector<CalibratedModel>> tables(3);
    MixRow row;
    std::vector<Member> members;
    std::vector<double> weights;
    for (const Part& part : parts) {
      const LearnerSpec& learner = plan_.config.learners[part.learner];
      const Point at = learner.points()[part.point];
      row.sources.push_back({part.learner, static_cast<uint32_t>(tables[part.learner].size())});
      tables[part.learner].push_back({part.point, at, calibrator("rbc.linear.raw")});
      members.push_back(member_of(learner, at, CalibrationSpec::parse("rbc.linear.raw")));
      weights.push_back(part.weight);
    }
    row.mixture = Mixture(members, weights, Normalize::kNone, 30, 10);
    rows_.push_back(std::move(row));
    members_.push_back(std::move(tables));
  }

  test::ScratchDirectory scratch_;
  ArtifactStore store_{scratch_ / "store"};
  Plan plan_;
  std::vector<MixRow> rows_;
  std::vector<std::vector<std::vector<CalibratedModel>>> members_;
};

TEST_F(Averages, WeightsAreMeansOverFolds) {
  // In the order of mixtures: by family and checkpoint.
  add_fold({{0, 0, 0.5}, {2, 0, 0.5}});
  add_fold({{0, 0, 0.125}, {0, 1, 0.375}, {2, 0, 0.5}});
  const FinalChoice choice = average_mixtures({30, 10, 0.8}, rows_, members_);
  EXPECT_EQ(choice.c, 30);
  EXPECT_EQ(choice.checkpoint, 10);
  ASSERT_EQ(choice.members.size(), 3U);
  const auto expect_member = [&](size_t m, uint32_t learner, uint32_t point, double weight) {
    EXPECT_EQ(choice.members[m].learner, learner);
    EXPECT_EQ(choice.members[m].point, point);
    EXPECT_EQ(choice.members[m].calibration, "rbc.linear.raw");
    EXPECT_DOUBLE_EQ(choice.members[m].weight, weight);
  };
  expect_member(0, 0, 0, (0.5 + 0.125) / 2);
  expect_member(1, 0, 1, 0.375 / 2);
  expect_member(2, 2, 0, 0.5);
  const FinalChoice loaded = load_choice(save_choice(choice), plan_);
  EXPECT_EQ(loaded.members.size(), 3U);
  EXPECT_EQ(loaded.members[1].weight, choice.members[1].weight);

  // The final model trains the chosen learners, no longer than chosen, on a fold of its own.
  const Plan plan = plan_final_model(plan_, choice, store_, MissingFiles::kRefuse);
  EXPECT_TRUE(plan.is_final());
  EXPECT_EQ(plan.first_fold, 2U);
  EXPECT_EQ(plan.fold_keys.size(), 3U);
  ASSERT_EQ(plan.config.learners.size(), 2U);
  EXPECT_THAT(plan.config.learners[0].lengths, ElementsAre(5, 10));
  ASSERT_EQ(plan.jobs.size(), 3U);
  ASSERT_EQ(plan.calibrations.size(), 2U);
  for (const TrainJob& job : plan.jobs) EXPECT_EQ(job.fold, 2U);
  EXPECT_EQ(plan.bags_of(plan.calibrations_of(2)[0]).size(), 2U);
  for (const TrainJob& job : plan.jobs)
    for (const TrainJob& other : plan_.jobs) EXPECT_NE(job.training_key, other.training_key);

  // Its mixture has the chosen members, whatever else it has made.
  std::vector<std::vector<CalibratedModel>> made(2);
  const std::vector<Point> lengths = plan.config.learners[0].points();
  for (const char* spec : {"rbc.linear.ndcg", "rbc.linear.raw"})
    for (size_t point = 0; point < 2; ++point) made[0].push_back({point, lengths[point], calibrator(spec)});
  made[1].push_back({0, plan.config.learners[1].points()[0], calibrator("rbc.linear.raw")});
  const MixRow row = final_row(plan_, plan, choice, made);
  EXPECT_THAT(row.mixture.weights(), ElementsAre((0.5 + 0.125) / 2, 0.375 / 2, 0.5));
  ASSERT_EQ(row.sources.size(), 3U);
  EXPECT_EQ(row.sources[0].member, 2U);
  EXPECT_EQ(row.sources[1].member, 3U);
  EXPECT_EQ(row.sources[2].learner, 1U);
  EXPECT_TRUE(fits(row, made));
}

// One member ranks the first query right and the second wrong, the other the other way round; the second
// query counts three times as much.
TEST(FinalModelChoice, WeighsTheDocumentsOfValidation) {
  const test::ScratchDirectory scratch;
  ArtifactStore store(scratch / "store");
  const Plan plan = make_plan(parse_config("name: n\ndata: {synthetic: {preset: quickstart}}\n"
                                           "learners: [{type: linear_regression}]\n"
                                           "mix: {normalize: none}\n",
                                           "test", {}),
                              store);
  FoldInfo info;
  info.labels = 2;
  info.valid.labels = {1, 0, 1, 0};
  info.valid.queries = QueryIndex({0, 2, 4}, {"a", "b"});
  info.valid.weights = {1, 1, 3, 3};
  const Point at = plan.config.learners[0].points()[0];
  FoldMembers members;
  members.members.resize(1);
  for (const char* spec : {"rbc.linear.ndcg", "rbc.linear.raw"})
    members.members[0].push_back({0, at, calibrator(spec)});
  members.choosing = info.valid;
  members.choosing_scores = {{1, 0, 0, 1, 0, 1, 1, 0}};
  const MixRow row = mix_row_at(plan, info, members, "LR+EXP", 10, 0, Context(1));
  const double second = 1 / std::log2(3.0);  // NDCG of a relevant document at rank 2
  const double omega[] = {(1 + 3 * second) / 4, (second + 3) / 4};
  const double ratio = std::exp(10 * (omega[0] - omega[1]));
  ASSERT_EQ(row.mixture.weights().size(), 2U);
  EXPECT_NEAR(row.diagnostics[0].quality, omega[0], 1e-12);
  EXPECT_NEAR(row.diagnostics[1].quality, omega[1], 1e-12);
  EXPECT_NEAR(row.mixture.weights()[0], ratio / (1 + ratio), 1e-12);
  EXPECT_NEAR(row.validation, omega[1], 1e-12);
}

QueryIndex single_documents(size_t count) {
  std::vector<size_t> offsets(count + 1);
  std::iota(offsets.begin(), offsets.end(), size_t{0});
  std::vector<std::string> ids(count);
  for (size_t q = 0; q < count; ++q) ids[q] = std::to_string(q);
  return {std::move(offsets), std::move(ids)};
}

TEST(Bags, LeaveOutTheirPartOfEveryPartition) {
  Config config;
  const QueryIndex queries = single_documents(50);
  for (const size_t fold : {0, 1})
    for (const int round : {0, 1}) {
      std::multiset<size_t> held;
      for (int part = 0; part < 5; ++part) {
        const QuerySplit split = bag_split(config, queries, fold, 5 * round + part);
        EXPECT_EQ(split.calibration.size(), 10U);
        EXPECT_EQ(split.train.size(), 40U);
        std::set<size_t> both(split.train.begin(), split.train.end());
        both.insert(split.calibration.begin(), split.calibration.end());
        EXPECT_EQ(both.size(), 50U);
        held.insert(split.calibration.begin(), split.calibration.end());
      }
      for (size_t q = 0; q < 50; ++q) EXPECT_EQ(held.count(q), 1U) << q;
    }
  const std::vector<size_t> first = bag_split(config, queries, 0, 0).calibration;
  EXPECT_NE(bag_split(config, queries, 0, 5).calibration, first);
  EXPECT_NE(bag_split(config, queries, 1, 0).calibration, first);
  // Few queries have fewer parts; one alone has none to leave out.
  EXPECT_EQ(bag_split(config, single_documents(3), 0, 4).calibration.size(), 1U);
  EXPECT_THROW(bag_split(config, single_documents(1), 0, 0), InputError);
  config.data.calibration_parts = 0;
  EXPECT_EQ(bag_split(config, queries, 0, 1).train.size(), 50U);
  EXPECT_EQ(bag_split(config, queries, 0, 1).calibration.size(), 50U);
}

// Scores that tell their bag and document: 100 times the bag, plus the document's number.
TEST(Bags, ScoresAreMeansOverThoseThatHaveNotSeenAQuery) {
  const test::ScratchDirectory scratch;
  ArtifactStore store(scratch / "store");
  const auto plan_of = [&](int bags) {
    return make_plan(parse_config(fmt::format("name: n\ndata: {{synthetic: {{preset: quickstart}}, "
                                              "calibration: {{parts: 3}}}}\n"
                                              "learners: [{{type: linear_regression, bags: {}}}]\n",
                                              bags),
                                  "test", {}),
                     store);
  };
  FoldInfo info;
  info.labels = 2;
  std::vector<std::string> ids;
  std::vector<size_t> offsets = {0};
  for (size_t q = 0; q < 9; ++q) {
    ids.push_back(std::to_string(q));
    offsets.push_back(offsets.back() + 1 + q % 3);
  }
  info.train.queries = QueryIndex(offsets, ids);
  for (const int bags : {1, 2, 5}) {
    const Plan plan = plan_of(bags);
    const auto scores_of = [&](const TrainJob& job) {
      std::vector<float> values;
      for (const size_t q : bag_split(plan.config, info.train.queries, 0, job.bag).calibration)
        for (size_t i = offsets[q]; i < offsets[q + 1]; ++i)
          values.push_back(static_cast<float>(100 * job.bag) + static_cast<float>(i));
      TrainResult result;
      PointScores& point = result.points.emplace_back();
      point.range = job.bag;
      point.left_out = ScoreMatrix(values.size(), 1, "m");
      std::copy(values.begin(), values.end(), point.left_out.values().begin());
      point.valid = ScoreMatrix(1, 1, "m");
      point.valid.row(0)[0] = static_cast<float>(job.bag);
      point.test = ScoreMatrix(0, 1, "m");
      return result;
    };
    const LearnerScores means = mean_over_bags(plan, plan.calibrations[0], info, scores_of);
    EXPECT_EQ(means.points[0].valid.row(0)[0], static_cast<float>(bags - 1) / 2);
    EXPECT_EQ(means.points[0].range, (bags - 1) / 2.0);
    size_t row = 0;
    size_t found = 0;
    for (size_t q = 0; q < 9; ++q) {
      double sum = 0;
      int times = 0;
      for (int bag = 0; bag < bags; ++bag) {
        const auto held = bag_split(plan.config, info.train.queries, 0, bag).calibration;
        if (std::find(held.begin(), held.end(), q) == held.end()) continue;
        sum += 100 * bag;
        ++times;
      }
      if (times == 0) continue;
      ASSERT_LT(found, means.queries.size());
      EXPECT_EQ(means.queries[found++], q);
      for (size_t i = offsets[q]; i < offsets[q + 1]; ++i, ++row)
        EXPECT_FLOAT_EQ(means.points[0].left_out.row(row)[0],
                        static_cast<float>(sum / times + static_cast<double>(i)));
    }
    EXPECT_EQ(found, means.queries.size());
    EXPECT_EQ(found, bags == 1 ? 3U : bags == 2 ? 6U : 9U);
    EXPECT_EQ(row, means.points[0].left_out.documents());
  }
}

// Three files of four queries, the splits of a rotation over folds.
class AllData : public testing::Test {
 protected:
  AllData() {
    for (int file = 1; file <= 3; ++file) {
      SyntheticOptions options{.queries = 4, .features = 5, .labels = 3, .mean_length = 4};
      options.seed = static_cast<uint64_t>(file);
      write(make_synthetic(options, context_), fmt::format("S{}", file));
    }
    config_.data.labels = 3;
    config_.data.root = scratch_.path().string();
  }
  // The queries under ids of their own: those of generated data are numbers.
  void write(const Dataset& data, const std::string& name) const {
    std::vector<std::string> ids;
    for (size_t q = 0; q < data.queries().size(); ++q) ids.push_back(fmt::format("{}-{}", name, q));
    write_letor(
        Dataset(std::vector<float>(data.values().begin(), data.values().end()), data.features(),
                {{data.labels().begin(), data.labels().end()}, QueryIndex(data.queries().offsets(), ids)}),
        scratch_ / (name + ".txt"));
  }
  FoldFeatures all_data() const {
    std::vector<FoldInfo> infos;
    ArtifactStore store(scratch_ / "store");
    for (const FoldFiles& files : config_.data.folds) {
      infos.push_back(
          describe_fold(config_, {read(files.train), read(files.valid), read(files.test)}, context_));
      for (const auto* split : {&files.train, &files.valid, &files.test})
        for (const std::string& file : *split) store.file_hash(scratch_ / file);
    }
    std::vector<const FoldInfo*> folds;
    for (const FoldInfo& info : infos) folds.push_back(&info);
    return read_all(config_, folds, store, context_);
  }
  Dataset read(const std::vector<std::string>& files) const {
    return read_letor(paths_of(config_, files), {}, context_);
  }

  Context context_;
  test::ScratchDirectory scratch_;
  Config config_;
};

TEST_F(AllData, HasEveryQueryOnce) {
  config_.data.folds = {{{"S1.txt"}, {"S2.txt"}, {"S3.txt"}}, {{"S2.txt"}, {"S3.txt"}, {"S1.txt"}}};
  const FoldFeatures all = all_data();
  EXPECT_EQ(all.train.queries().size(), 12U);
  EXPECT_EQ(all.valid.documents(), 0U);
  EXPECT_EQ(all.test.features(), 5U);
  const Dataset together = read({"S1.txt", "S2.txt", "S3.txt"});
  EXPECT_EQ(all.train.fingerprint(), together.fingerprint());
  for (size_t i = 0; i < together.documents(); ++i) EXPECT_EQ(all.train.source_rows()[i], i);
  const FoldInfo info = describe_fold(config_, all, context_);
  const FoldInfo loaded = load_fold_info(save_fold_info(info));
  EXPECT_EQ(loaded.labels, 3);
  EXPECT_TRUE(describes(loaded, all));
}

TEST_F(AllData, KnowsTheRowsOfItsDocumentsInAllFiles) {
  // The first fold's files once more, then a new one.
  config_.data.folds = {{{"S1.txt"}, {"S2.txt"}, {"S2.txt"}}, {{"S1.txt"}, {"S3.txt"}, {"S2.txt"}}};
  const FoldFeatures all = all_data();
  EXPECT_EQ(all.train.queries().size(), 12U);
  std::vector<std::vector<float>> rows;
  for (const char* file : {"S1.txt", "S2.txt", "S2.txt", "S1.txt", "S3.txt", "S2.txt"}) {
    const Dataset data = read({file});
    for (size_t i = 0; i < data.documents(); ++i) rows.emplace_back(data.row(i).begin(), data.row(i).end());
  }
  for (size_t i = 0; i < all.train.documents(); ++i)
    EXPECT_TRUE(std::ranges::equal(all.train.row(i), rows[all.train.source_rows()[i]])) << i;
  const FoldInfo info = describe_fold(config_, all, context_);
  EXPECT_EQ(load_fold_info(save_fold_info(info)).train.source_rows, info.train.source_rows);
}

TEST_F(AllData, OfTheSameQueriesInOtherFilesIsNotDoubled) {
  // The training file of the second fold is two files of the first in one, under other ids.
  const Dataset both = read({"S2.txt", "S3.txt"});
  write(both, "both");
  config_.data.folds = {{{"S1.txt"}, {"S2.txt"}, {"S3.txt"}}, {{"both.txt"}, {"S1.txt"}, {"S1.txt"}}};
  // Queries of one document, or of equal ones, are told apart by their ids alone.
  size_t unclear = 0;
  for (const Hash128& content : query_contents(both, context_)) unclear += content == Hash128{} ? 1 : 0;
  EXPECT_EQ(all_data().train.queries().size(), 12U + unclear);
}

}  // namespace
}  // namespace tunemix
