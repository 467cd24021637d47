// `tunemix eval` and `tunemix compare` as a user runs them, and against what the real tools printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support.h"
#include "tunemix/core/binary.h"
#include "tunemix/core/text.h"
#include "tunemix/metric/policy.h"

namespace tunemix {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class MetricCommand : public testing::Test {
 protected:
  struct Result {
    int code;
    std::string out;
    std::string err;
  };
  Result run(const std::string& arguments) const {
    const std::string command = fmt::format("'{}' {} >'{}' 2>'{}'", TUNEMIX_PROGRAM, arguments,
                                            (scratch_ / "out").string(), (scratch_ / "err").string());
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), read_text_file(scratch_ / "out"), read_text_file(scratch_ / "err")};
  }
  std::string file(const std::string& name, std::string_view text) const {
    write_file_atomically(scratch_ / name, text);
    return (scratch_ / name).string();
  }
  // Wrong usage or input: exit code 2, one line on stderr, nothing on stdout.
  void expect_refused(const std::string& arguments, const std::string& part) const {
    const Result result = run(arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_EQ(result.out, "") << arguments;
    EXPECT_THAT(result.err, HasSubstr(part));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }

  test::ScratchDirectory scratch_;
  // A query with a relevant document at rank 2, and one without any.
  std::string data_ =
      file("data.txt", "0 qid:7 1:1 #docid = A\n2 qid:7 1:1 #docid = B\n0 qid:9 1:1 #docid = C\n");
  std::string scores_ = file("scores", "3\n2\n1\n");
  std::string eval_ = fmt::format("eval --data {} --scores {}", data_, scores_);
};

TEST_F(MetricCommand, EveryCommandNamesTheBadLineOfItsData) {
  const std::string model = (scratch_ / "m.tmx").string();
  const std::string out = (scratch_ / "predicted").string();
  const std::string train = "--learner adaboost_mh --set iterations=2 --model " + model;
  ASSERT_EQ(run(fmt::format("train --data {} {}", data_, train)).code, 0);
  const std::string bad = file("bad.txt", "0 qid:7 1:1\n\n1 qid:7 1:x\n0 qid:7 1:2\n");
  const std::string far = file("far.txt", "1 qid:7 1:1 30:2\n0 qid:7 1:2\n0 qid:7 1:3\n");
  const std::string commands[] = {
      "train " + train + " --data ",
      fmt::format("score --model {} --out {} --data ", model, out),
      fmt::format("eval --scores {} --data ", scores_),
      fmt::format("compare --a {} --b {} --data ", scores_, scores_),
  };
  for (const std::string& command : commands) {
    expect_refused(command + bad, bad + ":3: value 'x' of feature 1, expected a finite number");
    expect_refused(command + file("cut.txt", "0 qid:7 1:1\n1 qid:"), "cut.txt:2: an empty qid");
    expect_refused(command + file("nul.txt", std::string("0 qid:7 1:1\n\0\0\n", 15)),
                   "nul.txt:2: a NUL byte");
    expect_refused(command + file("empty.txt", ""), "empty.txt: the file is empty");
    expect_refused(command + (scratch_ / "none.txt").string(), "none.txt: cannot open");
    expect_refused(command + far + " --max-feature-id 20", far + ":1: feature id 30, expected at most ");
    expect_refused(command + data_ + " --max-feature-id 0", "--max-feature-id");
  }
  for (const size_t i : {0, 2})
    EXPECT_EQ(run(commands[i] + far + " --max-feature-id 30").code, 0) << commands[i];
}

