// Weights beside the data, through a whole run.
#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

const std::string kFiles =
    "name: weighted\n"
    "data: {root: ., folds: [{train: train.txt, valid: valid.txt, test: test.txt}]}\n"
    "learners:\n"
    "  - {type: adaboost_mh, base: stump, iterations: 10}\n"
    "  - {type: lambdamart, leaves: 4, iterations: 10, patience: 5}\n"
    "calibrate: {cpc: [ls], rbc: {regressors: [linear, neural], targets: [raw]}}\n"
    "mix: {c: {from: 0, to: 100, step: 20}}\n"
    "evaluate: {tools: [yahoo]}\n";

class Weights : public testing::Test {
 protected:
  Weights() {
    space_.write("w.yaml", kFiles);
    for (const auto& [split, seed] : {std::pair{"train", 1}, {"valid", 2}, {"test", 3}})
      space_.good("synth --queries 25 --quiet --seed " + std::to_string(seed) + " --out " + split + ".txt");
  }
  size_t documents(const std::string& split) const {
    const std::string text = slurp(space_ / (split + ".txt"));
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  void weigh(const std::string& split, const std::string& first, const std::string& rest = "1") const {
    std::string text;
    for (size_t i = 0; i < documents(split); ++i) text += (i < 60 ? first : rest) + "\n";
    space_.write(split + ".txt.weight", text);
  }
  nlohmann::json results() const {
    space_.good("run w.yaml --quiet");
    return results_of(space_ / "runs/weighted");
  }
  Workspace space_;
};

TEST_F(Weights, OnesGiveTheSameBytesAndOthersBelongToTheContent) {
  const nlohmann::json plain = results()["rows"];
  for (const char* split : {"train", "valid", "test"}) weigh(split, "1");
  space_.good("run w.yaml --quiet --runs ones");
  EXPECT_EQ(results_of(space_ / "ones/weighted")["rows"], plain);
  // Their bundles differ in the hash of what they were made from alone.
  space_.good("predict --bundle runs/weighted/bundle-fold1.tmx --data test.txt --out plain.scores");
  space_.good("predict --bundle ones/weighted/bundle-fold1.tmx --data test.txt --out ones.scores");
  EXPECT_TRUE(slurp(space_ / "plain.scores") == slurp(space_ / "ones.scores"));
}

TEST_F(Weights, EachSplitsWeightsAreUsedWhereTheyMatter) {
  const nlohmann::json all = results();
  const nlohmann::json plain = all["rows"];
  weigh("test", "5");
  const nlohmann::json test = results();
  for (size_t i = 0; i < plain.size(); ++i)
    EXPECT_EQ(plain[i]["ndcg@10"] == test["rows"][i]["ndcg@10"], plain[i]["split"] == "valid")
        << plain[i]["name"];
  EXPECT_EQ(test["choices"], all["choices"]);
  weigh("test", "1");
  // What is chosen by validation data is measured by its weights, on the grid and of the mixture.
  weigh("valid", "5");
  const nlohmann::json valid = results();
  for (size_t i = 0; i < plain.size(); ++i)
    EXPECT_TRUE(plain[i]["split"] == "test" || plain[i]["ndcg@10"] != valid["rows"][i]["ndcg@10"])
        << plain[i]["name"];
  for (size_t i = 0; i < all["choices"].size(); ++i)
    for (const char* key : {"valid_ndcg@10", "chosen_by"})
      EXPECT_NE(all["choices"][i][key], valid["choices"][i][key]) << all["choices"][i]["row"] << key;
  weigh("valid", "1");
  weigh("train", "0.1");
  const nlohmann::json trained = results()["rows"];
  EXPECT_NE(trained[0]["ndcg@10"], plain[0]["ndcg@10"]);
  EXPECT_EQ(trained[0]["split"], "test");
  weigh("train", "x");
  const Result bad = space_.run("run w.yaml");
  EXPECT_EQ(bad.code, 2);
  EXPECT_NE(bad.err.find("train.txt.weight:1: weight 'x'"), std::string::npos) << bad.err;
}

TEST_F(Weights, EvalWeighsItsMeans) {
  std::string scores;
  for (size_t i = 0; i < documents("test"); ++i) scores += std::to_string(i % 7) + "\n";
  space_.write("s", scores);
  const auto eval = [&] {
    return nlohmann::json::parse(space_.good("eval --data test.txt --scores s --tool yahoo --json").out);
  };
  const nlohmann::json plain = eval();
  EXPECT_FALSE(plain["weighted"]);
  weigh("test", "7");
  const nlohmann::json weighted = eval();
  EXPECT_TRUE(weighted["weighted"]);
  EXPECT_NE(plain["tools"]["yahoo"]["ndcg"], weighted["tools"]["yahoo"]["ndcg"]);
}

// Clicks on the training documents, by people who look at rank r with probability 1 / r and click by the
// label.
TEST(ClickLog, BecomesDataThatAnExperimentLearnsFrom) {
  const Workspace space;
  for (const auto& [split, seed] : {std::pair{"documents", 1}, {"valid", 2}, {"test", 3}})
    space.good("synth --queries 40 --quiet --seed " + std::to_string(seed) + " --out " + split + ".txt");
  std::map<std::string, std::vector<std::pair<std::string, int>>> queries;
  std::istringstream lines(slurp(space / "documents.txt"));
  for (std::string line; std::getline(lines, line);) {
    const size_t id = line.find("qid:") + 4;
    queries[line.substr(id, line.find(' ', id) - id)].emplace_back(line.substr(line.rfind(' ') + 1),
                                                                   line[0] - '0');
  }
  uint64_t state = 1;
  const auto uniform = [&] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state >> 11) / 9007199254740992.0;
  };
  std::string log;
  for (auto& [id, documents] : queries)
    for (int session = 0; session < 100; ++session) {
      for (size_t i = documents.size(); i > 1; --i)
        std::swap(documents[i - 1], documents[static_cast<size_t>(uniform() * static_cast<double>(i))]);
      std::string shown, clicked;
      for (size_t r = 0; r < std::min<size_t>(10, documents.size()); ++r) {
        shown += (r == 0 ? "" : " ") + documents[r].first;
        if (uniform() < (0.05 + 0.2 * documents[r].second) / static_cast<double>(r + 1))
          clicked += " " + std::to_string(r + 1);
      }
      log += id + "\t" + shown + "\t" + clicked + "\n";
    }
  space.write("log.tsv", log);
  const Result made = space.good("clicks log.tsv --features documents.txt --out train.txt --json --quiet");
  const nlohmann::json model = nlohmann::json::parse(made.out);
  EXPECT_EQ(model["sessions"], 4000);
  EXPECT_NEAR(model["examination"][1].get<double>(), 0.5, 0.1);
  EXPECT_TRUE(fs::exists(space / "train.txt.weight"));
  space.write("w.yaml", kFiles);
  space.good("run w.yaml --quiet");
  double ndcg = 0;
  const nlohmann::json results = results_of(space / "runs/weighted");
  for (const nlohmann::json& row : results["rows"])
    if (row["chosen"] == true && row["split"] == "test") ndcg = row["ndcg@10"];
  EXPECT_GT(ndcg, 0.55);
  EXPECT_EQ(space.run("clicks log.tsv --out log.tsv").code, 2);
  EXPECT_EQ(space.run("clicks missing.tsv --out x.txt").code, 2);
}

}  // namespace
}  // namespace tunemix::test
