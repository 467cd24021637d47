// Data that cannot give a true number is refused before anything is trained, or said beside the results.
#include <gmock/gmock.h>

#include <array>

#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class TrueNumbers : public testing::Test {
 protected:
  TrueNumbers() {
    for (int file = 1; file <= 4; ++file)
      at_.good("synth --preset quickstart --queries 12 --seed " + std::to_string(file) + " --out S" +
               std::to_string(file) + ".txt");
  }
  // A run of some folds, each "TRAIN VALID TEST".
  std::string config(const std::vector<std::array<std::string, 3>>& folds,
                     const std::string& more = "") const {
    std::string text = kTiny;
    const std::string synthetic = "  synthetic: {preset: quickstart, queries: 30, folds: 2}\n";
    std::string files = more + "  folds:\n";
    for (const auto& [train, valid, test] : folds)
      files += "    - {train: " + train + ", valid: " + valid + ", test: " + test + "}\n";
    text.replace(text.find(synthetic), synthetic.size(), files);
    at_.write("files.yaml", text);
    return "run files.yaml ";
  }
  std::string refused(const std::string& arguments) const {
    const Result result = at_.run(arguments);
    EXPECT_EQ(result.code, 2) << arguments << result.err;
    EXPECT_THAT(computed_stages(result.err), Not(testing::Contains("train"))) << arguments;
    return result.err;
  }
  // Every line of a file changed by a function.
  template <typename Change>
  void rewrite(const std::string& from, const std::string& to, Change change) const {
    std::istringstream lines(slurp(at_ / from));
    std::string line;
    std::string text;
    while (std::getline(lines, line)) text += change(line) + "\n";
    at_.write(to, text);
  }
  Workspace at_;
};

TEST_F(TrueNumbers, ARefusedConfigLeavesTheResultsOfItsName) {
  at_.good(config({{"S1.txt", "S2.txt", "S3.txt"}}));
  const std::string results = slurp(at_ / "runs/tiny/results.json");
  const std::string manifest = slurp(at_ / "runs/tiny/manifest.json");
  refused(config({{"S1.txt", "S2.txt", "S1.txt"}}));
  EXPECT_EQ(slurp(at_ / "runs/tiny/results.json"), results);
  EXPECT_EQ(slurp(at_ / "runs/tiny/manifest.json"), manifest);
  EXPECT_FALSE(std::filesystem::exists(at_ / "runs/tiny/configs"));
}

// Two files of one split that use the same ids make one query of each two: its documents are still known.
TEST_F(TrueNumbers, DocumentsUnderAReusedIdAreFound) {
  EXPECT_THAT(refused(config({{"[S1.txt, S2.txt]", "S3.txt", "S2.txt"}})),
              HasSubstr("fold 1: all 12 test queries are in the training data too"));
  const Result fine = at_.run(config({{"[S1.txt, S2.txt]", "S3.txt", "S4.txt"}}));
  EXPECT_EQ(fine.code, 0) << fine.err;
}

TEST_F(TrueNumbers, SharedQueriesAreRefused) {
  EXPECT_THAT(refused(config({{"S1.txt", "S2.txt", "S1.txt"}})),
              AllOf(HasSubstr("fold 1: all 12 test queries are in the training data too"),
                    HasSubstr("data.allow_overlap: true")));
  rewrite("S2.txt", "more.txt", [](const std::string& line) {
    const size_t begin = line.find("qid:") + 4;
    return line.substr(0, begin) + "more" + line.substr(begin);
  });
  EXPECT_THAT(refused(config({{"[S1.txt, more.txt]", "S2.txt", "S3.txt"}})),
              HasSubstr("all 12 validation queries are in the training data too"));
  EXPECT_THAT(refused(config({{"S1.txt", "S2.txt", "S2.txt"}})),
              HasSubstr("all 12 test queries are in the validation data too"));
  EXPECT_THAT(refused(config({{"S1.txt", "S2.txt", "S3.txt"}, {"S2.txt", "S1.txt", "S3.txt"}})),
              HasSubstr("fold 2: all 12 test queries are in the test data of fold 1 too"));
  // Folds that rotate share files between their splits, and nothing within one fold.
  at_.good(config(
      {{"S1.txt", "S2.txt", "S3.txt"}, {"S2.txt", "S3.txt", "S1.txt"}, {"S3.txt", "S1.txt", "S2.txt"}}));
}

