// The program end to end on tiny synthetic data: what runs, what is taken from the cache, what comes out.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using Stages = std::vector<std::string>;

class RunTest : public testing::Test {
 protected:
  json status(const std::string& overrides) const {
    const Result result = at_.good("status tiny.yaml --json " + overrides);
    return json::parse(result.out);
  }
  static Stages missing(const json& stages) {
    Stages result;
    for (const json& stage : stages)
      if (stage["missing"] > 0 && stage["stage"] != "report") result.push_back(stage["stage"]);
    return result;
  }
  // Two folds in files: what `synth` writes.
  void use_files() const {
    for (int file = 1; file <= 3; ++file)
      at_.good("synth --preset quickstart --queries 20 --seed " + std::to_string(file) + " --out S" +
               std::to_string(file) + ".txt");
    std::string text = kTiny;
    const std::string synthetic = "  synthetic: {preset: quickstart, queries: 30, folds: 2}\n";
    text.replace(text.find(synthetic), synthetic.size(),
                 "  folds:\n    - {train: S1.txt, valid: S2.txt, test: S3.txt}\n"
                 "    - {train: [S2.txt], valid: S3.txt, test: S1.txt}\n");
    at_.write("tiny.yaml", text);
  }

  Workspace at_;
  fs::path run_ = at_ / "runs/tiny";
};

TEST_F(RunTest, WithoutAConfigTheRecommendedRecipeRuns) {
  for (int file = 1; file <= 4; ++file)
    at_.good(fmt::format("synth --preset quickstart --queries 20 --seed {0} --out S{0}.txt", file));
  const std::string files = "--data-train S1.txt S2.txt --data-valid S3.txt --data-test S4.txt seed=2";
  const std::string fast =
      " calibrate.cpc=[shift] calibrate.rbc.regressors=[linear] calibrate.rbc.targets=[raw]";
  const json before = json::parse(at_.good("run --dry-run --json " + files + fast).out);
  EXPECT_THAT(missing(before), ElementsAre("data", "train", "calibrate", "mix", "evaluate"));
  EXPECT_FALSE(fs::exists(at_ / "runs"));
  at_.good("run " + files + fast);
  const json results = results_of(at_ / "runs/default");
  EXPECT_EQ(results["seed"], 2);
  const std::string resolved = slurp(at_ / "runs/default/config.resolved.yaml");
  EXPECT_THAT(resolved, AllOf(HasSubstr("train: [S1.txt, S2.txt]"), HasSubstr("type: lambdamart  # recipe")));
  // What it wrote down is the same experiment, for all commands.
  EXPECT_THAT(missing(json::parse(at_.good("status runs/default/config.resolved.yaml --json").out)),
              IsEmpty());
  EXPECT_THAT(missing(json::parse(at_.good("status --json " + files + fast).out)), IsEmpty());
  EXPECT_EQ(at_.run("run --data-train S1.txt").code, 2);
  EXPECT_EQ(at_.run("run tiny.yaml " + files).code, 2);
}

