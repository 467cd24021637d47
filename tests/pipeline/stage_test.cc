#include "pipeline/stages/stage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "pipeline/stages/plan.h"
#include "tests/support.h"
#include "tunemix/core/file.h"

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
      {"data.categorical", "[2]"},
      {"data.missing", "refuse"},
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
      {"mix.choose_by", "all"},
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

TEST(Stages, EveryOptionIsKnown) {
  const Config config = parse_config(kText, "a.yaml", {});
  for (const auto& [option, value] : config.values) {
    ASSERT_NE(find_use(option), nullptr) << option;
    const bool by_part =
        option.starts_with("learners.") || option.starts_with("engine.") || option == "data.synthetic.folds";
    EXPECT_TRUE(by_part || other_values().contains(option)) << option;
  }
  EXPECT_EQ(find_use("data.fold"), nullptr);
  EXPECT_EQ(find_use("data.folds.x.train"), nullptr);
}

// The same of files, of a source and of what an entry says of its learner.
TEST(Stages, KeysChangeWithTheOptionsOfFoldsSourcesAndLearners) {
  const test::ScratchDirectory scratch;
  ArtifactStore store(scratch / "store");
  for (const char* file : {"a", "b", "c", "d"})
    write_file_atomically(scratch / file, std::string(file) + "\n");
  const std::string text =
      "name: a\ndata:\n  root: " + scratch.path().string() +
      "\n  standardize: replace\n  source: {files: [c], use: none}\n  folds:\n"
      "    - {train: a, valid: {from: train}, test: b}\n    - {train: b, valid: {from: train}, test: a}\n"
      "learners:\n  - {type: adaboost_mh, iterations: 20, source: none}\n"
      "  - {type: lambdamart, iterations: 20, source: joint}\n"
      "  - {type: mart, iterations: 20, source: only}\n";
  const Plan plain = make_plan(parse_config(text, "a.yaml", {}), store);
  for (const auto& [option, value] : plain.config.values) EXPECT_NE(find_use(option), nullptr) << option;
  // Each with the first fold and learner whose keys it changes, and the number of those that it does not.
  struct Change {
    std::string option;
    Stage stage;
    size_t same;  // of the six training jobs, where it is not of the data
  };
  const std::vector<Change> changes = {
      {"data.folds.0.valid.share=0.3", Stage::kData, 3},
      {"data.folds.1.valid.seed=2", Stage::kData, 3},
      {"data.folds.0.train=d", Stage::kData, 3},
      {"data.source.features=[1-3]", Stage::kTrain, 2},
      {"data.source.weight=2", Stage::kTrain, 4},
      {"data.source.files=[d]", Stage::kTrain, 2},
      {"learners.0.source=only", Stage::kTrain, 4},
      {"learners.0.bags=2", Stage::kTrain, 6},
      {"learners.0.standardize=none", Stage::kTrain, 4},
      {"learners.0.copies=2", Stage::kTrain, 4},
      {"learners.0.labels=[[0], [1, 2, 3, 4]]", Stage::kTrain, 4},
      {"learners.0.classes=ordinal", Stage::kTrain, 4},
      {"learners.0.checkpoints=[7]", Stage::kTrain, 4},
      {"learners.0.iterations=30", Stage::kTrain, 4},
  };
  for (const Change& change : changes) {
    const Plan plan = make_plan(parse_config(text, "a.yaml", {change.option}), store);
    const std::string option = change.option.substr(0, change.option.find('='));
    for (size_t s = 0; s + 1 < kStages; ++s)
      EXPECT_EQ(keys_of(plan, static_cast<Stage>(s)) != keys_of(plain, static_cast<Stage>(s)),
                static_cast<Stage>(s) >= change.stage)
          << change.option << ", " << to_string(static_cast<Stage>(s));
    size_t same = 0;
    for (const TrainJob& job : plain.jobs)
      same += std::any_of(plan.jobs.begin(), plan.jobs.end(),
                          [&](const TrainJob& other) { return other.key == job.key; });
    EXPECT_EQ(same, change.same) << change.option;
  }
}

// What each learner's own options change: all of them are in the keys of its jobs.
TEST(Stages, KeysChangeWithEveryOptionOfALearner) {
  const test::ScratchDirectory scratch;
  ArtifactStore store(scratch / "store");
  Plan plan = make_plan(parse_config(kText, "a.yaml", {}), store);
  LearnerSpec& spec = plan.config.learners[1];
  const auto key = [&] { return make_plan(plan.config, store).jobs[1].key; };
  const Hash128 before = key();
  for (auto& [name, value] : spec.settings) {
    if (spec.learner->option(name).role == OptionRole::kLength) continue;  // in the key by its points
    const std::string kept = value;
    value += "0";
    EXPECT_NE(key(), before) << name;
    value = kept;
  }
  EXPECT_EQ(key(), before);
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
