#include "pipeline/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "pipeline/report/html.h"
#include "pipeline/run/comparison.h"
#include "tests/report/sample.h"
#include "tunemix/core/error.h"

namespace tunemix {
namespace {

using test::ReportJson;
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
ReportJson chart_data(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"report-data\">";
  const size_t begin = page.find(open) + open.size();
  return ReportJson::parse(page.substr(begin, page.find("</script>", begin) - begin));
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
  const std::vector<std::pair<std::string, std::vector<std::string>>> sections = {
      {"results", {"rows"}},
      {"tools", {"rows", "ndcg_at"}},
      {"comparison", {"comparison"}},
      {"learning", {"learning"}},
      {"choices", {"choices", "surface"}},
      {"members", {"members"}},
      {"reliability", {"reliability"}},
      {"features", {"features"}},
      {"bandit", {"bandit"}},
      {"data", {"data"}},
      {"timing", {"timing"}},
      {"config", {"config"}}};
  for (const auto& [id, keys] : sections) {
    ReportJson absent = sample_report_data(), empty = sample_report_data();
    for (const std::string& key : keys) {
      absent.erase(key);
      empty[key] = key == "config" ? ReportJson("") : ReportJson::array();
    }
    for (const ReportJson& data : {absent, empty}) {
      const std::string page = render_report(data);
      EXPECT_EQ(section_of(page, id), "") << id;
      EXPECT_THAT(static_part(page), Not(HasSubstr("href=\"#" + id + "\""))) << id;
      EXPECT_FALSE(chart_data(page).contains(id)) << id;
      for (const auto& [other, other_keys] : sections) {
        if (other_keys == keys || (id == "results" && other == "tools")) continue;
        EXPECT_EQ(section_of(page, other).empty(), other == "results" && id == "tools")
            << other << " without " << id;
      }
    }
  }
}

TEST(Report, EmptyDataGivesAPage) {
  const std::string page = render_report(ReportJson::object());
  EXPECT_THAT(page, HasSubstr("<h1>Report</h1>"));
  EXPECT_THAT(static_part(page), Not(HasSubstr("<section")));
}

TEST(Report, ResultsCarryPresetErrorAndMark) {
  ReportJson data = sample_report_data();
  data["rows"] = ReportJson::array();
  for (const char* name : {"AB+EXP", "ALL+EXP"}) {
    const bool all = std::string(name) == "ALL+EXP";
    data["rows"].push_back({{"name", name},
                            {"split", "test"},
                            {"tool", "yahoo"},
                            {"ndcg@10", all ? .7912 : .7989},
                            {"stderr", all ? .0091 : .0095},
                            {"err", .31},
                            {"folds", ReportJson::array()},
                            {"chosen", all}});
  }
  const std::string page = static_part(render_report(data)), results = section_of(page, "results");
  EXPECT_THAT(page, HasSubstr("<b class=\"family-2\">ALL+EXP</b> reaches <b>NDCG@10 0.7912</b> ± 0.0091"));
  EXPECT_THAT(results, HasSubstr("NDCG@10 · yahoo"));
  EXPECT_THAT(results, HasSubstr("ERR · yahoo"));
  EXPECT_THAT(results, Not(HasSubstr("MAP")));  // no row has it
  EXPECT_EQ(count(results, "<svg class=\"bar"), 2U);
  EXPECT_EQ(count(results, "<tr class=\"chosen\">"), 1U);
  // The flag of the data decides, not the higher number.
  EXPECT_TRUE(
      std::regex_search(results, std::regex("<tr class=\"chosen\"><th[^>]*><span[^>]*></span>ALL\\+EXP ")));
}

TEST(Report, EverythingChosenIsNamedByItsMetric) {
  ReportJson data = sample_report_data();
  data["metric"] = "ERR";
  for (const char* key : {"rows", "ndcg_at"}) data.erase(key);  // these are NDCG
  const std::string page = static_part(render_report(data));
  EXPECT_THAT(section_of(page, "choices"), HasSubstr("valid ERR"));
  EXPECT_THAT(section_of(page, "members"), HasSubstr("best ERR"));
  for (const char* id : {"choices", "members"})
    EXPECT_THAT(section_of(page, id), Not(HasSubstr("NDCG"))) << id;
  EXPECT_EQ(chart_data(render_report(data))["members"]["metric"], "ERR, ties averaged");
}

TEST(Report, AnyNumberOfFamiliesIsListedInOrder) {
  ReportJson data = {
      {"rows", ReportJson::array()}, {"families", ReportJson::array()}, {"members", ReportJson::array()}};
  for (int family = 0; family < 14; ++family) {
    const std::string name = "F" + std::to_string(family);
    data["rows"].push_back({{"name", name + "+EXP"}, {"split", "test"}, {"tool", "yahoo"}, {"ndcg@10", .5}});
    data["families"].push_back(
        {{"fold", 1}, {"family", "family " + name}, {"row", name}, {"members", 3}, {"mass", 1 / 14.0}});
    data["members"].push_back({{"fold", 1}, {"family", "family " + name}, {"quality", .5}, {"weight", .1}});
  }
  data["left_out"] = 7;
  const std::string page = render_report(data);
  EXPECT_THAT(page, HasSubstr("swatch family-8\"></span>F7+EXP"));
  EXPECT_THAT(page, HasSubstr("swatch family-2\"></span>F13+EXP"));
  EXPECT_THAT(section_of(page, "members"), HasSubstr("swatch family-8\"></span>family F7"));
  EXPECT_THAT(section_of(page, "members"), HasSubstr("7 members more rank all documents"));
  EXPECT_EQ(chart_data(page)["members"]["colours"]["family F7"], 8);
  EXPECT_EQ(chart_data(page)["results"]["families"].size(), 14U);
}

TEST(Report, WarningsComeFirst) {
  ReportJson data = sample_report_data();
  data["warnings"] = {"fold 1: all 12 test queries are in the training data too"};
  const std::string page = render_report(data);
  EXPECT_LT(page.find("all 12 test queries"), page.find("reaches <b>NDCG@10"));
}

TEST(Report, HeadlineIsNotChosenByTest) {
  ReportJson data = {{"rows", ReportJson::array()}};
  const auto add = [&data](const char* name, const char* split, double ndcg) {
    data["rows"].push_back({{"name", name}, {"split", split}, {"tool", "yahoo"}, {"ndcg@10", ndcg}});
  };
  add("AB+EXP", "valid", .80);
  add("SVM+EXP", "valid", .78);
  add("AB+EXP", "test", .70);
  add("SVM+EXP", "test", .75);
  EXPECT_THAT(render_report(data), HasSubstr(">AB+EXP</b> reaches <b>NDCG@10 0.7000</b> on the test split"));
  add("ALL+EXP", "valid", .5);
  add("ALL+EXP", "test", .6);
  data["rows"].back()["chosen"] = true;
  EXPECT_THAT(render_report(data), HasSubstr(">ALL+EXP</b> reaches <b>NDCG@10 0.6000</b> on the test split"));
}

ReportJson two_tools(double first_yahoo, double second_yahoo, double first_trec, double second_trec) {
  ReportJson rows = ReportJson::array();
  const auto add = [&rows](const char* name, const char* tool, double ndcg) {
    rows.push_back({{"name", name}, {"split", "test"}, {"tool", tool}, {"ndcg@10", ndcg}});
  };
  add("AB+EXP", "yahoo", first_yahoo);
  add("SVM+EXP", "yahoo", second_yahoo);
  add("AB+EXP", "trec", first_trec);
  add("SVM+EXP", "trec", second_trec);
  return {{"rows", rows}};
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

void replace_strings(ReportJson& value) {
  if (value.is_string())
    value = kHostile;
  else if (value.is_structured())
    for (ReportJson& child : value) replace_strings(child);
}

TEST(Report, EverythingFromTheDataIsEscaped) {
  const std::string harmless = render_report(sample_report_data());
  ReportJson data = sample_report_data();
  replace_strings(data);
  const std::string page = render_report(data);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_NE(page.find("&lt;/script&gt;&lt;script&gt;alert(1)"), std::string::npos);
  EXPECT_EQ(count(page, "<img"), count(harmless, "<img"));
  EXPECT_EQ(count(page, "<!--"), count(harmless, "<!--"));
  EXPECT_EQ(count(page, "<script"), count(harmless, "<script"));
  EXPECT_EQ(count(page, "</script"), count(harmless, "</script"));
  EXPECT_EQ(chart_data(page)["timing"][0][0], kHostile);
}

TEST(Report, BrokenTextDoesNotBreakThePage) {
  ReportJson data = sample_report_data();
  data["timing"][0]["stage"] = "bad \xff byte";
  data["rows"][0]["ndcg@10"] = std::nan("");
  data["rows"][1].erase("ndcg@10");
  data["rows"][2]["name"] = 7;
  const std::string page = render_report(data);
  EXPECT_EQ(chart_data(page)["timing"][0][0], "bad \xEF\xBF\xBD byte");
}

TEST(Report, WrongShapesAreNamed) {
  EXPECT_THROW(render_report(ReportJson::array()), InputError);
  try {
    render_report({{"members", 3}});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'members' must be an array"));
  }
  EXPECT_THROW(render_report({{"rows", {1, 2}}}), InputError);
}

TEST(Report, ManyMembersAreThinnedForTheChart) {
  const ReportJson data = sample_report_data(167);
  ASSERT_GE(data["members"].size(), 20000U);
  const std::string page = render_report(data);
  const ReportJson points = chart_data(page)["members"]["points"];
  EXPECT_EQ(points.size(), 4000U);
  EXPECT_THAT(section_of(page, "members"),
              HasSubstr("20,040 members in all folds together; the chart shows 4,000"));
  // The heaviest of all is among them, and so are light ones.
  double heaviest = 0, lightest = 1;
  for (const ReportJson& member : data["members"]) {
    heaviest = std::max(heaviest, member["weight"].get<double>());
    lightest = std::min(lightest, member["weight"].get<double>());
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
  EXPECT_EQ(report::fixed(std::nullopt, 4), "–");
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
  ReportJson data = sample_report_data();
  data["comparison"]["rows"][0]["err"] = nullptr;
  EXPECT_THAT(section_of(render_report(data), "comparison"), Not(HasSubstr("NDCG against ERR")));
}

TEST(Report, LearningCurvesAreOfRowsWithSeveralLengths) {
  ReportJson data = sample_report_data();
  EXPECT_EQ(chart_data(render_report(data))["learning"]["curves"].size(), 2U);
  data["learning"] = ReportJson::array();
  for (const auto& [length, quality] : {std::pair{20, .7}, {10, .55}})
    data["learning"].push_back({{"row", "AB+EXP"}, {"iterations", length}, {"quality", quality}});
  const ReportJson curve = chart_data(render_report(data))["learning"]["curves"][0];
  EXPECT_EQ(curve["row"], "AB+EXP");
  EXPECT_EQ(curve["points"].dump(), "[[10,0.55],[20,0.7]]");
  // One length is no curve.
  data["learning"].erase(1);
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
  FoldInfo info;
  info.test.queries = QueryIndex({0, 2, 4, 6}, {"a", "b", "c"});
  MixRow a, b;
  a.test = {1, 2, 1, 2, 1, 2};
  b.test = {1, 2, 2, 1, 1, 2};
  const std::vector<MixRow> rows = {a, b};
  auto result = compare_rows(evaluation, {info}, {&rows});
  EXPECT_NEAR(result["oracle"]["ndcg"].get<double>(), (.6 + .8 + .5) / 3, 1e-12);
  EXPECT_NEAR(result["oracle"]["err"].get<double>(), (.3 + .4 + .2) / 3, 1e-12);
  EXPECT_NEAR(result["rows"][0]["best"].get<double>(), 2.0 / 3, 1e-12);
  EXPECT_NEAR(result["pairs"][0]["tau"].get<double>(), 1.0 / 3, 1e-12);
  EXPECT_NEAR(result["pairs"][0]["p"].get<double>(), 1, 1e-9);
  // A query counts the mean weight of its documents.
  info.test.weights = {3, 1, 1, 1, 0, 2};
  result = compare_rows(evaluation, {info}, {&rows});
  EXPECT_NEAR(result["oracle"]["ndcg"].get<double>(), (2 * .6 + .8 + .5) / 4, 1e-12);
}

}  // namespace
}  // namespace tunemix