TEST_F(MetricCommand, EvalPrintsJson) {
  const Result result = run(eval_ + " --tool all --k 3 --json");
  ASSERT_EQ(result.code, 0) << result.err;
  const json root = json::parse(result.out);
  EXPECT_EQ(root["documents"], 3);
  ASSERT_EQ(root["tools"].size(), preset_names().size());
  for (const std::string& name : preset_names()) {
    const json& tool = root["tools"][name];
    EXPECT_EQ(tool["ndcg"].size(), 3U) << name;
    EXPECT_EQ(tool["precision"].size(), 3U) << name;
    EXPECT_EQ(tool["queries"], 2) << name;
    EXPECT_EQ(tool["empty_queries"], 1) << name;
    EXPECT_EQ(tool["short_queries"], 2) << name;
    for (const char* key : {"err", "map", "mrr", "mean_ndcg", "stderr"})
      EXPECT_TRUE(tool[key].is_number()) << key;
  }
  EXPECT_DOUBLE_EQ(root["tools"]["yahoo"]["ndcg"][0], 0.5);
  EXPECT_DOUBLE_EQ(root["tools"]["yahoo"]["ndcg"][1], (1 / std::log2(3.0) + 1) / 2);
  EXPECT_DOUBLE_EQ(root["tools"]["letor4"]["ndcg"][1], 0.5 / 2 * 2);
  EXPECT_DOUBLE_EQ(root["tools"]["yahoo"]["map"], 0.25);
}

TEST_F(MetricCommand, EvalPrintsATableWithTheNamesOfTheTools) {
  const Result result = run(eval_ + " --tool yahoo,trec");
  EXPECT_EQ(result.code, 0);
  for (const char* part : {"yahoo", "trec", "NDCG@10", "MeanNDCG", "ERR", "MAP", "MRR",
                           "without a relevant document: 1", "with fewer than 10 documents: 2"})
    EXPECT_THAT(result.out, HasSubstr(part));
}

TEST_F(MetricCommand, EvalWritesTrecEvalColumns) {
  const std::string per_query = (scratch_ / "q").string();
  ASSERT_EQ(run(eval_ + " --tool trec --k 2 --per-query " + per_query).code, 0);
  const std::string text = read_text_file(per_query);
  EXPECT_THAT(text, HasSubstr("ndcg_cut_2            \t7\t0.6309\n"));
  EXPECT_THAT(text, HasSubstr("recip_rank            \t7\t0.5000\n"));
  EXPECT_THAT(text, HasSubstr("P_2                   \t9\t0.0000\n"));
  EXPECT_THAT(text, HasSubstr("runid                 \tall\ttrec\n"));
  EXPECT_THAT(text, HasSubstr("num_q                 \tall\t2\n"));
  EXPECT_THAT(text, HasSubstr("map                   \tall\t0.2500\n"));
  ASSERT_EQ(run(eval_ + " --tool trec,yahoo --per-query " + per_query).code, 0);
  EXPECT_THAT(read_text_file(per_query), HasSubstr("yahoo:map             \t7\t0.5\n"));
}

TEST_F(MetricCommand, EvalTakesPolicies) {
  const auto first = [&](const std::string& options, const char* key) {
    return json::parse(run(eval_ + " --json " + options).out)["tools"]["yahoo"][key];
  };
  EXPECT_EQ(first("--empty 0", "ndcg")[0], 0.0);
  EXPECT_EQ(first("--empty 0 --gain linear", "dcg")[1], 2 / std::log2(3.0) / 2);
  EXPECT_EQ(first("--err-max auto", "err"), 0.75 / 2 / 2);
  EXPECT_EQ(first("--err-max 4", "err"), 0.75 / 2 / 2);
  const std::string tied = file("tied", "1\n1\n1\n");
  const std::string average = fmt::format("eval --data {} --scores {} --json --ties average", data_, tied);
  EXPECT_EQ(json::parse(run(average).out)["tools"]["yahoo"]["ndcg"][0], 0.75);
}

TEST_F(MetricCommand, EvalFollowsRowsThatAreNotAdjacent) {
  const std::string data = file("mixed.txt", "0 qid:1 1:1\n2 qid:2 1:1\n1 qid:1 1:1\n0 qid:2 1:1\n");
  const std::string scores = file("mixed", "1\n9\n2\n8\n");  // both queries in their best order
  const Result result = run(fmt::format("eval --json --data {} --scores {}", data, scores));
  EXPECT_THAT(result.err, HasSubstr("warning"));
  EXPECT_EQ(json::parse(result.out)["tools"]["yahoo"]["ndcg"][0], 1.0);
}

