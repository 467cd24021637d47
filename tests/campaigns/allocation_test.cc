// Allocations that fail in every command: exit code 1 with a sentence or the right result, nothing incomplete
// under a final name, and the next run ends with the same bytes. A few cases in the tests; with
// TUNEMIX_CAMPAIGN=all a thousand of each command (TUNEMIX_ALLOCATIONS), drawn by TUNEMIX_SEED. Counts are
// printed. TUNEMIX_COMMAND: one command alone.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdio>

#include "tests/campaigns/campaign.h"
#include "tests/compress.h"
#include "tests/integration/workspace.h"
#include "tunemix/core/random.h"

namespace tunemix::test {
namespace {

using testing::HasSubstr;
using Files = std::map<std::string, std::string>;

struct Command {
  const char* name;
  std::string arguments;
  const char* removed = "";  // what the command makes, and is not there when it starts
  bool steady = true;        // prints the same every time
};

const std::vector<Command> kCommands = {
    {"run", "run tiny.yaml --threads 1", "runs", false},
    {"run-threads", "run tiny.yaml --threads 2", "runs", false},
    {"run-cached", "run tiny.yaml --threads 1", "", false},
    {"run-final", "run tiny.yaml --final --threads 1", "", false},
    {"fit", "fit --data-train a.txt --threads 2 name=fitted \"learners=[{type: svm, C: 1}]\" --out f.tmx"},
    {"status", "status tiny.yaml mix.families=pooled"},
    {"export", "export tiny.yaml --format yahoo --fold 1 --out out.txt"},
    {"report", "report tiny.yaml --out page.html"},
    {"predict", "predict --bundle runs/tiny/bundle-fold1.tmx --data b.txt --out out.scores --threads 2"},
    {"predict-gz", "predict --bundle runs/tiny/bundle-fold1.tmx --data b.txt.gz b.txt.zst --out out.scores"},
    {"eval", "eval --data b.txt --scores b.scores --tool all"},
    {"eval-trec", "eval --qrels b.qrels --run b.run --json"},
    {"compare", "compare tiny second --json"},
    {"train", "train --learner lambdamart --data a.txt --set iterations=5 min_documents=5 --model n.tmx", "",
     false},
    {"train-svm", "train --learner svm --data a.txt --set C=1 --model n.tmx", "", false},
    {"score", "score --model m.tmx --data b.txt --rank --out n.scores"},
    {"synth", "synth --queries 10 --seed 7 --out n.txt"},
    {"inspect", "inspect runs/tiny/bundle-fold1.tmx"},
    {"inspect-model", "inspect m.tmx --json"},
    {"importance", "importance --bundle runs/tiny/bundle-fold1.tmx --data b.txt --repeats 1 --out i.json"},
    {"distill", "distill runs/tiny/bundle-fold1.tmx --data a.txt --valid b.txt --iterations 5 --out s.tmx",
     "", false},
    {"export-model", "export-model m.tmx --format solr --out m.json"},
    {"clicks", "clicks log.tsv --features named.txt --out t.txt --json"},
    {"clean", "clean --keep-last 1", "", false},
    {"job", "job tiny.yaml --job 0 --threads 1", "runs"},
    {"completions", "completions bash"},
};

bool is_volatile(const fs::path& path) {
  const std::string name = path.filename().string();
  return name == "files.json" || name == "report.html" || name == "page.html" || name == "run.log" ||
         name == "lock";
}

// What a command works on and leaves: the bytes of every file, without those of the run's times.
Files files_in(const fs::path& folder) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.path().extension() == ".tmp") continue;
    std::string bytes = slurp(entry.path());
    const std::string name = fs::relative(entry.path(), folder).string();
    if (entry.path().filename() == "results.json") bytes = results_of(entry.path().parent_path()).dump(1);
    if (entry.path().extension() == ".html") {
      EXPECT_TRUE(bytes.ends_with("</html>\n")) << name;
    }
    if (entry.path().extension() == ".json") {
      EXPECT_TRUE(nlohmann::json::accept(bytes)) << name;
    }
    files[name] = is_volatile(entry.path()) ? "" : bytes;
  }
  return files;
}

