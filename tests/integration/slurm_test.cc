// The Slurm engine against a real Slurm, and against one whose commands lie.
#include <gmock/gmock.h>

#include <optional>

#include "tests/integration/cluster.h"

namespace tunemix::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

// What a run leaves for later, but for the features and bins that only tasks need.
std::map<std::string, std::string> results_in(const fs::path& runs) {
  std::map<std::string, std::string> files = artifacts(runs);
  std::erase_if(files, [](const auto& file) {
    return file.first.starts_with("features/") || file.first.starts_with("bins/");
  });
  return files;
}

class SlurmTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* program : {"munged", "slurmctld", "slurmd", "sbatch"})
      if (!installed(program)) GTEST_SKIP() << program << " is not installed";
    if (::geteuid() != 0) GTEST_SKIP() << "Slurm's daemons need root";
    cluster_.emplace(at_ / "slurm", settings_);
    if (!cluster_->up()) GTEST_SKIP() << "Slurm does not start here:\n" << cluster_->logs();
    at_.good("run tiny.yaml --runs local");
  }
  void expect_local_bytes() {
    expect_same(outcome(runs_ / "tiny"), outcome(at_ / "local/tiny"));
    expect_same(results_in(runs_), results_in(at_ / "local"));
  }
  // A command that is found before Slurm's of that name.
  void fake(const std::string& name, const std::string& script) {
    at_.write("fake/" + name, "#!/bin/bash\n" + script);
    fs::permissions(at_ / ("fake/" + name), fs::perms::owner_all);
  }
  std::string faked_ = "export PATH=$PWD/fake:$PATH;";
  // A node that does not answer is given up, and its tasks with it; a busy machine's may take long.
  std::string settings_ = "SlurmdTimeout=120\n";
  // sbatch and squeue take % and blanks for something else.
  std::string run_ =
      "run tiny.yaml --runs 'on 5%A slurm' --engine slurm engine.slurm.poll_seconds=1 "
      "engine.slurm.memory_mb=100 ";
  Workspace at_;
  fs::path runs_ = at_ / "on 5%A slurm";
  fs::path record_ = runs_ / "tiny/tasks/slurm.json";
  std::optional<Cluster> cluster_;
};

TEST_F(SlurmTest, GivesTheBytesOfALocalRunAndSubmitsFailedTasksAgain) {
  Cluster::set_partition("DOWN");
  Process run =
      at_.start(run_ +
                "engine.slurm.constraint=fast engine.slurm.options=--nice=7 engine.slurm.throttle=2 "
                "engine.slurm.wait_seconds=5 'engine.slurm.setup=echo setup of a task'");
  ASSERT_TRUE(Cluster::has_tasks(6)) << cluster_->logs();
  const std::vector<std::string> tasks = Cluster::tasks();
  EXPECT_THAT(Cluster::ask("scontrol show job " + tasks[0]),
              AllOf(HasSubstr("ArrayTaskThrottle=2"), HasSubstr("Nice=7"), HasSubstr("Features=fast")));
  Cluster::ask("scancel " + tasks[2]);
  Cluster::set_partition("UP");
  const Result result = run.wait();
  EXPECT_EQ(result.code, 0) << result.err << cluster_->logs();
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("6 tasks submitted to Slurm"), HasSubstr("Slurm: 6 pending (PartitionDown)"),
                    // A scheduler that forgets ended tasks soon does not know it any more.
                    AnyOf(HasSubstr("1 Slurm tasks failed (1 CANCELLED); submitted again"),
                          HasSubstr("1 Slurm tasks failed (1 unknown to Slurm); submitted again")),
                    HasSubstr("1 tasks submitted to Slurm"), HasSubstr("train      6 computed"),
                    HasSubstr("calibrate  6 computed")));
  expect_local_bytes();
  size_t logs = 0;
  for (const auto& entry : fs::directory_iterator(runs_ / "tiny/logs"))
    if (entry.path().filename().string().starts_with("slurm-")) {
      ++logs;
      EXPECT_THAT(slurp(entry.path()), AllOf(HasSubstr("setup of a task"), HasSubstr("fold"))) << result.err;
    }
  EXPECT_EQ(logs, 12U) << result.err;
  EXPECT_FALSE(fs::exists(record_));
  // Done jobs are not submitted; forced ones are, and calibration alone goes to tasks as well.
  EXPECT_THAT(at_.good(run_).err, Not(HasSubstr("submitted")));
  EXPECT_THAT(at_.good(run_ + "--from train --force engine.slurm.jobs_per_task=2").err,
              HasSubstr("4 tasks submitted to Slurm"));
  EXPECT_THAT(at_.good(run_ + "--only calibrate --force engine.slurm.jobs_per_task=9").err,
              HasSubstr("2 tasks submitted to Slurm"));
  expect_local_bytes();
}

