// What the program says when something is wrong: one sentence with the reason and what to do.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
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
  EXPECT_THAT(refused(""), HasSubstr("a command is missing; expected one of: run, fit, status"));
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
  const auto answer = nlohmann::json::parse(at_.good("compare tiny second --json").out);
  EXPECT_EQ(answer["a"], "tiny");
  double sum = 0;
  double queries = 0;
  for (const auto& fold : answer["folds"]) {
    sum += fold["mean_a"].get<double>() * fold["queries"].get<double>();
    queries += fold["queries"].get<double>();
  }
  EXPECT_DOUBLE_EQ(answer["pooled"]["mean_a"], sum / queries);
}

TEST_F(Messages, SeveralRunsAndScoreFilesAreCompared) {
  at_.good("run tiny.yaml");
  at_.good("run tiny.yaml name=second learners.0.shrinkage=0.3");
  for (const char* fold : {"1", "2"})
    at_.good(std::string("export tiny.yaml name=second learners.0.shrinkage=0.3 --format scores --fold ") +
             fold + " --out second" + fold + ".scores");
  const auto runs = nlohmann::json::parse(at_.good("compare tiny second --json").out);
  // The exported scores of a run are the run.
  const auto files =
      nlohmann::json::parse(at_.good("compare tiny --b second1.scores second2.scores --json").out);
  EXPECT_EQ(files["b"], "second1.scores ...");
  EXPECT_EQ(files["folds"], runs["folds"]);
  EXPECT_EQ(files["fisher"], runs["fisher"]);
  const auto err = nlohmann::json::parse(
      at_.good("compare tiny --b second1.scores second2.scores --metric err --json").out);
  EXPECT_EQ(err["folds"],
            nlohmann::json::parse(at_.good("compare tiny second --metric err --json").out)["folds"]);

  const std::string three = "compare tiny second tiny";
  const auto answer = nlohmann::json::parse(at_.good(three + " --json").out);
  ASSERT_EQ(answer["systems"].size(), 3U);
  ASSERT_EQ(answer["pairs"].size(), 3U);
  EXPECT_EQ(answer["pairs"][0]["fisher"], runs["fisher"]);
  EXPECT_EQ(answer["pairs"][1]["fisher"]["p"], 1.0);
  EXPECT_EQ(answer["systems"][0]["mean"], runs["pooled"]["mean_a"]);
  EXPECT_THAT(at_.good(three).out, AllOf(HasSubstr("A: tiny\nB: second\nC: tiny\n"), HasSubstr("3 pairs")));

  EXPECT_THAT(refused("compare tiny"),
              HasSubstr("one run is given; expected several, or score files beside it"));
  EXPECT_THAT(refused("compare tiny --b second1.scores"),
              HasSubstr("1 score files beside the run 'tiny' of 2 folds"));
  EXPECT_THAT(refused("compare tiny second --tool trec"), HasSubstr("--tool is given for runs"));
  EXPECT_THAT(refused("compare tiny second --data x"), HasSubstr("runs and --data are given"));
}

TEST_F(Messages, CommandsOnARunThatHasNotBeenSayToRunIt) {
  const char* commands[] = {"export tiny.yaml --format trec --fold 1 --out x", "report tiny.yaml"};
  for (const char* command : commands)
    EXPECT_THAT(refused(command), AllOf(HasSubstr("'tiny' has not been run to its end with this config"),
                                        HasSubstr("run it first with 'tunemix run'")));
  EXPECT_FALSE(fs::exists(at_ / "runs")) << "a refused command leaves nothing behind";
  at_.write("one.txt", "0 qid:1 1:1\n");
  EXPECT_THAT(refused("predict --bundle runs/tiny/bundle-fold1.tmx --data one.txt"),
              HasSubstr("run 'tunemix run' first"));
  EXPECT_THAT(refused("compare tiny second"), HasSubstr("tiny: no run"));
  at_.good("run tiny.yaml");
  EXPECT_THAT(refused("predict --bundle runs/tiny --data one.txt"), HasSubstr("runs/tiny/bundle-fold1.tmx"));
}

