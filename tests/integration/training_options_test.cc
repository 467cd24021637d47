// What an entry under `learners` may say of the data that it is trained on: features, labels, classes,
// copies.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class TrainingOptions : public testing::Test {
 protected:
  void SetUp() override {
    for (int file = 1; file <= 3; ++file)
      at_.good("synth --preset quickstart --queries 20 --seed " + std::to_string(file) + " --out S" +
               std::to_string(file) + ".txt");
  }
  void write(const std::string& learners, const std::string& data = "") const {
    at_.write("run.yaml",
              "name: run\ndata:\n  folds: [{train: S1.txt, valid: S2.txt, test: S3.txt}]\n" + data +
                  "learners:\n" + learners +
                  "calibrate: {cpc: [shift, ls], rbc: {regressors: [linear, logistic], targets: [raw]}}\n"
                  "mix: {c: {from: 0, to: 100, step: 10}, families: weighted}\n");
  }
  // The results of a run, whose bundle gives the same scores as the run did.
  json run() const {
    const json results = json::parse(at_.good("run run.yaml --json").out);
    at_.good("export run.yaml --format scores --out run.scores");
    at_.good("predict --bundle runs/run/bundle-fold1.tmx --data S3.txt --out predicted.scores");
    EXPECT_EQ(slurp(at_ / "predicted.scores"), slurp(at_ / "run.scores"));
    // What was resolved is a config of the same run.
    fs::copy_file(at_ / "runs/run/config.resolved.yaml", at_ / "again.yaml",
                  fs::copy_options::overwrite_existing);
    const Result again = at_.good("run again.yaml");
    EXPECT_THAT(computed_stages(again.err), testing::IsEmpty());
    return results;
  }
  std::string refused(const std::string& arguments = "") const {
    const Result result = at_.run("run run.yaml " + arguments);
    EXPECT_EQ(result.code, 2) << result.err;
    return result.err;
  }
  static double value(const json& results, const std::string& row) {
    for (const json& one : results["rows"])
      if (one["name"] == row && one["split"] == "test") return one["ndcg@10"];
    ADD_FAILURE() << row << " is not there";
    return 0;
  }
  size_t jobs() const { return json::parse(at_.good("status run.yaml --json").out)[1]["cached"]; }

  Workspace at_;
};

TEST_F(TrainingOptions, AListOfLengthsArePointsOfOneTraining) {
  write("  - {type: lambdamart, leaves: 4, iterations: [3, 6]}\n");
  at_.good("run run.yaml mix.checkpoints=all");
  EXPECT_EQ(json::parse(at_.good("status run.yaml mix.checkpoints=all --json").out)[1]["cached"], 1);
  std::map<std::string, size_t> lengths;  // of the members, by their names: "...@3/..."
  const json bundle = json::parse(at_.good("inspect runs/run/bundle-fold1.tmx --json").out);
  for (const json& member : bundle["members"]) {
    const std::string name = member["name"];
    const size_t at = name.find('@') + 1;
    ++lengths[name.substr(at, name.find('/', at) - at)];
  }
  EXPECT_THAT(lengths, testing::UnorderedElementsAre(testing::Pair("3", testing::Gt(0U)),
                                                     testing::Pair("6", testing::Gt(0U))));
  write("  - {type: lambdamart, leaves: 4, iterations: [6, 6]}\n");
  EXPECT_THAT(refused(), HasSubstr("run.yaml:5:47: learners.0.iterations: 6 occurs twice"));
  write("  - {type: lambdamart, leaves: 4, iterations: 6, checkpoints: [3, 7]}\n");
  EXPECT_THAT(refused(), HasSubstr("learners.0.checkpoints: has 7, and 'iterations' is 6"));
}

TEST_F(TrainingOptions, FeaturesOfTheDataAreChosen) {
  write(
      "  - {type: adaboost_mh, leaves: 4, iterations: 10, standardize: append}\n  - {type: svm, C: [0.1]}\n",
      "  features: [1-5, 9]\n");
  const json some = run();
  const json report = json::parse(at_.good("report run.yaml --json").out);
  EXPECT_FALSE(report["features"].empty());
  for (const auto& entry : report["features"]) {
    const int number = std::stoi(entry["feature"].get<std::string>());
    EXPECT_TRUE(entry["use"] == 0 || (number >= 1 && number <= 5) || number == 9) << entry;
  }
  write(
      "  - {type: adaboost_mh, leaves: 4, iterations: 10, standardize: append}\n  - {type: svm, C: [0.1]}\n");
  EXPECT_NE(value(run(), "ALL+EXP"), value(some, "ALL+EXP"));
  EXPECT_THAT(refused("'data.features=[]'"), HasSubstr("it names no feature"));
  EXPECT_THAT(refused("'data.features=[1-3, 2]'"), HasSubstr("feature 2 is named twice"));
  EXPECT_THAT(refused("'data.features=[0]'"), HasSubstr("'0' is neither a number from 1 nor a range"));
  EXPECT_THAT(refused("'data.features=[bm25]'"),
              HasSubstr("data.features: 'bm25' is neither a number from 1 nor a range such as 1-10, and the "
                        "features have no names; give them by data.feature_names"));
  EXPECT_THAT(refused("'data.features=[5-2]'"), HasSubstr("'5-2' is neither"));
  EXPECT_THAT(refused("'data.features=[3, 900]'"),
              HasSubstr("data.features names feature 900, and the data of fold 1 has"));
}