TEST_F(RunTest, EndToEnd) {
  const Result first = at_.good("run tiny.yaml");
  EXPECT_THAT(computed_stages(first.err), ElementsAre("data", "train", "calibrate", "mix", "evaluate"));
  for (const char* row : {"AB+EXP", "AB+EXP.CPC", "AB+EXP.RBC", "AB+OneBest", "SVM+EXP", "SVM+OneBest",
                          "ALL+EXP", "ALL+OneBest", "time:", "results in"})
    EXPECT_THAT(first.out, HasSubstr(row));
  for (const char* file : {"config.resolved.yaml", "manifest.json", "results.json", "results.md",
                           "report.html", "bundle-fold1.tmx", "bundle-fold2.tmx", "logs/run.log"})
    EXPECT_TRUE(fs::exists(run_ / file)) << file;
  const json results = results_of(run_);
  EXPECT_EQ(results["rows"].size(), 10U * 2 * 2);  // rows, tools, splits
  for (const json& row : results["rows"]) {
    EXPECT_EQ(row["folds"].size(), 2U);
    EXPECT_GT(row["ndcg@10"], 0);
    EXPECT_LE(row["ndcg@10"], 1);
  }

  const auto before = outcome(run_);
  const Result second = at_.good("run tiny.yaml");
  EXPECT_THAT(computed_stages(second.err), IsEmpty());
  EXPECT_EQ(first.out.substr(0, first.out.find("time:")), second.out.substr(0, second.out.find("time:")));
  expect_same(outcome(run_), before);
  // The resolved config repeats the run.
  fs::copy_file(run_ / "config.resolved.yaml", at_ / "again.yaml");
  EXPECT_THAT(computed_stages(at_.good("run again.yaml").err), IsEmpty());
  const Result quiet = at_.good("run tiny.yaml --quiet --json");
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(json::parse(quiet.out)["rows"], results["rows"]);
}

TEST_F(RunTest, EachChangeRunsExactlyTheStagesItShould) {
  at_.good("run tiny.yaml");
  const Stages from_data = {"data", "train", "calibrate", "mix", "evaluate"};
  const Stages from_train = {"train", "calibrate", "mix", "evaluate"};
  const Stages from_calibrate = {"calibrate", "mix", "evaluate"};
  const Stages from_mix = {"mix", "evaluate"};
  const std::vector<std::pair<std::string, Stages>> table = {
      {"seed=2", from_data},
      {"data.synthetic.queries=31", from_data},
      {"data.labels=6", from_data},
      {"data.calibration.parts=3", from_train},
      {"data.standardize=append", from_train},
      {"learners.0.shrinkage=0.2", from_train},
      {"learners.0.iterations=20", from_train},
      {"learners.0.checkpoints=[7]", from_train},
      {"learners.1.C=[0.1]", from_train},
      {"learners.1.bags=2", from_train},
      {"data.grades=[0,1,2,3,4]", from_calibrate},
      {"calibrate.cpc=[shift]", from_calibrate},
      {"calibrate.rbc.targets=[ndcg]", from_calibrate},
      {"mix.c.to=50", from_mix},
      {"mix.families=pooled", from_mix},
      {"mix.metric=ndcg@5", from_mix},
      {"mix.choose=fixed", from_mix},
      {"evaluate.tools=[trec]", {"evaluate"}},
      {"evaluate.err_max=32", {"evaluate"}},
      {"engine.slurm.cpus=2", {}},
      {"name=other", {}},
      {"--threads 1", {}},
  };
  for (const auto& [change, stages] : table) {
    if (!change.starts_with("--")) {
      EXPECT_EQ(missing(status(change)), stages) << change;
    }
    EXPECT_EQ(computed_stages(at_.good("run tiny.yaml " + change).err), stages) << change;
    EXPECT_THAT(computed_stages(at_.good("run tiny.yaml " + change).err), IsEmpty()) << change;
  }
  EXPECT_THAT(missing(status("")), IsEmpty()) << "nothing of the first run was lost";
}

TEST_F(RunTest, OnlyTheJobsThatChangedRun) {
  at_.good("run tiny.yaml");
  const json stages = status("learners.0.leaves=[3,5]");
  EXPECT_EQ(stages[1]["missing"], 2);  // the new tree, in two folds
  EXPECT_EQ(stages[1]["cached"], 4);
  EXPECT_EQ(stages[1]["jobs"].size(), 2U);
  EXPECT_THAT(stages[1]["jobs"][0].get<std::string>(), AllOf(HasSubstr("fold 1"), HasSubstr("leaves=5")));
  EXPECT_THAT(at_.good("run tiny.yaml learners.0.leaves=[3,5]").err, HasSubstr("train      2 computed"));
}