TEST_F(TrueNumbers, QueriesAreKnownByTheirContent) {
  // Other ids, and documents in another order.
  std::vector<std::string> lines;
  rewrite("S1.txt", "ignored", [&](const std::string& line) {
    const size_t begin = line.find("qid:") + 4;
    lines.push_back(line.substr(0, begin) + "other" + line.substr(begin));
    return line;
  });
  std::string reversed;
  for (size_t i = lines.size(); i-- > 0;) reversed += lines[i] + "\n";
  at_.write("renamed.txt", reversed);
  EXPECT_THAT(refused(config({{"S1.txt", "S2.txt", "renamed.txt"}})), HasSubstr("all 12 test queries"));
  // The same ids say nothing.
  rewrite("S3.txt", "same_ids.txt", [&, i = size_t{0}](const std::string& line) mutable {
    const std::string& other = lines[std::min(i++, lines.size() - 1)];
    const std::string id =
        other.substr(other.find("qid:"), other.find(' ', other.find("qid:")) - other.find("qid:"));
    return line.substr(0, line.find("qid:")) + id + line.substr(line.find(' ', line.find("qid:")));
  });
  at_.good(config({{"S1.txt", "S2.txt", "same_ids.txt"}}));
}

TEST_F(TrueNumbers, OverlapThatIsAllowedIsSaidEverywhere) {
  const Result result = at_.good(config({{"S1.txt", "S2.txt", "S1.txt"}}, "  allow_overlap: true\n"));
  const std::string sentence = "fold 1: all 12 test queries are in the training data too";
  EXPECT_THAT(result.err, HasSubstr("warning: " + sentence));
  EXPECT_THAT(result.out, HasSubstr("warning: " + sentence));
  EXPECT_EQ(results_of(at_ / "runs/tiny")["warnings"], json::array({sentence}));
  EXPECT_THAT(slurp(at_ / "runs/tiny/results.md"), HasSubstr("> **Warning:** " + sentence));
  EXPECT_THAT(slurp(at_ / "runs/tiny/report.html"), HasSubstr(sentence));
  // From the cache as well.
  EXPECT_THAT(at_.good("run files.yaml").err, HasSubstr(sentence));
  EXPECT_THAT(refused("run files.yaml data.allow_overlap=false"), HasSubstr(sentence));
}

TEST_F(TrueNumbers, SplitsWithoutARelevantDocumentAreRefused) {
  rewrite("S3.txt", "zero.txt", [](const std::string& line) { return "0" + line.substr(1); });
  EXPECT_THAT(
      refused(config({{"S1.txt", "S2.txt", "zero.txt"}})),
      AllOf(HasSubstr("fold 1: no document of the test data (zero.txt) is relevant"), HasSubstr("predict")));
  EXPECT_THAT(refused(config({{"S1.txt", "zero.txt", "S2.txt"}})), HasSubstr("validation data (zero.txt)"));
  EXPECT_THAT(refused(config({{"zero.txt", "S1.txt", "S2.txt"}})), HasSubstr("have label 0"));
}

// Only one training query has documents above 0, so that most single bags calibrate on documents of one
// label.
TEST_F(TrueNumbers, PartsOfOneLabelAreCalibratedOn) {
  std::string relevant;
  rewrite("S1.txt", "one.txt", [&](std::string line) {
    const std::string query = line.substr(2, line.find(' ', 2) - 2);
    if (relevant.empty() && line[0] > '0') relevant = query;
    return query == relevant ? line : line.replace(0, 1, "0");
  });
  const std::string run =
      config({{"one.txt", "S2.txt", "S3.txt"}}, "  labels: 5\n") +
      "'calibrate.cpc=[shift, ls, ewls, el, ell, sndcg]' 'calibrate.rbc.targets=[raw, ndcg]' "
      "'calibrate.rbc.regressors=[linear, logistic, neural, poly2, poly3, poly4]' ";
  std::string logs;
  for (const char* seed : {"seed=2", "seed=3"}) {
    const Result result = at_.run(run + seed);
    ASSERT_EQ(result.code, 0) << result.err;
    logs += slurp(at_ / "runs/tiny/logs/run.log");
    const json results = json::parse(slurp(at_ / "runs/tiny/results.json"));
    for (const json& row : results.at("rows")) EXPECT_GT(row.at("ndcg@10").get<double>(), 0) << row;
  }
  EXPECT_THAT(logs, HasSubstr("no query of the calibration split has a relevant document"));
}

