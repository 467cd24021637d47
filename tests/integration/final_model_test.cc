// From an experiment to a model in use: names of features, the final model, importance, distilled models.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Three files of data, and a run of one fold of them.
class FinalModel : public testing::Test {
 protected:
  FinalModel() {
    for (int file = 1; file <= 3; ++file)
      at_.good("synth --preset quickstart --queries 15 --seed " + std::to_string(file) + " --out S" +
               std::to_string(file) + ".txt");
    write_config("files.yaml", "  folds:\n    - {train: S1.txt, valid: S2.txt, test: S3.txt}\n");
  }
  void write_config(const std::string& name, const std::string& data) const {
    std::string text = kTiny;
    const std::string synthetic = "  synthetic: {preset: quickstart, queries: 30, folds: 2}\n";
    text.replace(text.find(synthetic), synthetic.size(), data);
    at_.write(name, text);
  }
  json inspect(const std::string& file) const { return json::parse(at_.good("inspect --json " + file).out); }

  Workspace at_;
};

TEST_F(FinalModel, NamesOfAFileAreInBundleAndReport) {
  std::string names;
  for (int j = 25; j >= 1; --j) names += std::to_string(j) + ": measured thing <" + std::to_string(j) + ">\n";
  at_.write("names.txt", names);
  at_.good("run files.yaml");
  EXPECT_THAT(slurp(at_ / "runs/tiny/report.html"), Not(HasSubstr("measured thing")));
  EXPECT_FALSE(inspect("runs/tiny/bundle-fold1.tmx").contains("feature_names"));
  // Nothing is trained again for names.
  const Result named = at_.good("run files.yaml data.feature_names=names.txt");
  EXPECT_THAT(computed_stages(named.err), Not(testing::Contains("train")));
  const json bundle = inspect("runs/tiny/bundle-fold1.tmx");
  EXPECT_EQ(bundle["feature_names"][2], "measured thing <3>");
  EXPECT_THAT(slurp(at_ / "runs/tiny/report.html"), HasSubstr("measured thing &lt;"));
  EXPECT_EQ(bundle["trained_on"]["files"], json({"S1.txt"}));
  EXPECT_EQ(bundle["trained_on"]["queries"], 15);
  EXPECT_EQ(bundle["expected"]["measure"], "yahoo NDCG@10");
  const json results_now = results_of(at_ / "runs/tiny");
  for (const json& row : results_now["rows"])
    if (row["chosen"] == true && row["tool"] == "yahoo" && row["split"] == "test") {
      EXPECT_EQ(bundle["expected"]["value"], row["ndcg@10"]);
      EXPECT_EQ(bundle["expected"]["stderr"], row["stderr"]);
    }
  at_.write("names.txt", "only one\n");
  const Result few = at_.run("run files.yaml data.feature_names=names.txt");
  EXPECT_EQ(few.code, 2);
  EXPECT_THAT(few.err, HasSubstr("1 names and the data has 25 features"));
}

TEST_F(FinalModel, NamesAtTheHeadOfTheDataAreTaken) {
  at_.write("S1.txt", "#1: first\n#25: last\n" + slurp(at_ / "S1.txt"));
  at_.good("run files.yaml");
  const json bundle = inspect("runs/tiny/bundle-fold1.tmx");
  EXPECT_EQ(bundle["feature_names"][0], "first");
  EXPECT_EQ(bundle["feature_names"][1], "2");
  EXPECT_EQ(bundle["feature_names"][24], "last");
  at_.write("other.txt", "#1: second\n" + slurp(at_ / "S2.txt"));
  const Result other =
      at_.run("predict --bundle runs/tiny/bundle-fold1.tmx --data other.txt --out other.scores");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("calls feature 1 'second'"));
}

