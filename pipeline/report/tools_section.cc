// The same rankings under the conventions of each tool: NDCG@k, who leads, and where the order turns round.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "pipeline/report/sections.h"

namespace tunemix::report {
namespace {

// NDCG@10 of the main split by row and tool; nothing where a tool lacks a row.
std::optional<double> ndcg10(const Rows& rows, const std::string& name, const std::string& tool) {
  const ResultRow* row = rows.find(name, rows.main_split(), tool);
  return row == nullptr ? std::nullopt : std::optional(row->ndcg);
}

// 1 for the highest; equal values share a place.
std::optional<int> place(const Rows& rows, const std::string& name, const std::string& tool) {
  const std::optional<double> own = ndcg10(rows, name, tool);
  if (!own) return std::nullopt;
  int ahead = 0;
  for (const ResultRow* row : rows.of(rows.main_split(), tool)) ahead += row->ndcg > *own ? 1 : 0;
  return ahead + 1;
}

struct Reversal {
  std::string ahead, behind;  // as under tool_a; the other way round under tool_b
  std::string tool_a, tool_b;
  double gap_a, gap_b;  // both positive
  double size() const { return std::min(gap_a, gap_b); }
};

// The clearest reversal of every pair of rows that has one, largest first.
std::vector<Reversal> reversals(const Rows& rows) {
  std::vector<Reversal> found;
  const std::vector<std::string>& names = rows.names();
  for (size_t i = 0; i < names.size(); ++i) {
    for (size_t j = i + 1; j < names.size(); ++j) {
      std::optional<Reversal> clearest;
      for (const std::string& a : rows.tools()) {
        for (const std::string& b : rows.tools()) {
          const auto first_a = ndcg10(rows, names[i], a), second_a = ndcg10(rows, names[j], a);
          const auto first_b = ndcg10(rows, names[i], b), second_b = ndcg10(rows, names[j], b);
          if (!first_a || !second_a || !first_b || !second_b) continue;
          const double gap_a = *first_a - *second_a, gap_b = *second_b - *first_b;
          if (gap_a <= 0 || gap_b <= 0) continue;
          const Reversal candidate{names[i], names[j], a, b, gap_a, gap_b};
          if (!clearest || candidate.size() > clearest->size()) clearest = candidate;
        }
      }
      if (clearest) found.push_back(*clearest);
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Reversal& a, const Reversal& b) { return a.size() > b.size(); });
  return found;
}

// Never "by 0.0000".
std::string gap_text(double gap) { return gap < 5e-5 ? "less than 0.0001" : fixed(gap, 4); }

std::string reversal_list(const Rows& rows) {
  constexpr size_t kShown = 4;
  const std::vector<Reversal> found = reversals(rows);
  if (found.empty())
    return fmt::format(
        "<p class=\"callout\">All presets put the rows in the same order by NDCG@10 on the {} split.</p>\n",
        escape(rows.main_split()));
  const size_t pairs = rows.names().size() * (rows.names().size() - 1) / 2;
  std::string html = fmt::format(
      "<div class=\"callout warn\"><p><strong>The order depends on the tool.</strong> {} of {} pairs of rows "
      "change "
      "places between two presets (NDCG@10, {} split){}</p><ul>",
      found.size(), pairs, escape(rows.main_split()), found.size() > kShown ? "; the clearest:" : ":");
  for (size_t i = 0; i < std::min(kShown, found.size()); ++i) {
    const Reversal& r = found[i];
    html += fmt::format(
        "<li><b>{}</b> is ahead of <b>{}</b> by {} under <code>{}</code> and behind by {} under "
        "<code>{}</code></li>",
        escape(r.ahead), escape(r.behind), gap_text(r.gap_a), escape(r.tool_a), gap_text(r.gap_b),
        escape(r.tool_b));
  }
  return html + "</ul></div>\n";
}

std::string place_table(const Rows& rows) {
  Table table(
      fmt::format("NDCG@10 on the {} split and the row's place under each preset; coloured where the place "
                  "is not the one under {}",
                  rows.main_split(), rows.main_tool()));
  table.column("Row", Align::kText);
  for (const std::string& tool : rows.tools()) table.column(tool);
  for (const std::string& name : rows.names()) {
    table.row().cell(name);
    const std::optional<int> reference = place(rows, name, rows.main_tool());
    for (const std::string& tool : rows.tools()) {
      const std::optional<int> own = place(rows, name, tool);
      table.cell_html(
          own ? fmt::format("{} <small>#{}</small>", fixed(*ndcg10(rows, name, tool), 4), *own) : "–",
          own && reference && *own != *reference ? "moved" : "");
    }
  }
  return table.html();
}

Json place_chart(const Rows& rows) {
  Json list = Json::array();
  for (const std::string& name : rows.names())
    for (const std::string& tool : rows.tools())
      if (const std::optional<int> own = place(rows, name, tool))
        list.push_back(
            {{"row", name}, {"tool", tool}, {"place", *own}, {"ndcg", rounded(*ndcg10(rows, name, tool))}});
  return list;
}

struct Curves {
  std::vector<std::string> tools, splits, rows;
  std::set<size_t> cutoffs;
  std::map<std::tuple<std::string, std::string, std::string, size_t>, const NdcgAt*>
      values;  // split, tool, row, k
};

Curves read_curves(const ReportData& data) {
  Curves curves;
  for (const NdcgAt& at : data.results.evaluation.ndcg_at) {
    add_once(curves.tools, at.tool);
    add_once(curves.splits, at.split);
    add_once(curves.rows, at.row);
    curves.cutoffs.insert(at.k);
    curves.values[{at.split, at.tool, at.row, at.k}] = &at;
  }
  return curves;
}

std::string leader_table(const Rows& rows, const Curves& curves, const std::string& split) {
  Table table(fmt::format("The row with the highest NDCG@k on the {} split", split));
  table.column("Preset", Align::kText);
  for (const size_t k : curves.cutoffs) table.column(fmt::format("@{}", k), Align::kText);
  for (const std::string& tool : curves.tools) {
    table.row().cell(tool);
    for (const size_t k : curves.cutoffs) {
      const std::string* leader = nullptr;
      double highest = 0;
      for (const std::string& row : curves.rows) {
        const auto found = curves.values.find({split, tool, row, k});
        if (found == curves.values.end()) continue;
        if (leader == nullptr || found->second->ndcg > highest) {
          leader = &row;
          highest = found->second->ndcg;
        }
      }
      if (leader == nullptr)
        table.cell("–");
      else
        table.cell_html(
            fmt::format("<span class=\"swatch {}\"></span>{}", rows.family_class(*leader), escape(*leader)));
    }
  }
  return table.html();
}

std::string curve_table(const Curves& curves, const std::string& split, const std::string& tool) {
  Table table(fmt::format("NDCG@k, {} split, {} preset", split, tool));
  table.column("Row", Align::kText);
  for (const size_t k : curves.cutoffs) table.column(fmt::format("@{}", k));
  for (const std::string& row : curves.rows) {
    table.row().cell(row);
    for (const size_t k : curves.cutoffs) {
      const auto found = curves.values.find({split, tool, row, k});
      table.cell(found == curves.values.end() ? "–" : fixed(found->second->ndcg, 4));
    }
  }
  return table.html();
}

// curves[split][tool][row] = [[k, ndcg, standard error], ...]
Json curve_chart(const Curves& curves) {
  Json result = Json::object();
  for (const std::string& split : curves.splits) {
    for (const std::string& tool : curves.tools) {
      for (const std::string& row : curves.rows) {
        Json points = Json::array();
        for (const size_t k : curves.cutoffs) {
          const auto found = curves.values.find({split, tool, row, k});
          if (found == curves.values.end()) continue;
          const NdcgAt& at = *found->second;
          points.push_back({k, rounded(at.ndcg), rounded(at.standard_error)});
        }
        if (!points.empty()) result[split][tool][row] = std::move(points);
      }
    }
  }
  return result;
}

}  // namespace

Section tools_section(const ReportData& data, const Rows& rows) {
  Section section{"tools", "Tools", "The same rankings under every tool", "", "", nullptr};
  const Curves curves = read_curves(data);
  const bool several_tools = rows.tools().size() > 1;
  if (curves.values.empty() && !several_tools) return section;
  section.lead =
      "Tools differ in what NDCG is: how a query without relevant documents counts, the discount, ties, and "
      "lists "
      "shorter than k. Numbers of two presets must not be compared; even the order of systems may not carry "
      "over.";
  section.chart_data = Json::object();
  if (several_tools) {
    section.html += reversal_list(rows);
    section.html += chart("places");
    section.html += numbers_block("Places in numbers", place_table(rows));
    section.chart_data["places"] = place_chart(rows);
    section.chart_data["tools"] = rows.tools();
    section.chart_data["split"] = rows.main_split();
  }
  if (!curves.values.empty()) {
    section.html += "<h3>NDCG@k</h3>\n<div class=\"grid\" data-controls=\"curves\">\n";
    for (const std::string& tool : curves.tools) section.html += chart("curves", tool);
    section.html += "</div>\n";
    std::string tables;
    for (const std::string& split : curves.splits) {
      section.html +=
          numbers_block(fmt::format("Who leads at each k ({})", split), leader_table(rows, curves, split));
      for (const std::string& tool : curves.tools) tables += curve_table(curves, split, tool);
    }
    section.html += numbers_block("NDCG@k in numbers", tables);
    section.chart_data["curves"] = curve_chart(curves);
    section.chart_data["rows"] = curves.rows;
  }
  return section;
}

}  // namespace tunemix::report