TEST_F(RunTest, StatusAndDryRunSayWhy) {
  EXPECT_THAT(at_.good("status tiny.yaml").out, HasSubstr("no earlier run of this name"));
  const Result dry = at_.good("run tiny.yaml --dry-run");
  EXPECT_THAT(dry.out, HasSubstr("train      to compute: 6 of 6"));
  EXPECT_FALSE(fs::exists(run_));
  EXPECT_FALSE(fs::exists(at_ / "runs")) << "commands that only look leave nothing behind";

  at_.good("run tiny.yaml");
  EXPECT_THAT(at_.good("status tiny.yaml").out,
              AllOf(HasSubstr("train      cached (6)"), Not(HasSubstr("to compute"))));
  EXPECT_THAT(
      at_.good("status tiny.yaml calibrate.cpc=[shift]").out,
      AllOf(HasSubstr("calibrate.cpc changed: ls removed"), HasSubstr("an earlier stage has to run")));
  EXPECT_THAT(at_.good("status tiny.yaml mix.c.to=50").out, HasSubstr("mix.c.to changed: 100 -> 50"));
  EXPECT_THAT(at_.good("run tiny.yaml --dry-run learners.0.leaves=[3]").out,
              HasSubstr("learners.0.leaves changed: [3, 4] -> 3"));
  EXPECT_THAT(at_.good("status tiny.yaml seed=5").out, HasSubstr("the data of fold 1 changed"));
  fs::remove_all(at_ / "runs/.store/mix");
  EXPECT_THAT(at_.good("status tiny.yaml").out, HasSubstr("not computed yet, or removed from the store"));
}

TEST_F(RunTest, OnlyMixNeedsNoFeatures) {
  use_files();
  at_.good("run tiny.yaml");
  for (const char* file : {"S1.txt", "S2.txt", "S3.txt"})
    fs::rename(at_ / file, at_ / (std::string(file) + ".away"));
  EXPECT_THAT(computed_stages(at_.good("run tiny.yaml --only mix mix.c.to=50").err), ElementsAre("mix"));
  EXPECT_THAT(computed_stages(at_.good("run tiny.yaml --only calibrate calibrate.cpc=[ls]").err),
              ElementsAre("calibrate"));
  EXPECT_THAT(computed_stages(at_.good("run tiny.yaml --from mix mix.c.to=60").err),
              ElementsAre("mix", "evaluate"));
  at_.good("export tiny.yaml mix.c.to=60 --format yahoo");
  // What has to be trained needs its data.
  const Result refused = at_.run("run tiny.yaml");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("S1.txt"), HasSubstr("cannot open")));
  const Result untrained = at_.run("run tiny.yaml --only mix learners.0.shrinkage=0.3");
  EXPECT_EQ(untrained.code, 2);
  EXPECT_THAT(untrained.err, HasSubstr("leaves the stage 'calibrate' out; run without it first"));
}

TEST_F(RunTest, ChangedFilesAreSeen) {
  use_files();
  at_.good("run tiny.yaml");
  fs::rename(at_ / "S3.txt", at_ / "S4.txt");
  at_.write("S3.txt", slurp(at_ / "S4.txt"));
  EXPECT_THAT(computed_stages(at_.good("run tiny.yaml").err), IsEmpty())
      << "the content counts, not the time";
  at_.good("synth --preset quickstart --queries 20 --seed 9 --out S3.txt");
  EXPECT_THAT(at_.good("status tiny.yaml").out,
              AllOf(HasSubstr("the data of fold 1 changed"), HasSubstr("the data of fold 2 changed")));
}

