// What the program says when something is wrong: one sentence with the reason and what to do.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Messages : public testing::Test {
 protected:
  std::string refused(const std::string& arguments) const {
    const Result result = at_.run(arguments);
    EXPECT_EQ(result.code, 2) << arguments << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << arguments << result.err;
    return result.err;
  }
  std::string with_option(const std::string& option) const {
    std::string text = kTiny;
    text.replace(text.find("shrinkage: 0.1"), 14, option);
    at_.write("other.yaml", text);
    return refused("run other.yaml");
  }
  Workspace at_;
};

TEST_F(Messages, CommandsAndOptionsSuggestTheNearest) {
  EXPECT_THAT(refused("rnu tiny.yaml"), HasSubstr("there is no command 'rnu'; did you mean 'run'?"));
  EXPECT_THAT(refused(""), HasSubstr("a command is missing; expected one of: run, status"));
  EXPECT_THAT(refused("run tiny.yaml --dryrun"),
              HasSubstr("'tunemix run' has no option --dryrun; did you mean '--dry-run'?"));
  EXPECT_THAT(refused("export tiny.yaml --flod 1"), HasSubstr("did you mean '--fold'?"));
  EXPECT_THAT(refused("eval --scores s"), HasSubstr("'tunemix eval' needs --data"));
  EXPECT_THAT(refused("eval --data d --scores s --k 0"),
              AllOf(HasSubstr("--k cannot be"), HasSubstr("10000")));
  EXPECT_THAT(refused("export tiny.yaml --fold 0"), HasSubstr("--fold"));
}

TEST_F(Messages, FilesSayWhy) {
  EXPECT_THAT(refused("run missing.yaml"), HasSubstr("missing.yaml: cannot open: there is no such file"));
  fs::create_directory(at_ / "folder");
  EXPECT_THAT(refused("run folder"), HasSubstr("folder: cannot open: it is a folder"));
  EXPECT_THAT(refused("eval --data 'S*.txt' --scores s"), HasSubstr("patterns are not expanded here"));
  at_.write("two.txt", "0 qid:1 1:1\n1 qid:1 1:2\n");
  at_.write("columns", "0.1 0.2 0.3\n0.1 0.2 0.3\n");
  EXPECT_THAT(
      refused("eval --data two.txt --scores columns"),
      AllOf(HasSubstr("columns:1: 3 numbers; expected one score a document"), HasSubstr("score --rank")));
}

TEST_F(Messages, NamesOfOtherProgramsSuggestOurs) {
  EXPECT_THAT(with_option("learning_rate: 0.1"),
              HasSubstr("learning_rate: unknown key; it is called 'shrinkage' here"));
  EXPECT_THAT(with_option("eta: 0.1"), HasSubstr("'shrinkage' here"));
  EXPECT_THAT(with_option("num_leaves: 8"), HasSubstr("'leaves' here"));
  EXPECT_THAT(with_option("n_estimators: 8"), HasSubstr("'iterations' here"));
  EXPECT_THAT(with_option("max_bin: 8"), HasSubstr("'max_bins' here"));
  at_.write("two.txt", "0 qid:1 1:1\n1 qid:1 1:2\n");
  EXPECT_THAT(refused("train --data two.txt --learner lambdamart --set min_child_weight=1"),
              HasSubstr("it is called 'min_hessian' here"));
}

TEST_F(Messages, YamlThatIsNone) {
  at_.write("tab.yaml", "name: x\ndata:\n\tsynthetic: {preset: quickstart}\n");
  EXPECT_THAT(refused("run tab.yaml"), HasSubstr("tab.yaml:3:1: a tab indents this line"));
  at_.write("open.yaml", "name: [x\ndata: 1\n");
  EXPECT_THAT(refused("run open.yaml"), AllOf(HasSubstr("not YAML"), Not(HasSubstr("yaml-cpp"))));
  std::string nameless = kTiny;
  nameless.erase(0, nameless.find('\n') + 1);
  at_.write("nameless.yaml", nameless);
  EXPECT_THAT(refused("run nameless.yaml"), HasSubstr("name: is missing"));
}

TEST_F(Messages, TrainScoreAndEvalGoTogether) {
  for (const char* seed : {"1", "2"})
    at_.good(std::string("synth --preset quickstart --queries 20 --seed ") + seed + " --out S" + seed +
             ".txt");
  at_.good("train --data S1.txt --learner adaboost_mh --set iterations=20 --model m.tmx");
  at_.good("score --model m.tmx --data S2.txt --rank --out ranked");
  at_.good("eval --data S2.txt --scores ranked");
  at_.good("score --model m.tmx --data S2.txt --out columns");
  // The expected grade through the softmax, worked out here from the five columns.
  std::istringstream columns(slurp(at_ / "columns"));
  std::istringstream ranked(slurp(at_ / "ranked"));
  std::string line;
  while (std::getline(columns, line)) {
    std::istringstream words(line);
    double sum = 0;
    double expected = 0;
    double f = 0;
    for (int l = 0; words >> f; ++l) {
      sum += std::exp(f);
      expected += std::exp(f) * (std::pow(2, l) - 1);
    }
    double score = 0;
    ASSERT_TRUE(ranked >> score);
    EXPECT_NEAR(score, expected / sum, 1e-5);
  }
}

TEST_F(Messages, PredictWarnsOfQueriesOfOneDocument) {
  at_.good("run tiny.yaml");
  at_.write("one.txt", "0 qid:1 1:1 25:1\n0 qid:2 1:1 25:1\n0 qid:2 1:2 25:1\n");
  EXPECT_THAT(at_.good("predict --bundle runs/tiny/bundle-fold1.tmx --data one.txt").err,
              HasSubstr("1 of 2 queries have one document, whose score is 0"));
}

TEST_F(Messages, CompareNamesItsSystems) {
  at_.good("run tiny.yaml");
  at_.good("run tiny.yaml name=second learners.0.shrinkage=0.3");
  const Result result = at_.good("compare tiny second");
  EXPECT_THAT(result.out, AllOf(HasSubstr("A: tiny\nB: second\n"), HasSubstr("\nall ")));
  const auto json = nlohmann::json::parse(at_.good("compare tiny second --json").out);
  EXPECT_EQ(json["a"], "tiny");
  double sum = 0;
  double queries = 0;
  for (const auto& fold : json["folds"]) {
    sum += fold["mean_a"].get<double>() * fold["queries"].get<double>();
    queries += fold["queries"].get<double>();
  }
  EXPECT_DOUBLE_EQ(json["pooled"]["mean_a"], sum / queries);
}

}  // namespace
}  // namespace tunemix::test
