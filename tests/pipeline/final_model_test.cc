#include "pipeline/stages/final_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "pipeline/stages/data_checks.h"
#include "tests/learners/train_by_name.h"
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

// Two folds of two learners, the first with two bags; by hand.
class Averages : public testing::Test {
 protected:
  Averages() {
    plan_.config = parse_config(
        "name: n\ndata: {synthetic: {preset: quickstart, folds: 2}}\n"
        "learners:\n  - {type: lambdamart, iterations: 20, checkpoints: [10], bags: 2}\n"
        "  - {type: linear_regression}\n",
        "test", {});
    plan_.fold_keys.resize(2);
    plan_.mix_keys.resize(2);
    for (size_t fold = 0; fold < 2; ++fold)
      for (const auto& [learner, bag] : {std::pair{0, 0}, std::pair{0, 1}, std::pair{1, 0}}) {
        TrainJob job;
        job.fold = fold;
        job.learner = static_cast<size_t>(learner);
        job.bag = bag;
        plan_.jobs.push_back(job);
      }
  }
  static Calibrator calibrator(const std::string& spec) {
    ScoreMatrix scores(4, 1, "m");
    for (size_t i = 0; i < 4; ++i) scores.row(i)[0] = static_cast<float>(i);
    const std::vector<int32_t> labels = {0, 1, 0, 1};
    const QueryIndex queries({0, 2, 4}, {"a", "b"});
    const std::vector<double> grades = {0, 1};
    return Calibrator::fit(CalibrationSpec::parse(spec), {scores, labels, queries, grades}, {}, 1,
                           Context(1));
  }
  // A mixture of members (job, point, calibration) with weights.
  struct Part {
    uint32_t job;
    size_t point;
    std::string calibration;
    double weight;
  };
  void add_fold(const std::vector<Part>& parts) {
    std::vector<std::vector<CalibratedModel>> tables(3);
    MixRow row;
    std::vector<Member> members;
    std::vector<double> weights;
    for (const Part& part : parts) {
      const TrainJob& job = *plan_.jobs_of(rows_.size())[part.job];
      const Point at = plan_.learner(job).points()[part.point];
      row.sources.push_back({part.job, static_cast<uint32_t>(tables[part.job].size())});
      tables[part.job].push_back({part.point, at, calibrator(part.calibration)});
      members.push_back(member_of(plan_.learner(job), job.bag, at, CalibrationSpec::parse(part.calibration)));
      weights.push_back(part.weight);
    }
    row.mixture = Mixture(members, weights, Normalize::kNone, 30, 20);
    rows_.push_back(std::move(row));
    members_.push_back(std::move(tables));
  }

  Plan plan_;
  std::vector<MixRow> rows_;
  std::vector<std::vector<std::vector<CalibratedModel>>> members_;
};

TEST_F(Averages, WeightsAreMeansOverFoldsOfWhatBagsHaveTogether) {
  // In the order of mixtures: by family, checkpoint, model and bag.
  add_fold({{0, 0, "rbc.linear.raw", 0.25}, {1, 0, "rbc.linear.raw", 0.25}, {2, 0, "rbc.linear.raw", 0.5}});
  add_fold({{0, 0, "rbc.linear.raw", 0.125}, {0, 1, "rbc.linear.raw", 0.375}, {2, 0, "rbc.linear.raw", 0.5}});
  const FinalChoice choice = average_mixtures(plan_, {30, 20, 0.8}, rows_, members_);
  EXPECT_EQ(choice.c, 30);
  EXPECT_EQ(choice.checkpoint, 20);
  ASSERT_EQ(choice.members.size(), 3U);
  const auto expect_member = [&](size_t m, uint32_t learner, uint32_t point, double weight) {
    EXPECT_EQ(choice.members[m].learner, learner);
    EXPECT_EQ(choice.members[m].point, point);
    EXPECT_EQ(choice.members[m].calibration, "rbc.linear.raw");
    EXPECT_DOUBLE_EQ(choice.members[m].weight, weight);
  };
  expect_member(0, 0, 0, (0.5 + 0.125) / 2);
  expect_member(1, 0, 1, 0.375 / 2);
  expect_member(2, 1, 0, 0.5);
  const FinalChoice loaded = load_choice(save_choice(choice), plan_);
  EXPECT_EQ(loaded.members.size(), 3U);
  EXPECT_EQ(loaded.members[1].weight, choice.members[1].weight);

  // Every bag of the final model gets an equal part of a member's weight.
  const std::vector<FinalJob> jobs = final_jobs(plan_, choice);
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[0].wanted.size(), 2U);
  const Context context(1);
  const Dataset data = make_synthetic({.queries = 20, .features = 4, .labels = 2, .mean_length = 6}, context);
  std::vector<FinalPart> parts;
  for (const FinalJob& job : jobs) {
    const LearnerSpec& spec = plan_.learner(job);
    FinalPart& part = parts.emplace_back();
    part.learned = test::train_by_name(
        data, spec.learner->type, spec.settings,
        job.learner == 0 ? std::vector<int64_t>{10, 20} : std::vector<int64_t>{}, context);
    for (size_t w = 0; w < job.wanted.size(); ++w) part.calibrators.push_back({calibrator("rbc.linear.raw")});
  }
  plan_.config.mix.normalize = Normalize::kNone;
  BundleInfo info;
  info.features = 4;
  info.labels = 2;
  const Bundle bundle = make_final_bundle(info, plan_, choice, jobs, std::move(parts));
  ASSERT_EQ(bundle.members().size(), 5U);
  EXPECT_EQ(bundle.models().size(), 3U);
  std::map<std::pair<uint32_t, uint32_t>, double> weights;
  for (size_t m = 0; m < 5; ++m)
    weights[{bundle.members()[m].model, bundle.members()[m].point}] += bundle.mixture().weights()[m];
  for (const uint32_t bag : {0U, 1U}) {
    EXPECT_DOUBLE_EQ((weights[{bag, 0}]), (0.5 + 0.125) / 4);
    EXPECT_DOUBLE_EQ((weights[{bag, 1}]), 0.375 / 4);
  }
  EXPECT_DOUBLE_EQ((weights[{2, 0}]), 0.5);
  EXPECT_TRUE(std::is_sorted(bundle.mixture().members().begin(), bundle.mixture().members().end()));
  EXPECT_EQ(bundle.predict(data, context).size(), data.documents());
}