TEST_F(TrainingOptions, ViewsAreMembersSideBySide) {
  at_.write("names.txt", "1: bm25\n2: clicks\n");
  write("  - {type: lambdamart, leaves: 4, iterations: 100, checkpoints: [5]}\n  - {type: svm, C: [0.1]}\n",
        "  standardize: [none, context]\n  feature_names: names.txt\n");
  const json results = run();
  EXPECT_EQ(jobs(), 4U);
  const json report = json::parse(at_.good("report run.yaml --json").out);
  std::set<std::string> models, features;
  for (const auto& entry : report["features"]) {
    models.insert(entry["model"].get<std::string>());
    features.insert(entry["feature"].get<std::string>());
  }
  EXPECT_THAT(models, testing::IsSupersetOf({"lambdamart leaves=4 standardize=none",
                                             "lambdamart leaves=4 standardize=context"}));
  const auto any = [&](const std::string& part) {
    return std::any_of(features.begin(), features.end(),
                       [&](const std::string& name) { return name.find(part) != std::string::npos; });
  };
  EXPECT_TRUE(any(" (standardised)"));
  // Each view as it is alone.
  write("  - {type: lambdamart, leaves: 4, iterations: 10, checkpoints: [5]}\n", "  standardize: context\n");
  EXPECT_GT(value(run(), "LM+EXP"), 0);
}

TEST_F(TrainingOptions, FeaturesAreChosenByName) {
  const std::string learners = "  - {type: svm, C: [0.1]}\n";
  write(learners, "  features: [1-2, 3, 4-5, 9, 12]\n");
  const json by_number = run();
  // Of a file of names, and of the head of the first training file: the same numbers, so the same run.
  at_.write("names.txt", "3: bm25 title\n9: page_rank\n12: clicks, all\n");
  write(learners,
        "  feature_names: names.txt\n  features: ['clicks, all', page_rank, 1-2, bm25 title, 4-5]\n");
  EXPECT_THAT(computed_stages(at_.good("run run.yaml").err), testing::Not(testing::Contains("train")));
  EXPECT_EQ(run()["rows"], by_number["rows"]);
  EXPECT_THAT(refused("'data.features=[pagerank]'"),
              testing::AllOf(HasSubstr("command line: data.features: 'pagerank' is no name in "),
                             HasSubstr("names.txt; did you mean 'page_rank'?")));
  EXPECT_THAT(refused("'data.features=[zzzzzzz]'"),
              HasSubstr("; expected one of those, a number from 1 or a range such as 1-10"));
  EXPECT_THAT(refused("'data.features=[7-9, page_rank]'"), HasSubstr("feature 9 is named twice"));
  EXPECT_THAT(refused("data.features=page_rank data.feature_names=gone.txt"), HasSubstr("gone.txt"));

  write(learners, "  features: [first, 25]\n");
  EXPECT_THAT(refused(), HasSubstr("the features have no names"));
  at_.write("S1.txt", "#1: first\n#2: second\n" + slurp(at_ / "S1.txt"));
  const json by_head = run();
  EXPECT_THAT(refused("'data.features=[firts]'"),
              testing::AllOf(HasSubstr("command line: data.features"), HasSubstr("did you mean 'first'?")));
  write(learners, "  features: [1, 25]\n");
  EXPECT_THAT(computed_stages(at_.good("run run.yaml").err), testing::Not(testing::Contains("train")));
  EXPECT_EQ(run()["rows"], by_head["rows"]);
}

TEST_F(TrainingOptions, SharesOfFeaturesLeaveTreesAlone) {
  write("  - {type: adaboost_mh, leaves: 4, iterations: 10}\n  - {type: ranksvm, C: [0.1]}\n",
        "  standardize: cdf\n");
  const json shares = run();
  write(
      "  - {type: adaboost_mh, leaves: 4, iterations: 10}\n  - {type: ranksvm, C: [0.1], standardize: "
      "cdf}\n");
  const json one = run();
  EXPECT_EQ(value(one, "RS+EXP"), value(shares, "RS+EXP"));
  write("  - {type: adaboost_mh, leaves: 4, iterations: 10}\n  - {type: ranksvm, C: [0.1]}\n");
  EXPECT_NE(value(run(), "RS+EXP"), value(one, "RS+EXP"));
}