TEST_F(MetricCommand, AllLeavesOutToolsThatDoNotKnowTheLabels) {
  const std::string data = file("five.txt", "4 qid:1 1:1\n0 qid:1 1:1\n");
  const std::string arguments = fmt::format("eval --data {} --scores {}", data, file("two", "1\n2\n"));
  const json root = json::parse(run(arguments + " --tool all --json").out);
  EXPECT_EQ(root["tools"].size(), preset_names().size() - 2);
  EXPECT_TRUE(root["skipped"].contains("letor3"));
  EXPECT_TRUE(root["skipped"].contains("letor4"));
  EXPECT_THAT(run(arguments + " --tool all").out,
              HasSubstr("letor4 is left out: it knows labels 0 to 2 only"));
  expect_refused(arguments + " --tool letor4", "label 4, but letor4 knows labels 0 to 2");
}

TEST_F(MetricCommand, ErrThatCannotBeComputedIsNull) {
  const std::string data = file("six.txt", "6 qid:1 1:1\n0 qid:1 1:1\n");
  const std::string arguments = fmt::format("eval --json --data {} --scores {}", data, file("two", "1\n2\n"));
  const Result result = run(arguments);
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(json::parse(result.out)["tools"]["yahoo"]["err"].is_null());
  EXPECT_THAT(result.err, HasSubstr("try --err-max auto"));
  expect_refused(arguments + " --err-max 16",
                 "err-max is 16, but the data has label 6; expected at least 63");
}

TEST_F(MetricCommand, WrongUsageIsRefused) {
  expect_refused("eval", "needs --data");
  expect_refused(eval_ + " --tool trek", "did you mean 'trec'");
  expect_refused(eval_ + " --tool yahoo,yahoo", "named twice");
  expect_refused(eval_ + " --tool ''", "unknown preset ''");
  expect_refused(eval_ + " --k 0", "--k");
  expect_refused(eval_ + " --k ten", "--k");
  expect_refused(eval_ + " --ties random", "expected one of: file, name, average");
  expect_refused(eval_ + " --gain 3,1", "expected exponential, linear");
  expect_refused(eval_ + " --err-max 2", "expected at least 3, or auto");
  expect_refused(fmt::format("eval --data {} --scores {}", data_, file("few", "1\n2\n")),
                 "2 scores, expected 3");
  expect_refused(fmt::format("eval --data {} --scores {}", data_, file("word", "1\nx\n3\n")), "word:2: 'x'");
  expect_refused(fmt::format("eval --data {} --scores {}/none", data_, scratch_.path().string()), "none");
  expect_refused(eval_ + " --per-query", "--per-query");
}

TEST_F(MetricCommand, HelpShowsAnExample) {
  for (const char* command : {"eval", "compare"}) {
    const Result result = run(std::string(command) + " --help");
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.out, HasSubstr("Example"));
  }
}

TEST_F(MetricCommand, CompareTestsFoldsAndCombinesThem) {
  const std::string data =
      file("c.txt", "2 qid:1 1:1\n0 qid:1 1:1\n1 qid:2 1:1\n0 qid:2 1:1\n0 qid:3 1:1\n1 qid:3 1:1\n");
  const std::string a = file("a", "2\n1\n2\n1\n2\n1\n");  // right, right, wrong
  const std::string b = file("b", "1\n2\n2\n1\n2\n1\n");  // wrong, right, wrong
  const Result one =
      run(fmt::format("compare --data {0} --a {1} --b {2} --metric ndcg@1 --json", data, a, b));
  ASSERT_EQ(one.code, 0) << one.err;
  const json root = json::parse(one.out);
  const json& fold = root["folds"][0];
  EXPECT_EQ(fold["wins"], 1);
  EXPECT_EQ(fold["ties"], 2);
  EXPECT_EQ(fold["losses"], 0);
  EXPECT_DOUBLE_EQ(fold["difference"], 1.0 / 3);
  EXPECT_NEAR(fold["t"], 1, 1e-12);                       // differences 1, 0, 0
  EXPECT_NEAR(fold["p"], 1 - 1 / std::sqrt(3.0), 1e-12);  // Student's t with 2 degrees: 1 - t/sqrt(2+t^2)
  EXPECT_NEAR(root["fisher"]["p"], fold["p"], 1e-12);

  const Result two =
      run(fmt::format("compare --data {0} {0} --a {1} {1} --b {2} {2} --metric ndcg@1 --json", data, a, b));
  const double q = std::pow(1 - 1 / std::sqrt(3.0), 2);
  EXPECT_NEAR(json::parse(two.out)["fisher"]["p"], q * (1 - std::log(q)), 1e-12);
  const Result table = run(fmt::format("compare --data {0} {0} --a {1} {1} --b {2} {2}", data, a, b));
  EXPECT_THAT(table.out, HasSubstr("yahoo ndcg@10"));
  EXPECT_THAT(table.out, HasSubstr("Fisher over 2 folds"));
  const Result same = run(fmt::format("compare --data {0} --a {1} --b {1} --json", data, a));
  EXPECT_EQ(json::parse(same.out)["folds"][0]["p"], 1.0);
}