TEST(FinalModelData, BagsHoldOutOneAfterTheOther) {
  Config config;
  config.data.calibration_fraction = 0.2;
  std::vector<size_t> offsets(51);
  std::iota(offsets.begin(), offsets.end(), size_t{0});
  std::vector<std::string> ids(50);
  for (size_t q = 0; q < 50; ++q) ids[q] = std::to_string(q);
  const QueryIndex queries(offsets, ids);
  std::multiset<size_t> held;
  for (int bag = 0; bag < 5; ++bag) {
    const QuerySplit split = final_split(config, queries, bag);
    EXPECT_EQ(split.calibration.size(), 10U);
    EXPECT_EQ(split.train.size(), 40U);
    std::set<size_t> both(split.train.begin(), split.train.end());
    both.insert(split.calibration.begin(), split.calibration.end());
    EXPECT_EQ(both.size(), 50U);
    held.insert(split.calibration.begin(), split.calibration.end());
  }
  for (size_t q = 0; q < 50; ++q) EXPECT_EQ(held.count(q), 1U) << q;
  EXPECT_EQ(final_split(config, queries, 5).calibration, final_split(config, queries, 0).calibration);
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
  std::vector<FoldInfo> folds() {
    std::vector<FoldInfo> result;
    for (const FoldFiles& files : config_.data.folds)
      result.push_back(
          describe_fold(config_, {read(files.train), read(files.valid), read(files.test)}, context_));
    return result;
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
  const AllDataInfo all = describe_all(config_, folds());
  EXPECT_EQ(all.documents.queries.size(), 12U);
  EXPECT_THAT(all.files, ElementsAre("S1.txt", "S2.txt", "S3.txt"));
  EXPECT_EQ(all.features, 5U);
  EXPECT_EQ(all.labels, 3);
  ArtifactStore store(scratch_ / "store");
  for (const char* file : {"S1.txt", "S2.txt", "S3.txt"}) store.file_hash(scratch_ / file);
  const Dataset together = read({"S1.txt", "S2.txt", "S3.txt"});
  EXPECT_EQ(all.documents.labels.size(), together.documents());
  const Dataset found = read_all(config_, all, store, context_);
  EXPECT_TRUE(std::equal(found.values().begin(), found.values().end(), together.values().begin(),
                         together.values().end()));
  EXPECT_TRUE(std::equal(found.labels().begin(), found.labels().end(), together.labels().begin(),
                         together.labels().end()));
}

TEST_F(AllData, OfTheSameQueriesInOtherFilesIsNotDoubled) {
  // The training file of the second fold is two files of the first in one, under other ids.
  const Dataset both = read({"S2.txt", "S3.txt"});
  write(both, "both");
  config_.data.folds = {{{"S1.txt"}, {"S2.txt"}, {"S3.txt"}}, {{"both.txt"}, {"S1.txt"}, {"S1.txt"}}};
  const AllDataInfo all = describe_all(config_, folds());
  // Queries of one document, or of equal ones, are told apart by their ids alone.
  size_t unclear = 0;
  for (const Hash128& content : query_contents(both, context_)) unclear += content == Hash128{} ? 1 : 0;
  EXPECT_EQ(all.documents.queries.size(), 12U + unclear);
}

}  // namespace
}  // namespace tunemix