TEST_F(TrainingOptions, OrdinalClassesAndGroupsOfLabelsAreGrids) {
  write(
      "  - {type: adaboost_mh, leaves: 4, iterations: 10, classes: [multi, ordinal]}\n"
      "  - {type: svm, C: [0.01, 0.1], labels: [[[0], [1, 2], [3, 4]], [[0, 1, 2], [3, 4]], []]}\n"
      "  - {type: lambdamart, leaves: 4, iterations: 10, labels: [[0, 1], [2, 3, 4]]}\n"
      "  - {type: svm, C: [0.01], classes: ordinal, labels: [[0], [1, 2], [3, 4]]}\n");
  const json results = run();
  EXPECT_EQ(jobs(), 2U + 3 + 1 + 1);
  const std::string members = at_.good("report run.yaml --json").out;
  EXPECT_THAT(members, HasSubstr("labels=[[0, 1, 2], [3, 4]]"));
  EXPECT_THAT(members, HasSubstr("classes=ordinal"));
  const auto good = [&](const char* row) { EXPECT_GT(value(results, row), 0.4) << row; };
  for (const char* row : {"AB+EXP", "SVM+EXP", "LM+EXP", "ALL+EXP"}) good(row);

  write("  - {type: svm, labels: [[0], [1, 2]]}\n");
  EXPECT_THAT(refused(),
              HasSubstr("labels groups the labels 0 to 2, and the data of fold 1 has labels 0 to 4"));
  write("  - {type: svm, labels: [[0], [2, 1], [3, 4]]}\n");
  EXPECT_THAT(refused(), HasSubstr("is no grouping of labels"));
  write("  - {type: svm, classes: ordered}\n");
  EXPECT_THAT(refused(), HasSubstr("expected multi or ordinal"));
  write("  - {type: ranksvm, classes: ordinal}\n");
  EXPECT_THAT(refused(), HasSubstr("unknown key"));
  write("  - {type: svm, labels: [[[0], [1, 2, 3, 4]], [[0], [1, 2, 3, 4]]]}\n");
  EXPECT_THAT(refused(), HasSubstr("occurs twice"));
}

TEST_F(TrainingOptions, CopiesOfQueriesAndRandomScores) {
  write(
      "  - {type: lambdamart, leaves: 4, iterations: 10, copies: 2, leave_out: 0.3}\n  - {type: random, "
      "bags: 2}\n");
  const json copies = run();
  EXPECT_LT(value(copies, "RND+EXP"), value(copies, "LM+EXP"));
  write("  - {type: lambdamart, leaves: 4, iterations: 10}\n  - {type: random, bags: 2}\n");
  const json plain = run();
  EXPECT_NE(value(plain, "LM+EXP"), value(copies, "LM+EXP"));
  EXPECT_EQ(value(plain, "RND+EXP"), value(copies, "RND+EXP"));
  write("  - {type: lambdamart, leave_out: 0.3}\n");
  EXPECT_THAT(refused(), HasSubstr("says nothing without copies"));
}

// Of the tests' files: feature 26, a brand that tells something of the label, and is sometimes missing.
class CategoryOptions : public TrainingOptions {
 protected:
  void SetUp() override {
    TrainingOptions::SetUp();
    for (int file = 1; file <= 3; ++file) {
      const std::string name = "S" + std::to_string(file) + ".txt";
      std::istringstream in(slurp(at_ / name));
      std::string text = "#26: brand\n";
      size_t number = static_cast<size_t>(file);
      for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] == '#') continue;
        number = number * 2862933555777941757U + 3037000493U;
        const int label = line[0] - '0';
        const size_t brand =
            number >> 60 < 6 ? (number >> 40) % 60 : 10 * static_cast<size_t>(label) + (number >> 50) % 10;
        // The order of the numbers tells nothing.
        const std::string value = number >> 58 == 5 ? "nan" : std::to_string(brand * 37 % 60);
        text += line.substr(0, line.find('#')) + " 26:" + value + "\n";
      }
      at_.write(name, text);
    }
  }
  static constexpr const char* kLearners =
      "  - {type: lambdamart, leaves: 4, iterations: 20, standardize: append}\n  - {type: ranksvm, C: "
      "[0.1]}\n";
};