TEST_F(RunTest, ForceComputesAgainTheSame) {
  at_.good("run tiny.yaml");
  const auto before = artifacts(at_ / "runs");
  const auto files = outcome(run_);
  for (const char* stage : {"data", "train", "calibrate", "mix", "evaluate"}) {
    const std::string only = std::string("run tiny.yaml --only ") + stage;
    EXPECT_THAT(computed_stages(at_.good(only).err), IsEmpty()) << stage;
    EXPECT_THAT(computed_stages(at_.good(only + " --force").err), ElementsAre(stage));
    expect_same(artifacts(at_ / "runs"), before);
  }
  EXPECT_THAT(computed_stages(at_.good("run tiny.yaml --from calibrate --force").err),
              ElementsAre("calibrate", "mix", "evaluate"));
  expect_same(artifacts(at_ / "runs"), before);
  expect_same(outcome(run_), files);
  // Training again is training, not loading the model.
  const fs::path models = at_ / "runs/.store/model";
  const auto oldest = [&] {
    fs::file_time_type time = fs::file_time_type::max();
    for (const auto& entry : fs::recursive_directory_iterator(models))
      if (entry.is_regular_file()) time = std::min(time, fs::last_write_time(entry));
    return time;
  };
  const fs::file_time_type time = fs::file_time_type::clock::now();
  at_.good("run tiny.yaml --only train --force");
  EXPECT_GT(oldest(), time - std::chrono::milliseconds(50));
  EXPECT_EQ(at_.run("run tiny.yaml --force").code, 2);
  EXPECT_EQ(at_.run("run tiny.yaml --only mix --from mix").code, 2);
  EXPECT_THAT(at_.run("run tiny.yaml --only mxi").err, HasSubstr("did you mean 'mix'"));
}

TEST_F(RunTest, AnyNumberOfThreadsGivesTheSameBytes) {
  for (const char* threads : {"1", "2", "4"}) {
    at_.good(std::string("run tiny.yaml --runs runs") + threads + " --threads " + threads);
    for (const char* format : {"yahoo", "trec", "qrels", "scores", "ranklib", "tsv"})
      at_.good(std::string("export tiny.yaml --runs runs") + threads + " --format " + format);
  }
  for (const char* runs : {"runs2", "runs4"}) {
    expect_same(artifacts(at_ / runs), artifacts(at_ / "runs1"));
    expect_same(outcome(at_ / runs / "tiny"), outcome(at_ / "runs1/tiny"));
    std::map<std::string, std::string> exports[2];
    size_t i = 0;
    for (const fs::path& folder : {at_ / runs, at_ / "runs1"}) {
      for (const auto& entry : fs::directory_iterator(folder / "tiny/exports"))
        exports[i][entry.path().filename().string()] = slurp(entry.path());
      ++i;
    }
    EXPECT_EQ(exports[0].size(), 12U);
    expect_same(exports[0], exports[1]);
  }
}

TEST_F(RunTest, MoreOrFewerIterationsThanCachedGiveTheBytesOfAFreshRun) {
  at_.good("run tiny.yaml --runs short learners.0.iterations=12");
  at_.good("run tiny.yaml --runs long learners.0.iterations=40");
  const auto models = artifacts(at_ / "long");

  at_.good("run tiny.yaml --runs up learners.0.iterations=12");
  EXPECT_EQ(taken_up(at_ / "up/tiny"), 0U);
  EXPECT_THAT(computed_stages(at_.good("run tiny.yaml --runs up learners.0.iterations=40").err),
              ElementsAre("train", "calibrate", "mix", "evaluate"));
  EXPECT_EQ(taken_up(at_ / "up/tiny"), 4U);  // two learners in two folds
  expect_same(outcome(at_ / "up/tiny"), outcome(at_ / "long/tiny"));
  for (const auto& [name, bytes] : artifacts(at_ / "up"))
    if (models.contains(name)) {
      EXPECT_TRUE(models.at(name) == bytes) << name;
    }

  at_.good("run tiny.yaml --runs down learners.0.iterations=40");
  at_.good("run tiny.yaml --runs down learners.0.iterations=12");
  expect_same(outcome(at_ / "down/tiny"), outcome(at_ / "short/tiny"));
}

