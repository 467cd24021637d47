// Where output goes: nothing is lost in silence, nothing is written over, nothing new is left by a failure.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

using testing::HasSubstr;

class OutputTest : public testing::Test {
 protected:
  OutputTest() {
    at_.good("run tiny.yaml");
    at_.good("synth --queries 5 --out data.txt");
    at_.good(predict_ + "--data data.txt --out scores.txt");
  }
  Workspace at_;
  std::string predict_ = "predict --bundle runs/tiny/bundle-fold1.tmx ";
};

TEST_F(OutputTest, AFullStandardOutputIsAFailure) {
  for (const std::string& command :
       {predict_ + "--data data.txt", std::string("export tiny.yaml --fold 1 --out -"),
        std::string("eval --data data.txt --scores scores.txt"), std::string("run tiny.yaml"),
        std::string("status tiny.yaml"), std::string("--help")}) {
    const Result result = at_.run(command + " > /dev/full");
    EXPECT_EQ(result.code, 1) << command;
    EXPECT_THAT(result.err, HasSubstr("standard output: cannot write: No space left on device")) << command;
  }
}

TEST_F(OutputTest, StandardInputStandsForAFile) {
  const std::string scores = slurp(at_ / "scores.txt");
  EXPECT_EQ(at_.run(predict_ + "--data - < data.txt").out, scores);
  EXPECT_EQ(at_.run(predict_ + "--data -", "cat data.txt |").out, scores);
  const std::string values = at_.good("eval --data data.txt --scores scores.txt").out;
  EXPECT_EQ(at_.run("eval --data - --scores scores.txt < data.txt").out, values);
  EXPECT_EQ(at_.run("eval --data data.txt --scores - < scores.txt").out, values);
  const Result twice = at_.run("eval --data - --scores - < data.txt");
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("it can be read for one"));
  at_.good("train --data data.txt --learner svm --model a.tmx");
  EXPECT_EQ(at_.run("train --data - --learner svm --model b.tmx < data.txt").code, 0);
  EXPECT_TRUE(slurp(at_ / "a.tmx") == slurp(at_ / "b.tmx"));
}