TEST_F(CategoryOptions, ACategoryIsWorthItsMeanGrade) {
  write(kLearners);
  const json as_number = run();
  write(kLearners, "  categorical: [brand]\n");
  const json results = run();
  for (const char* row : {"LM+EXP", "RS+EXP"})
    EXPECT_GT(value(results, row), value(as_number, row) + 0.02) << row;
  EXPECT_EQ(json::parse(at_.good("run run.yaml 'data.categorical=[26]' --json").out)["rows"],
            results["rows"]);
  bool named = false;
  const json report = json::parse(at_.good("report run.yaml --json").out);
  for (const json& entry : report["features"])
    named = named || entry["feature"].get<std::string>().starts_with("brand");
  EXPECT_TRUE(named);
  const json bundle = json::parse(at_.good("inspect runs/run/bundle-fold1.tmx --json").out);
  EXPECT_GT(bundle["categories"].size(), 40U);
  EXPECT_EQ(bundle["categories"][0]["feature"], 26);
  EXPECT_EQ(bundle["categories"][0]["value"], "0");
  at_.good("importance --bundle runs/run/bundle-fold1.tmx --data S3.txt --out importance.json");
  const json importance = json::parse(slurp(at_ / "importance.json"))["features"];
  for (size_t j = 0; j < 25; ++j) EXPECT_GT(importance[25]["loss"], importance[j]["loss"]) << j;

  // Of some features, and of a model of all the data.
  write(kLearners, "  categorical: [26]\n  features: [1-5, 26]\n");
  run();
  write(kLearners, "  categorical: [26]\n");
  at_.good("fit run.yaml");
  at_.good("predict --bundle runs/run/bundle.tmx --data S3.txt --out all.scores");
  EXPECT_FALSE(json::parse(at_.good("inspect runs/run/bundle.tmx --json").out)["categories"].empty());
  at_.good("distill runs/run/bundle.tmx --data S1.txt --iterations 5 --min-documents 5 --out student.tmx");
  at_.good("predict --bundle student.tmx --data S3.txt --out student.scores");

  EXPECT_THAT(refused("'data.categorical=[900]'"),
              HasSubstr("data.categorical names feature 900, and the training data has features 1 to 26"));
  EXPECT_THAT(refused("'data.categorical=[brant]'"), HasSubstr("did you mean 'brand'?"));
  at_.write("S1.txt", slurp(at_ / "S1.txt") + "0 qid:x 26:1.5\n");
  EXPECT_THAT(refused(),
              HasSubstr("has 1.5 for feature 26, which is categorical; expected a whole number from "
                        "-16777216 to 16777216"));
}

TEST_F(CategoryOptions, AnExportedModelHasTheTableBesideIt) {
  write("  - {type: lambdamart, leaves: 4, iterations: 20}\n", "  categorical: [26]\n");
  const std::string mixed =
      "run run.yaml 'calibrate.cpc=[]' 'calibrate.rbc.regressors=[linear]' mix.normalize=none";
  at_.good(mixed);
  const std::string to = "export-model runs/run/bundle-fold1.tmx --format xgboost";
  EXPECT_THAT(at_.run(to).err, HasSubstr("go to a file beside the model's; give --out FILE"));
  EXPECT_THAT(at_.good(to + " --out m.json").err, HasSubstr("m.json.categories.json"));
  const json table = json::parse(slurp(at_ / "m.json.categories.json"))["categories"][0];
  EXPECT_EQ(table["name"], "brand");
  EXPECT_EQ(table["mean_feature"], 26);
  EXPECT_EQ(table["count_feature"], 27);
  EXPECT_EQ(table["values"]["0"].size(), 2U);
  EXPECT_EQ(json::parse(slurp(at_ / "m.json"))["learner"]["learner_model_param"]["num_feature"], "27");
}

// By every learner, from text to bundle; and a request to refuse them.
TEST_F(CategoryOptions, MissingValuesGoAllTheWay) {
  write(
      "  - {type: adaboost_mh, leaves: 4, iterations: 10, standardize: append}\n"
      "  - {type: svm, C: [0.1], classes: ordinal}\n"
      "  - {type: ranksvm, C: [0.1], standardize: [replace, cdf]}\n"
      "  - {type: rankboost, round: 5, labels: [[0], [1, 2, 3, 4]]}\n");
  run();
  EXPECT_THAT(refused("data.missing=refuse"), HasSubstr("value 'nan' of feature 26"));
  at_.good("train --learner ranksvm --set 'C=[0.1]' --data S1.txt --model m.tmx");
  EXPECT_EQ(json::parse(at_.good("inspect m.tmx --json").out)["map"]["missing"], json::array({26}));
}

}  // namespace
}  // namespace tunemix::test