// The rows of a file in another order: those of a query are no longer adjacent.
std::string shuffled(const std::string& text) {
  std::vector<std::string> even;
  std::vector<std::string> odd;
  std::istringstream lines(text);
  std::string line;
  for (size_t i = 0; std::getline(lines, line); ++i) (i % 2 == 0 ? even : odd).push_back(line + "\n");
  std::string result;
  for (const std::string& l : even) result += l;
  for (const std::string& l : odd) result += l;
  return result;
}

TEST_F(RunTest, PredictGivesTheScoresOfTheRun) {
  use_files();
  at_.write("S3.txt", shuffled(slurp(at_ / "S3.txt")));
  for (const char* standardize : {"none", "append", "replace", "[none, context]"}) {
    const std::string config = std::string("tiny.yaml 'data.standardize=") + standardize + "'";
    at_.good("run " + config);
    at_.good("export " + config + " --format scores --fold 1 --out run.scores");
    at_.good("predict --bundle runs/tiny/bundle-fold1.tmx --data S3.txt --out predicted.scores");
    EXPECT_EQ(slurp(at_ / "predicted.scores"), slurp(at_ / "run.scores")) << standardize;
  }
  // Without labels, and in the other formats.
  std::string unlabelled;
  std::istringstream lines(slurp(at_ / "S3.txt"));
  std::string line;
  while (std::getline(lines, line)) unlabelled += "-1" + line.substr(line.find(' ')) + "\n";
  at_.write("new.txt", unlabelled);
  const std::string predict = "predict --bundle runs/tiny/bundle-fold1.tmx --data new.txt ";
  EXPECT_EQ(at_.good(predict).out, slurp(at_ / "predicted.scores"));
  for (const char* format : {"yahoo", "trec", "ranklib", "tsv"})
    EXPECT_NE(at_.good(predict + "--format " + format).out, "") << format;
  EXPECT_EQ(at_.run(predict + "--format qrels").code, 2);
}

TEST_F(RunTest, PredictRefusesOtherFeaturesAndDamagedBundles) {
  at_.good("run tiny.yaml");
  const std::string predict = "predict --bundle runs/tiny/bundle-fold1.tmx --data new.txt ";
  at_.write("new.txt", "0 qid:1 1:1 26:1\n0 qid:1 1:2 26:1\n");
  Result result = at_.run(predict);
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "tunemix: new.txt: the data has 26 features and the ensemble 'tiny' was trained on 25\n");
  EXPECT_EQ(at_.run(predict + "--sparse").code, 2);
  at_.write("new.txt", "0 qid:1 1:1 3:1\n0 qid:1 1:2\n");
  result = at_.run(predict);
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("3 features"), HasSubstr("--sparse")));
  EXPECT_EQ(at_.good(predict + "--sparse").out.empty(), false);

  std::string bytes = slurp(run_ / "bundle-fold1.tmx");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  at_.write("runs/tiny/bundle-fold1.tmx", bytes);
  result = at_.run(predict + "--sparse");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("bundle-fold1.tmx: damaged file"));
}

TEST_F(RunTest, ExportedFilesGiveTheNumbersOfTheRun) {
  use_files();
  at_.good("run tiny.yaml");
  const json results = results_of(run_);
  at_.good("export tiny.yaml --format scores --fold 2 --out s");
  const json eval = json::parse(at_.good("eval --data S1.txt --scores s --tool yahoo,trec --json").out);
  size_t seen = 0;
  for (const json& row : results["rows"])
    if (row["name"] == "ALL+EXP" && row["split"] == "test") {
      EXPECT_DOUBLE_EQ(row["folds"][1]["ndcg@10"],
                       eval["tools"][row["tool"].get<std::string>()]["ndcg"][9].get<double>());
      ++seen;
    }
  EXPECT_EQ(seen, 2U);
  EXPECT_EQ(at_.run("export tiny.yaml --format yaho").code, 2);
  EXPECT_EQ(at_.run("export tiny.yaml --fold 3").code, 2);
  EXPECT_THAT(at_.run("export tiny.yaml --row ALL+EX").err, HasSubstr("did you mean 'ALL+EXP'"));
  EXPECT_THAT(at_.run("export tiny.yaml mix.c.to=10").err, HasSubstr("has not been run to its end"));
}