class MortalNodeTest : public SlurmTest {
 protected:
  MortalNodeTest() { settings_ = "SlurmdTimeout=5\n"; }
};

TEST_F(MortalNodeTest, TakesItsTaskWithIt) {
  Process run = at_.start(run_ + "'engine.slurm.setup=test $SLURMD_NODENAME = node1 || sleep 100'");
  const auto on_node2 = [] { return !Cluster::ask("squeue --noheader --nodelist=node2 --states=R").empty(); };
  ASSERT_TRUE(eventually(on_node2)) << cluster_->logs();
  cluster_->kill_node("node2");
  const Result result = run.wait();
  EXPECT_EQ(result.code, 0) << result.err << cluster_->logs();
  EXPECT_THAT(Cluster::ask("sinfo --noheader --Node --nodes=node2 --format=%T"), HasSubstr("down"));
  EXPECT_TRUE(Cluster::tasks().empty());
  expect_local_bytes();
}

TEST_F(SlurmTest, SaysWhatFailedAndCancelsWhenItEnds) {
  // A task that fails for good is told by its job, with what happened and the end of its log.
  Result result =
      at_.run(run_ + "engine.slurm.retries=0 'engine.slurm.setup=echo a last word; kill -ILL $$'");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("failed after 1 try"), HasSubstr("fold 1: tree leaves=3 bandit=exp3g, bag 1: "),
                    HasSubstr("signal 4 (illegal instruction: the node's processor is older"),
                    HasSubstr("| a last word")));
  EXPECT_TRUE(Cluster::has_tasks(0));

  // The program is replaced while tasks wait; the run's config is.
  const std::string copy = (at_ / "tunemix-copy").string();
  fs::copy_file(TUNEMIX_PROGRAM, copy);
  Cluster::set_partition("DOWN");
  Process replaced =
      at_.start(run_ + "engine.slurm.retries=0", "exec " + copy + " " + run_ + "engine.slurm.retries=0 #");
  ASSERT_TRUE(Cluster::has_tasks(6)) << cluster_->logs();
  fs::copy_file(copy, copy + ".new");
  std::ofstream(copy + ".new", std::ios::app) << "another build";
  fs::rename(copy + ".new", copy);
  Cluster::set_partition("UP");
  result = replaced.wait();
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("FAILED, exit code 1"), HasSubstr("another build of the program")));

  // A dropped connection is like Ctrl-C.
  Cluster::set_partition("DOWN");
  for (const int signal : {SIGINT, SIGHUP}) {
    Process interrupted = at_.start(run_);
    ASSERT_TRUE(Cluster::has_tasks(6)) << cluster_->logs();
    interrupted.kill(signal);
    result = interrupted.wait();
    EXPECT_EQ(result.code, 130) << result.err;
    EXPECT_THAT(result.err, HasSubstr("kept: data 2 of 2, train 0 of 6"));
    EXPECT_TRUE(Cluster::has_tasks(0));
    EXPECT_FALSE(fs::exists(record_));
  }

  // scancel fails: the user is told what to do, and the next run still knows the tasks.
  fake("scancel", "echo scancel is out of order >&2; exit 1\n");
  Process stuck = at_.start(run_, faked_);
  ASSERT_TRUE(Cluster::has_tasks(6)) << cluster_->logs();
  stuck.kill(SIGTERM);
  result = stuck.wait();
  const std::string array = Cluster::tasks()[0].substr(0, Cluster::tasks()[0].find('_'));
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("scancel is out of order"), HasSubstr("cancel them by: scancel " + array)));
  EXPECT_TRUE(fs::exists(record_));
  Cluster::ask("scancel --user=root");

  result = at_.run(run_ + "engine.slurm.partition=none");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("sbatch refused the jobs"));
  EXPECT_FALSE(fs::exists(record_));
  result = at_.run(run_, "PATH=/nowhere");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("expected Slurm's commands on the PATH"));
}

