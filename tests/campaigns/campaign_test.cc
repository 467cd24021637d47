// Kills and failures at every call on files, and swapped artifacts: the next run ends with the same bytes.
// A few of each in the tests; all of them with TUNEMIX_CAMPAIGN=all. Counts are printed.
#include <gmock/gmock.h>

#include <cerrno>
#include <chrono>
#include <cstdio>

#include "tests/integration/workspace.h"
#include "tunemix/core/random.h"

namespace tunemix::test {
namespace {

using testing::HasSubstr;

bool whole_campaign() {
  const char* set = std::getenv("TUNEMIX_CAMPAIGN");
  return set != nullptr && std::string(set) == "all";
}

const std::vector<std::string> kKinds = {"data",         "training",    "model", "scores",    "members",
                                         "member-valid", "member-test", "mix",   "evaluation"};

class Campaign : public testing::Test {
 protected:
  Campaign() {
    at_.good("run tiny.yaml --runs reference --threads 1");
    expected_ = outcome(at_ / "reference/tiny");
    expected_artifacts_ = artifacts(at_ / "reference");
  }

  // Environment under which call number `call` goes wrong.
  std::string fault(const std::string& calls, size_t call, const std::string& how) const {
    return "LD_PRELOAD='" TUNEMIX_FAULTS "' FAULT_UNDER=runs/ FAULT_CALLS=" + calls +
           " FAULT_AT=" + std::to_string(call) + " FAULT_HOW=" + how + " FAULT_COUNT=count";
  }
  size_t count(const std::string& arguments, const std::string& calls) const {
    fs::remove(at_ / "count");
    const Result result = at_.run(arguments, fault(calls, 0, "count"));
    EXPECT_EQ(result.code, 0) << result.err;
    return std::stoul("0" + slurp(at_ / "count"));
  }
  // The calls to try: all, or about `few` of them spread over the run.
  std::vector<size_t> calls_of(size_t all, size_t few) const {
    std::vector<size_t> calls;
    const size_t step = whole_campaign() ? 1 : std::max<size_t>(1, all / few);
    for (size_t call = 1; call <= all; call += step) calls.push_back(call);
    return calls;
  }
  void expect_whole(const std::string& what) const {
    SCOPED_TRACE(what);
    const Result result = at_.good("run tiny.yaml --threads 1");
    expect_same(outcome(at_ / "runs/tiny"), expected_);
    expect_same(artifacts(at_ / "runs"), expected_artifacts_);
  }
  std::vector<fs::path> files_of(const std::string& kind) const {
    std::vector<fs::path> files;
    if (!fs::exists(at_ / "runs/.store" / kind)) return files;
    for (const auto& entry : fs::recursive_directory_iterator(at_ / "runs/.store" / kind))
      if (entry.is_regular_file()) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }
  // Everything that is made from the kinds, so that these are read again; what is of the kinds stays.
  void forget_results() const {
    fs::remove_all(at_ / "runs/.store/evaluation");
    for (const char* bundle : {"bundle-fold1.tmx", "bundle-fold2.tmx"})
      fs::remove(at_ / "runs/tiny" / bundle);
  }

