// Runs that are killed, interrupted, out of disk or disturbed: the next one ends with the same bytes.
#include <gmock/gmock.h>
#include <sys/mount.h>

#include <chrono>
#include <random>
#include <thread>

#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

void sleep_ms(int64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

class RecoveryTest : public testing::Test {
 protected:
  RecoveryTest() {
    at_.good("run tiny.yaml --runs reference");
    expected_ = outcome(at_ / "reference/tiny");
    expected_artifacts_ = artifacts(at_ / "reference");
  }
  // The run in `runs` is as if nothing had happened.
  void expect_whole() const {
    expect_same(outcome(at_ / "runs/tiny"), expected_);
    expect_same(artifacts(at_ / "runs"), expected_artifacts_);
    EXPECT_THAT(computed_stages(at_.good("run tiny.yaml").err), IsEmpty());
  }
  std::vector<fs::path> files_of(const std::string& kind) const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(at_ / "runs/.store" / kind))
      if (entry.is_regular_file()) files.push_back(entry.path());
    return files;
  }

  Workspace at_;
  std::map<std::string, std::string> expected_;
  std::map<std::string, std::string> expected_artifacts_;
};

TEST_F(RecoveryTest, KilledAtAnyMoment) {
  std::mt19937 random(7);  // only picks moments
  size_t killed = 0;
  for (int i = 0; i < 25; ++i) {
    Process run = at_.start("run tiny.yaml --threads 2");
    sleep_ms(static_cast<int64_t>(random() % 120));
    run.kill(SIGKILL);
    killed += run.wait().code == 128 + SIGKILL ? 1 : 0;
    // Once it is whole, only what comes late would be killed.
    if (i % 5 == 4) {
      at_.good("run tiny.yaml");
      expect_whole();
      fs::remove_all(at_ / "runs");
    }
  }
  EXPECT_GT(killed, 5U);
}

// A boosting job is taken up from its saved state: here from one with a few rounds.
TEST_F(RecoveryTest, AModelWithFewerRoundsThanItsJobIsTakenUp) {
  at_.good("run tiny.yaml --only data");
  at_.good("run tiny.yaml --from train learners.0.iterations=4");
  EXPECT_EQ(taken_up(at_ / "runs/tiny"), 0U);
  at_.good("run tiny.yaml");
  expect_same(outcome(at_ / "runs/tiny"), expected_);
  EXPECT_EQ(taken_up(at_ / "runs/tiny"), 4U);  // two learners in two folds
}

// What another run with fewer iterations may leave behind between the training and the bundle.
TEST_F(RecoveryTest, ABundleNeedsItsModels) {
  at_.good("run tiny.yaml");
  fs::remove_all(at_ / "runs/.store/model");
  fs::remove(at_ / "runs/tiny/bundle-fold1.tmx");
  fs::remove(at_ / "runs/tiny/bundle-fold2.tmx");
  at_.good("run tiny.yaml");
  expect_whole();
}

TEST_F(RecoveryTest, CtrlCSaysWhatIsKept) {
  const std::string longer = "run tiny.yaml learners.0.iterations=1000000 learners.0.leaves=4";
  Process run = at_.start(longer + " --threads 1");
  for (int i = 0; i < 500 && !fs::exists(at_ / "runs/.store/data"); ++i) sleep_ms(10);
  sleep_ms(100);
  run.kill(SIGINT);
  const Result result = run.wait();
  EXPECT_EQ(result.code, 130) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("kept: data 2 of 2"), HasSubstr("train 0 of 4")));
  EXPECT_THAT(result.err, HasSubstr("tunemix: interrupted; everything finished so far is kept"));
  EXPECT_EQ(result.out, "");
  at_.good("run tiny.yaml");
  expect_same(outcome(at_ / "runs/tiny"), expected_);
}

TEST_F(RecoveryTest, AFileThatCannotBeWrittenInFull) {
  for (const int kilobytes : {1, 4, 8, 16}) {
    const Result result = at_.run("run tiny.yaml", "ulimit -f " + std::to_string(kilobytes) + ";");
    EXPECT_EQ(result.code, 1) << kilobytes << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr("runs/"), HasSubstr("cannot write: File too large")))
        << kilobytes;
  }
  at_.good("run tiny.yaml");
  expect_whole();
}

TEST_F(RecoveryTest, AFullDisk) {
  fs::create_directories(at_ / "runs");
  if (::mount("none", (at_ / "runs").c_str(), "tmpfs", 0, "size=100k") != 0)
    GTEST_SKIP() << "a small file system cannot be mounted here";
  struct Unmount {
    fs::path path;
    ~Unmount() { ::umount(path.c_str()); }
  } const unmount{at_ / "runs"};
  for (const char* size : {"100k", "160k", "240k"}) {
    ASSERT_EQ(
        ::mount("none", (at_ / "runs").c_str(), "tmpfs", MS_REMOUNT, (std::string("size=") + size).c_str()),
        0);
    const Result result = at_.run("run tiny.yaml");
    EXPECT_EQ(result.code, 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr("No space left on device")) << size;
  }
  ASSERT_EQ(::mount("none", (at_ / "runs").c_str(), "tmpfs", MS_REMOUNT, "size=100m"), 0);
  at_.good("run tiny.yaml");
  expect_whole();
}

