// The run itself: its data, the time it took, its config, and the headline of the page.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "pipeline/report/sections.h"
#include "tunemix/core/text.h"

namespace tunemix::report {
namespace {

std::vector<double> label_counts(const Json& split) {
  std::vector<double> counts;
  const auto found = split.find("labels");
  if (found == split.end() || !found->is_array()) return counts;
  for (const Json& count : *found) counts.push_back(count.is_number() ? count.get<double>() : 0);
  return counts;
}

std::string tile(std::string_view label, std::string_view value, std::string_view detail) {
  return fmt::format(
      "<div class=\"tile\"><div class=\"label\">{}</div><div class=\"value\">{}</div>"
      "<div class=\"detail\">{}</div></div>\n",
      escape(label), escape(value), escape(detail));
}

// How the headline row compares with the best single member, fold by fold.
std::string gain_tile(const Results& results, const ResultRow& headline) {
  const std::string rival_name = headline.name.substr(0, headline.name.find('+')) + "+OneBest";
  const ResultRow* rival = results.find(rival_name, headline.split, headline.tool);
  if (rival == nullptr || rival == &headline || !rival->ndcg || !headline.ndcg) return "";
  int higher = 0, compared = 0;
  for (const FoldResult& own : headline.folds)
    for (const FoldResult& other : rival->folds)
      if (own.fold == other.fold && own.ndcg && other.ndcg) {
        ++compared;
        if (*own.ndcg > *other.ndcg) ++higher;
      }
  return tile("Mixing against the one best", signed_fixed(*headline.ndcg - *rival->ndcg, 4),
              compared > 0
                  ? fmt::format("NDCG@10 · {}; higher in {} of {} folds", headline.tool, higher, compared)
                  : fmt::format("NDCG@10 · {}", headline.tool));
}

// The splits of one fold together are the whole set.
std::string data_tile(const Json& data) {
  const std::vector<const Json*> splits = items(data, "data");
  if (splits.empty()) return "";
  std::set<int> folds;
  for (const Json* split : splits) folds.insert(integer(*split, "fold"));
  double documents = 0, queries = 0, features = 0;
  for (const Json* split : splits) {
    if (integer(*split, "fold") != *folds.begin()) continue;
    documents += number(*split, "documents").value_or(0);
    queries += number(*split, "queries").value_or(0);
    features = std::max(features, number(*split, "features").value_or(0));
  }
  return tile("Queries", grouped(queries),
              fmt::format("{} documents, {} features, {}", grouped(documents), grouped(features),
                          plural(folds.size(), "fold")));
}

std::string time_tile(const Json& data) {
  const std::vector<const Json*> stages = items(data, "timing");
  if (stages.empty()) return "";
  double seconds = 0, jobs = 0, cached = 0;
  for (const Json* stage : stages) {
    seconds += number(*stage, "seconds").value_or(0);
    jobs += number(*stage, "jobs").value_or(0);
    cached += number(*stage, "cached").value_or(0);
  }
  return tile("Time of all stages", human_seconds(seconds),
              fmt::format("{}, {} of them from the cache", plural(static_cast<size_t>(jobs), "job"),
                          grouped(cached)));
}

std::string headline_sentence(const Results& results, const ResultRow& row) {
  return fmt::format(
      "<p class=\"headline\"><b class=\"{}\">{}</b> reaches <b>NDCG@10 {}</b>{} on the {} split.</p>\n"
      "<p class=\"small\"><code>{}</code> preset{}{}</p>\n",
      results.family_class(row.name), escape(row.name), fixed(row.ndcg, 4),
      row.standard_error ? " ± " + fixed(row.standard_error, 4) : "", escape(row.split), escape(row.tool),
      row.folds.empty() ? "" : ", mean over " + plural(row.folds.size(), "fold"),
      row.standard_error ? " ± standard error" : "");
}

// What makes the numbers doubtful comes first.
std::string warnings_list(const Json& data) {
  const auto warnings = data.find("warnings");
  if (warnings == data.end() || !warnings->is_array() || warnings->empty()) return "";
  std::string html =
      "<div class=\"callout warn\" role=\"alert\"><p><strong>These numbers are not those of new "
      "queries.</strong></p><ul>";
  for (const Json& warning : *warnings)
    if (warning.is_string()) html += fmt::format("<li>{}</li>", escape(warning.get<std::string>()));
  return html + "</ul></div>\n";
}

std::string notes_list(const Json& data) {
  const auto notes = data.find("notes");
  if (notes == data.end() || !notes->is_array() || notes->empty()) return "";
  std::string html = "<ul class=\"notes\">";
  for (const Json& note : *notes)
    if (note.is_string()) html += fmt::format("<li>{}</li>", escape(note.get<std::string>()));
  return html + "</ul>\n";
}

}  // namespace

std::string hero(const Json& data, const Results& results) {
  std::string origin = "TuneMix";
  if (const std::string version = text(data, "version"); !version.empty()) origin += " " + version;
  if (const std::string seed = text(data, "seed"); !seed.empty()) origin += " · seed " + seed;
  const std::string name = text(data, "name");
  std::string html = fmt::format("<header class=\"hero\"><p class=\"eyebrow\">{}</p>\n<h1>{}</h1>\n",
                                 escape(origin), escape(name.empty() ? "Report" : name));
  html += warnings_list(data);
  std::string tiles;
  if (const ResultRow* headline = results.headline()) {
    html += headline_sentence(results, *headline);
    tiles += gain_tile(results, *headline);
    if (headline->err)
      tiles += tile("Expected reciprocal rank", fixed(headline->err, 4),
                    fmt::format("{} · {}, {}, {} split", err_name(*headline), headline->tool, headline->name,
                                headline->split));
  }
  tiles += data_tile(data) + time_tile(data);
  if (!tiles.empty()) html += "<div class=\"tiles\">" + tiles + "</div>\n";
  return html + notes_list(data) + "</header>\n";
}

Section data_section(const Json& data) {
  Section section{"data", "Data", "The data", "", "", nullptr};
  const std::vector<const Json*> splits = items(data, "data");
  if (splits.empty()) return section;
  size_t num_labels = 0;
  for (const Json* split : splits) num_labels = std::max(num_labels, label_counts(*split).size());
  Table table("Sizes of the splits, and the share of documents with each label");
  table.column("Split", Align::kText)
      .column("Fold")
      .column("Queries")
      .column("Without relevant")
      .column("Documents")
      .column("Features");
  for (size_t label = 0; label < num_labels; ++label) table.column(fmt::format("Label {}", label));
  section.chart_data = Json::array();
  for (const Json* split : splits) {
    const std::vector<double> counts = label_counts(*split);
    const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
    table.row()
        .cell(text(*split, "split"))
        .cell(text(*split, "fold"))
        .cell(grouped(number(*split, "queries").value_or(0)))
        .cell(grouped(number(*split, "empty_queries").value_or(0)))
        .cell(grouped(number(*split, "documents").value_or(0)))
        .cell(grouped(number(*split, "features").value_or(0)));
    for (size_t label = 0; label < num_labels; ++label)
      table.cell(label < counts.size() && total > 0 ? percent(counts[label] / total) : "–");
    section.chart_data.push_back(
        {{"split", text(*split, "split")}, {"fold", integer(*split, "fold")}, {"labels", counts}});
  }
  section.lead =
      "How the labels are spread. A query without a relevant document counts 1 under some presets and 0 "
      "under others.";
  section.html = chart("labels") + numbers_block("The splits in numbers", table.html());
  return section;
}

Section timing_section(const Json& data) {
  Section section{"timing", "Timing", "Where the time went", "", "", nullptr};
  const std::vector<const Json*> stages = items(data, "timing");
  if (stages.empty()) return section;
  Table table("");
  table.column("Stage", Align::kText).column("Time").column("Jobs").column("From the cache");
  section.chart_data = Json::array();
  for (const Json* stage : stages) {
    const double seconds = number(*stage, "seconds").value_or(0);
    table.row()
        .cell(text(*stage, "stage"))
        .cell(human_seconds(seconds))
        .cell(grouped(number(*stage, "jobs").value_or(0)))
        .cell(grouped(number(*stage, "cached").value_or(0)));
    section.chart_data.push_back({text(*stage, "stage"), rounded(seconds), human_seconds(seconds)});
  }
  section.lead = "The time of every stage; what came from the cache cost nothing.";
  section.html = chart("timing") + numbers_block("Time in numbers", table.html());
  return section;
}

Section config_section(const Json& data) {
  Section section{"config", "Config", "Resolved config", "", "", nullptr};
  const std::string config = text(data, "config");
  if (config.empty()) return section;
  section.lead = "Every option of the run, defaults included.";
  section.html = fmt::format(
      "<details class=\"config\"><summary>Show the config</summary><pre><code>{}</code></pre></details>\n",
      escape(config));
  return section;
}

}  // namespace tunemix::report
