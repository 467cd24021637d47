// The configs of sets that people have, on generated stand-ins with the same files.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class LayoutTest : public testing::Test {
 protected:
  void make(const std::string& file, int queries) {
    fs::create_directories((at_ / file).parent_path());
    at_.good(
        fmt::format("synth --preset quickstart --queries {} --seed {} --out {}", queries, ++seed_, file));
  }
  // One cheap learner instead of the recipe, which other tests try.
  std::string with_folder(const std::string& config, const std::string& folder) const {
    return fmt::format(
        "{}/configs/{}.yaml data.root={} 'learners=[{{type: lambdamart, leaves: 4, iterations: 10}}]'",
        TUNEMIX_SOURCE_DIR, config, folder);
  }
  json results(const std::string& name) const { return results_of(at_ / ("runs/" + name)); }
  static size_t folds_of(const json& results) { return results["rows"][0]["folds"].size(); }

  Workspace at_;
  int seed_ = 0;
};

TEST_F(LayoutTest, MslrHasFiveFoldersOfThreeFiles) {
  for (int fold = 1; fold <= 5; ++fold)
    for (const char* split : {"train", "vali", "test"})
      make(fmt::format("web/Fold{}/{}.txt", fold, split), split == std::string("train") ? 15 : 6);
  for (const char* name : {"mslr-web10k", "mslr-web30k"}) {
    at_.good("run " + with_folder(name, "web"));
    EXPECT_EQ(folds_of(results(name)), 5U);
  }
}

TEST_F(LayoutTest, YahooLeavesFeaturesOut) {
  for (const char* set : {"set1", "set2"}) {
    for (const char* split : {"train", "valid", "test"})
      make(fmt::format("yahoo/{}.{}.txt", set, split), split == std::string("train") ? 15 : 6);
    // Sparse lines, and a feature that training never writes.
    std::string text = slurp(at_ / fmt::format("yahoo/{}.train.txt", set));
    at_.write(fmt::format("yahoo/{}.train.txt", set), text + "1 qid:900 3:0.5\n0 qid:900 7:0.25\n");
    text = slurp(at_ / fmt::format("yahoo/{}.test.txt", set));
    at_.write(fmt::format("yahoo/{}.test.txt", set), text + "1 qid:901 3:0.5\n0 qid:901 7:0.25 700:0.5\n");
    const std::string name = fmt::format("yahoo-{}", set);
    at_.good("run " + with_folder(name, "yahoo"));
    EXPECT_EQ(folds_of(results(name)), 1U);
  }
}

TEST_F(LayoutTest, IstellaHasNoValidationSplit) {
  make("istella/train.txt", 30);
  make("istella/test.txt", 6);
  // Six of thirty queries, the same whatever the experiment's seed; others with another seed of the draw.
  const auto valid_queries = [&](const std::string& override_text) {
    at_.good("run " + with_folder("istella", "istella") + " " + override_text);
    at_.good("export " + with_folder("istella", "istella") + " " + override_text +
             " --split valid --format qrels --out valid.qrels");
    std::set<std::string> ids;
    std::istringstream lines(slurp(at_ / "valid.qrels"));
    for (std::string line; std::getline(lines, line);) ids.insert(line.substr(0, line.find(' ')));
    return ids;
  };
  const std::set<std::string> queries = valid_queries("");
  EXPECT_EQ(queries.size(), 6U);
  EXPECT_EQ(valid_queries("seed=5"), queries);
  EXPECT_NE(valid_queries("data.folds.0.valid.seed=2"), queries);
  EXPECT_EQ(valid_queries("data.folds.0.valid.share=0.5").size(), 15U);
  EXPECT_EQ(results("istella")["rows"][0]["folds"][0]["queries"], 6);
}

TEST_F(LayoutTest, AQueryThatStandsTwiceIsNeverInBothParts) {
  make("d/a.txt", 10);
  make("d/test.txt", 6);
  // Every query once more under another name.
  std::string text = slurp(at_ / "d/a.txt");
  std::string copies = text;
  for (size_t at = 0; (at = copies.find("qid:", at)) != std::string::npos; at += 4)
    copies.insert(at + 4, "7000");
  at_.write("d/train.txt", text + copies);
  // The other copy of most that are drawn stays, and overlap would be refused.
  at_.good("run " + with_folder("istella", "d") + " data.folds.0.valid.share=0.5");
}

TEST_F(LayoutTest, MistakesInTheDrawAreNamed) {
  make("istella/train.txt", 10);
  make("istella/test.txt", 6);
  const auto error = [&](const std::string& override_text) {
    const Result result = at_.run("run " + with_folder("istella", "istella") + " " + override_text);
    EXPECT_EQ(result.code, 2) << override_text;
    return result.err;
  };
  EXPECT_THAT(error("data.folds.0.valid.from=test"), HasSubstr("data.folds.0.valid.from"));
  EXPECT_THAT(error("data.folds.0.valid.share=1"), HasSubstr("data.folds.0.valid.share"));
  EXPECT_THAT(error("data.folds.0.valid.part=1"), AllOf(HasSubstr("unknown key"), HasSubstr("share")));
  EXPECT_THAT(error("'learners=[{type: scores, name: x, files: {train: a, valid: b, test: c}}]'"),
              HasSubstr("need a validation split in files"));
}

}  // namespace
}  // namespace tunemix::test