TEST_F(RunTest, CompareOfRunsIsThatOfTheirScores) {
  use_files();
  at_.good("run tiny.yaml");
  at_.good("run tiny.yaml name=other learners.0.leaves=2 mix.c.to=10");
  json runs = json::parse(at_.good("compare tiny runs/other --json").out);
  for (int fold = 1; fold <= 2; ++fold) {
    const std::string number = std::to_string(fold);
    at_.good("export tiny.yaml --fold " + number + " --out a" + number);
    at_.good("export tiny.yaml name=other learners.0.leaves=2 mix.c.to=10 --fold " + number + " --out b" +
             number);
  }
  json files = json::parse(at_.good("compare --data S3.txt S1.txt --a a1 a2 --b b1 b2 --json").out);
  for (json* result : {&runs, &files})
    for (const char* name : {"a", "b"}) result->erase(name);
  EXPECT_EQ(runs, files);
  EXPECT_NE(runs["folds"][0]["difference"], 0);
  EXPECT_THAT(at_.good("compare tiny other --row AB+EXP --metric err").out, HasSubstr("yahoo err"));

  at_.good("run tiny.yaml name=swapped data.allow_overlap=true data.folds.0.test=S2.txt");
  Result result = at_.run("compare tiny swapped");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("the test data of fold 1 is not the same"));
  result = at_.run("compare tiny nothing");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("nothing: no run"));
  EXPECT_EQ(at_.run("compare tiny").code, 2);
  EXPECT_EQ(at_.run("compare").code, 2);
  at_.good("run tiny.yaml name=half --only data mix.c.to=20");
  EXPECT_THAT(at_.run("compare tiny half").err, HasSubstr("has not been evaluated"));
}

TEST_F(RunTest, CleanKeepsTheNewestRunsWhole) {
  at_.good("run tiny.yaml name=old calibrate.cpc=[ls]");
  at_.good("run tiny.yaml");
  const auto before = outcome(run_);
  const std::string planned = at_.good("clean --keep-last 1 --dry-run").out;
  EXPECT_THAT(planned, testing::MatchesRegex("would remove run old: [0-9.]+ [KM]B\nwould remove .*\n"));
  EXPECT_TRUE(fs::exists(at_ / "runs/old"));
  EXPECT_THAT(at_.good("clean --keep-last 1").out,
              testing::AllOf(StartsWith("removed run old: "), HasSubstr("1 runs; kept")));
  EXPECT_FALSE(fs::exists(at_ / "runs/old"));
  EXPECT_THAT(computed_stages(at_.good("run tiny.yaml").err), IsEmpty());
  expect_same(outcome(run_), before);
  EXPECT_THAT(computed_stages(at_.good("run tiny.yaml name=old calibrate.cpc=[ls]").err),
              ElementsAre("calibrate", "mix", "evaluate"));
}

TEST_F(RunTest, MistakesInTheConfigAreOneSentenceAndCodeTwo) {
  for (const char* arguments :
       {"run none.yaml", "run", "run tiny.yaml mixx.c.to=1", "run tiny.yaml seed=x",
        "status tiny.yaml learners=[]", "export tiny.yaml", "run tiny.yaml --runs", "report tiny.yaml",
        "job tiny.yaml --job 12", "clean --keep-last 1 --runs no"}) {
    const Result result = at_.run(arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_THAT(result.err, StartsWith("tunemix: ")) << arguments;
    EXPECT_EQ(result.out, "") << arguments;
  }
}

}  // namespace
}  // namespace tunemix::test