void flip(const fs::path& file) {
  std::string bytes = slurp(file);
  bytes[bytes.size() * 2 / 3] = static_cast<char>(bytes[bytes.size() * 2 / 3] ^ 16);
  std::ofstream(file, std::ios::binary) << bytes;
}

TEST_F(RecoveryTest, DamagedArtifactsOfEveryKindAreNamedAndMadeAgain) {
  const std::vector<std::string> kinds = {"data",         "scores",      "model", "members",
                                          "member-valid", "member-test", "mix",   "evaluation"};
  at_.good("run tiny.yaml");
  for (size_t k = 0; k < kinds.size(); ++k)
    for (const std::string damage : {"flipped", "truncated", "empty", "removed"}) {
      const std::vector<fs::path> files = files_of(kinds[k]);
      ASSERT_FALSE(files.empty()) << kinds[k];
      for (const fs::path& file : files) {
        if (damage == "flipped") flip(file);
        if (damage == "truncated") fs::resize_file(file, fs::file_size(file) / 2);
        if (damage == "empty") fs::resize_file(file, 0);
        if (damage == "removed") fs::remove(file);
      }
      // What is made from it is gone too, so that it is needed.
      for (size_t later = k + 1; later < kinds.size(); ++later)
        if (kinds[later] != "model") fs::remove_all(at_ / "runs/.store" / kinds[later]);
      fs::remove(at_ / "runs/tiny/bundle-fold1.tmx");
      fs::remove(at_ / "runs/tiny/bundle-fold2.tmx");
      const Result result = at_.good("run tiny.yaml --threads 2");
      if (damage != "removed") {
        // Of the models only those in a bundle are looked at.
        if (kinds[k] != "model") {
          for (const fs::path& file : files)
            EXPECT_THAT(result.err, HasSubstr(file.filename().string())) << damage;
        }
        EXPECT_THAT(result.err, HasSubstr("it is computed again")) << kinds[k] << " " << damage;
      }
      expect_same(outcome(at_ / "runs/tiny"), expected_);
      for (const auto& [name, bytes] : artifacts(at_ / "runs"))
        if (!name.starts_with("model/")) {
          EXPECT_TRUE(expected_artifacts_.at(name) == bytes) << name;
        }
      // Models that no bundle holds are made again when they are asked for.
      if (kinds[k] == "model") {
        at_.good("run tiny.yaml --only train --force");
        expect_whole();
      }
    }
}

// Jobs of both folds are trained again from the calibration, at the same time: each on its own fold's
// features.
TEST_F(RecoveryTest, ScoresOfSeveralFoldsAreLostAtOnce) {
  for (int i = 0; i < 3; ++i) {
    at_.good("run tiny.yaml");
    for (const char* kind : {"members", "member-valid", "member-test", "mix", "evaluation", "model"})
      fs::remove_all(at_ / "runs/.store" / kind);
    for (const fs::path& file : files_of("scores")) flip(file);
    at_.good("run tiny.yaml --threads 4");
    expect_whole();
  }
}

TEST_F(RecoveryTest, SeveralRunsAtOnceOnOneStore) {
  for (int i = 0; i < 3; ++i) {
    std::vector<Process> runs;
    for (const char* overrides :
         {"", "name=longer learners.0.iterations=30", "name=pooled mix.families=pooled"})
      runs.push_back(at_.start(std::string("run tiny.yaml --threads 2 ") + overrides));
    for (Process& run : runs) {
      const Result result = run.wait();
      EXPECT_EQ(result.code, 0) << result.err;
    }
    expect_same(outcome(at_ / "runs/tiny"), expected_);
    if (i == 0) {
      at_.good("run tiny.yaml --runs alone name=longer learners.0.iterations=30");
      at_.good("run tiny.yaml --runs alone name=pooled mix.families=pooled");
    }
    for (const char* name : {"longer", "pooled"})
      expect_same(outcome(at_ / "runs" / name), outcome(at_ / "alone" / name));
    fs::remove_all(at_ / "runs");
  }
}

TEST_F(RecoveryTest, CleanKeepsAwayFromAnActiveRunAndTakesItsLeftovers) {
  Process run = at_.start("run tiny.yaml learners.0.iterations=1000000 --threads 1");
  for (int i = 0; i < 500 && !fs::exists(at_ / "runs/.store/data"); ++i) sleep_ms(10);
  const Result refused = at_.run("clean --keep-last 0");
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("a run is active"));
  run.kill(SIGKILL);
  run.wait();
  at_.write("runs/.store/scores/aa/half.tmx.1.0.tmp", "half");
  at_.good("clean --keep-last 1");
  EXPECT_FALSE(fs::exists(at_ / "runs/.store/scores/aa/half.tmx.1.0.tmp"));
  at_.good("run tiny.yaml");
  at_.good("clean --keep-last 1");
  expect_whole();
}

}  // namespace
}  // namespace tunemix::test
