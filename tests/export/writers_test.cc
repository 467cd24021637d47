// Exported files as other tools read them: every format by hand, and the Yahoo formula and trec_eval's rule
// applied to the files give the evaluator's numbers.
#include "tunemix/export/writers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>

#include "tunemix/core/error.h"
#include "tunemix/core/random.h"
#include "tunemix/core/text.h"
#include "tunemix/metric/evaluator.h"
#include "tunemix/metric/score_file.h"

namespace tunemix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Listed {
  QueryIndex queries;
  std::vector<int32_t> labels;
  NameTable names;
  std::vector<uint32_t> source_rows;
  std::vector<float> scores;

  std::string text(ExportFormat format) const {
    return export_text(format, {queries, labels, names, source_rows, scores}, "mine");
  }
};

// Two queries; the second has a tie between B and C.
Listed small() {
  Listed d;
  d.queries = QueryIndex({0, 2, 5}, {"7", "q8"});
  d.labels = {0, 2, 1, 0, 4};
  for (const char* name : {"X", "Y", "A", "B", "C"}) d.names.add(name);
  d.scores = {0.25F, 1.5F, -1, 0.5F, 0.5F};
  return d;
}

TEST(Writers, YahooHasTheRankOfEachDocumentInFileOrder) {
  EXPECT_EQ(small().text(ExportFormat::kYahoo), "2 1\n3 1 2\n");
}

TEST(Writers, TrecScoresFallStrictlyAndTiesGoByNameDescending) {
  const std::vector<std::string> lines = split(small().text(ExportFormat::kTrec), '\n');
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0], "7 Q0 Y 1 1.5 mine");
  EXPECT_EQ(lines[1], "7 Q0 X 2 0.25 mine");
  EXPECT_EQ(lines[2], "q8 Q0 C 1 0.5 mine");
  EXPECT_EQ(lines[3], "q8 Q0 B 2 0.49999997 mine");
  EXPECT_EQ(lines[4], "q8 Q0 A 3 -1 mine");
}

TEST(Writers, QrelsHaveTheSameNamesAsTheRun) {
  EXPECT_EQ(small().text(ExportFormat::kQrels), "7 0 X 0\n7 0 Y 2\nq8 0 A 1\nq8 0 B 0\nq8 0 C 4\n");
}

TEST(Writers, ScoresGoBackToTheRowsOfTheFiles) {
  Listed d = small();
  EXPECT_EQ(d.text(ExportFormat::kScores), "0.25\n1.5\n-1\n0.5\n0.5\n");
  d.source_rows = {1, 4, 0, 2, 3};
  EXPECT_EQ(d.text(ExportFormat::kScores), "-1\n0.25\n0.5\n0.5\n1.5\n");
}

TEST(Writers, RankLibCountsDocumentsWithinTheQuery) {
  EXPECT_EQ(small().text(ExportFormat::kRankLib),
            "7\t0\t0.25\n7\t1\t1.5\nq8\t0\t-1\nq8\t1\t0.5\nq8\t2\t0.5\n");
}

TEST(Writers, TsvHasAHeaderAndLabelsWhereThereAreSome) {
  Listed d = small();
  EXPECT_EQ(d.text(ExportFormat::kTsv),
            "qid\tdocument\trank\tscore\tlabel\n7\tY\t1\t1.5\t2\n7\tX\t2\t0.25\t0\n"
            "q8\tB\t1\t0.5\t0\nq8\tC\t2\t0.5\t4\nq8\tA\t3\t-1\t1\n");
  d.labels.clear();
  EXPECT_THAT(d.text(ExportFormat::kTsv), HasSubstr("qid\tdocument\trank\tscore\n7\tY\t1\t1.5\n"));
  EXPECT_THROW(d.text(ExportFormat::kQrels), InputError);
}

TEST(Writers, DocumentsWithoutAUniqueNameAreNumbered) {
  Listed d = small();
  d.names = NameTable();
  EXPECT_EQ(d.text(ExportFormat::kQrels), "7 0 7-0 0\n7 0 7-1 2\nq8 0 q8-0 1\nq8 0 q8-1 0\nq8 0 q8-2 4\n");
  // File order where there is no name to go by.
  EXPECT_THAT(d.text(ExportFormat::kTrec),
              HasSubstr("q8 Q0 q8-1 1 0.5 mine\nq8 Q0 q8-2 2 0.49999997 mine\n"));

  for (const char* name : {"X", "Y", "A", "B", "A"}) d.names.add(name);
  EXPECT_THAT(document_ids(d.queries, d.names), ElementsAre("7-0", "7-1", "q8-0", "q8-1", "q8-2"));
  d.names = NameTable();
  for (const char* name : {"X", "", "A", "B", "C"}) d.names.add(name);
  EXPECT_THAT(document_ids(d.queries, d.names), ElementsAre("7-0", "7-1", "q8-0", "q8-1", "q8-2"));
  // The same name in two queries is no trouble.
  d.names = NameTable();
  for (const char* name : {"A", "B", "A", "B", "C"}) d.names.add(name);
  EXPECT_THAT(document_ids(d.queries, d.names), ElementsAre("A", "B", "A", "B", "C"));
}