TEST_F(MetricCommand, CompareRefusesWrongUsage) {
  const std::string compare = fmt::format("compare --data {0} --a {1} --b {1}", data_, scores_);
  expect_refused(fmt::format("compare --data {0} --a {1} {1} --b {1}", data_, scores_),
                 "1 data files, 2 score files of A and 1 of B; expected one of each per fold");
  expect_refused(compare + " --metric ndgc@10", "unknown measure 'ndgc@10'");
  expect_refused(compare + " --metric ndcg@0", "expected a rank");
  expect_refused(compare + " --tool all", "unknown preset 'all'");
  const std::string single = file("one.txt", "1 qid:1 1:1\n");
  const std::string score = file("one", "1\n");
  expect_refused(fmt::format("compare --data {0} --a {1} --b {1}", single, score),
                 "one query, expected at least two for a paired t-test");
}

// --- what the real tools print ---

std::filesystem::path golden_directory() {
  return std::filesystem::path(TUNEMIX_SOURCE_DIR) / "tests/metric/golden";
}

// Every line of trec_eval is one of ours.
TEST_F(MetricCommand, EvalOfTrecFilesEqualsTrecEval) {
  const std::filesystem::path golden = golden_directory();
  const std::string command = fmt::format("eval --qrels {} --run {} --per-query - ",
                                          (golden / "trec.qrels").string(), (golden / "trec.run").string());
  const std::pair<const char*, const char*> cases[] = {{"", "trec.eval"},
                                                       {"--complete", "trec.complete.eval"}};
  for (const auto& [option, file] : cases) {
    const Result result = run(command + option);
    ASSERT_EQ(result.code, 0) << result.err;
    std::set<std::string> ours;
    for (std::string line : split(result.out, '\n')) {
      if (const size_t tab = line.find('\t'); tab != std::string::npos)
        line.erase(line.find_last_not_of(' ', tab - 1) + 1, tab - 1 - line.find_last_not_of(' ', tab - 1));
      ours.insert(line);
    }
    size_t lines = 0;
    for (const std::string& line : split(read_text_file(golden / file), '\n')) {
      if (line.empty()) continue;
      EXPECT_TRUE(ours.contains(line)) << file << ": " << line;
      ++lines;
    }
    EXPECT_EQ(lines, 155U);
  }
  const Result table = run(command + "--tool all");
  EXPECT_THAT(table.out, HasSubstr("in the run and not judged: "));
  EXPECT_THAT(table.out, HasSubstr("1 queries (left out; --complete keeps them)"));
}

TEST_F(MetricCommand, DocumentsThatARunLeavesOutCountInTheIdealOnly) {
  const std::string qrels = file("q", "1 0 A 2\n1 0 B 1\n");
  const std::string ranking = file("r", "1 Q0 B 1 5 me\n1 Q0 X 2 4 me\n");
  const Result result =
      run(fmt::format("eval --qrels {} --run {} --tool yahoo,ranklib --json", qrels, ranking));
  ASSERT_EQ(result.code, 0) << result.err;
  for (const char* tool : {"yahoo", "ranklib"}) {
    const json values = json::parse(result.out)["tools"][tool];
    EXPECT_DOUBLE_EQ(values["ndcg"][9], 1 / (3 + 1 / std::log2(3.0))) << tool;
    EXPECT_DOUBLE_EQ(values["map"], 0.5) << tool;
    EXPECT_DOUBLE_EQ(values["mrr"], 1.0) << tool;
  }
}

