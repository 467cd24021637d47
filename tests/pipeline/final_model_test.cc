#include "pipeline/stages/final_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

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
    write_letor(Dataset(std::vector<float>(data.values().begin(), data.values().end()), data.features(),
                        {data.labels().begin(), data.labels().end()},
                        QueryIndex(data.queries().offsets(), ids), NameTable()),
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