// Libraries that end the program by themselves when they get no memory.
bool outside_our_reach(const Result& result) {
  return result.err.find("libgomp: ") != std::string::npos ||
         result.err.find("for thread-local data: ABORT") != std::string::npos;
}

// Allocations of a run: all, and those before the program's own code.
struct Allocated {
  size_t all = 0;
  size_t loading = 0;
};

struct Counts {
  size_t failed = 0;
  size_t harmless = 0;
  size_t outside = 0;
};

struct Fault {
  size_t at = 0;
  size_t size = 0;
  bool only_c = false;
};

// What a command finds, makes and prints when nothing fails.
struct Right {
  Files before;
  Files made;
  Result result;
};

class Allocations : public testing::Test {
 protected:
  Allocations() {
    fs::create_directory(at_ / "start");
    at_.good("synth --queries 12 --seed 1 --out start/a.txt");
    at_.good("synth --queries 6 --seed 2 --out start/b.txt");
    at_.write("start/b.txt.gz", gzip(slurp(at_ / "start/b.txt")));
    at_.write("start/b.txt.zst", zstd(slurp(at_ / "start/b.txt")));
    const std::string tiny =
        "name: tiny\n"
        "data: {synthetic: {preset: quickstart, queries: 12, folds: 1}}\n"
        "learners:\n"
        "  - {type: adaboost_mh, base: tree, leaves: 3, iterations: 5, bandit: value}\n"
        "  - {type: svm, C: [1e-3, 0.1]}\n"
        "calibrate: {cpc: [shift, ls], rbc: {regressors: [linear, neural], targets: [raw]}}\n"
        "mix: {c: {from: 0, to: 20, step: 10}}\n"
        "evaluate: {tools: [yahoo]}\n";
    at_.write("start/tiny.yaml", tiny);
    at_.write("start/log.tsv", "1\td1 d2 d3\t1 3\n1\td2 d1 d3\t1\n2\td1 d2\n2\td2 d1\t2\n");
    at_.write("start/named.txt",
              "0 qid:1 1:1 # docid = d1\n0 qid:1 1:2 # docid = d2\n0 qid:1 1:3 # docid = d3\n"
              "0 qid:2 1:4 # docid = d1\n0 qid:2 1:5 # docid = d2\n");
    at_.write("start/b.qrels", "1 0 A 2\n1 0 B 0\n2 0 A 1\n");
    at_.write("start/b.run", "1 Q0 B 1 2.5 me\n1 Q0 A 2 1e-3 me\n2 Q0 C 1 7 me\n2 Q0 A 2 6 me\n");
    for (const char* arguments :
         {"run tiny.yaml name=second mix.families=pooled", "run tiny.yaml",
          "train --learner lambdamart --data a.txt --set iterations=5 min_documents=5 --model m.tmx",
          "predict --bundle runs/tiny/bundle-fold1.tmx --data b.txt --out b.scores"})
      EXPECT_EQ(at_.run(arguments, "cd start &&").code, 0) << arguments;
  }

  void restore(const Command& command) const {
    fs::remove_all(at_ / "work");
    fs::copy(at_ / "start", at_ / "work", fs::copy_options::recursive);
    if (*command.removed != '\0') fs::remove_all(at_ / "work" / command.removed);
  }
  Result run(const Command& command, const Fault& fault = {}) const {
    fs::remove(at_ / "count");
    return at_.run(
        command.arguments,
        "cd work && GOMP_SPINCOUNT=10000 FAULT_COUNT=../count LD_PRELOAD='" TUNEMIX_ALLOCATION_FAULTS
        "' FAULT_AT=" +
            std::to_string(fault.at) + (fault.size > 0 ? " FAULT_SIZE=" + std::to_string(fault.size) : "") +
            (fault.only_c ? " FAULT_ONLY=c" : ""));
  }
  Allocated counted() const {
    Allocated count;
    EXPECT_TRUE(std::istringstream(slurp(at_ / "count")) >> count.all >> count.loading);
    return count;
  }
  Files files() const { return files_in(at_ / "work"); }

