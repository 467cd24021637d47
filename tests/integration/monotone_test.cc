// Scores that only rise or fall with a feature, as a user asks for them, from the config to a whole mixture.
#include <gmock/gmock.h>

#include "tests/integration/workspace.h"

namespace tunemix::test {
namespace {

using testing::HasSubstr;

class MonotoneTest : public testing::Test {
 protected:
  MonotoneTest() {
    at_.good("synth --preset quickstart --queries 40 --seed 3 --out train.txt");
    at_.good("synth --preset quickstart --queries 20 --seed 4 --out valid.txt");
    at_.write("names.txt", "2: length\n5: price\n");
  }

  void run(const std::string& learners, const std::string& data, const std::string& mix) const {
    at_.write("mono.yaml",
              "name: mono\ndata: {folds: [{train: train.txt, valid: valid.txt, test: valid.txt}], "
              "allow_overlap: true, feature_names: names.txt" +
                  data + "}\nlearners: [" + learners + "]\nmix: {" + mix + "}\n");
    at_.good("run mono.yaml --quiet");
  }

  // The scores of the first document of a query by the ensemble while a feature of it takes rising values,
  // each in a copy of the query.
  std::vector<double> sweep(size_t feature) const {
    std::istringstream in(slurp(at_ / "valid.txt"));
    std::vector<std::string> query;
    for (std::string line; std::getline(in, line);)
      if (line.find(" qid:1 ") != std::string::npos) query.push_back(line);
    EXPECT_GT(query.size(), 3U);
    std::string text;
    for (int step = 0; step < 60; ++step)
      for (size_t i = 0; i < query.size(); ++i) {
        std::istringstream words(query[i]);
        for (std::string word; words >> word;) {
          if (word.starts_with("qid:")) word = "qid:" + std::to_string(step);
          if (i == 0 && word.starts_with(std::to_string(feature) + ":"))
            word = std::to_string(feature) + ":" + std::to_string(step * 0.1 - 2);
          text += word + " ";
        }
        text += "\n";
      }
    at_.write("sweep.txt", text);
    at_.good("predict --bundle runs/mono/bundle-fold1.tmx --data sweep.txt --out scores.txt --quiet");
    std::istringstream scores(slurp(at_ / "scores.txt"));
    std::vector<double> result;
    size_t i = 0;
    for (double score = 0; scores >> score; ++i)
      if (i % query.size() == 0) result.push_back(score);
    EXPECT_EQ(result.size(), 60U);
    return result;
  }

  Workspace at_;
};

double most_fall(const std::vector<double>& scores) {
  double worst = 0;
  for (size_t i = 1; i < scores.size(); ++i) worst = std::max(worst, scores[i - 1] - scores[i]);
  return worst;
}

TEST_F(MonotoneTest, AMixtureNeverTurns) {
  const std::string learners =
      "{type: lambdamart, leaves: 16, iterations: 30, min_documents: 2, monotone: {length: increasing, "
      "price: decreasing}}, "
      "{type: random_forest, iterations: 20, monotone: {2: increasing, 5: decreasing}}";
  for (const auto& [data, mix] :
       std::vector<std::pair<std::string, std::string>>{{"", "normalize: query"},
                                                        {", standardize: append", "normalize: none"},
                                                        {", standardize: cdf", "normalize: none"}}) {
    SCOPED_TRACE(data);
    run(learners, data, mix);
    EXPECT_LT(most_fall(sweep(2)), 1e-6);
    std::vector<double> price = sweep(5);
    EXPECT_GT(price.front(), price.back());
    for (double& score : price) score = -score;
    EXPECT_LT(most_fall(price), 1e-6);
    const std::string about = at_.good("inspect runs/mono/bundle-fold1.tmx").out;
    EXPECT_THAT(about, HasSubstr("monotone.length"));
    EXPECT_THAT(about, HasSubstr("monotone.price"));
    for (const char* bend : {"poly", "neural"}) EXPECT_THAT(about, Not(HasSubstr(bend)));
  }
}

TEST_F(MonotoneTest, IsRefusedWhereItCannotBeKept) {
  for (const auto& [learner, words] : std::vector<std::pair<std::string, std::string>>{
           {"{type: adaboost_mh, monotone: {2: increasing}}",
            "cannot be kept by adaboost_mh; learners that can: lambdamart"},
           {"{type: svm, monotone: {2: increasing}}", "cannot be kept by svm"},
           {"{type: lambdamart, monotone: {lenght: increasing}}", "did you mean 'length'"},
           {"{type: lambdamart, monotone: {2: up}}", "each with increasing or decreasing"}}) {
    at_.write("mono.yaml",
              "name: mono\ndata: {folds: [{train: train.txt, valid: valid.txt, test: valid.txt}], "
              "allow_overlap: true, feature_names: names.txt}\nlearners: [" +
                  learner + "]\n");
    const Result result = at_.run("run mono.yaml --quiet");
    EXPECT_EQ(result.code, 2) << learner;
    EXPECT_THAT(result.err, HasSubstr(words));
  }
}

}  // namespace
}  // namespace tunemix::test