TEST(Writers, RefusesScoresThatAreNoNumbersAndUnknownFormats) {
  Listed d = small();
  d.scores[3] = std::numeric_limits<float>::quiet_NaN();
  for (const std::string& name : export_format_names())
    EXPECT_THROW(d.text(parse_export_format(name)), InputError) << name;
  try {
    parse_export_format("yaho");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'yahoo'"));
  }
}

// Random data with many ties, short and empty queries, names that are not in file order.
Listed random_documents(uint64_t seed, bool named) {
  Random random(seed, "export");
  Listed d;
  std::vector<size_t> offsets = {0};
  std::vector<std::string> ids;
  for (size_t q = 0; q < 40; ++q) {
    const size_t length = 1 + random.below(25);
    const bool empty = random.below(5) == 0;
    std::vector<size_t> order(length);
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t i = length; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    for (size_t i = 0; i < length; ++i) {
      d.labels.push_back(empty ? 0 : static_cast<int32_t>(random.below(5)));
      d.scores.push_back(random.below(2) == 0 ? static_cast<float>(random.below(4))
                                              : static_cast<float>(random.uniform() * 4));
      if (named) d.names.add("doc" + std::to_string(order[i]));
    }
    offsets.push_back(d.labels.size());
    ids.push_back(std::to_string(1000 - q));
  }
  d.queries = QueryIndex(offsets, ids);
  return d;
}

Evaluation evaluate_as(const Listed& d, const std::string& tool) {
  ThreadPool pool(1);
  const Evaluator evaluator(d.queries, d.labels, d.names, {preset(tool)}, 10);
  return evaluator(std::vector<double>(d.scores.begin(), d.scores.end()), pool).front();
}

double dcg(const std::vector<double>& gains) {
  double sum = 0;
  for (size_t i = 0; i < gains.size() && i < 10; ++i) sum += gains[i] / std::log2(static_cast<double>(i) + 2);
  return sum;
}

// The challenge's formula on a submitted file: a line a query, the rank of each document.
double yahoo_ndcg(const std::string& submission, const Listed& d) {
  std::istringstream lines(submission);
  std::string line;
  double sum = 0;
  for (size_t q = 0; q < d.queries.size(); ++q) {
    EXPECT_TRUE(std::getline(lines, line));
    std::istringstream ranks(line);
    std::vector<double> gains(d.queries.length(q), -1);
    for (size_t i = d.queries.begin(q); i < d.queries.end(q); ++i) {
      size_t rank = 0;
      EXPECT_TRUE(ranks >> rank);
      gains.at(rank - 1) = std::exp2(d.labels[i]) - 1;
    }
    std::vector<double> ideal = gains;
    std::sort(ideal.rbegin(), ideal.rend());
    sum += ideal[0] > 0 ? dcg(gains) / dcg(ideal) : 1;
  }
  EXPECT_FALSE(std::getline(lines, line));
  return sum / static_cast<double>(d.queries.size());
}

// trec_eval's: by single-precision score, ties by name descending, gains are labels; queries without a
// relevant document count as 0.
double trec_ndcg(const std::string& run, const std::string& qrels) {
  std::map<std::string, std::map<std::string, double>> labels;
  std::istringstream qrels_lines(qrels);
  std::string query;
  std::string zero;
  std::string name;
  double label = 0;
  while (qrels_lines >> query >> zero >> name >> label) labels[query][name] = label;
  std::map<std::string, std::vector<std::pair<float, std::string>>> ranked;
  std::istringstream run_lines(run);
  std::string rank;
  std::string score;
  std::string tag;
  while (run_lines >> query >> zero >> name >> rank >> score >> tag)
    ranked[query].emplace_back(static_cast<float>(std::atof(score.c_str())), name);
  double sum = 0;
  for (auto& [q, documents] : ranked) {
    std::sort(documents.rbegin(), documents.rend());
    std::vector<double> gains;
    std::vector<double> ideal;
    for (const auto& [unused, document] : documents) gains.push_back(labels.at(q).at(document));
    for (const auto& [unused, gain] : labels.at(q)) ideal.push_back(gain);
    EXPECT_EQ(gains.size(), ideal.size());
    std::sort(ideal.rbegin(), ideal.rend());
    if (ideal[0] > 0) sum += dcg(gains) / dcg(ideal);
  }
  return sum / static_cast<double>(labels.size());
}

TEST(Writers, TheYahooFormulaReproducesOurNumber) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Listed d = random_documents(seed, seed % 2 == 0);
    EXPECT_NEAR(yahoo_ndcg(d.text(ExportFormat::kYahoo), d), evaluate_as(d, "yahoo").ndcg(10), 1e-12);
  }
}

TEST(Writers, TheRuleOfTrecEvalReproducesOurNumber) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Listed d = random_documents(seed, seed % 2 == 0);
    EXPECT_NEAR(trec_ndcg(d.text(ExportFormat::kTrec), d.text(ExportFormat::kQrels)),
                evaluate_as(d, "trec").ndcg(10), 1e-12);
  }
}

TEST(Writers, OurReaderReadsTheScoresBackExactly) {
  const Listed d = random_documents(3, true);
  const std::vector<double> scores = parse_scores(d.text(ExportFormat::kScores), "scores");
  EXPECT_EQ(std::vector<float>(scores.begin(), scores.end()), d.scores);
}

}  // namespace
}  // namespace tunemix