  void expect_right(const Command& command, const Result& result, const Right& expected) const {
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, testing::Not(HasSubstr("computed again")));
    if (command.steady) {
      EXPECT_EQ(result.out, expected.result.out);
    }
    expect_same(files(), expected.made);
  }
  // Whole files only: as they were, or as they will be. A manifest is written more than once.
  void expect_whole(const Right& expected) const {
    const auto has = [](const Files& files, const auto& file) {
      const auto it = files.find(file.first);
      return it != files.end() && it->second == file.second;
    };
    for (const auto& file : files())
      EXPECT_TRUE(fs::path(file.first).filename() == "manifest.json" || has(expected.before, file) ||
                  has(expected.made, file))
          << file.first << " is incomplete";
  }
  void try_one(const Command& command, const Fault& fault, const Right& expected, Counts& counts) const {
    SCOPED_TRACE(fmt::format("{}: FAULT_AT={} FAULT_SIZE={}{}", command.name, fault.at, fault.size,
                             fault.only_c ? " FAULT_ONLY=c" : ""));
    restore(command);
    const Result result = run(command, fault);
    if (result.code == 0) {
      ++counts.harmless;
      expect_right(command, result, expected);
      return;
    }
    if (outside_our_reach(result)) {
      ++counts.outside;
    } else {
      ++counts.failed;
      EXPECT_EQ(result.code, 1) << result.err;
      EXPECT_THAT(result.err, HasSubstr("tunemix: "));
      EXPECT_THAT(result.err, testing::Not(HasSubstr("please report")));
    }
    expect_whole(expected);
    expect_right(command, run(command), expected);
  }

  Workspace at_;
};

TEST_F(Allocations, FailInEveryCommand) {
  const size_t wanted = number_from("TUNEMIX_ALLOCATIONS", whole_campaign() ? 1000 : 3);
  const char* only = std::getenv("TUNEMIX_COMMAND");
  // Every command begins with the same thousands, which make the command line.
  const Command version = {"version", "--version"};
  restore(version);
  ASSERT_EQ(run(version).code, 0);
  const size_t begun = counted().all;
  std::printf("%-14s %11s %6s %6s %7s %7s %7s\n", "command", "allocations", "loader", "of C", "exit 1",
              "exit 0", "outside");
  for (const Command& command : kCommands) {
    if (only != nullptr && std::string(only) != command.name) continue;
    restore(command);
    const Files before = files();
    ASSERT_EQ(run(command, {.only_c = true}).code, 0);
    const Allocated of_c = counted();
    restore(command);
    const Result right = run(command);
    ASSERT_EQ(right.code, 0) << command.name << ": " << right.err;
    const Right expected{before, files(), right};
    const Allocated all = counted();
    Counts counts;
    Random random(number_from("TUNEMIX_SEED", 1), command.name);
    for (size_t i = 0; i < wanted; ++i) {
      static constexpr size_t kSizes[] = {0, 0, 1, 64, 1024, 65536};
      const bool c_alone = i % 3 == 2;
      const Allocated& drawn = c_alone ? of_c : all;
      const size_t first = i % 8 == 0 || c_alone ? drawn.loading : std::min(begun, drawn.all - 1);
      const size_t at = first + 1 + random.below(drawn.all - first);
      try_one(command, {at, kSizes[random.below(std::size(kSizes))], c_alone}, expected, counts);
    }
    std::printf("%-14s %11zu %6zu %6zu %7zu %7zu %7zu\n", command.name, all.all, all.loading,
                of_c.all - of_c.loading, counts.failed, counts.harmless, counts.outside);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace tunemix::test