TEST_F(MetricCommand, TrecFilesThatAreWrongAreNamedWithTheirLine) {
  const std::string qrels = file("q", "1 0 A 2\n");
  const std::string ranking = file("r", "1 Q0 A 1 5 me\n");
  const auto with = [&](const std::string& q, const std::string& r) {
    return fmt::format("eval --qrels {} --run {}", q, r);
  };
  expect_refused(with(file("q1", "1 0 A\n"), ranking), "q1:1: 3 words, expected 'qid iteration docno label'");
  expect_refused(with(file("q2", "1 0 A 1\n1 0 B 1.5\n"), ranking),
                 "q2:2: label '1.5', expected a whole number");
  expect_refused(with(file("q3", "1 0 A 1\n1 0 A 1\n"), ranking), "q3:2: document 'A' is judged twice");
  expect_refused(with(file("q4", "2 0 A 1\n"), ranking), "no query in common");
  expect_refused(with(qrels, file("r1", "1 Q0 A 1 high me\n")), "r1:1: score 'high', expected one finite");
  expect_refused(with(qrels, file("r2", "1 Q0 A 1 5 me\n1 Q0 A 2 4 me\n")),
                 "r2:2: document 'A' is ranked twice");
  expect_refused(with(qrels, (scratch_ / "nowhere").string()), "nowhere");
  expect_refused("eval --qrels " + qrels, "needs --run");
  expect_refused(eval_ + " --run " + ranking, "expected either --data and --scores, or --qrels and --run");
  expect_refused(eval_ + " --complete", "--complete goes with --qrels");
}

class Golden : public MetricCommand, public testing::WithParamInterface<const char*> {};

void expect_printed(const json& ours, const json& theirs, int decimals, const std::string& what) {
  if (theirs.is_array()) {
    ASSERT_EQ(ours.size(), theirs.size()) << what;
    for (size_t i = 0; i < theirs.size(); ++i)
      expect_printed(ours[i], theirs[i], decimals, fmt::format("{} at {}", what, i + 1));
    return;
  }
  EXPECT_EQ(fmt::format("{:.{}f}", ours.get<double>(), decimals),
            fmt::format("{:.{}f}", theirs.get<double>(), decimals))
      << what;
}

// The figures of real tools (of `yahoo`: of its formula) on data in the repository, and on a LETOR set where
// it is there.
TEST_P(Golden, EqualsTheRealToolsToThePrintedDigits) {
  const std::string name = GetParam();
  std::filesystem::path directory = std::filesystem::path(TUNEMIX_SOURCE_DIR) / "tests/metric/golden";
  if (!std::filesystem::exists(directory / (name + ".json"))) {
    TUNEMIX_NEED_SHARED_DATA();
    directory = test::shared_data() / "../golden/metrics";
    if (!std::filesystem::exists(directory / (name + ".json")))
      GTEST_SKIP() << "no golden files beside the LETOR sets";
  }
  const json golden = json::parse(read_text_file(directory / (name + ".json")));
  const std::string command = fmt::format("eval --json --data '{}' --scores '{}' --tool ",
                                          (directory / golden["data"].get<std::string>()).string(),
                                          (directory / golden["scores"].get<std::string>()).string());
  const json presets = json::parse(run(command + "all").out)["tools"];
  const json exponential = json::parse(run(command + "trec --gain exponential").out)["tools"]["trec"];
  size_t compared = 0;
  for (const std::string& tool : preset_names()) {
    if (!golden.contains(tool)) continue;
    for (const auto& [key, value] : golden[tool].items()) {
      if (key == "decimals") continue;
      const bool map_gains = key == "ndcg_exponential_gain";
      const std::string our_key = key.starts_with("ndcg") ? "ndcg" : key == "err_at_10" ? "err" : key;
      const json& ours = (map_gains ? exponential : presets[tool])[our_key];
      expect_printed(ours, value, golden[tool]["decimals"].get<int>(), tool + " " + key);
      ++compared;
    }
  }
  EXPECT_EQ(compared, name == "made_up" ? 7U : 17U);
}

INSTANTIATE_TEST_SUITE_P(Tools, Golden, testing::Values("toy", "made_up", "mq2008_fold1_bm25"));

}  // namespace
}  // namespace tunemix
