// Single models by hand: train, extend, score and inspect as a user calls them.
#include <gmock/gmock.h>

#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;

class ModelsTest : public testing::Test {
 protected:
  ModelsTest() { at_.good("synth --preset quickstart --queries 30 --seed 3 --out data.txt"); }

  json train(const std::string& arguments) const {
    return json::parse(at_.good("train --data data.txt --json --quiet " + arguments).out, nullptr, false);
  }

  Workspace at_;
};

constexpr const char* kTree =
    "--learner adaboost_mh --set base=tree --set leaves=6 --set bandit=exp3g --set iterations=";

TEST_F(ModelsTest, TrainTellsWhatItReached) {
  const json figures = train(std::string(kTree) + "20 --model m.tmx");
  for (const char* key : {"load", "bin", "fit"}) EXPECT_GE(figures["seconds"][key], 0) << key;
  EXPECT_EQ(figures["rounds"], 20);
  EXPECT_GT(figures["hamming_error"], 0);
  EXPECT_LE(figures["hamming_error"], figures["error_bound"]);
  EXPECT_GT(figures["peak_rss_mb"], 1);
  const json svm = train("--learner svm --set C=10 --set gap=0.001");
  EXPECT_LE(svm["dual"][0], svm["primal"][0]);
  EXPECT_LE(svm["relative_gap"][0], 0.001);
}

TEST_F(ModelsTest, ThreadsDoNotChangeAByte) {
  for (const char* base : {"base=tree --set leaves=16", "base=product --set terms=3", "base=stump"})
    for (const char* bandit : {"none", "exp3g"}) {
      std::string first;
      for (const char* threads : {"1", "2", "4"}) {
        train(std::string("--learner adaboost_mh --set iterations=12 --set ") + base +
              " --set bandit=" + bandit + " --threads " + threads + " --model m.tmx");
        const std::string bytes = slurp(at_ / "m.tmx");
        if (first.empty()) first = bytes;
        EXPECT_TRUE(bytes == first) << base << " " << bandit << " on " << threads << " threads";
      }
    }
}

TEST_F(ModelsTest, ExtendingEqualsTrainingAtOnce) {
  train(std::string(kTree) + "30 --model whole.tmx");
  train(std::string(kTree) + "11 --model part.tmx --save-state part.state");
  const json extended = train(std::string(kTree) + "30 --extend part.state --model extended.tmx");
  EXPECT_EQ(extended["extended_from"], 11);  // the first round that it trained is the twelfth
  EXPECT_EQ(extended["rounds"], 30);
  EXPECT_TRUE(slurp(at_ / "whole.tmx") == slurp(at_ / "extended.tmx"));
  // A model is no training state, and a state goes on with its own settings only.
  EXPECT_EQ(at_.run(std::string("train --data data.txt ") + kTree + "30 --extend part.tmx").code, 2);
  const Result other =
      at_.run("train --data data.txt --learner adaboost_mh --set leaves=7 --extend part.state");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("(only iterations may change)"));
}

TEST_F(ModelsTest, ScoreWritesAColumnPerLabel) {
  train(std::string(kTree) + "10 --model m.tmx");
  at_.good("score --model m.tmx --data data.txt --out scores.txt --quiet");
  std::istringstream lines(slurp(at_ / "scores.txt"));
  std::ifstream data(at_ / "data.txt");
  size_t count = 0;
  for (std::string line, document; std::getline(data, document); ++count) {
    ASSERT_TRUE(std::getline(lines, line));
    std::istringstream values(line);
    size_t columns = 0;
    for (double value; values >> value;) ++columns;
    ASSERT_EQ(columns, 5U) << line;
  }
  EXPECT_GT(count, 100U);
}

TEST_F(ModelsTest, InspectTellsWhatAModelIs) {
  train(std::string(kTree) + "10 --model m.tmx");
  const json model = json::parse(at_.good("inspect m.tmx --json").out);
  EXPECT_EQ(model["kind"], "model");
  EXPECT_EQ(model["learner"], "adaboost_mh");
  EXPECT_EQ(model["rounds"], 10);
  EXPECT_EQ(model["options"]["leaves"], "6");
  EXPECT_THAT(at_.good("inspect m.tmx").out, ContainsRegex("options\\.bandit +exp3g\n"));
}

TEST_F(ModelsTest, InspectTellsWhatABundleHolds) {
  at_.good("run tiny.yaml --quiet");
  const json bundle = json::parse(at_.good("inspect runs/tiny/bundle-fold2.tmx --json").out);
  EXPECT_EQ(bundle["row"], "ALL+EXP");
  EXPECT_EQ(bundle["fold"], 2);
  EXPECT_NEAR(bundle["mass"]["boosting"].get<double>() + bundle["mass"]["svm"].get<double>(), 1, 1e-9);
  double sum = 0;
  double before = 1;
  for (const json& member : bundle["members"]) {
    EXPECT_LE(member["weight"], before);
    before = member["weight"];
    sum += before;
  }
  EXPECT_NEAR(sum, 1, 1e-9);
}

TEST_F(ModelsTest, BadParametersAreOneSentenceAndExitTwo) {
  for (const char* setting :
       {"leaves=1", "terms=0", "iterations=0", "bandit=luck", "leafs=8", "shrinkage=0"}) {
    const Result result =
        at_.run(std::string("train --data data.txt --learner adaboost_mh --set ") + setting);
    EXPECT_EQ(result.code, 2) << setting;
    EXPECT_THAT(result.err, HasSubstr(std::string(setting).substr(0, std::string(setting).find('='))));
  }
  at_.write("one.txt", "0 qid:1 1:1\n0 qid:1 1:2\n");
  EXPECT_EQ(at_.run("train --data one.txt --learner adaboost_mh").code, 2);
  // Nothing to tell the documents apart: a model without rounds or of constants, not an endless search.
  at_.write("same.txt", "0 qid:1 1:1\n1 qid:1 1:1\n0 qid:2 1:1\n");
  const Result constant = at_.run("train --data same.txt --learner adaboost_mh --json --model c.tmx");
  EXPECT_EQ(constant.code, 0) << constant.err;
  EXPECT_THAT(at_.good("score --model c.tmx --data same.txt --out s.txt").err,
              testing::Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace tunemix::test
