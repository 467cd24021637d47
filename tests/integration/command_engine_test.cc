// The command engine with the launchers that every machine has, and with some that fail.
#include <gmock/gmock.h>

#include "tests/integration/cluster.h"

namespace tunemix::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CommandEngineTest : public testing::Test {
 protected:
  void SetUp() override { at_.good("run tiny.yaml --runs local"); }
  std::string with(const std::string& command, const std::string& runs) {
    return "run tiny.yaml --runs '" + runs + "' --engine command 'engine.command.run=" + command + "' ";
  }
  void expect_local_bytes(const std::string& runs) {
    expect_same(outcome(at_ / (runs + "/tiny")), outcome(at_ / "local/tiny"));
    std::map<std::string, std::string> files = artifacts(at_ / runs);
    for (const char* kind : {"features/", "bins/"})  // made once, for all tasks
      EXPECT_GT(std::erase_if(files, [&](const auto& file) { return file.first.starts_with(kind); }), 0U);
    expect_same(files, artifacts(at_ / "local"));
  }
  Workspace at_;
};

TEST_F(CommandEngineTest, RunsByXargs) {
  // From another folder, as launchers on other machines do.
  const Result result = at_.run(with("cd /; xargs -P 2 -d \"\\n\" -n 1 sh -c < {commands}", "it is a run") +
                                "engine.command.jobs_per_task=2");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("4 tasks given to: cd /; xargs"), HasSubstr("train      6 computed")));
  expect_local_bytes("it is a run");
}

TEST_F(CommandEngineTest, RunsByGnuParallel) {
  if (!installed("parallel")) GTEST_SKIP() << "parallel is not installed";
  const Result result = at_.run(with("parallel --will-cite -j 2 < {commands}", "parallel"));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("6 tasks given to: parallel"));
  expect_local_bytes("parallel");
}

TEST_F(CommandEngineTest, RunsAsAnArrayAndWaitsForResultsThatComeLate) {
  // An array's indices begin at 1; the launcher does not wait for its last tasks.
  const Result result = at_.run(
      with("for i in $(seq {count}); do (sleep 1; SGE_TASK_ID=$i bash {script}) & done; sleep 0.2", "array"));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("failed")));
  expect_local_bytes("array");
}

TEST_F(CommandEngineTest, SaysWhatFailed) {
  // Every second task is lost once.
  Result result = at_.run(with("awk \"NR%2\" {commands} | sh; false", "half"));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("3 tasks failed; run again"));
  expect_local_bytes("half");

  result = at_.run(with("sh {commands}", "failing") +
                   "engine.command.retries=0 'engine.command.setup=ulimit -f 1'");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("6 jobs failed after 1 try"), HasSubstr("failed, exit code 1"),
                                HasSubstr("fold 1: tree leaves=3"), HasSubstr("| tunemix: ")));
  result = at_.run(with("echo I submit {commands} and go; exit 3", "none"));
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("exit code 3 and has run no task"), HasSubstr("end when they have ended")));
  result = at_.run(with("parallel -j 8", "none"));
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("expected {commands} or {script} in it"));
}

TEST_F(CommandEngineTest, EndsTheCommandWhenInterrupted) {
  Process run = at_.start(with("true {commands}; echo $$ > pid; exec sleep 1000", "stopped"));
  ASSERT_TRUE(eventually([&] { return !slurp(at_ / "pid").empty(); }));
  run.kill(SIGTERM);
  EXPECT_EQ(run.wait().code, 130);
  const pid_t pid = std::stoi(slurp(at_ / "pid"));
  EXPECT_TRUE(eventually([&] { return ::kill(pid, 0) != 0; }));
}

TEST_F(CommandEngineTest, TasksAreOfThePlanAndNotOfTheFilesOfTheDay) {
  // The config in the run's folder and the data change between planning and the tasks.
  at_.good("synth --preset quickstart --queries 20 --seed 3 --out data.txt");
  const std::string config =
      "name: tiny\ndata:\n  allow_overlap: true\n  folds:\n    - {train: data.txt, valid: data.txt, test: "
      "data.txt}\n"
      "learners:\n  - {type: adaboost_mh, base: tree, leaves: 3, iterations: 5}\n"
      "calibrate: {cpc: [shift], rbc: {regressors: [linear], targets: [raw]}}\n";
  at_.write("files.yaml", config);
  const Result result = at_.run(
      "run files.yaml --runs files --engine command 'engine.command.run=echo >> data.txt; echo x >> "
      "files/tiny/config.resolved.yaml; sh {commands}'");
  EXPECT_EQ(result.code, 0) << result.err;
  // Without the parsed features the file is read, and is another than planned.
  at_.write("files.yaml", config);
  const Result changed = at_.run(
      "run files.yaml --runs changed --engine command engine.command.retries=0 'engine.command.run=rm -r "
      "changed/.store/features; echo >> data.txt; sh {commands}'");
  EXPECT_EQ(changed.code, 1);
  EXPECT_THAT(changed.err, HasSubstr("data.txt: the file changed during the run"));
}

}  // namespace
}  // namespace tunemix::test
