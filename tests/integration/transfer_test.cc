// Learning from another set: data.source.
#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

// The source has all 25 features of the problem, the target the first twelve and a number of its own for the
// last.
class Transfer : public testing::Test {
 protected:
  Transfer() {
    space_.good("synth --queries 150 --quiet --seed 9 --out source.txt");
    for (const auto& [split, queries] : {std::pair{"train", 8}, {"valid", 20}, {"test", 40}}) {
      space_.good("synth --quiet --queries " + std::to_string(queries) + " --seed " +
                  std::to_string(queries) + " --out all.txt");
      narrow("all.txt", std::string(split) + ".txt");
    }
  }
  // Features 1 to 12, and 25 as 13.
  void narrow(const std::string& from, const std::string& to) const {
    std::istringstream lines(slurp(space_ / from));
    std::string out;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string kept;
      for (std::string word; words >> word;) {
        const size_t colon = word.find(':');
        const bool feature =
            colon != std::string::npos && std::isdigit(static_cast<unsigned char>(word[0])) != 0;
        const int id = feature ? std::stoi(word.substr(0, colon)) : 0;
        if (id > 12 && id != 25) continue;
        kept += (kept.empty() ? "" : " ") + (id == 25 ? "13" + word.substr(colon) : word);
      }
      out += kept + "\n";
    }
    space_.write(to, out);
  }
  std::string config(const std::string& source) const {
    return "name: t\ndata:\n  folds: [{train: train.txt, valid: valid.txt, test: test.txt}]\n  standardize: "
           "replace\n" +
           (source.empty() ? "" : "  source: " + source + "\n") +
           "learners:\n  - {type: lambdamart, leaves: 6, iterations: 40, shrinkage: 0.1}\n"
           "calibrate: {rbc: {regressors: [linear], targets: [raw]}}\nevaluate: {tools: [yahoo]}\n";
  }
  double measured(const std::string& source, const std::string& arguments = "") const {
    space_.write("t.yaml", config(source));
    space_.good("run t.yaml --quiet " + arguments);
    const nlohmann::json results = results_of(space_ / "runs/t");
    for (const nlohmann::json& row : results["rows"])
      if (row["chosen"] == true && row["split"] == "test") return row["ndcg@10"];
    return 0;
  }
  Workspace space_;
};

TEST_F(Transfer, ALargerSetHelpsASmallOne) {
  const double alone = measured("");
  const std::string common = "files: source.txt, features: ['1-12', '25:13']";
  const double joint = measured("{" + common + ", use: joint}");
  EXPECT_GT(joint, alone + 0.01);
  EXPECT_GT(measured("{" + common + ", use: both}"), alone + 0.01);
  const nlohmann::json rows = results_of(space_ / "runs/t")["rows"];
  EXPECT_TRUE(
      std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row["name"] == "LM@src+EXP"; }));
  // The first twelve have the same numbers without being named.
  EXPECT_GT(measured("{files: source.txt, use: only}"), 0.5);
  // A weight so small that the source does not count.
  EXPECT_NEAR(measured("{" + common + ", use: joint, weight: 1e-6}"), alone, std::abs(joint - alone) / 2);
  // Models are of the fold's features, so that new documents are scored as ever.
  space_.good("predict --bundle runs/t/bundle-fold1.tmx --data test.txt --out scores");
}

TEST_F(Transfer, TheContentOfTheSourceBelongsToTheModelsThatUseIt) {
  const std::string source = "{files: source.txt, features: ['1-12', '25:13'], use: both}";
  measured(source);
  EXPECT_EQ(space_.good("run t.yaml --dry-run").out.find("to compute"), std::string::npos);
  space_.good("synth --queries 60 --quiet --seed 10 --out source.txt");
  const std::string plan = space_.good("run t.yaml --dry-run").out;
  EXPECT_NE(plan.find("to compute: 1 of 2"), std::string::npos) << plan;
}

TEST_F(Transfer, WhatCannotBeLearnedFromIsRefused) {
  const auto error = [&](const std::string& source) {
    space_.write("t.yaml", config(source));
    const Result result = space_.run("run t.yaml --quiet");
    EXPECT_EQ(result.code, 2) << source;
    return result.err;
  };
  EXPECT_NE(error("{files: nowhere.txt}").find("nowhere.txt"), std::string::npos);
  EXPECT_NE(error("{files: source.txt, features: ['26:1']}").find("the source has features 1 to 25"),
            std::string::npos);
  EXPECT_NE(error("{files: source.txt, features: ['1:14']}").find("the folds 1 to 13"), std::string::npos);
  // Test queries in the source would have been seen.
  EXPECT_NE(error("{files: test.txt}").find("40 of the 40 test queries are in data.source"),
            std::string::npos);
}

}  // namespace
}  // namespace tunemix::test