TEST_F(OutputTest, GoesThroughWhatIsNoRegularFile) {
  const std::string scores = slurp(at_ / "scores.txt");
  EXPECT_EQ(at_.good(predict_ + "--data data.txt --out /dev/stdout").out, scores);
  fs::create_symlink("behind.txt", at_ / "link.txt");
  at_.good(predict_ + "--data data.txt --out link.txt");
  EXPECT_TRUE(fs::is_symlink(at_ / "link.txt"));
  EXPECT_EQ(slurp(at_ / "behind.txt"), scores);
  at_.good("train --data data.txt --learner svm --model /dev/null");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

// Whatever command writes it: a link, a pipe and a device stay what they are.
TEST_F(OutputTest, NoCommandReplacesWhatIsNoRegularFile) {
  const std::string distill = "distill runs/tiny/bundle-fold1.tmx --data data.txt --out ";
  const std::vector<std::string> commands = {
      distill,
      predict_ + "--data data.txt --out ",
      "train --data data.txt --learner svm --model ",
      "train --data data.txt --learner lambdamart --set iterations=2 --save-state ",
      "fit tiny.yaml --out ",
      "export tiny.yaml --fold 1 --out ",
      "report tiny.yaml --out ",
      "synth --queries 2 --out ",
      "export-model model.tmx --format solr --without-constant --out "};
  at_.good("train --data data.txt --learner lambdamart --set iterations=2 --model model.tmx");
  const bool devices = ::mknod((at_ / "device").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0 &&
                       std::ofstream(at_ / "device").is_open();
  ASSERT_EQ(::mkfifo((at_ / "pipe").c_str(), 0600), 0);
  fs::create_symlink("behind", at_ / "link");
  for (const std::string& command : commands) {
    const Result direct = at_.run(command + "direct");
    ASSERT_EQ(direct.code, 0) << command << direct.err;
    fs::remove(at_ / "behind");
    at_.good(command + "link");
    EXPECT_TRUE(fs::is_symlink(at_ / "link")) << command;
    EXPECT_EQ(fs::file_size(at_ / "behind"), fs::file_size(at_ / "direct")) << command;
    EXPECT_EQ(at_.run(command + "pipe", "cat pipe > through & ").code, 0) << command;
    EXPECT_TRUE(fs::is_fifo(at_ / "pipe")) << command;
    if (!devices) continue;
    at_.good(command + "device");
    EXPECT_TRUE(fs::is_character_file(at_ / "device")) << command;
  }
}

TEST_F(OutputTest, FoldersBehindADanglingLinkAreMade) {
  fs::create_directory_symlink("far/away", at_ / "link");
  fs::create_symlink("far/other/file", at_ / "file");
  EXPECT_EQ(at_.run(predict_ + "--data none.txt --out link/deep/x").code, 2);
  EXPECT_EQ(at_.run(predict_ + "--data tiny.yaml --out link/deep/x").code, 2);
  EXPECT_FALSE(fs::exists(at_ / "far")) << "a command that fails leaves no folder";
  at_.good(predict_ + "--data data.txt --out link/deep/x");
  at_.good(predict_ + "--data data.txt --out file");
  EXPECT_EQ(slurp(at_ / "far/away/deep/x"), slurp(at_ / "scores.txt"));
  EXPECT_EQ(slurp(at_ / "far/other/file"), slurp(at_ / "scores.txt"));
}

// Each command under every number of files that it may have open: it works, or says what it lacks.
TEST_F(OutputTest, TooFewOpenFilesAreAFailureOfTheMachine) {
  const std::vector<std::string> commands = {
      "run tiny.yaml name=other",
      "status tiny.yaml",
      predict_ + "--data data.txt --out few.txt",
      "eval --data data.txt --scores scores.txt",
      "inspect runs/tiny/bundle-fold1.tmx",
      "train --data data.txt --learner svm --model few.tmx",
      "distill runs/tiny/bundle-fold1.tmx --data data.txt --out few.tmx",
      "export tiny.yaml --fold 1 --out few.txt",
      "report tiny.yaml --out few.html",
      "compare runs/tiny runs/tiny",
      "clean --keep-last 9"};
  const auto limited = [](int files) { return "ulimit -n " + std::to_string(files) + "; "; };
  int least = 3;  // with which the program's libraries can be loaded
  while (least < 64 && at_.run("--version", limited(least)).code != 0) ++least;
  const auto before = outcome(at_ / "runs/tiny");
  for (const std::string& command : commands) {
    int code = 1;
    for (int files = least; code != 0 && files < least + 40; ++files) {
      const Result result = at_.run(command, limited(files));
      code = result.code;
      EXPECT_TRUE(code == 0 || code == 1) << files << ": " << command << result.err;
      if (code == 1) {
        EXPECT_THAT(result.err, HasSubstr("Too many open files")) << files << ": " << command;
      }
    }
    EXPECT_EQ(code, 0) << command;
  }
  expect_same(outcome(at_ / "runs/tiny"), before);
}

TEST_F(OutputTest, AnInputIsNotWrittenOver) {
  const std::string data = slurp(at_ / "data.txt");
  fs::create_symlink("data.txt", at_ / "same.txt");
  for (const std::string& command :
       {predict_ + "--data data.txt --out same.txt", std::string("export tiny.yaml --fold 1 --out tiny.yaml"),
        std::string("train --data data.txt --learner svm --model same.txt")}) {
    const Result result = at_.run(command);
    EXPECT_EQ(result.code, 2) << command;
    EXPECT_THAT(result.err, HasSubstr("would be written over the input")) << command;
  }
  EXPECT_EQ(slurp(at_ / "data.txt"), data);
}

// Of an experiment: what its config names, and what stands beside the data.
TEST_F(OutputTest, TheDataOfAnExperimentIsNotWrittenOver) {
  for (int file = 1; file <= 5; ++file)
    at_.good("synth --preset quickstart --queries 15 --seed " + std::to_string(file) + " --out S" +
             std::to_string(file) + ".txt");
  const auto lines = [&](const std::string& file, const std::string& line) {
    std::string text;
    for (const char c : slurp(at_ / file))
      if (c == '\n') text += line;
    return text;
  };
  at_.write("S1.txt.weight", lines("S1.txt", "1\n"));
  for (int file = 1; file <= 3; ++file)
    at_.write("F" + std::to_string(file), lines("S" + std::to_string(file) + ".txt", "0.5\n"));
  at_.write("names.txt", "1: first\n");
  at_.write("files.yaml",
            "name: files\ndata:\n  folds: [{train: S1.txt, valid: S2.txt, test: S3.txt}]\n"
            "  feature_names: names.txt\n  standardize: replace\n  source: {files: [S4.txt]}\n"
            "learners:\n  - {type: svm, C: [0.1]}\n"
            "  - {type: scores, name: first, files: {train: F1, valid: F2, test: F3}}\n");
  at_.good("run files.yaml --quiet");
  fs::create_hard_link(at_ / "S2.txt", at_ / "again.txt");
  for (const char* out : {"files.yaml", "S1.txt", "S1.txt.weight", "S2.txt", "./S3.txt", "S4.txt", "F1", "F3",
                          "names.txt", "again.txt"}) {
    const std::string before = slurp(at_ / out);
    for (const std::string command :
         {"export files.yaml --fold 1", "report files.yaml", "report files.yaml --json", "fit files.yaml"}) {
      const Result result = at_.run(command + " --out " + out);
      EXPECT_EQ(result.code, 2) << command << ' ' << out;
      EXPECT_THAT(result.err, HasSubstr("would be written over the input")) << command << ' ' << out;
    }
    EXPECT_EQ(slurp(at_ / out), before);
  }
  const Result without = at_.run("fit --data-train S5.txt --out S5.txt");
  EXPECT_EQ(without.code, 2);
  EXPECT_THAT(without.err, HasSubstr("S5.txt would be written over the input"));
  at_.good("export files.yaml --fold 1 --out other.txt");
}

// Bundles and models are no text to print, and standard input and output are no files of that name.
TEST_F(OutputTest, ADashIsNoFile) {
  for (const std::string command :
       {"fit tiny.yaml --out -", "distill runs/tiny/bundle-fold1.tmx --data data.txt --out -",
        "train --data data.txt --learner svm --model -"}) {
    const Result result = at_.run(command);
    EXPECT_EQ(result.code, 2) << command;
    EXPECT_THAT(result.err, HasSubstr("is '-', and a ")) << command;
    EXPECT_FALSE(fs::exists(at_ / "-")) << command;
  }
  at_.write("-", "");
  EXPECT_EQ(at_.run(predict_ + "--data - --out - < data.txt").out, slurp(at_ / "scores.txt"));
}

TEST_F(OutputTest, PredictOffersWhatItWrites) {
  for (const char* format : {"csv", "qrels"}) {
    const Result result = at_.run(predict_ + "--data data.txt --format " + format);
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, HasSubstr("expected one of: yahoo, trec, scores, ranklib, tsv"));
  }
}

TEST_F(OutputTest, AFailureLeavesNoNewFolder) {
  EXPECT_EQ(at_.run("export tiny.yaml --runs new --fold 1 --out deep/er/x").code, 2);
  EXPECT_EQ(at_.run("report tiny.yaml --runs new --out deep/er/x").code, 2);
  EXPECT_EQ(at_.run("run missing.yaml --runs new").code, 2);
  at_.write("files.yaml",
            "name: f\ndata: {folds: [{train: [no.txt], valid: [no.txt], test: [no.txt]}]}\nlearners: [{type: "
            "svm}]\n");
  EXPECT_EQ(at_.run("run files.yaml --runs new").code, 2);
  EXPECT_FALSE(fs::exists(at_ / "new") || fs::exists(at_ / "deep"));
}

TEST_F(OutputTest, CommandsThatOnlyLookWriteNothingThere) {
  const auto state = [&] {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(at_ / "runs"))
      files[entry.path().string()] = entry.is_regular_file() ? slurp(entry.path()) : "";
    return files;
  };
  const auto before = state();
  at_.good("status tiny.yaml");
  at_.good("run tiny.yaml --dry-run");
  at_.good("export tiny.yaml --fold 1 --out e.txt");
  at_.good("report tiny.yaml --out r.html");
  at_.good("compare runs/tiny runs/tiny");
  EXPECT_TRUE(state() == before);
}

TEST_F(OutputTest, OneRunOfANameAtATime) {
  Process run = at_.start("run tiny.yaml learners.0.iterations=1000000 --threads 1");
  for (int i = 0; i < 500 && !fs::exists(at_ / "runs/tiny/configs"); ++i) ::usleep(10000);
  const Result second = at_.run("run tiny.yaml");
  EXPECT_EQ(second.code, 1);
  EXPECT_THAT(second.err, HasSubstr("a run of this name is active (process "));
  run.kill(SIGKILL);
  run.wait();
  at_.good("run tiny.yaml");
}

}  // namespace
}  // namespace tunemix::test