  Workspace at_;
  std::map<std::string, std::string> expected_;
  std::map<std::string, std::string> expected_artifacts_;
};

TEST_F(Campaign, KilledAtEveryCallThatChangesFiles) {
  const std::string run = "run tiny.yaml --threads 1";
  const size_t all = count(run, "write");
  ASSERT_GT(all, 50U);
  size_t kills = 0;
  size_t turn = 0;
  for (const size_t call : calls_of(all, 12))
    for (const char* how : {"before", "half", "after"}) {
      if (!whole_campaign() && turn++ % 3 != call % 3) continue;
      fs::remove_all(at_ / "runs");
      kills += at_.run(run, fault("write", call, how)).code == 128 + SIGKILL ? 1 : 0;
      expect_whole(std::string(how) + " call " + std::to_string(call));
      at_.good("clean --keep-last 1");
      for (const auto& entry : fs::recursive_directory_iterator(at_ / "runs"))
        EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
    }
  std::printf("%zu calls change files; %zu kills, nothing lost\n", all, kills);
  EXPECT_GT(kills, 5U);
}

// Not at a call but at any moment, with threads at work, up to three times before a run may end.
// TUNEMIX_KILLS and TUNEMIX_SEED: how many, and which.
TEST_F(Campaign, KilledAtAnyMoment) {
  const auto number = [](const char* name, uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::stoull(text);
  };
  const uint64_t wanted = number("TUNEMIX_KILLS", whole_campaign() ? 200 : 8);
  Random random(number("TUNEMIX_SEED", 1));
  const auto begin = std::chrono::steady_clock::now();
  expect_whole("no kill");
  const auto length = std::chrono::steady_clock::now() - begin;
  const auto micros =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(length).count());
  uint64_t kills = 0;
  uint64_t attempts = 0;
  while (kills < wanted && attempts++ < 20 * wanted) {
    fs::remove_all(at_ / "runs");
    for (uint64_t in_a_row = 1 + random.below(3); in_a_row > 0; --in_a_row) {
      Process process = at_.start("run tiny.yaml --threads 2");
      ::usleep(static_cast<useconds_t>(random.below(micros)));
      process.kill(SIGKILL);
      kills += process.wait().code == 128 + SIGKILL ? 1 : 0;
    }
    expect_whole("kill " + std::to_string(kills));
  }
  std::printf("%llu kills at any moment, nothing lost\n", static_cast<unsigned long long>(kills));
  EXPECT_GE(kills, wanted);
}

// Between a run of one config and one of another, nothing of either is lost.
TEST_F(Campaign, KilledWhileTheConfigChanges) {
  at_.good("run tiny.yaml --runs reference name=tiny mix.families=pooled");
  const auto other = outcome(at_ / "reference/tiny");
  at_.good("run tiny.yaml");
  const std::string change = "run tiny.yaml mix.families=pooled --threads 1";
  const size_t all = count(change, "write");
  size_t kills = 0;
  for (const size_t call : calls_of(all, 8)) {
    at_.good("run tiny.yaml");
    kills += at_.run(change, fault("write", call, call % 2 == 0 ? "before" : "after")).code == 128 + SIGKILL;
    at_.good(change);
    expect_same(outcome(at_ / "runs/tiny"), other);
    at_.good("run tiny.yaml");
    expect_same(outcome(at_ / "runs/tiny"), expected_);
  }
  std::printf("%zu calls change files; %zu kills, nothing lost\n", all, kills);
  EXPECT_GT(kills, 3U);
}

TEST_F(Campaign, AKilledCleanerLeavesNothingForGood) {
  const auto prepare = [&] {
    fs::remove_all(at_ / "runs");
    at_.good("run tiny.yaml");
    at_.good("run tiny.yaml mix.families=pooled");
  };
  prepare();
  const size_t all = count("clean --keep-last 0", "write");
  ASSERT_GT(all, 10U);
  size_t kills = 0;
  for (const size_t call : calls_of(all, 6)) {
    prepare();
    kills += at_.run("clean --keep-last 0", fault("write", call, "after")).code == 128 + SIGKILL;
    at_.good("clean --keep-last 0");
    for (const auto& entry : fs::recursive_directory_iterator(at_ / "runs")) {
      const std::string name = entry.path().filename().string();
      EXPECT_TRUE(name == ".store" || name == "lock" || name == "files.json") << entry.path();
    }
  }
  std::printf("%zu kills of a cleaner\n", kills);
}

TEST_F(Campaign, FailedWrites) {
  const std::string run = "run tiny.yaml --threads 1";
  const size_t all = count(run, "write");
  size_t failures = 0;
  size_t turn = 0;
  for (const size_t call : calls_of(all, 10))
    for (const int error : {ENOSPC, EIO}) {
      if (!whole_campaign() && turn++ % 2 == 0) continue;
      fs::remove_all(at_ / "runs");
      const Result result = at_.run(run, fault("write", call, std::to_string(error)));
      if (result.code != 0) {
        ++failures;
        EXPECT_EQ(result.code, 1) << call << result.err;
        EXPECT_THAT(result.err, HasSubstr(error == EIO ? "Input/output error" : "No space left on device"));
      }
      expect_whole("error " + std::to_string(error) + " at call " + std::to_string(call));
    }
  std::printf("%zu failed writes\n", failures);
  EXPECT_GT(failures, 3U);
}

// A failed read takes no good artifact away.
TEST_F(Campaign, FailedReads) {
  at_.good("run tiny.yaml");
  const std::string run = "run tiny.yaml --threads 1";
  forget_results();
  const size_t all = count(run, "read");
  ASSERT_GT(all, 10U);
  size_t failures = 0;
  for (const size_t call : calls_of(all, 10))
    for (const int error : {EIO, EMFILE}) {
      forget_results();
      const auto before = artifacts(at_ / "runs");
      const Result result = at_.run(run, fault("read", call, std::to_string(error)));
      if (result.code != 0) {
        ++failures;
        EXPECT_EQ(result.code, 1) << call << result.err;
        EXPECT_THAT(result.err, HasSubstr(error == EIO ? "Input/output error" : "Too many open files"));
      }
      const auto after = artifacts(at_ / "runs");
      for (const auto& [name, bytes] : before) {
        EXPECT_TRUE(after.contains(name)) << name << " is gone after " << result.err;
        if (after.contains(name)) {
          EXPECT_TRUE(after.at(name) == bytes) << name;
        }
      }
      EXPECT_THAT(result.err, testing::Not(HasSubstr("computed again")));
    }
  expect_whole("failed reads");
  std::printf("%zu failed reads\n", failures);
  EXPECT_GT(failures, 5U);
}

// Every artifact in the place of every other kind's, and of another of its own kind.
TEST_F(Campaign, SwappedArtifacts) {
  at_.good("run tiny.yaml");
  std::map<std::string, std::string> good;
  for (const std::string& kind : kKinds)
    for (const fs::path& file : files_of(kind)) good[file.string()] = slurp(file);
  size_t swaps = 0;
  size_t turn = 0;
  for (const std::string& kind : kKinds)
    for (const std::string& other : kKinds) {
      if (!whole_campaign() && kind != other && turn++ % 4 != 0) continue;
      for (const auto& [file, bytes] : good) std::ofstream(file, std::ios::binary) << bytes;
      const std::vector<fs::path> to = files_of(kind);
      const std::vector<fs::path> from = files_of(other);
      for (size_t i = 0; i < to.size(); ++i)
        std::ofstream(to[i], std::ios::binary)
            << good[from[(i + (kind == other ? 1 : 0)) % from.size()].string()];
      forget_results();
      if (kind != "mix" && kind != "model" && kind != "training") fs::remove_all(at_ / "runs/.store/mix");
      const Result result = at_.run("run tiny.yaml --threads 2");
      EXPECT_EQ(result.code, 0) << other << " as " << kind << ": " << result.err;
      expect_same(outcome(at_ / "runs/tiny"), expected_);
      ++swaps;
    }
  std::printf("%zu swaps\n", swaps);
}

}  // namespace
}  // namespace tunemix::test
