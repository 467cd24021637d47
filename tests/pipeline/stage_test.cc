#include "pipeline/stages/stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "pipeline/stages/plan.h"
#include "tests/support.h"

namespace tunemix {
namespace {

constexpr const char* kText =
    "name: a\nseed: 1\ndata:\n  synthetic: {preset: quickstart, queries: 20, folds: 2}\n"
    "learners: [{type: svm}, {type: lambdamart, iterations: 20}]\n";

// Another value for every option of the config above that is not an entry of a learner.
const std::map<std::string, std::string>& other_values() {
  static const std::map<std::string, std::string> values = {
      {"name", "b"},
      {"seed", "2"},
      {"data.allow_new_features", "true"},
      {"data.allow_overlap", "true"},
      {"data.calibration.parts", "3"},
      {"data.features", "[1-5]"},
      {"data.feature_names", "names.txt"},
      {"data.grades", "[0, 1, 2, 3, 4]"},
      {"data.labels", "5"},
      {"data.max_feature_id", "200"},
      {"data.root", "elsewhere"},
      {"data.standardize", "append"},
      {"data.synthetic.preset", "mslr10k"},
      {"data.synthetic.queries", "30"},
      {"calibrate.cpc", "[ls]"},
      {"calibrate.rbc.regressors", "[linear]"},
      {"calibrate.rbc.targets", "[raw]"},
      {"mix.c.from", "1"},
      {"mix.c.step", "2"},
      {"mix.c.to", "50"},
      {"mix.checkpoints", "all"},
      {"mix.choose", "fixed"},
      {"mix.families", "equal"},
      {"mix.fixed.c", "3"},
      {"mix.fixed.iterations", "10"},
      {"mix.metric", "err"},
      {"mix.normalize", "none"},
      {"mix.parts", "3"},
      {"evaluate.tools", "[yahoo]"},
      {"evaluate.err_max", "4"},
      {"engine.type", "slurm"},
  };
  return values;
}

std::set<std::string> keys_of(const Plan& plan, Stage stage) {
  std::set<std::string> keys;
  for (const StageJob& job : stage_jobs(plan, stage))
    for (const ArtifactId& id : job.artifacts) keys.insert(std::string(id.kind) + id.key.hex());
  return keys;
}

// An option that a stage reads is in its keys, and in no keys before it: no result is taken for that of other
// options, and nothing is computed twice.
TEST(Stages, KeysChangeWithTheOptionsThatAStageReads) {
  const test::ScratchDirectory scratch;
  ArtifactStore store(scratch / "store");
  const Plan plain = make_plan(parse_config(kText, "a.yaml", {}), store);
  for (const auto& [option, value] : other_values()) {
    const Config config = parse_config(kText, "a.yaml", {option + "=" + value});
    const Plan plan = make_plan(config, store);
    const std::optional<Stage> first = stage_that_reads(option);
    ASSERT_TRUE(!first || config.values.at(option) != plain.config.values.at(option)) << option;
    for (size_t s = 0; s + 1 < kStages; ++s) {
      const auto stage = static_cast<Stage>(s);
      // Generated data comes from the seed as well.
      const bool reads = (first && stage >= *first) || option == "seed";
      EXPECT_EQ(keys_of(plan, stage) != keys_of(plain, stage), reads) << option << ", " << to_string(stage);
    }
  }
}

TEST(Stages, EveryOptionIsKnownToThisTest) {
  const Config config = parse_config(kText, "a.yaml", {});
  for (const auto& [option, value] : config.values) {
    const bool by_part =
        option.starts_with("learners.") || option.starts_with("engine.") || option == "data.synthetic.folds";
    EXPECT_TRUE(by_part || other_values().contains(option)) << option;
  }
}

TEST(Stages, AnotherFoldOrLearnerLeavesTheOthersAlone) {
  const test::ScratchDirectory scratch;
  ArtifactStore store(scratch / "store");
  const Plan plain = make_plan(parse_config(kText, "a.yaml", {}), store);
  const Plan longer = make_plan(parse_config(kText, "a.yaml", {"data.synthetic.folds=3"}), store);
  const auto includes = [](const std::set<std::string>& all, const std::set<std::string>& some) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end());
  };
  for (const Stage stage : {Stage::kData, Stage::kTrain, Stage::kCalibrate, Stage::kMix})
    EXPECT_TRUE(includes(keys_of(longer, stage), keys_of(plain, stage))) << to_string(stage);
  EXPECT_NE(keys_of(longer, Stage::kEvaluate), keys_of(plain, Stage::kEvaluate));

  const Plan wider = make_plan(
      parse_config(std::string(kText) + "mix: {families: equal}\n", "a.yaml", {"learners.1.leaves=16"}),
      store);
  std::vector<std::string> same;
  for (size_t j = 0; j < plain.jobs.size(); ++j)
    if (plain.jobs[j].key == wider.jobs[j].key) same.push_back(plain.learner(plain.jobs[j]).learner->type);
  EXPECT_THAT(same, testing::Each("svm"));
  EXPECT_FALSE(same.empty());
}

TEST(Stages, OptionsThatChangeNoResultBelongToNone) {
  for (const char* option : {"name", "engine.type", "engine.slurm.cpus", "data.root", "data.allow_overlap",
                             "data.feature_names", "data.folds.0.train", "data.synthetic.folds"})
    EXPECT_FALSE(stage_that_reads(option)) << option;
  EXPECT_EQ(stage_that_reads("learners.0.leaves"), Stage::kTrain);
  EXPECT_EQ(stage_that_reads("data.source.weight"), Stage::kTrain);
}

}  // namespace
}  // namespace tunemix