TEST_F(SlurmTest, LeavesTasksAndTakesThemUp) {
  Cluster::set_partition("DOWN");
  Result result = at_.good(run_ + "--detach");
  EXPECT_THAT(result.out, HasSubstr("left to Slurm"));
  EXPECT_THAT(result.err, Not(HasSubstr("computed in 0.0 s\ntrain")));
  ASSERT_TRUE(Cluster::has_tasks(6)) << cluster_->logs();
  const std::string id = Cluster::tasks()[0].substr(0, Cluster::tasks()[0].find('_'));
  const std::string status = "status tiny.yaml --runs 'on 5%A slurm' --engine slurm";
  EXPECT_TRUE(eventually([&] {
    return at_.good(status).out.find("6 tasks in Slurm's arrays " + id + ": 6 pending (PartitionDown)") !=
           std::string::npos;
  }));
  // A run that waits for them and is killed leaves them too.
  Process killed = at_.start(run_);
  EXPECT_TRUE(eventually(
      [&] { return slurp(runs_ / "tiny/logs/run.log").find("are waited for") != std::string::npos; }));
  killed.kill(SIGKILL);
  killed.wait();
  Cluster::set_partition("UP");
  result = at_.good(run_);
  EXPECT_THAT(result.err, Not(HasSubstr("train      6 tasks submitted")));
  expect_local_bytes();
  EXPECT_FALSE(fs::exists(record_));
  result = at_.run("run tiny.yaml --detach");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("--detach leaves a run to Slurm"));
}

TEST_F(SlurmTest, IsNotMisledByAnswers) {
  // Users' defaults do not hide pending tasks; a squeue that tells nothing is not believed.
  fake("squeue", "[ -e silent ] || exec /usr/bin/squeue \"$@\"\n");
  Cluster::set_partition("DOWN");
  Process run = at_.start(run_, "export SQUEUE_STATES=RUNNING SBATCH_PARTITION=none;" + faked_);
  ASSERT_TRUE(Cluster::has_tasks(6)) << cluster_->logs();
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  at_.write("silent", "");
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_EQ(Cluster::tasks().size(), 6U);
  // Said to be completed before they are: their files are waited for.
  fake("scontrol", "/usr/bin/scontrol \"$@\" | sed 's/JobState=[A-Z]*/JobState=COMPLETED/'\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  Cluster::set_partition("UP");
  Result result = run.wait();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("6 tasks submitted"), Not(HasSubstr("failed"))));
  expect_local_bytes();

  // A file that never comes makes the task a failed one after all.
  fs::remove(at_ / "silent");
  fs::remove(at_ / "fake/scontrol");
  result = at_.run(run_ +
                       "--from train --force engine.slurm.retries=0 engine.slurm.wait_seconds=1 "
                       "engine.slurm.setup='exit 0'",
                   faked_);
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("COMPLETED, exit code 0"));
  // The scheduler is away for a while.
  fake("squeue",
       "case \"$*\" in *--name*) if mkdir away 2>/dev/null; then echo no controller; exit 1; fi;; esac\nexec "
       "/usr/bin/squeue \"$@\"\n");
  result = at_.run(run_, faked_);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("squeue does not answer"), HasSubstr("Slurm answers again")));
  expect_local_bytes();
}

class SmallSlurmTest : public SlurmTest {
 protected:
  void SetUp() override {
    settings_ += "MaxArraySize=3\nMaxJobCount=6\nMinJobAge=2\n";
    SlurmTest::SetUp();
  }
};

TEST_F(SmallSlurmTest, SubmitsInWavesAndLeavesNothingWhenASubmissionFails) {
  // The second array is refused: the first is cancelled.
  Cluster::set_partition("DOWN");
  fake("sbatch",
       "if [ -e first ]; then echo no more of this; exit 1; fi\ntouch first\nexec /usr/bin/sbatch \"$@\"\n");
  Result result = at_.run(run_, faked_);
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("sbatch refused the jobs: no more of this"));
  EXPECT_TRUE(Cluster::has_tasks(0));
  EXPECT_FALSE(fs::exists(record_));
  Cluster::set_partition("UP");
  result = at_.run(run_);
  EXPECT_EQ(result.code, 0) << result.err << cluster_->logs();
  EXPECT_THAT(result.err, HasSubstr("jobs follow when these have ended"));
  expect_local_bytes();
}

}  // namespace
}  // namespace tunemix::test
