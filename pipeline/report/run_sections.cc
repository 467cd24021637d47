// The run itself: its data, the time it took, its config, and what stands on top of the page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "pipeline/report/sections.h"
#include "tunemix/core/text.h"

namespace tunemix::report {
namespace {

std::string tile(std::string_view label, std::string_view value, std::string_view detail) {
  return fmt::format(
      "<div class=\"tile\"><div class=\"label\">{}</div><div class=\"value\">{}</div>"
      "<div class=\"detail\">{}</div></div>\n",
      escape(label), escape(value), escape(detail));
}

// How the main row compares with the best single member, fold by fold.
std::string gain_tile(const Rows& rows, const ResultRow& main) {
  const std::string rival_name = main.name.substr(0, main.name.find('+')) + "+OneBest";
  const ResultRow* rival = rows.find(rival_name, main.split, main.tool);
  if (rival == nullptr || rival == &main) return "";
  int higher = 0;
  for (size_t fold = 0; fold < main.folds.size(); ++fold)
    higher += main.folds[fold].ndcg > rival->folds[fold].ndcg ? 1 : 0;
  return tile("Mixing against the one best", signed_fixed(main.ndcg - rival->ndcg, 4),
              fmt::format("NDCG@10 · {}; higher in {} of {} folds", main.tool, higher, main.folds.size()));
}

// The splits of one fold together are the whole set.
std::string data_tile(const ReportData& data) {
  if (data.data.empty()) return "";
  std::set<size_t> folds;
  size_t documents = 0, queries = 0, features = 0;
  for (const SplitSummary& split : data.data) {
    folds.insert(split.fold);
    if (split.fold != data.data.front().fold) continue;
    documents += split.documents;
    queries += split.queries;
    features = std::max(features, split.features);
  }
  return tile("Queries", grouped(queries),
              fmt::format("{} documents, {} features, {}", grouped(documents), grouped(features),
                          plural(folds.size(), "fold")));
}

std::string time_tile(const ReportData& data) {
  if (data.results.timing.empty()) return "";
  double seconds = 0;
  size_t jobs = 0, cached = 0;
  for (const StageTiming& stage : data.results.timing) {
    seconds += stage.seconds;
    jobs += stage.jobs;
    cached += stage.cached;
  }
  return tile("Time of all stages", human_seconds(seconds),
              fmt::format("{}, {} of them from the cache", plural(jobs, "job"), grouped(cached)));
}

std::string main_sentence(const Rows& rows, const ResultRow& row) {
  const bool has_error = !std::isnan(row.standard_error);
  return fmt::format(
      "<p class=\"headline\"><b class=\"{}\">{}</b> reaches <b>NDCG@10 {}</b>{} on the {} split.</p>\n"
      "<p class=\"small\"><code>{}</code> preset{}{}</p>\n",
      rows.family_class(row.name), escape(row.name), fixed(row.ndcg, 4),
      has_error ? " ± " + fixed(row.standard_error, 4) : "", escape(row.split), escape(row.tool),
      row.folds.empty() ? "" : ", mean over " + plural(row.folds.size(), "fold"),
      has_error ? " ± standard error" : "");
}

std::string list_html(const std::vector<std::string>& sentences) {
  std::string html;
  for (const std::string& sentence : sentences) html += fmt::format("<li>{}</li>", escape(sentence));
  return html;
}

// What makes the numbers doubtful comes first.
std::string warnings_list(const ReportData& data) {
  if (data.results.warnings.empty()) return "";
  return "<div class=\"callout warn\" role=\"alert\"><p><strong>These numbers are not those of new "
         "queries.</strong></p><ul>" +
         list_html(data.results.warnings) + "</ul></div>\n";
}

std::string notes_list(const ReportData& data) {
  if (data.notes.empty()) return "";
  return "<ul class=\"notes\">" + list_html(data.notes) + "</ul>\n";
}

}  // namespace

std::string hero(const ReportData& data, const Rows& rows) {
  const std::string& name = data.results.name;
  std::string html =
      fmt::format("<header class=\"hero\"><p class=\"eyebrow\">TuneMix {} · seed {}</p>\n<h1>{}</h1>\n",
                  escape(data.version), data.results.seed, escape(name.empty() ? "Report" : name));
  html += warnings_list(data);
  std::string tiles;
  if (const ResultRow* main = rows.main()) {
    html += main_sentence(rows, *main);
    tiles += gain_tile(rows, *main);
    if (!std::isnan(main->err))
      tiles += tile("Expected reciprocal rank", fixed(main->err, 4),
                    fmt::format("{} · {}, {}, {} split", err_label(main->err_max), main->tool, main->name,
                                main->split));
  }
  tiles += data_tile(data) + time_tile(data);
  if (!tiles.empty()) html += "<div class=\"tiles\">" + tiles + "</div>\n";
  return html + notes_list(data) + "</header>\n";
}

Section data_section(const ReportData& data) {
  Section section{"data", "Data", "The data", "", "", nullptr};
  if (data.data.empty()) return section;
  size_t num_labels = 0;
  for (const SplitSummary& split : data.data) num_labels = std::max(num_labels, split.labels.size());
  Table table("Sizes of the splits, and the share of documents with each label");
  table.column("Split", Align::kText)
      .column("Fold")
      .column("Queries")
      .column("Without relevant")
      .column("Documents")
      .column("Features");
  for (size_t label = 0; label < num_labels; ++label) table.column(fmt::format("Label {}", label));
  section.chart_data = Json::array();
  for (const SplitSummary& split : data.data) {
    table.row()
        .cell(split.split)
        .cell(std::to_string(split.fold))
        .cell(grouped(split.queries))
        .cell(grouped(split.empty_queries))
        .cell(grouped(split.documents))
        .cell(grouped(split.features));
    for (size_t label = 0; label < num_labels; ++label)
      table.cell(
          label < split.labels.size() && split.documents > 0
              ? percent(static_cast<double>(split.labels[label]) / static_cast<double>(split.documents))
              : "–");
    section.chart_data.push_back({{"split", split.split}, {"fold", split.fold}, {"labels", split.labels}});
  }
  section.lead =
      "How the labels are spread. A query without a relevant document counts 1 under some presets and 0 "
      "under others.";
  section.html = chart("labels") + numbers_block("The splits in numbers", table.html());
  return section;
}

Section timing_section(const ReportData& data) {
  Section section{"timing", "Timing", "Where the time went", "", "", nullptr};
  if (data.results.timing.empty()) return section;
  Table table("");
  table.column("Stage", Align::kText).column("Time").column("Jobs").column("From the cache");
  section.chart_data = Json::array();
  for (const StageTiming& stage : data.results.timing) {
    table.row()
        .cell(stage.stage)
        .cell(human_seconds(stage.seconds))
        .cell(grouped(stage.jobs))
        .cell(grouped(stage.cached));
    section.chart_data.push_back({stage.stage, rounded(stage.seconds), human_seconds(stage.seconds)});
  }
  section.lead = "The time of every stage; what came from the cache cost nothing.";
  section.html = chart("timing") + numbers_block("Time in numbers", table.html());
  return section;
}

Section config_section(const ReportData& data) {
  Section section{"config", "Config", "Resolved config", "", "", nullptr};
  if (data.config.empty()) return section;
  section.lead = "Every option of the run, defaults included.";
  section.html = fmt::format(
      "<details class=\"config\"><summary>Show the config</summary><pre><code>{}</code></pre></details>\n",
      escape(data.config));
  return section;
}

}  // namespace tunemix::report