TEST_F(FinalModel, IsTrainedOnAllDataOnceAndPredicts) {
  write_config("two.yaml",
               "  folds:\n    - {train: S1.txt, valid: S2.txt, test: S3.txt}\n"
               "    - {train: S2.txt, valid: S3.txt, test: S1.txt}\n");
  const Result first = at_.good("fit two.yaml --out ranker.tmx");
  EXPECT_THAT(first.out, HasSubstr("45 queries"));
  EXPECT_THAT(first.err, HasSubstr("final      "));
  EXPECT_EQ(slurp(at_ / "ranker.tmx"), slurp(at_ / "runs/tiny/bundle.tmx"));
  const json info = inspect("ranker.tmx");
  EXPECT_FALSE(info.contains("fold"));
  EXPECT_EQ(info["trained_on"]["files"], json({"S1.txt", "S2.txt", "S3.txt"}));
  EXPECT_EQ(info["trained_on"]["queries"], 45);
  const json results_now = results_of(at_ / "runs/tiny");
  for (const json& row : results_now["rows"])
    if (row["chosen"] == true && row["tool"] == "yahoo" && row["split"] == "test") {
      EXPECT_EQ(info["expected"]["value"], row["ndcg@10"]);
      EXPECT_EQ(info["expected"]["stderr"], row["stderr"]);
    }
  double weight = 0;
  for (const json& member : info["members"]) weight += member["weight"].get<double>();
  EXPECT_NEAR(weight, 1, 1e-9);
  at_.good("predict --bundle ranker.tmx --data S1.txt --out S1.scores");

  // A second time nothing is computed; a run in between keeps the final model, also for a cleaner.
  at_.good("run two.yaml");
  at_.good("clean --keep-last 1");
  const auto stored = artifacts(at_ / "runs");
  const std::string bundle = slurp(at_ / "ranker.tmx");
  const Result second = at_.good("fit two.yaml");
  EXPECT_TRUE(computed_stages(second.err).empty()) << second.err;
  EXPECT_EQ(slurp(at_ / "runs/tiny/bundle.tmx"), bundle);
  // Nor where only the bundle is gone, and its bytes are the same on any number of threads.
  fs::remove(at_ / "runs/tiny/bundle.tmx");
  EXPECT_TRUE(computed_stages(at_.good("fit two.yaml").err).empty());
  EXPECT_EQ(slurp(at_ / "runs/tiny/bundle.tmx"), bundle);
  expect_same(artifacts(at_ / "runs"), stored);
  at_.good("fit two.yaml --threads 3 --runs others");
  EXPECT_EQ(slurp(at_ / "others/tiny/bundle.tmx"), bundle);
}

TEST_F(FinalModel, WeighsDocuments) {
  at_.good("fit files.yaml --out plain.tmx");
  std::string weights;
  const std::string data = slurp(at_ / "S1.txt");
  for (size_t i = 0; i < static_cast<size_t>(std::count(data.begin(), data.end(), '\n')); ++i)
    weights += i < 60 ? "9\n" : "1\n";
  at_.write("S1.txt.weight", weights);
  at_.good("fit files.yaml --out weighted.tmx");
  for (const char* bundle : {"plain", "weighted"})
    at_.good(fmt::format("predict --bundle {0}.tmx --data S2.txt --out {0}.scores", bundle));
  EXPECT_NE(slurp(at_ / "plain.scores"), slurp(at_ / "weighted.scores"));
}