TEST_F(Messages, DamagedRunFoldersGiveNoTextOfALibrary) {
  at_.good("run tiny.yaml");
  const std::string damaged[] = {
      "",
      "{}",
      "[]",
      "{\"a",
      "\xff\xfe",
      R"({"artifacts":3,"config":3,"data":3,"name":3,"rows":3,"timing":3})",
      R"({"config":{"mix.c.to":3},"data":3,"artifacts":["evaluation/zz.tmx"],"name":"tiny"})",
      R"({"config":[],"data":[],"artifacts":[1],"rows":[{"name":3}],"timing":{"data":3}})"};
  const std::string commands[] = {"status tiny.yaml mix.c.to=50",
                                  "compare tiny tiny",
                                  "export tiny.yaml --fold 1 --format trec --out x",
                                  "report tiny.yaml --out y",
                                  "clean --keep-last 9 --dry-run",
                                  "run tiny.yaml"};
  for (const std::string file : {"runs/tiny/manifest.json", "runs/tiny/results.json"})
    for (const std::string& text : damaged)
      for (const std::string& command : commands) {
        at_.write(file, text);
        const Result result = at_.run(command);
        EXPECT_TRUE(result.code >= 0 && result.code <= 2) << command << result.code;
        EXPECT_THAT(result.err, AllOf(Not(HasSubstr("unexpected")), Not(HasSubstr("json.exception")),
                                      Not(HasSubstr("mistake of ours"))))
            << command << " with " << file << " = " << text;
      }
}

TEST_F(Messages, PathsMayHaveAnyBytes) {
  const std::string e = "\xe9";
  fs::create_directory(at_ / ("d" + e));
  for (const char* seed : {"1", "2", "3"})
    at_.good("synth --queries 20 --seed " + std::string(seed) + " --quiet --out 'd" + e + "/S" + seed + "'");
  std::string text = kTiny;
  const std::string synthetic = "  synthetic: {preset: quickstart, queries: 30, folds: 2}\n";
  text.replace(text.find(synthetic), synthetic.size(),
               "  folds:\n    - {train: d" + e + "/S1, valid: d" + e + "/S2, test: d" + e + "/S3}\n");
  at_.write("c" + e + ".yaml", text);
  const std::string where = "'c" + e + ".yaml' --runs 'r" + e + "' ";
  at_.good("run " + where);
  EXPECT_THAT(at_.good("status " + where).out, HasSubstr("train      cached"));
  EXPECT_EQ(computed_stages(at_.good("run " + where).err), std::vector<std::string>{});
  at_.good("report " + where);
  at_.good("report " + where + "--json --out '" + e + "'");
  at_.good("export " + where + "--format tsv --out 'x" + e + "'");
  at_.good("compare 'r" + e + "/tiny' 'r" + e + "/tiny' --json");
  at_.good("inspect 'r" + e + "/tiny/bundle-fold1.tmx' --json");
  at_.good("inspect 'r" + e + "/tiny/bundle-fold1.tmx'");
}

TEST_F(Messages, WhatAFileSaysDoesNotReachTheTerminalRaw) {
  at_.write("bad.scores", "1\n\x1b]0;title\x07\x1b[2J\n");
  at_.write("two.txt", "0 qid:1 1:1\n1 qid:1 1:2\n");
  EXPECT_THAT(refused("eval --data two.txt --scores bad.scores"),
              AllOf(HasSubstr("\\x1b]0;title\\x07"), Not(HasSubstr("\x1b"))));
  at_.good("run tiny.yaml");
  fs::copy_file(at_ / "runs/tiny/bundle-fold1.tmx", at_ / "b\x1b[31m.tmx");
  for (const char* form : {"", " --json"})
    EXPECT_THAT(at_.good(std::string("inspect $'b\\x1b[31m.tmx'") + form).out, Not(HasSubstr("\x1b")));
}

TEST_F(Messages, AHugeGridAsksFirst) {
  std::string many = "shrinkage: [";
  for (int i = 1; i <= 500; ++i) many += std::to_string(i * 1e-4) + (i < 500 ? ", " : "]");
  std::string text = kTiny;
  text.replace(text.find("shrinkage: 0.1"), 14, many + ", bags: 1000");
  at_.write("huge.yaml", text);
  EXPECT_THAT(refused("run huge.yaml"), HasSubstr("2000002 models to train; give --yes if they are wanted"));
  std::string grid = kTiny;
  std::string leaves = "leaves: [";
  for (int i = 2; i < 250; ++i) leaves += std::to_string(i) + ", ";
  grid.replace(grid.find("leaves: [3, 4]"), 14, leaves + "250]");
  std::string rates = "shrinkage: [";
  for (int i = 1; i <= 1000; ++i) rates += std::to_string(i * 1e-4) + (i < 1000 ? ", " : "]");
  grid.replace(grid.find("shrinkage: 0.1"), 14, rates);
  at_.write("grid.yaml", grid);
  EXPECT_THAT(refused("run grid.yaml --yes"), HasSubstr("combinations or more; expected at most 200000"));
}

