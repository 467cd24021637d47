// The rows against each other, query by query; and the mixtures by the boosting length of their members.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "pipeline/report/sections.h"

namespace tunemix::report {
namespace {

struct Pair {
  std::optional<double> p, tau;
};
using Pairs = std::map<std::pair<std::string, std::string>, Pair>;

// A cell whose background is as strong as its value, from 0 to 1.
std::string shaded(std::string_view words, double strength) {
  return fmt::format("<span class=\"heat\" style=\"--heat:{:.0f}%\">{}</span>",
                     100 * std::clamp(strength, 0.0, 1.0), escape(words));
}

std::string p_text(double p) { return p < 0.0005 ? "<.001" : fixed(p, 3); }

// Above the diagonal p, below it tau.
std::string pair_table(const std::vector<std::string>& rows, const Pairs& pairs) {
  double lowest = 1;
  for (const auto& [names, pair] : pairs) lowest = std::min(lowest, pair.tau.value_or(1));
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
      const std::optional<double> value =
          found == pairs.end() ? std::nullopt : (i < j ? found->second.p : found->second.tau);
      if (!value)
        table.cell(i == j ? "" : "–");
      else if (i < j)
        table.cell_html(shaded(p_text(*value), *value < 0.05 ? 1 : 0));
      else
        table.cell_html(shaded(fixed(value, 2), 0.75 * (*value - lowest) / std::max(1 - lowest, 1e-9)));
    }
  }
  return table.html();
}

// Kendall's tau of NDCG and ERR over the rows.
std::optional<double> agreement(const std::vector<const Json*>& rows) {
  double both = 0, pairs = 0;
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = i + 1; j < rows.size(); ++j) {
      const auto side = [&](const char* key) {
        const double d = number(*rows[i], key).value_or(0) - number(*rows[j], key).value_or(0);
        return (d > 0 ? 1 : 0) - (d < 0 ? 1 : 0);
      };
      both += side("ndcg") * side("err");
      pairs += 1;
    }
  if (pairs == 0) return std::nullopt;
  return both / pairs;
}

}  // namespace

Section comparison_section(const Json& data, const Results& results) {
  Section section{"comparison", "Comparison", "The rows against each other", "", "", nullptr};
  const auto comparison = data.find("comparison");
  if (comparison == data.end() || !comparison->is_object()) return section;
  const std::vector<const Json*> rows = items(*comparison, "rows");
  if (rows.empty()) return section;
  const std::string tool = text(*comparison, "tool");
  const auto oracle = comparison->find("oracle");
  const std::optional<double> oracle_ndcg =
      oracle == comparison->end() ? std::nullopt : number(*oracle, "ndcg");
  if (oracle_ndcg)
    section.lead = fmt::format(
        "An oracle that picks the best of these rows for every test query would have NDCG@10 {} ({} "
        "preset){}. No choice "
        "among them could gain more: the nearer it is to the best row, the more alike they rank.",
        fixed(oracle_ndcg, 4), escape(tool),
        number(*oracle, "err") ? ", ERR " + fixed(number(*oracle, "err"), 4) : "");
  const bool with_err = number(*rows[0], "err").has_value();
  section.chart_data = {{"rows", Json::array()}, {"tool", tool}};
  Table table("");
  table.column("Row", Align::kText).column("NDCG@10 · " + tool);
  if (with_err) table.column("ERR · " + tool);
  table.column("No row better");
  for (const Json* row : rows) {
    const std::string name = text(*row, "row");
    table.row().cell_html(
        fmt::format("<span class=\"swatch {}\"></span>{}", results.family_class(name), escape(name)));
    table.cell(fixed(number(*row, "ndcg"), 4));
    if (with_err) table.cell(fixed(number(*row, "err"), 4));
    table.cell(percent(number(*row, "best")));
    if (with_err)
      section.chart_data["rows"].push_back({name, rounded(number(*row, "ndcg").value_or(0)),
                                            rounded(number(*row, "err").value_or(0)),
                                            rounded(number(*row, "best").value_or(0))});
  }
  if (oracle_ndcg) {
    table.row("chosen").cell("Oracle").cell(fixed(oracle_ndcg, 4));
    if (with_err) table.cell(fixed(number(*oracle, "err"), 4));
    table.cell("");
  }
  if (with_err && rows.size() > 1) {
    section.html += "<h3>NDCG against ERR</h3>\n";
    if (const auto tau = agreement(rows))
      section.html += fmt::format(
          "<p class=\"small\">Kendall’s tau of the two orders of rows: {}. Where it is below 1, their order "
          "depends on the measure.</p>\n",
          fixed(tau, 2));
    section.html += chart("metrics");
  } else {
    section.chart_data = nullptr;
  }
  section.html += numbers_block("Rows and oracle in numbers", table.html());
  Pairs pairs;
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const Json* pair : items(*comparison, "pairs")) {
    add(text(*pair, "a"));
    add(text(*pair, "b"));
    pairs[{text(*pair, "a"), text(*pair, "b")}] = {number(*pair, "p"), number(*pair, "tau")};
  }
  if (!pairs.empty())
    section.html +=
        "<h3>Do they differ?</h3>\n<div class=\"matrix\">" + pair_table(names, pairs) + "</div>\n";
  return section;
}

Section learning_section(const Json& data, const Results& results) {
  Section section{"learning", "Learning", "Learning curves", "", "", nullptr};
  std::map<std::string, std::map<int, double>> curves;
  for (const Json* point : items(data, "learning"))
    if (const auto quality = number(*point, "quality"))
      curves[text(*point, "row")][integer(*point, "iterations")] = *quality;
  std::erase_if(curves, [](const auto& curve) { return curve.second.size() < 2; });
  if (curves.empty()) return section;
  const std::string metric = short_metric(data);
  section.lead = fmt::format(
      "How good the mixtures are with members of so many rounds: cross-validated {} on validation data, with "
      "the best c of "
      "each length; the mean over folds.",
      escape(metric));
  Table table(fmt::format("Validation {} by the members' number of rounds", metric));
  table.column("Row", Align::kText).column("Rounds").column(metric);
  section.chart_data = {{"metric", metric}, {"curves", Json::array()}};
  for (const std::string& row : results.names()) {
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