// Whatever an entry says of its data holds for the final model as for the folds.
TEST_F(FinalModel, IsOneMoreFold) {
  at_.good("synth --preset quickstart --queries 10 --seed 9 --out other.txt");
  at_.good(
      "fit files.yaml --out ranker.tmx 'learners=[{type: adaboost_mh, leaves: 3, iterations: 6, classes: "
      "ordinal}, {type: lambdamart, leaves: 3, iterations: 6, copies: 2, bags: 2, patience: 2}, {type: "
      "logitboost, leaves: 3, iterations: 4, labels: [[0], [1, 2], [3, 4]]}, {type: svm, C: 0.1}]' "
      "'data.source={files: [other.txt], use: both}' data.standardize=replace 'data.features=[1-9]'");
  const json info = inspect("ranker.tmx");
  EXPECT_EQ(info["trained_on"]["queries"], 45);
  std::set<std::string> members;
  for (const json& member : info["members"]) members.insert(member["name"].get<std::string>());
  for (const char* part : {"classes=ordinal", "copies=2", "labels=[[0], [1, 2], [3, 4]]", "source=only"})
    EXPECT_TRUE(std::any_of(members.begin(), members.end(), [&](const std::string& name) {
      return name.find(part) != std::string::npos;
    })) << part;
  at_.good("predict --bundle ranker.tmx --data S1.txt --out S1.scores");
}

// Everything is trained by tasks, and is the same bytes.
TEST_F(FinalModel, IsTrainedByTheEngineOfTheConfig) {
  at_.good("fit files.yaml --out here.tmx");
  const Result there = at_.good(
      "fit files.yaml --runs others --out there.tmx engine.type=command 'engine.command.run=bash "
      "{commands}'");
  EXPECT_THAT(there.err.substr(there.err.find("report ")),
              AllOf(HasSubstr("train      3 tasks given to"), HasSubstr("calibrate  3 tasks given to")));
  EXPECT_EQ(slurp(at_ / "there.tmx"), slurp(at_ / "here.tmx"));
}

TEST_F(FinalModel, PredictsAsItsFoldsDoWithBags) {
  at_.good("run files.yaml learners.1.bags=3 learners.0.bags=2 data.calibration.parts=2");
  at_.good(
      "export files.yaml learners.1.bags=3 learners.0.bags=2 data.calibration.parts=2 --format scores "
      "--split test --fold 1 --out run.scores");
  at_.good("predict --bundle runs/tiny/bundle-fold1.tmx --data S3.txt --out bundle.scores");
  EXPECT_EQ(slurp(at_ / "run.scores"), slurp(at_ / "bundle.scores"));
}

// Shares do not depend on a feature's scale, so neither do the scores of a model of shares; and the bundle
// makes the shares itself.
TEST_F(FinalModel, SeesFeaturesAsShares) {
  const std::string options =
      " 'learners=[{type: svm, C: [0.1], standardize: cdf}]' 'calibrate.cpc=[]' --out ";
  at_.good("fit files.yaml" + options + "plain.tmx");
  at_.good("predict --bundle plain.tmx --data S2.txt --out plain.scores");
  for (int file = 1; file <= 3; ++file) {
    const std::string name = "S" + std::to_string(file) + ".txt";
    std::istringstream lines(slurp(at_ / name));
    std::string scaled;
    for (std::string line; std::getline(lines, line);) {
      const size_t from = line.find(" 1:") + 3;
      const size_t to = line.find(' ', from);
      scaled += fmt::format("{}{}{}\n", line.substr(0, from), 8 * std::stof(line.substr(from, to - from)),
                            line.substr(to));
    }
    at_.write(name, scaled);
  }
  at_.good("fit files.yaml" + options + "scaled.tmx");
  at_.good("predict --bundle scaled.tmx --data S2.txt --out scaled.scores");
  EXPECT_EQ(slurp(at_ / "plain.scores"), slurp(at_ / "scaled.scores"));
  at_.good("predict --bundle plain.tmx --data S2.txt --out other.scores");
  EXPECT_NE(slurp(at_ / "plain.scores"), slurp(at_ / "other.scores"));
}