// The first words of the lines of a section of --help, such as "run" or "--help-config".
std::vector<std::string> words_of_help(const std::string& help, const std::string& begins) {
  std::vector<std::string> words;
  std::istringstream lines(help);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(" ")) inside = line.starts_with(begins);
    const size_t option = line.find("--");
    if (!inside || !line.starts_with("  ") || line[2] == ' ') continue;
    const size_t from = begins == "Options:" ? option : 2;
    if (from == std::string::npos) continue;
    words.push_back(
        line.substr(from, line.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-", from) - from));
  }
  return words;
}

TEST_F(Messages, CompletionsKnowEveryCommandAndOption) {
  const std::string bash = at_.good("completions bash").out;
  const std::string zsh = at_.good("completions zsh").out;
  const std::vector<std::string> commands = words_of_help(at_.good("--help").out, "Subcommands:");
  EXPECT_THAT(commands, testing::IsSupersetOf({"run", "export-model", "completions"}));
  for (const std::string& command : commands) {
    const std::string begin = "\n    " + command + ") words='";
    const size_t at = bash.find(begin);
    ASSERT_NE(at, std::string::npos) << command;
    const std::string of_bash = bash.substr(at, bash.find("\n", at + 1) - at) + " ";
    const size_t zsh_at = zsh.find("\n    " + command + ")\n");
    ASSERT_NE(zsh_at, std::string::npos) << command;
    const std::string of_zsh = zsh.substr(zsh_at, zsh.find(";;", zsh_at) - zsh_at);
    EXPECT_THAT(zsh, HasSubstr("\n    '" + command + ":"));
    const std::vector<std::string> options = words_of_help(at_.good(command + " --help").out, "Options:");
    EXPECT_THAT(options, Contains("--help")) << command;
    for (const std::string& option : options) {
      EXPECT_THAT(of_bash, ContainsRegex("[ ']" + option + "[ ']")) << command;
      EXPECT_THAT(of_zsh, HasSubstr("'*" + option + "[")) << command;
    }
  }
  // As the shell asks for it.
  at_.write("ask.sh", "source <('" TUNEMIX_PROGRAM
                      "' completions bash)\n"
                      "COMP_WORDS=(tunemix ev); COMP_CWORD=1; _tunemix; echo ${COMPREPLY[@]}\n"
                      "COMP_WORDS=(tunemix eval --qr); COMP_CWORD=2; _tunemix; echo ${COMPREPLY[@]}\n");
  const std::string asked = "bash " + (at_ / "ask.sh").string() + " > " + (at_ / "asked").string();
  ASSERT_EQ(std::system(asked.c_str()), 0);
  EXPECT_EQ(slurp(at_ / "asked"), "eval\n--qrels\n");
}

TEST_F(Messages, TheManPageHasASectionOfEveryCommand) {
  if (std::system("command -v help2man > /dev/null") != 0) GTEST_SKIP() << "help2man is not installed";
  const std::string made =
      "cmake -DPROGRAM='" TUNEMIX_PROGRAM "' -DHELP2MAN=help2man -DOUT=" + at_.path().string() +
      " -P " TUNEMIX_SOURCE_DIR "/cmake/shell.cmake";
  ASSERT_EQ(std::system(made.c_str()), 0);
  const std::string page = slurp(at_ / "tunemix.1");
  for (std::string command : words_of_help(at_.good("--help").out, "Subcommands:")) {
    std::transform(command.begin(), command.end(), command.begin(), ::toupper);
    EXPECT_THAT(page, HasSubstr("\n.SH \"TUNEMIX " + command + "\"\n"));
  }
  // The page is of any machine.
  EXPECT_THAT(page, ContainsRegex("\n.TH TUNEMIX [^\n]*\"tunemix [0-9.]+\"[^\n]*\n"));
}

}  // namespace
}  // namespace tunemix::test
