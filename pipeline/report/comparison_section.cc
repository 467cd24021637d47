// The rows against each other, query by query; and the mixtures by the boosting length of their members.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "pipeline/report/sections.h"

namespace tunemix::report {
namespace {

// A cell whose background is as strong as its value, from 0 to 1.
std::string shaded(std::string_view words, double strength) {
  return fmt::format("<span class=\"heat\" style=\"--heat:{:.0f}%\">{}</span>",
                     100 * std::clamp(strength, 0.0, 1.0), escape(words));
}

std::string p_text(double p) { return p < 0.0005 ? "<.001" : fixed(p, 3); }

// Above the diagonal p, below it tau.
std::string pair_table(const RowComparison& comparison) {
  double lowest = 1;
  std::vector<std::string> rows;
  std::map<std::pair<std::string, std::string>, const RowComparison::Pair*> pairs;
  for (const RowComparison::Pair& pair : comparison.pairs) {
    if (pair.tau < lowest) lowest = pair.tau;
    add_once(rows, pair.a);
    add_once(rows, pair.b);
    pairs[{pair.a, pair.b}] = &pair;
  }
  Table table(
      "Above the diagonal: p of the paired t-test over the test queries, two-sided, shaded below .05. Below: "
      "Kendall’s "
      "tau of the rankings, the paler the more they differ");
  table.column("", Align::kText);
  for (const std::string& row : rows) table.column(row);
  for (size_t i = 0; i < rows.size(); ++i) {
    table.row().cell(rows[i]);
    for (size_t j = 0; j < rows.size(); ++j) {
      const auto found = pairs.find({rows[std::min(i, j)], rows[std::max(i, j)]});
      const double value =
          found == pairs.end() ? std::nan("") : (i < j ? found->second->p : found->second->tau);
      if (std::isnan(value))
        table.cell(i == j ? "" : "–");
      else if (i < j)
        table.cell_html(shaded(p_text(value), value < 0.05 ? 1 : 0));
      else
        table.cell_html(shaded(fixed(value, 2), 0.75 * (value - lowest) / std::max(1 - lowest, 1e-9)));
    }
  }
  return table.html();
}

// Kendall's tau of NDCG and ERR over several rows.
double agreement(const std::vector<RowComparison::Row>& rows) {
  double both = 0, pairs = 0;
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = i + 1; j < rows.size(); ++j) {
      const auto side = [&](auto measure) {
        const double d = rows[i].*measure - rows[j].*measure;
        return (d > 0 ? 1 : 0) - (d < 0 ? 1 : 0);
      };
      both += side(&RowComparison::Row::ndcg) * side(&RowComparison::Row::err);
      pairs += 1;
    }
  return both / pairs;
}

std::string oracle_table(const RowComparison& comparison, const Rows& rows, bool with_err) {
  Table table("");
  table.column("Row", Align::kText).column("NDCG@10 · " + comparison.tool);
  if (with_err) table.column("ERR · " + comparison.tool);
  table.column("No row better");
  for (const RowComparison::Row& row : comparison.rows) {
    table.row().cell_html(
        fmt::format("<span class=\"swatch {}\"></span>{}", rows.family_class(row.row), escape(row.row)));
    table.cell(fixed(row.ndcg, 4));
    if (with_err) table.cell(fixed(row.err, 4));
    table.cell(percent(row.best));
  }
  table.row("chosen").cell("Oracle").cell(fixed(comparison.oracle_ndcg, 4));
  if (with_err) table.cell(fixed(comparison.oracle_err, 4));
  table.cell("");
  return table.html();
}

}  // namespace

Section comparison_section(const ReportData& data, const Rows& rows) {
  Section section{"comparison", "Comparison", "The rows against each other", "", "", nullptr};
  if (!data.comparison || data.comparison->rows.empty()) return section;
  const RowComparison& comparison = *data.comparison;
  const bool with_err = !std::isnan(comparison.rows[0].err);
  section.lead = fmt::format(
      "An oracle that picks the best of these rows for every test query would have NDCG@10 {} ({} "
      "preset){}. No choice "
      "among them could gain more: the nearer it is to the best row, the more alike they rank.",
      fixed(comparison.oracle_ndcg, 4), escape(comparison.tool),
      std::isnan(comparison.oracle_err) ? "" : ", ERR " + fixed(comparison.oracle_err, 4));
  if (with_err && comparison.rows.size() > 1) {
    section.chart_data = {{"rows", Json::array()}, {"tool", comparison.tool}};
    for (const RowComparison::Row& row : comparison.rows)
      section.chart_data["rows"].push_back({row.row, rounded(row.ndcg), rounded(row.err), rounded(row.best)});
    section.html += fmt::format(
        "<h3>NDCG against ERR</h3>\n<p class=\"small\">Kendall’s tau of the two orders of rows: {}. Where it "
        "is below 1, their order depends on the measure.</p>\n{}",
        fixed(agreement(comparison.rows), 2), chart("metrics"));
  }
  section.html += numbers_block("Rows and oracle in numbers", oracle_table(comparison, rows, with_err));
  if (!comparison.pairs.empty())
    section.html += "<h3>Do they differ?</h3>\n<div class=\"matrix\">" + pair_table(comparison) + "</div>\n";
  return section;
}

Section learning_section(const ReportData& data, const Rows& rows) {
  Section section{"learning", "Learning", "Learning curves", "", "", nullptr};
  std::map<std::string, std::map<int64_t, double>> curves;
  for (const LearningPoint& point : data.learning) curves[point.row][point.iterations] = point.quality;
  std::erase_if(curves, [](const auto& curve) { return curve.second.size() < 2; });
  if (curves.empty()) return section;
  const std::string metric = metric_name(data);
  section.lead = fmt::format(
      "How good the mixtures are with members of so many rounds: cross-validated {} on validation data, with "
      "the best c of "
      "each length; the mean over folds.",
      escape(metric));
  Table table(fmt::format("Validation {} by the members' number of rounds", metric));
  table.column("Row", Align::kText).column("Rounds").column(metric);
  section.chart_data = {{"metric", metric}, {"curves", Json::array()}};
  for (const std::string& row : rows.names()) {
    if (!curves.contains(row)) continue;
    Json points = Json::array();
    for (const auto& [length, quality] : curves[row]) {
      table.row().cell(row).cell(grouped(length)).cell(fixed(quality, 4));
      points.push_back({length, rounded(quality)});
    }
    section.chart_data["curves"].push_back({{"row", row}, {"points", points}});
  }
  section.html = chart("learning") + numbers_block("Learning curves in numbers", table.html());
  return section;
}

}  // namespace tunemix::report
