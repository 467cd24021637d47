// A learner that is one folder and one line is known everywhere: the program is built with one, and run.
#include <gmock/gmock.h>

#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(ToyLearner, RunsFromConfigToPrediction) {
  Workspace at;
  at.write("toy.yaml",
           "name: toy\n"
           "data:\n"
           "  synthetic: {preset: quickstart, queries: 30, folds: 1}\n"
           "learners:\n"
           "  - {type: covariance, power: [0.5, 1], bags: 2}\n"
           "  - {type: best_feature}\n"
           "calibrate: {rbc: {regressors: [linear], targets: [raw]}}\n");
  const std::string table = at.good("run toy.yaml").out;
  EXPECT_THAT(table, AllOf(HasSubstr("TOY+EXP"), HasSubstr("BF+EXP"), HasSubstr("ALL+EXP")));
  EXPECT_EQ(computed_stages(at.good("run toy.yaml").err), std::vector<std::string>{});
  EXPECT_THAT(at.good("status toy.yaml learners.0.power=2").out, HasSubstr("learners.0.power changed"));
  EXPECT_THAT(slurp(at / "runs/toy/report.html"), HasSubstr("TOY+EXP"));
  EXPECT_THAT(at.good("inspect runs/toy/bundle-fold1.tmx").out, HasSubstr("covariance power=0.5"));
  EXPECT_THAT(at.good("run --help-config").out, HasSubstr("type: covariance"));
  EXPECT_THAT(at.good("run --help-config --format schema").out, HasSubstr("of the absolute covariance"));

  at.good("synth --queries 10 --seed 3 --out new.txt");
  at.good("predict --bundle runs/toy/bundle-fold1.tmx --data new.txt --out new.scores");
  at.good("eval --data new.txt --scores new.scores");

  at.good("train --data new.txt --learner covariance --set power=2 --model m.tmx");
  EXPECT_THAT(at.good("inspect m.tmx").out, HasSubstr("covariance"));
  at.good("score --model m.tmx --data new.txt --out m.scores");
  at.good("eval --data new.txt --scores m.scores");
  const Result wrong = at.run("train --data new.txt --learner covarience --model n.tmx");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'covariance'?"));
}

}  // namespace
}  // namespace tunemix::test
