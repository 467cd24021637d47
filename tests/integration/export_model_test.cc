// `export-model` as a user calls it, and XGBoost itself on what it writes.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ExportModelTest : public testing::Test {
 protected:
  ExportModelTest() {
    at_.good("synth --preset quickstart --queries 30 --seed 3 --out train.txt");
    at_.good("synth --preset quickstart --queries 30 --seed 4 --out data.txt");
  }
  void train(const std::string& arguments) const {
    at_.good("train --data train.txt --quiet --model m.tmx --learner " + arguments);
  }
  // Makes values missing, more of them in documents of high grades.
  void punch(const std::string& file) const {
    std::istringstream in(slurp(at_ / file));
    std::string text;
    size_t number = 0;
    for (std::string line; std::getline(in, line); text += '\n') {
      std::istringstream words(line);
      size_t feature = 0;
      for (std::string word; words >> word; ++feature) {
        const bool missing = feature > 3 && word.find(':') != std::string::npos &&
                             (number++ * 7) % (12 - 2 * static_cast<size_t>(line[0] - '0')) == 0;
        text += (feature > 0 ? " " : "") + (missing ? word.substr(0, word.find(':')) + ":nan" : word);
      }
    }
    at_.write(file, text);
  }
  static std::vector<double> numbers(const std::string& text) {
    std::istringstream in(text);
    std::vector<double> result;
    for (double value = 0; in >> value;) result.push_back(value);
    return result;
  }

  // Of data.txt, those of ours.txt; false: there is no XGBoost.
  bool expect_scores_of_xgboost(const std::string& model) const {
    at_.good("export-model " + model + " --format xgboost --out m.json");
    const std::string command =
        "cd '" + at_.path().string() +
        "' && /usr/bin/python3 '" TUNEMIX_SOURCE_DIR
        "/tests/integration/xgboost_scores.py' m.json data.txt 25 > theirs.txt 2> err.txt";
    const int status = std::system(command.c_str());
    if (WEXITSTATUS(status) == 77) return false;
    EXPECT_EQ(status, 0) << slurp(at_ / "err.txt");
    const std::vector<double> ours = numbers(slurp(at_ / "ours.txt"));
    const std::vector<double> theirs = numbers(slurp(at_ / "theirs.txt"));
    EXPECT_GT(ours.size(), 100U);
    EXPECT_EQ(ours.size(), theirs.size());
    double largest = 1;
    for (const double score : ours) largest = std::max(largest, std::abs(score));
    double worst = 0;
    for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i)
      worst = std::max(worst, std::abs(theirs[i] - ours[i]));
    EXPECT_LT(worst, 1e-5 * largest);
    return true;
  }

  Workspace at_;
};

TEST_F(ExportModelTest, XgboostGivesTheSameScores) {
  for (const char* learner : {"lambdamart --set leaves=8 --set iterations=30",
                              "random_forest --set iterations=10 --set leaves=20", "ranksvm"}) {
    SCOPED_TRACE(learner);
    train(learner);
    at_.good("score --model m.tmx --data data.txt --out ours.txt");
    if (!expect_scores_of_xgboost("m.tmx")) GTEST_SKIP() << "python3-xgboost is not installed";
  }
  // Classifiers are exported as bundles of linear calibrations: trees, products of stumps, and both beside
  // another learner.
  const std::string trees = "{type: adaboost_mh, base: tree, leaves: 6, iterations: 20}";
  const std::string products = "{type: adaboost_mh, base: product, terms: 4, iterations: 30}";
  const std::string lambdamart = "{type: lambdamart, leaves: 8, iterations: 20}";
  for (const std::string& learners : {trees, products, products + ", " + lambdamart}) {
    SCOPED_TRACE(learners);
    at_.write("linear.yaml",
              "name: linear\ndata: {synthetic: {preset: quickstart, queries: 30}}\nlearners: [" + learners +
                  "]\ncalibrate: {cpc: [], rbc: {regressors: [linear], targets: [raw]}}\n"
                  "mix: {normalize: none}\n");
    at_.good("run linear.yaml --quiet");
    const std::string bundle = "runs/linear/bundle-fold1.tmx";
    at_.good("predict --bundle " + bundle + " --data data.txt --out ours.txt --quiet");
    if (!expect_scores_of_xgboost(bundle)) GTEST_SKIP() << "python3-xgboost is not installed";
  }
}

