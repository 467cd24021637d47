#include "tunemix/data/clicks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tunemix/core/error.h"
#include "tunemix/core/random.h"
#include "tunemix/data/letor_reader.h"

namespace tunemix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const std::string& text) {
  try {
    parse_clicks(text, "log");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Clicks, AreAddedUpByQueryDocumentAndRank) {
  const ClickCounts counts = parse_clicks(
      "# a comment\n"
      "q2\tb a\t2\n"
      "\n"
      "q1\tx\r\n"
      "q2\ta b\t1 2\n"
      "q2\ta c  b\t\n",
      "log");
  EXPECT_EQ(counts.sessions, 4U);
  EXPECT_EQ(counts.clicks, 3U);
  EXPECT_EQ(counts.ranks, 3U);
  ASSERT_EQ(counts.queries.size(), 2U);
  EXPECT_EQ(counts.queries[0].id, "q2");
  ASSERT_EQ(counts.queries[0].documents.size(), 3U);
  const ClickCounts::Document& a = counts.queries[0].documents[0];
  EXPECT_EQ(a.name, "a");
  ASSERT_EQ(a.shown.size(), 2U);
  EXPECT_EQ(a.shown[0].rank, 0U);
  EXPECT_EQ(a.shown[0].times, 2);
  EXPECT_EQ(a.shown[0].clicks, 1);
  EXPECT_EQ(a.shown[1].rank, 1U);
  EXPECT_EQ(a.shown[1].clicks, 1);
}

TEST(Clicks, LinesThatAreNoSession) {
  EXPECT_THAT(error_of("q\n"), HasSubstr("log:1: one column"));
  EXPECT_THAT(error_of("q\ta\t1\t2\n"), HasSubstr("log:1: more than three columns"));
  EXPECT_THAT(error_of("q r\ta\n"), HasSubstr("log:1: the query is 'q r'"));
  EXPECT_THAT(error_of("# x\nq\t\t1\n"), HasSubstr("log:2: no documents"));
  EXPECT_THAT(error_of("q\ta b a\n"), HasSubstr("document 'a' is shown twice"));
  EXPECT_THAT(error_of("q\ta b\t3\n"), HasSubstr("clicked rank '3', expected whole numbers from 1 to 2"));
  EXPECT_THAT(error_of("q\ta b\t0\n"), HasSubstr("clicked rank '0'"));
  EXPECT_THAT(error_of("q\ta b\tb\n"), HasSubstr("clicked rank 'b'"));
  EXPECT_THAT(error_of("#\n"), HasSubstr("no sessions"));
  EXPECT_THROW(fit_click_model(parse_clicks("q\ta b\n", "log"), {}, Context()), InputError);
}

constexpr size_t kDocuments = 8;

double examination(size_t rank) { return std::pow(static_cast<double>(rank) + 1, -0.8); }

struct Simulated {
  std::string log;
  std::vector<std::vector<double>> attraction;  // by query, and document in order of its name
  std::vector<std::vector<double>> clicks, shown;
};

// A ranker that mostly puts bad documents first, so that clicks alone tell the wrong story.
Simulated simulate(size_t queries, size_t sessions, uint64_t seed) {
  Random random(seed, "clicks");
  Simulated result;
  for (size_t q = 0; q < queries; ++q) {
    auto& attraction = result.attraction.emplace_back();
    for (size_t d = 0; d < kDocuments; ++d) attraction.push_back(0.05 + 0.85 * random.uniform());
    auto& clicks = result.clicks.emplace_back(kDocuments, 0.0);
    auto& shown = result.shown.emplace_back(kDocuments, 0.0);
    for (size_t s = 0; s < sessions; ++s) {
      std::vector<std::pair<double, size_t>> order;
      for (size_t d = 0; d < kDocuments; ++d) order.emplace_back(attraction[d] + 0.4 * random.normal(), d);
      std::sort(order.begin(), order.end());
      result.log += "q" + std::to_string(q) + "\t";
      std::string clicked;
      for (size_t r = 0; r < order.size(); ++r) {
        const size_t d = order[r].second;
        result.log += (r == 0 ? "d" : " d") + std::to_string(d);
        shown[d] += 1;
        if (random.uniform() >= examination(r) * attraction[d]) continue;
        clicks[d] += 1;
        clicked += (clicked.empty() ? "" : " ") + std::to_string(r + 1);
      }
      result.log += "\t" + clicked + "\n";
    }
  }
  return result;
}

// Of the pairs of documents of a query that are a tenth apart: how many `score` puts in the wrong order.
template <typename Score>
double wrong_pairs(const Simulated& truth, const Score& score) {
  double wrong = 0, pairs = 0;
  for (size_t q = 0; q < truth.attraction.size(); ++q)
    for (size_t a = 0; a < kDocuments; ++a)
      for (size_t b = 0; b < kDocuments; ++b) {
        if (truth.attraction[q][a] < truth.attraction[q][b] + 0.1) continue;
        pairs += 1;
        wrong += score(q, a) > score(q, b) ? 0 : 1;
      }
  return wrong / pairs;
}

TEST(Clicks, TheModelRecoversWhatTheLogWasMadeFrom) {
  const Simulated truth = simulate(40, 400, 1);
  const ClickCounts counts = parse_clicks(truth.log, "log");
  const ClickModel model = fit_click_model(counts, {}, Context(2));
  EXPECT_TRUE(model.converged);
  for (size_t r = 0; r < kDocuments; ++r) EXPECT_NEAR(model.examination[r], examination(r), 0.05) << r;
  const double by_model = wrong_pairs(truth, [&](size_t q, size_t d) { return model.attraction[q][d]; });
  const double by_share =
      wrong_pairs(truth, [&](size_t q, size_t d) { return truth.clicks[q][d] / truth.shown[q][d]; });
  EXPECT_LT(by_model, 0.02);
  EXPECT_GT(by_share, 3 * by_model + 0.02);
  // The same on any number of threads.
  EXPECT_EQ(fit_click_model(counts, {}, Context(4)).attraction, model.attraction);
}

TEST(Clicks, GradesRiseWithAttractionAndWeightsWithLooks) {
  const Simulated truth = simulate(20, 200, 2);
  const ClickCounts counts = parse_clicks(truth.log, "log");
  const ClickModel model = fit_click_model(counts, {}, Context());
  size_t missing = 0;
  const Dataset data = grade_clicks(counts, model, {}, nullptr, missing);
  EXPECT_EQ(data.documents(), 20 * kDocuments);
  EXPECT_EQ(data.max_label(), 4);
  for (size_t q = 0; q < 20; ++q)
    for (size_t a = 0; a < kDocuments; ++a)
      for (size_t b = 0; b < kDocuments; ++b) {
        if (model.attraction[q][a] >= model.attraction[q][b]) {
          EXPECT_GE(data.labels()[q * kDocuments + a], data.labels()[q * kDocuments + b]);
        }
        if (model.examined[q][a] > model.examined[q][b] + 1) {
          EXPECT_GT(data.weights()[q * kDocuments + a], data.weights()[q * kDocuments + b]);
        }
      }
}

TEST(Clicks, FeaturesAreJoinedByQueryAndNameOrByNameAlone) {
  const ClickCounts counts = parse_clicks("q1\ta b c\t1\nq2\ta b\t2\nq3\tz\t\n", "log");
  const ClickModel model = fit_click_model(counts, {}, Context());
  const Dataset features =
      parse_letor("0 qid:q1 1:11 2:1 #docid = a\n0 qid:* 1:5 #docid = b\n0 qid:* 1:7 #docid = a\n",
                  "features", {}, Context());
  size_t missing = 0;
  const Dataset data = grade_clicks(counts, model, {}, &features, missing);
  EXPECT_EQ(missing, 2U);  // c, z
  EXPECT_THAT(data.queries().ids(), ElementsAre("q1", "q2"));
  EXPECT_THAT(data.values(), ElementsAre(11, 1, 5, 0, 7, 0, 5, 0));
  EXPECT_EQ(data.names()[3], "b");
  const Dataset nameless = parse_letor("0 qid:q1 1:1\n", "features", {}, Context());
  EXPECT_THROW(grade_clicks(counts, model, {}, &nameless, missing), InputError);
  const Dataset others = parse_letor("0 qid:q1 1:1 #docid = y\n", "features", {}, Context());
  EXPECT_THROW(grade_clicks(counts, model, {}, &others, missing), InputError);
}

}  // namespace
}  // namespace tunemix