TEST_F(FinalModel, NeedsNoTestData) {
  write_config("pair.yaml", "  folds:\n    - {train: S1.txt, valid: S2.txt}\n");
  const Result result = at_.good("fit pair.yaml --out ranker.tmx");
  EXPECT_THAT(result.out, HasSubstr("NDCG@10 (validation)"));
  const json info = inspect("ranker.tmx");
  EXPECT_EQ(info["trained_on"]["queries"], 30);
  EXPECT_EQ(info["expected"]["on"], "the validation data of the fold, by its own models");
  for (const json& row : results_of(at_ / "runs/tiny")["rows"]) EXPECT_EQ(row["split"], "valid");
  write_config("mixed.yaml",
               "  folds:\n    - {train: S1.txt, valid: S2.txt}\n"
               "    - {train: S2.txt, valid: S3.txt, test: S1.txt}\n");
  const Result mixed = at_.run("run mixed.yaml");
  EXPECT_EQ(mixed.code, 2);
  EXPECT_THAT(mixed.err, HasSubstr("data.folds.1.test"));
}

TEST_F(FinalModel, TakesValidationFromTheTrainingDataWhereThereIsNoOther) {
  write_config("alone.yaml", "  folds:\n    - {train: S1.txt, valid: {from: train}}\n");
  at_.good("fit alone.yaml --out by-config.tmx");
  const Result result = at_.good(
      "fit --data-train S1.txt 'learners=[{type: svm, C: [0.1]}]' 'calibrate.cpc=[]' --out alone.tmx");
  EXPECT_THAT(result.out, HasSubstr("NDCG@10 (validation)"));
  EXPECT_EQ(inspect("alone.tmx")["trained_on"]["queries"], 15);
  EXPECT_EQ(inspect("by-config.tmx")["trained_on"]["queries"], 15);
  at_.good("report --data-train S1.txt 'learners=[{type: svm, C: [0.1]}]' 'calibrate.cpc=[]'");
}

TEST_F(FinalModel, IsMadeByRunToo) {
  at_.good("fit files.yaml --runs fitted");
  const Result result = at_.good("run files.yaml --final");
  EXPECT_THAT(result.out, HasSubstr("final model in runs/tiny/bundle.tmx"));
  EXPECT_TRUE(slurp(at_ / "runs/tiny/bundle.tmx") == slurp(at_ / "fitted/tiny/bundle.tmx"));
  EXPECT_EQ(at_.run("run files.yaml --final --only mix").code, 2);
}

TEST_F(FinalModel, FoldsWithOtherNamesOfFeaturesAreRefused) {
  at_.write("S1.txt", "#1: first\n" + slurp(at_ / "S1.txt"));
  at_.write("S2.txt", "#1: other\n" + slurp(at_ / "S2.txt"));
  at_.good("synth --preset quickstart --queries 15 --seed 4 --out S4.txt");
  write_config("names.yaml",
               "  allow_overlap: true\n  folds:\n    - {train: S1.txt, valid: S3.txt, test: S4.txt}\n"
               "    - {train: S2.txt, valid: S4.txt, test: S3.txt}\n");
  const Result result = at_.run("fit names.yaml");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("fold 2: the head of its training data has other names"));
  at_.good("run names.yaml");
}

TEST_F(FinalModel, MixesScoresFromElsewhere) {
  write_config("files.yaml", "  folds:\n    - {train: S1.txt, valid: S2.txt, test: S3.txt}\n");
  std::string text = slurp(at_ / "files.yaml");
  const std::string svm = "  - {type: svm, C: [1e-3, 0.1]}\n";
  text.replace(text.find(svm), svm.size(),
               "  - {type: scores, name: first, files: {train: F1, valid: F2, test: F3}}\n");
  at_.write("files.yaml", text);
  for (int file = 1; file <= 3; ++file) {
    std::istringstream lines(slurp(at_ / ("S" + std::to_string(file) + ".txt")));
    std::string line;
    std::string scores;
    while (std::getline(lines, line)) {
      const size_t at = line.find(" 1:") + 3;
      scores += line.substr(at, line.find(' ', at) - at) + "\n";
    }
    at_.write("F" + std::to_string(file), scores);
  }
  at_.good("fit files.yaml --out ranker.tmx");
  EXPECT_EQ(inspect("ranker.tmx")["trained_on"]["queries"], 45);
  EXPECT_EQ(at_.run("predict --bundle ranker.tmx --data S1.txt --out scores").code, 2);
  at_.good("predict --bundle ranker.tmx --data S1.txt --member-scores first=F1 --out scores");
  at_.good("importance --bundle ranker.tmx --data S1.txt --member-scores first=F1 --repeats 1");
}

