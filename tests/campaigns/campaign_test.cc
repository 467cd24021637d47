// Kills and failures at every call on files, and swapped artifacts: the next run ends with the same bytes.
// A few of each in the tests; all of them with TUNEMIX_CAMPAIGN=all. Counts are printed.
#include "tests/campaigns/campaign.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <chrono>
#include <cstdio>

#include "tests/integration/workspace.h"
#include "tunemix/core/random.h"

namespace tunemix::test {
namespace {

using testing::HasSubstr;

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
  std::string fault(const std::string& calls, size_t call, const std::string& how,
                    const std::string& under = "runs/") const {
    return "LD_PRELOAD='" TUNEMIX_FAULTS "' FAULT_UNDER=" + under + " FAULT_CALLS=" + calls +
           " FAULT_AT=" + std::to_string(call) + " FAULT_HOW=" + how + " FAULT_COUNT=count";
  }
  size_t count(const std::string& arguments, const std::string& calls,
               const std::string& under = "runs/") const {
    fs::remove(at_ / "count");
    const Result result = at_.run(arguments, fault(calls, 0, "count", under));
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
  size_t temporaries() const {
    size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(at_ / "runs"))
      count += entry.path().extension() == ".tmp" ? 1 : 0;
    return count;
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
  size_t left_behind = 0;
  for (const size_t call : calls_of(all, 12))
    for (const char* how : {"before", "half", "after"}) {
      if (!whole_campaign() && turn++ % 3 != call % 3) continue;
      fs::remove_all(at_ / "runs");
      kills += at_.run(run, fault("write", call, how)).code == 128 + SIGKILL ? 1 : 0;
      left_behind += temporaries();
      expect_whole(std::string(how) + " call " + std::to_string(call));
      EXPECT_EQ(temporaries(), 0U) << "the next run has swept";
    }
  std::printf("%zu calls change files; %zu kills, nothing lost; %zu temporary files left and swept\n", all,
              kills, left_behind);
  EXPECT_GT(kills, 5U);
  EXPECT_GT(left_behind, 0U);
}

// Not at a call but at any moment, with threads at work, up to three times before a run may end.
// TUNEMIX_KILLS and TUNEMIX_SEED: how many, and which.
TEST_F(Campaign, KilledAtAnyMoment) {
  const uint64_t wanted = number_from("TUNEMIX_KILLS", whole_campaign() ? 200 : 8);
  Random random(number_from("TUNEMIX_SEED", 1));
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

// Whenever a cleaner is killed, the next one ends with the bytes of one that nobody disturbed, training
// states included. Runs that go on without it may find longer states than their own, of a config that is
// gone; their results do not depend on that.
TEST_F(Campaign, AKilledCleanerIsMadeUpForByTheNext) {
  const std::string longer = "run tiny.yaml name=longer learners.0.iterations=40";
  at_.good(longer + " --runs reference");
  for (const std::string& run :
       {longer, std::string("run tiny.yaml"), std::string("run tiny.yaml mix.families=pooled"),
        std::string("run tiny.yaml")})
    at_.good(run);
  const auto copy = [&](const std::string& from, const std::string& to) {
    fs::remove_all(at_ / to);
    ASSERT_EQ(std::system(("cp -a '" + (at_ / from).string() + "' '" + (at_ / to).string() + "'").c_str()),
              0);
  };
  const auto files = [&] {
    std::map<std::string, std::string> result;
    for (const auto& entry : fs::recursive_directory_iterator(at_ / "runs"))
      result[entry.path().string()] = entry.is_regular_file() ? slurp(entry.path()) : "";
    return result;
  };
  const std::string clean = "clean --keep-last 1";
  copy("runs", "start");
  const size_t all = count(clean, "write");
  const auto undisturbed = files();
  ASSERT_GT(all, 10U);
  size_t kills = 0;
  for (const size_t call : calls_of(all, 6))
    for (const char* how : {"before", "after"}) {
      SCOPED_TRACE(std::string(how) + " call " + std::to_string(call));
      copy("start", "runs");
      kills += at_.run(clean, fault("write", call, how)).code == 128 + SIGKILL;
      copy("runs", "killed");
      at_.good(clean);
      expect_same(files(), undisturbed);
      copy("killed", "runs");
      at_.good("run tiny.yaml --threads 1");
      expect_same(outcome(at_ / "runs/tiny"), expected_);
      at_.good(longer);
      expect_same(outcome(at_ / "runs/longer"), outcome(at_ / "reference/longer"));
    }
  std::printf("%zu kills of a cleaner, made up for by the next\n", kills);
  EXPECT_GT(kills, 5U);
}

// The clock is no part of a result: set back by an hour at any time of a run, it changes nothing.
TEST_F(Campaign, TheClockIsSetBack) {
  for (const int told : {0, 1, 3, 10, 40}) {
    fs::remove_all(at_ / "runs");
    const Result result = at_.run("run tiny.yaml --threads 1",
                                  "LD_PRELOAD='" TUNEMIX_FAULTS "' FAULT_CLOCK=" + std::to_string(told));
    EXPECT_EQ(result.code, 0) << result.err;
    expect_same(outcome(at_ / "runs/tiny"), expected_);
    expect_same(artifacts(at_ / "runs"), expected_artifacts_);
    const auto results = nlohmann::json::parse(slurp(at_ / "runs/tiny/results.json"));
    for (const auto& [stage, timing] : results.at("timing").items())
      EXPECT_GE(timing.at("seconds").get<double>(), 0) << stage;
    EXPECT_EQ(computed_stages(at_.good("run tiny.yaml").err).size(), 0U) << "the cache holds all the same";
  }
}

// No command needs /tmp, nor what TMPDIR says.
TEST_F(Campaign, WithoutAFolderForTemporaryFiles) {
  if (at_.path().string().starts_with("/tmp")) GTEST_SKIP() << "the test itself has no place but /tmp";
  at_.good("run tiny.yaml");
  at_.good("synth --queries 20 --out data.txt");
  const std::vector<std::pair<std::string, std::string>> commands = {
      {"run tiny.yaml name=again", "runs/again/results.md"},
      {"fit tiny.yaml --out fit.tmx", "fit.tmx"},
      {"synth --queries 5 --out synth.txt", "synth.txt"},
      {"predict --bundle runs/tiny/bundle-fold1.tmx --data data.txt --out scores.txt", "scores.txt"},
      {"train --data data.txt --learner svm --model model.tmx", "model.tmx"},
      {"distill runs/tiny/bundle-fold1.tmx --data data.txt --out student.tmx", "student.tmx"},
      {"export tiny.yaml --fold 1 --out export.txt", "export.txt"},
      {"report tiny.yaml --out report.html", "report.html"},
      {"clean --keep-last 9 --dry-run", ""}};
  for (const char* set : {"export TMPDIR=/nowhere; ", "export TMPDIR=; ", "unset TMPDIR; "})
    for (const auto& [command, file] : commands) {
      if (!file.empty()) fs::remove(at_ / file);
      const Result result =
          at_.run(command, std::string(set) + "LD_PRELOAD='" TUNEMIX_FAULTS "' FAULT_MISSING=/tmp");
      EXPECT_EQ(result.code, 0) << set << ' ' << command << result.err;
      EXPECT_TRUE(file.empty() || fs::exists(at_ / file)) << command;
    }
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

// What a run adds to goes on from what is there: a list that cannot be read just now is not written anew.
TEST_F(Campaign, AFailedReadForgetsNothing) {
  at_.good("fit tiny.yaml --quiet");
  const auto known = [&] {
    const auto manifest = nlohmann::json::parse(slurp(at_ / "runs/tiny/manifest.json"));
    const auto results = nlohmann::json::parse(slurp(at_ / "runs/tiny/results.json"));
    return std::pair(manifest.at("artifacts"), results.at("timing"));
  };
  const auto before = known();
  ASSERT_THAT(before.first.dump(), HasSubstr("\"final"));
  const std::string run = "run tiny.yaml --threads 1";
  size_t failures = 0;
  for (const char* list : {"runs/tiny/manifest.json", "runs/tiny/results.json"})
    for (const size_t call : calls_of(count(run, "read", list), 6)) {
      const Result result = at_.run(run, fault("read", call, std::to_string(EMFILE), list));
      failures += result.code == 1 ? 1 : 0;
      const auto after = known();
      EXPECT_EQ(after.first, before.first) << list << ", read " << call << result.err;
      for (const auto& [stage, timing] : before.second.items())
        if (stage != "report") {
          EXPECT_EQ(after.second.at(stage), timing) << list << ", read " << call << result.err;
        }
    }
  EXPECT_GT(failures, 2U);
}

// What cannot be read may name what others need.
TEST_F(Campaign, ACleanerDoesNotTakeAFolderThatCannotBeReadForAnEmptyOne) {
  at_.good("run tiny.yaml");
  fs::create_directory_symlink("configs", at_ / "runs/tiny/configs");  // to itself
  const auto before = artifacts(at_ / "runs");
  const Result result = at_.run("clean --keep-last 0");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("runs/tiny/configs: cannot read the folder"));
  expect_same(artifacts(at_ / "runs"), before);
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
