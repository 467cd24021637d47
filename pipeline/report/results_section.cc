// Results under each preset and split, with error bars drawn in the table itself, and fold by fold.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pipeline/report/sections.h"

namespace tunemix::report {
namespace {

struct Range {
  double low = 1, high = 0;
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

double error_of(const ResultRow& row) { return std::isnan(row.standard_error) ? 0 : row.standard_error; }

Range whisker_range(const std::vector<const ResultRow*>& rows) {
  Range range;
  for (const ResultRow* row : rows) {
    range.add(row->ndcg - error_of(*row));
    range.add(row->ndcg + error_of(*row));
  }
  return range;
}

// Mean and one standard error to each side, on the scale that all rows of the panel share.
std::string error_bar(const Rows& rows, const ResultRow& row, const Range& range) {
  constexpr double kWidth = 180, kMargin = 6;
  const double span = std::max(range.high - range.low, 1e-9);
  const auto x = [&](double value) { return kMargin + (kWidth - 2 * kMargin) * (value - range.low) / span; };
  const double left = x(row.ndcg - error_of(row)), right = x(row.ndcg + error_of(row));
  return fmt::format(
      "<svg class=\"bar {0}\" viewBox=\"0 0 180 16\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"{1}\">"
      "<path d=\"M{2:.1f} 8H{3:.1f}M{2:.1f} 4.5v7M{3:.1f} 4.5v7\"/><path class=\"dot\" d=\"M{4:.1f} "
      "8h0\"/></svg>",
      rows.family_class(row.name), escape(fixed(row.ndcg, 4) + " ± " + fixed(row.standard_error, 4)), left,
      right, x(row.ndcg));
}

std::string panel_table(const Rows& all, const std::string& split, const std::string& tool) {
  const std::vector<const ResultRow*> rows = all.of(split, tool);
  const auto any = [&rows](auto member) {
    return std::any_of(rows.begin(), rows.end(),
                       [member](const ResultRow* row) { return !std::isnan(row->*member); });
  };
  const bool with_err = any(&ResultRow::err), with_map = any(&ResultRow::map);
  Table table(fmt::format(
      "{} split, {} preset: mean over folds ± standard error; ★ marks the row that stands for the run", split,
      tool));
  table.column("Row", Align::kText).column("NDCG@10 · " + tool).column("± s.e.").column("", Align::kText);
  if (with_err) table.column(err_label(rows.front()->err_max) + " · " + tool);
  if (with_map) table.column("MAP · " + tool);
  const Range range = whisker_range(rows);
  for (const ResultRow* row : rows) {
    table.row(row->main ? "chosen" : "");
    table.cell_html(
        fmt::format("<span class=\"swatch {}\"></span>{}{}", all.family_class(row->name), escape(row->name),
                    row->main ? " <span class=\"star\" title=\"stands for the run\">★</span>" : ""));
    table.cell(fixed(row->ndcg, 4), "main").cell(fixed(row->standard_error, 4), "quiet");
    table.cell_html(error_bar(all, *row, range));
    if (with_err) table.cell(fixed(row->err, 4));
    if (with_map) table.cell(fixed(row->map, 4));
  }
  return table.html();
}

std::string fold_table(const Rows& all, const std::string& split, const std::string& tool) {
  const std::vector<const ResultRow*> rows = all.of(split, tool);
  if (rows.front()->folds.empty()) return "";
  Table table(
      fmt::format("NDCG@10 of every fold, {} split, {} preset (± standard error over queries)", split, tool));
  table.column("Row", Align::kText);
  for (const FoldResult& fold : rows.front()->folds) table.column(fmt::format("Fold {}", fold.fold));
  for (const ResultRow* row : rows) {
    table.row().cell(row->name);
    for (const FoldResult& fold : row->folds)
      table.cell_html(fixed(fold.ndcg, 4) +
                      (std::isnan(fold.standard_error)
                           ? ""
                           : fmt::format(" <small>± {}</small>", fixed(fold.standard_error, 3))));
  }
  return table.html();
}

Json chart_rows(const Rows& rows, const std::string& split, const std::string& tool) {
  Json list = Json::array();
  for (const ResultRow* row : rows.of(split, tool)) {
    Json folds = Json::array();
    for (const FoldResult& fold : row->folds)
      folds.push_back(
          {{"fold", fold.fold}, {"ndcg", rounded(fold.ndcg)}, {"se", rounded(fold.standard_error)}});
    list.push_back({{"row", row->name},
                    {"ndcg", rounded(row->ndcg)},
                    {"se", rounded(row->standard_error)},
                    {"folds", std::move(folds)}});
  }
  return list;
}

}  // namespace

Section results_section(const Rows& rows) {
  Section section{"results", "Results", "Results", "", "", nullptr};
  if (rows.empty()) return section;
  section.lead =
      "The rows of each family of learners alone, and of all together (ALL): mixed with exponential weights "
      "(EXP; only class-probability calibrations, CPC; only regression calibrations, RBC), or the single "
      "member "
      "that did best on validation (OneBest). The marked row was fixed before the test data was looked at.";
  section.chart_data = {
      {"main", rows.main()->name}, {"families", rows.families()}, {"panels", Json::array()}};
  std::string fold_tables;
  for (const std::string& split : rows.splits()) {
    for (const std::string& tool : rows.tools()) {
      if (rows.of(split, tool).empty()) continue;
      section.html += fmt::format("<div class=\"panel\" data-split=\"{}\" data-tool=\"{}\">{}</div>\n",
                                  escape(split), escape(tool), panel_table(rows, split, tool));
      const std::string folds = fold_table(rows, split, tool);
      if (!folds.empty())
        fold_tables += fmt::format("<div class=\"panel\" data-split=\"{}\" data-tool=\"{}\">{}</div>\n",
                                   escape(split), escape(tool), folds);
      section.chart_data["panels"].push_back(
          {{"split", split}, {"tool", tool}, {"rows", chart_rows(rows, split, tool)}});
    }
  }
  if (!fold_tables.empty()) {
    section.html += "<h3>Fold by fold</h3>\n" + chart("folds");
    section.html += numbers_block("Every fold in numbers", fold_tables);
  }
  return section;
}

}  // namespace tunemix::report