TEST_F(FinalModel, TellsWhatFeaturesItNeeds) {
  at_.good("run files.yaml");
  EXPECT_THAT(slurp(at_ / "runs/tiny/report.html"), Not(HasSubstr("id=\"importance\"")));
  const Result result = at_.good(
      "importance --bundle runs/tiny/bundle-fold1.tmx --data S3.txt --repeats 2 --out "
      "runs/tiny/importance.json");
  EXPECT_THAT(result.out, HasSubstr("feature"));
  const json found = json::parse(slurp(at_ / "runs/tiny/importance.json"));
  EXPECT_EQ(found["features"].size(), 25);
  EXPECT_EQ(found["queries"], 15);
  at_.good("report files.yaml");
  EXPECT_THAT(slurp(at_ / "runs/tiny/report.html"), HasSubstr("id=\"importance\""));
  // That of another ensemble is none of this run's.
  json other = found;
  other["bundle"] = "00";
  at_.write("runs/tiny/importance.json", other.dump());
  at_.good("report files.yaml");
  EXPECT_THAT(slurp(at_ / "runs/tiny/report.html"), Not(HasSubstr("id=\"importance\"")));
}

TEST_F(FinalModel, TeachesAStudent) {
  at_.good("run files.yaml");
  const Result result = at_.good(
      "distill runs/tiny/bundle-fold1.tmx --data S1.txt S2.txt --valid S3.txt --leaves 8 --iterations 50 "
      "--min-documents 5 --out student.tmx --json");
  const json compared = json::parse(result.out);
  ASSERT_EQ(compared["ndcg@10"].size(), 2);
  EXPECT_GT(compared["ndcg@10"][0]["student"], compared["ndcg@10"][0]["teacher"].get<double>() - 0.1);
  const json info = inspect("student.tmx");
  EXPECT_EQ(info["normalize"], "none");
  EXPECT_EQ(info["trained_on"]["files"], json({"S1.txt", "S2.txt"}));
  // Both files have the queries 1 to 15, which are not the same ones.
  EXPECT_EQ(info["trained_on"]["queries"], 30);
  EXPECT_EQ(compared["ndcg@10"][0]["queries"], 30);
  // A document alone has the score that it has among others.
  at_.good("predict --bundle student.tmx --data S3.txt --out all.scores");
  const std::string text = slurp(at_ / "S3.txt");
  at_.write("one.txt", text.substr(0, text.find('\n') + 1));
  at_.good("predict --bundle student.tmx --data one.txt --out one.scores --quiet");
  const std::string all = slurp(at_ / "all.scores");
  EXPECT_EQ(slurp(at_ / "one.scores"), all.substr(0, all.find('\n') + 1));
  const std::string distill = "distill runs/tiny/bundle-fold1.tmx --iterations 5 --data ";
  EXPECT_EQ(at_.run(distill + "S1.txt --out S1.txt").code, 2);
  // Missing folders are made, unless nothing comes of it.
  at_.good(distill + "S1.txt --out deep/er/student.tmx");
  inspect("deep/er/student.tmx");
  std::string single;
  for (int q = 1; q <= 30; ++q) single += fmt::format("0 qid:{} 1:{}\n", q, q);
  at_.write("single.txt", single);
  const Result alone = at_.run(distill + "single.txt --out new/student.tmx");
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, HasSubstr("has no query of two documents"));
  EXPECT_FALSE(fs::exists(at_ / "new"));
}

}  // namespace
}  // namespace tunemix::test
