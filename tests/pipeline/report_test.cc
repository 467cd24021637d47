#include "pipeline/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <regex>

#include "pipeline/report/html.h"
#include "pipeline/run/comparison.h"
#include "tests/report/sample.h"
#include "tunemix/core/error.h"

namespace tunemix {
namespace {

using ChartJson = nlohmann::ordered_json;
using test::sample_report_data;
using ::testing::HasSubstr;
using ::testing::Not;

// The page without its scripts: what a reader sees who has JavaScript off.
std::string static_part(const std::string& page) {
  const size_t scripts = page.find("<script");
  EXPECT_NE(scripts, std::string::npos);
  return page.substr(0, scripts);
}

std::string section_of(const std::string& page, const std::string& id) {
  const size_t begin = page.find("<section id=\"" + id + "\"");
  if (begin == std::string::npos) return "";
  return page.substr(begin, page.find("</section>", begin) - begin);
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

// The object that the script reads, parsed back from the page.
ChartJson chart_data(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"report-data\">";
  const size_t begin = page.find(open) + open.size();
  return ChartJson::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(Report, SameDataGivesSameBytes) {
  EXPECT_EQ(render_report(sample_report_data()), render_report(sample_report_data()));
}

TEST(Report, EverySectionHasATableWithoutScripts) {
  const std::string page = static_part(render_report(sample_report_data()));
  for (const char* id : {"results", "comparison", "tools", "choices", "members", "learning", "reliability",
                         "features", "bandit", "data", "timing"}) {
    EXPECT_THAT(section_of(page, id), HasSubstr("<tbody>")) << id;
    EXPECT_THAT(page, HasSubstr(std::string("href=\"#") + id + "\"")) << id;
  }
  EXPECT_THAT(section_of(page, "config"), HasSubstr("type: adaboost_mh"));
  EXPECT_THAT(page, HasSubstr("28 % of the test queries"));
  EXPECT_EQ(count(page, "<details class=\"numbers\" open>"), count(page, "<details class=\"numbers\""));
}

TEST(Report, EverySectionDisappearsWithItsData) {
  const std::vector<std::pair<std::string, std::function<void(ReportData&)>>> sections = {
      {"tools",
       [](ReportData& data) {
         data.results.evaluation.ndcg_at.clear();
         std::erase_if(data.results.evaluation.rows,
                       [](const ResultRow& row) { return row.tool != "yahoo"; });
       }},
      {"comparison", [](ReportData& data) { data.comparison.reset(); }},
      {"learning", [](ReportData& data) { data.learning.clear(); }},
      {"choices",
       [](ReportData& data) {
         data.surface.clear();
         data.results.evaluation.choices.clear();
       }},
      {"members", [](ReportData& data) { data.members.clear(); }},
      {"reliability", [](ReportData& data) { data.reliability.clear(); }},
      {"features", [](ReportData& data) { data.features.clear(); }},
      {"bandit", [](ReportData& data) { data.bandit.clear(); }},
      {"data", [](ReportData& data) { data.data.clear(); }},
      {"timing", [](ReportData& data) { data.results.timing.clear(); }},
      {"config", [](ReportData& data) { data.config.clear(); }}};
  for (const auto& [id, clear] : sections) {
    ReportData data = sample_report_data();
    clear(data);
    const std::string page = render_report(data);
    EXPECT_EQ(section_of(page, id), "") << id;
    EXPECT_THAT(static_part(page), Not(HasSubstr("href=\"#" + id + "\""))) << id;
    EXPECT_FALSE(chart_data(page).contains(id)) << id;
    for (const auto& [other, clear_other] : sections)
      EXPECT_EQ(section_of(page, other).empty(), other == id) << other << " without " << id;
  }
}

TEST(Report, EmptyDataGivesAPage) {
  const std::string page = render_report({});
  EXPECT_THAT(page, HasSubstr("<h1>Report</h1>"));
  EXPECT_THAT(static_part(page), Not(HasSubstr("<section")));
}

ResultRow test_row(const std::string& name, const std::string& tool, double ndcg, bool main = false) {
  ResultRow row;
  row.name = name;
  row.split = "test";
  row.tool = tool;
  row.ndcg = ndcg;
  row.standard_error = std::nan("");
  row.main = main;
  return row;
}

TEST(Report, ResultsCarryPresetErrorAndMark) {
  ReportData data = sample_report_data();
  data.results.evaluation.rows = {test_row("AB+EXP", "yahoo", .7989),
                                  test_row("ALL+EXP", "yahoo", .7912, true)};
  for (ResultRow& row : data.results.evaluation.rows) {
    row.standard_error = row.main ? .0091 : .0095;
    row.err = .31;
    row.err_max = 4;
    row.map = std::nan("");
  }
  const std::string page = static_part(render_report(data)), results = section_of(page, "results");
  EXPECT_THAT(page, HasSubstr("<b class=\"family-2\">ALL+EXP</b> reaches <b>NDCG@10 0.7912</b> ± 0.0091"));
  EXPECT_THAT(results, HasSubstr("NDCG@10 · yahoo"));
  EXPECT_THAT(results, HasSubstr("ERR (max 4) · yahoo"));
  EXPECT_THAT(results, Not(HasSubstr("MAP")));  // no row has it
  EXPECT_EQ(count(results, "<svg class=\"bar"), 2U);
  EXPECT_EQ(count(results, "<tr class=\"chosen\">"), 1U);
  // The mark of the data decides, not the higher number.
  EXPECT_TRUE(
      std::regex_search(results, std::regex("<tr class=\"chosen\"><th[^>]*><span[^>]*></span>ALL\\+EXP ")));
}

// The first tool is the one that the config names first, whatever others there are.
TEST(Report, TheFirstToolSpeaksForTheRun) {
  ReportData data;
  data.results.evaluation.rows = {test_row("ALL+EXP", "trec", .45, true),
                                  test_row("ALL+EXP", "yahoo", .78, true)};
  EXPECT_THAT(render_report(data), HasSubstr("ALL+EXP</b> reaches <b>NDCG@10 0.4500</b> on the test split"));
}

TEST(Report, EverythingChosenIsNamedByItsMetric) {
  ReportData data = sample_report_data();
  data.results.evaluation.metric = "err";
  const std::string page = static_part(render_report(data));
  EXPECT_THAT(section_of(page, "choices"), HasSubstr("valid ERR"));
  EXPECT_THAT(section_of(page, "members"), HasSubstr("best ERR"));
  for (const char* id : {"choices", "members"})
    EXPECT_THAT(section_of(page, id), Not(HasSubstr("NDCG"))) << id;
  EXPECT_EQ(chart_data(render_report(data))["members"]["metric"], "ERR, ties averaged");
}

TEST(Report, AnyNumberOfFamiliesIsListedInOrder) {
  ReportData data;
  for (int family = 0; family < 14; ++family) {
    const std::string name = "F" + std::to_string(family);
    data.results.evaluation.rows.push_back(test_row(name + "+EXP", "yahoo", .5, family == 0));
    data.families.push_back({1, "family " + name, name, 3, 1 / 14.0});
    ReportMember member;
    member.family = "family " + name;
    data.members.push_back(member);
  }
  data.left_out = 7;
  const std::string page = render_report(data);
  EXPECT_THAT(page, HasSubstr("swatch family-8\"></span>F7+EXP"));
  EXPECT_THAT(page, HasSubstr("swatch family-2\"></span>F13+EXP"));
  EXPECT_THAT(section_of(page, "members"), HasSubstr("swatch family-8\"></span>family F7"));
  EXPECT_THAT(section_of(page, "members"), HasSubstr("7 members more rank all documents"));
  EXPECT_EQ(chart_data(page)["members"]["colours"]["family F7"], 8);
  EXPECT_EQ(chart_data(page)["results"]["families"].size(), 14U);
}

TEST(Report, WarningsComeFirst) {
  ReportData data = sample_report_data();
  data.results.warnings = {"fold 1: all 12 test queries are in the training data too"};
  const std::string page = render_report(data);
  EXPECT_LT(page.find("all 12 test queries"), page.find("reaches <b>NDCG@10"));
}

ReportData two_tools(double first_yahoo, double second_yahoo, double first_trec, double second_trec) {
  ReportData data;
  data.results.evaluation.rows = {
      test_row("AB+EXP", "yahoo", first_yahoo, true), test_row("SVM+EXP", "yahoo", second_yahoo),
      test_row("AB+EXP", "trec", first_trec, true), test_row("SVM+EXP", "trec", second_trec)};
  return data;
}

TEST(Report, PointsOutWhereToolsReverseTheOrder) {
  const std::string reversed = section_of(render_report(two_tools(.78, .77, .45, .47)), "tools");
  EXPECT_THAT(reversed,
              HasSubstr("<b>AB+EXP</b> is ahead of <b>SVM+EXP</b> by 0.0100 under <code>yahoo</code> and "
                        "behind by 0.0200 under <code>trec</code>"));
  EXPECT_EQ(count(reversed, "moved"), 2U);
  EXPECT_THAT(section_of(render_report(two_tools(.78001, .78, .45, .47)), "tools"),
              HasSubstr("by less than 0.0001 under"));
  const std::string same = section_of(render_report(two_tools(.78, .77, .47, .45)), "tools");
  EXPECT_THAT(same, HasSubstr("same order"));
  EXPECT_EQ(count(same, "moved"), 0U);
}

// A name that tries to leave every context it is put into.
const std::string kHostile = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>&<!--";

TEST(Report, EverythingFromTheDataIsEscaped) {
  const auto page_with = [](const std::string& text) {
    ReportData data = sample_report_data();
    EvaluationResult& evaluation = data.results.evaluation;
    data.results.name = data.version = data.config = text;
    data.results.warnings = data.notes = {text};
    for (ResultRow& row : evaluation.rows) row.name = row.split = row.tool = text;
    for (NdcgAt& at : evaluation.ndcg_at) at.row = at.split = at.tool = text;
    for (RowChoice& choice : evaluation.choices) choice.row = text;
    for (StageTiming& timing : data.results.timing) timing.stage = text;
    data.comparison->tool = text;
    for (auto& row : data.comparison->rows) row.row = text;
    for (auto& pair : data.comparison->pairs) pair.a = pair.b = text;
    for (LearningPoint& point : data.learning) point.row = text;
    for (SplitSummary& split : data.data) split.split = text;
    for (ReportMember& member : data.members)
      member.family = member.kind = member.calibration = member.model = text;
    for (FamilyShare& family : data.families) family.family = family.row = text;
    for (ReliabilityCurve& curve : data.reliability) curve.member = text;
    for (SurfacePoint& point : data.surface) point.row = text;
    for (FeatureUse& feature : data.features) feature.model = feature.feature = text;
    for (BanditPoint& point : data.bandit) point.model = point.feature = text;
    data.importance = FeatureLosses{text, {text}, .5, .1, 1, 2, {{text, .1, .1}}};
    return render_report(data);
  };
  const std::string harmless = page_with("plain");
  const std::string page = page_with(kHostile);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_NE(page.find("&lt;/script&gt;&lt;script&gt;alert(1)"), std::string::npos);
  for (const char* part : {"<img", "<!--", "<script", "</script"})
    EXPECT_EQ(count(page, part), count(harmless, part)) << part;
  EXPECT_EQ(chart_data(page)["timing"][0][0], kHostile);
}

TEST(Report, NumbersThatThereAreNotAreDashes) {
  ReportData data = sample_report_data();
  data.results.timing[0].stage = "bad \xff byte";
  ResultRow& row = data.results.evaluation.rows[0];
  row.err = row.standard_error = std::nan("");
  data.comparison->pairs[0].tau = std::nan("");
  const std::string page = render_report(data);
  EXPECT_EQ(chart_data(page)["timing"][0][0], "bad \xEF\xBF\xBD byte");
  EXPECT_EQ(page.find(">nan<"), std::string::npos);
  EXPECT_THAT(section_of(page, "results"), HasSubstr(">–</td>"));
  EXPECT_TRUE(chart_data(page)["results"]["panels"][0]["rows"][0]["se"].is_null());
}

TEST(Report, ManyMembersAreThinnedForTheChart) {
  const ReportData data = sample_report_data(167);
  ASSERT_GE(data.members.size(), 20000U);
  const std::string page = render_report(data);
  const ChartJson points = chart_data(page)["members"]["points"];
  EXPECT_EQ(points.size(), 4000U);
  EXPECT_THAT(section_of(page, "members"),
              HasSubstr("20,040 members in all folds together; the chart shows 4,000"));
  // The heaviest of all is among them, and so are light ones.
  double heaviest = 0, lightest = 1;
  for (const ReportMember& member : data.members) {
    heaviest = std::max(heaviest, member.weight);
    lightest = std::min(lightest, member.weight);
  }
  EXPECT_NEAR(points.front()[5].get<double>(), heaviest, 1e-5 * heaviest);
  EXPECT_LT(points.back()[5].get<double>(), 2 * lightest);
  EXPECT_EQ(chart_data(render_report(sample_report_data()))["members"]["points"].size(), 960U);
}

TEST(Report, TakesNothingFromTheNetwork) {
  const std::string page = static_part(render_report(sample_report_data()));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
}

TEST(Report, ChartsAreThereWhereTheyWereBuilt) {
  EXPECT_EQ(count(render_report(sample_report_data()), "vegaEmbed=") > 0, report_has_charts());
}

TEST(ReportHtml, Numbers) {
  EXPECT_EQ(report::grouped(0), "0");
  EXPECT_EQ(report::grouped(999), "999");
  EXPECT_EQ(report::grouped(15211), "15,211");
  EXPECT_EQ(report::grouped(-1234567), "−1,234,567");
  EXPECT_EQ(report::fixed(std::nan(""), 4), "–");
  EXPECT_EQ(report::signed_fixed(-.00421, 4), "−0.0042");
  EXPECT_EQ(report::percent(.0714), "7.1 %");
  EXPECT_EQ(report::plural(1, "fold"), "1 fold");
  EXPECT_EQ(report::rounded(.123456789), .123457);
  EXPECT_EQ(report::escape("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
}

TEST(Report, RowsAreComparedWithAnOracleAndPairwise) {
  const std::string section = section_of(render_report(sample_report_data()), "comparison");
  EXPECT_THAT(section, HasSubstr("NDCG@10 0.8420 (yahoo preset), ERR 0.3710"));
  EXPECT_THAT(section, HasSubstr("Oracle"));
  EXPECT_THAT(section, HasSubstr("&lt;.001"));
  // Above the diagonal p, below it tau; of the four rows of whole families.
  EXPECT_EQ(count(section, "class=\"heat\""), 12U);
  ReportData data = sample_report_data();
  data.comparison->rows[0].err = std::nan("");
  EXPECT_THAT(section_of(render_report(data), "comparison"), Not(HasSubstr("NDCG against ERR")));
}

TEST(Report, LearningCurvesAreOfRowsWithSeveralLengths) {
  ReportData data = sample_report_data();
  EXPECT_EQ(chart_data(render_report(data))["learning"]["curves"].size(), 2U);
  data.learning = {{"AB+EXP", 20, .7}, {"AB+EXP", 10, .55}};
  const ChartJson curve = chart_data(render_report(data))["learning"]["curves"][0];
  EXPECT_EQ(curve["row"], "AB+EXP");
  EXPECT_EQ(curve["points"].dump(), "[[10,0.55],[20,0.7]]");
  // One length is no curve.
  data.learning.pop_back();
  EXPECT_EQ(section_of(render_report(data), "learning"), "");
}

TEST(Comparison, TauCountsPairsInOrder) {
  const std::vector<float> up = {1, 2, 3, 4};
  EXPECT_DOUBLE_EQ(*kendall_tau(up, up), 1);
  EXPECT_DOUBLE_EQ(*kendall_tau(up, std::vector<float>{4, 3, 2, 1}), -1);
  EXPECT_DOUBLE_EQ(*kendall_tau(up, std::vector<float>{1, 2, 4, 3}), 4.0 / 6);
  EXPECT_DOUBLE_EQ(*kendall_tau(up, std::vector<float>{1, 1, 2, 2}), 4 / std::sqrt(24.0));
  EXPECT_FALSE(kendall_tau(up, std::vector<float>(4, 1.0F)));
}

TEST(Comparison, TheOracleTakesTheBestRowOfEveryQuery) {
  EvaluationResult evaluation;
  evaluation.per_query = {{"A+EXP", 0, {.2, .8, .5}, {.1, .4, .2}}, {"B+EXP", 0, {.6, .4, .5}, {.3, .2, .2}}};
  evaluation.rows = {test_row("A+EXP", "trec", .5, true)};
  FoldInfo info;
  info.test.queries = QueryIndex({0, 2, 4, 6}, {"a", "b", "c"});
  MixRow a, b;
  a.test = {1, 2, 1, 2, 1, 2};
  b.test = {1, 2, 2, 1, 1, 2};
  const std::vector<MixRow> rows = {a, b};
  RowComparison result = compare_rows(evaluation, {info}, {&rows});
  EXPECT_EQ(result.tool, "trec");
  EXPECT_NEAR(result.oracle_ndcg, (.6 + .8 + .5) / 3, 1e-12);
  EXPECT_NEAR(result.oracle_err, (.3 + .4 + .2) / 3, 1e-12);
  EXPECT_NEAR(result.rows[0].best, 2.0 / 3, 1e-12);
  EXPECT_NEAR(result.pairs[0].tau, 1.0 / 3, 1e-12);
  EXPECT_NEAR(result.pairs[0].p, 1, 1e-9);
  // A query counts the mean weight of its documents.
  info.test.weights = {3, 1, 1, 1, 0, 2};
  result = compare_rows(evaluation, {info}, {&rows});
  EXPECT_NEAR(result.oracle_ndcg, (2 * .6 + .8 + .5) / 4, 1e-12);
}

}  // namespace
}  // namespace tunemix