TEST_F(TrueNumbers, FeaturesAndLabelsThatTrainingNeverHadAreRefused) {
  rewrite("S3.txt", "wide.txt",
          [](const std::string& line) { return line.substr(0, line.find('#')) + " 40:1"; });
  EXPECT_THAT(
      refused(config({{"S1.txt", "S2.txt", "wide.txt"}})),
      AllOf(HasSubstr("the test data (wide.txt) has feature 40 and the training data has features 1 to 25"),
            HasSubstr("data.allow_new_features: true")));
  EXPECT_THAT(refused(config({{"S1.txt", "wide.txt", "S2.txt"}})), HasSubstr("validation data (wide.txt)"));
  at_.good("run files.yaml data.allow_new_features=true");
  EXPECT_EQ(at_.run("run files.yaml").code, 2) << "also with the cache of the run that was allowed";
  rewrite("S3.txt", "five.txt", [](const std::string& line) { return "5" + line.substr(1); });
  EXPECT_THAT(refused(config({{"S1.txt", "S2.txt", "five.txt"}})),
              AllOf(HasSubstr("(five.txt) has label 5 and the largest of the training data is 4"),
                    HasSubstr("set data.labels: 6")));
  at_.good("run files.yaml data.labels=6");
}

TEST_F(TrueNumbers, PresetsThatDoNotKnowTheLabelsAreRefused) {
  config({{"S1.txt", "S2.txt", "S3.txt"}});
  for (const char* tool : {"letor3", "letor4"})
    EXPECT_THAT(
        refused(std::string("run files.yaml evaluate.tools=[yahoo,") + tool + "]"),
        AllOf(HasSubstr(std::string("evaluate.tools: ") + tool + " has grades for the labels 0 to 2 only"),
              HasSubstr("label 4"), HasSubstr("mslr")));
  EXPECT_THAT(refused("run files.yaml mix.metric=ndcg@10:letor4"),
              HasSubstr("mix.metric: letor4 has grades"));
  // Without a list those that know the labels are taken.
  const json results = json::parse(at_.good("run files.yaml evaluate.tools=[] --json").out);
  std::vector<std::string> tools;
  for (const json& row : results["rows"])
    if (row["name"] == "ALL+EXP" && row["split"] == "test") tools.push_back(row["tool"]);
  EXPECT_THAT(tools, testing::ElementsAre("yahoo", "ranklib", "trec", "mslr"));
}

TEST_F(TrueNumbers, YahooErrIsOneNumber) {
  const std::string run = config({{"S1.txt", "S2.txt", "S3.txt"}});
  const Result result = at_.good(run);
  EXPECT_THAT(result.out, HasSubstr("yahoo ERR   folds"));
  at_.good("export files.yaml --format scores --out s");
  const json eval = json::parse(at_.good("eval --data S3.txt --scores s --json").out);
  EXPECT_EQ(eval["tools"]["yahoo"]["policy"]["err-max"], "16");
  const json results_now = results_of(at_ / "runs/tiny");
  for (const json& row : results_now["rows"])
    if (row["name"] == "ALL+EXP" && row["split"] == "test" && row["tool"] == "yahoo") {
      EXPECT_EQ(row["err_max"], 16);
      EXPECT_DOUBLE_EQ(row["err"], eval["tools"]["yahoo"]["err"].get<double>());
    }
  // Another D has another name: here 2^(K-1) with K = 6.
  EXPECT_THAT(at_.good("run files.yaml evaluate.err_max=auto data.labels=6").out,
              HasSubstr("yahoo ERR (max 32)"));
}

TEST_F(TrueNumbers, TheMarkedRowIsNeverTheBestOnTest) {
  const Result result = at_.good(config({{"S1.txt", "S2.txt", "S3.txt"}}));
  EXPECT_THAT(result.out, HasSubstr("\n* ALL+EXP "));
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '*'), 1);
  const json results_now = results_of(at_ / "runs/tiny");
  for (const json& row : results_now["rows"]) EXPECT_EQ(row["chosen"], row["name"] == "ALL+EXP");
}

TEST_F(TrueNumbers, ChoicesAreNamedByTheirMetric) {
  config({{"S1.txt", "S2.txt", "S3.txt"}});
  for (const std::string metric : {"ndcg@10", "ndcg@5", "err", "map", "ndcg@10:mslr"}) {
    const json results = json::parse(at_.good("run files.yaml --json mix.metric=" + metric).out);
    for (const json& choice : results["choices"])
      for (const std::string other : {"ndcg@10", "ndcg@5", "err", "map", "ndcg@10:mslr"})
        EXPECT_EQ(choice.contains("valid_" + other), other == metric) << metric;
  }
  EXPECT_EQ(json::parse(at_.good("run files.yaml --json mix.metric=err").out)["metric"], "ERR");
}

}  // namespace
}  // namespace tunemix::test