TEST_F(ExportModelTest, XgboostTakesMissingValuesAsWeDo) {
  for (const char* file : {"train.txt", "data.txt"}) punch(file);
  for (const char* learner : {"lambdamart --set leaves=8 --set iterations=30",
                              "random_forest --set iterations=10 --set leaves=20"}) {
    SCOPED_TRACE(learner);
    train(learner);
    at_.good("score --model m.tmx --data data.txt --out ours.txt");
    if (!expect_scores_of_xgboost("m.tmx")) GTEST_SKIP() << "python3-xgboost is not installed";
  }
  at_.write("linear.yaml",
            "name: linear\ndata: {folds: [{train: train.txt, valid: data.txt, test: data.txt}], "
            "allow_overlap: true}\n"
            "learners:\n"
            "- {type: adaboost_mh, base: product, terms: 4, iterations: 30}\n"
            "- {type: extra_trees, leaves: 8, iterations: 20}\n"
            "calibrate: {cpc: [], rbc: {regressors: [linear], targets: [raw]}}\nmix: {normalize: none}\n");
  at_.good("run linear.yaml --quiet");
  at_.good("predict --bundle runs/linear/bundle-fold1.tmx --data data.txt --out ours.txt --quiet");
  expect_scores_of_xgboost("runs/linear/bundle-fold1.tmx");
  Result result = at_.run("export-model m.tmx --format ranklib");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("which ranklib cannot say"));
  result = at_.run("run linear.yaml --quiet data.missing=refuse");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("expected a finite number (data.missing is refuse)"));
}

TEST_F(ExportModelTest, WritesOrTellsWhyNot) {
  train("lambdamart --set leaves=4 --set iterations=5");
  EXPECT_THAT(at_.good("export-model m.tmx --format ranklib --point T=5").out,
              HasSubstr("No. of trees = 5\n"));
  EXPECT_THAT(at_.good("export-model m.tmx --format solr --name web").out, HasSubstr("\"name\":\"web\""));
  std::string names;
  for (int j = 1; j <= 25; ++j) names += "name " + std::to_string(j) + "\n";
  at_.write("names.txt", names);
  EXPECT_THAT(at_.good("export-model m.tmx --format solr --feature-names names.txt").out,
              HasSubstr("{\"name\":\"name "));
  // Names are read as everywhere: for a list without numbers one for each feature, others are left out.
  const std::string with_names = "export-model m.tmx --format xgboost --feature-names names.txt";
  at_.write("names.txt", names + "one more\n");
  EXPECT_EQ(nlohmann::json::parse(at_.good(with_names).out)["learner"]["feature_names"].size(), 25U);
  at_.write("names.txt", "3: third\n2: second\n");
  const nlohmann::json some = nlohmann::json::parse(at_.good(with_names).out)["learner"]["feature_names"];
  EXPECT_EQ(some[0], "f1");
  EXPECT_EQ(some[1], "second");
  EXPECT_EQ(some[2], "third");
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"one\n", "names.txt: 1 names and the data has 25 features"},
           {"1: a\n2: a\n", "names.txt:2: features 1 and 2 are both called 'a'"},
           {"9: f3\n", "feature 3 has no name and would be called 'f3', as feature 9 is"}}) {
    at_.write("names.txt", text);
    const Result result = at_.run(with_names);
    EXPECT_EQ(result.code, 2) << text;
    EXPECT_THAT(result.err, HasSubstr(words));
  }
  EXPECT_THAT(at_.good("export-model m.tmx --format elasticsearch").out, HasSubstr("\"name\":\"m\""));
  EXPECT_THAT(at_.run("export-model m.tmx --format xgboost --feature-names nope.txt").err,
              StartsWith("tunemix: nope.txt: "));
  train("adaboost_mh --set iterations=5");
  Result result = at_.run("export-model m.tmx --format solr --out no.json");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err,
              HasSubstr("tunemix: m.tmx cannot be exported: the model gives 5 scores a document"));
  EXPECT_FALSE(fs::exists(at_ / "no.json"));
  at_.good("run tiny.yaml --quiet");
  result = at_.run("export-model runs/tiny/bundle-fold1.tmx --format xgboost");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("standardised within each query"));
  EXPECT_EQ(at_.run("export-model tiny.yaml --format xgboost").code, 2);
  EXPECT_EQ(at_.run("export-model m.tmx --format lightgbm").code, 2);
  result = at_.run("export-model nope.tmx --format xgboost");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, StartsWith("tunemix: nope.tmx: cannot"));
  // A mixture of linear calibrations, not standardised, is a sum of trees.
  at_.good(
      "run tiny.yaml --quiet mix.normalize=none calibrate.cpc=[] "
      "'learners=[{type: adaboost_mh, leaves: 4, iterations: 10}]'");
  EXPECT_THAT(at_.good("export-model runs/tiny/bundle-fold1.tmx --format ranklib").out,
              HasSubstr("<ensemble>"));
}

}  // namespace
}  // namespace tunemix::test
