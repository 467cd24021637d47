#include "pipeline/report/report.h"

#include <fmt/format.h>

#include "pipeline/report/assets.h"
#include "pipeline/report/sections.h"

namespace tunemix {
namespace {

using namespace report;

std::vector<Section> make_sections(const ReportData& data, const Rows& rows) {
  std::vector<Section> sections;
  for (Section& section : std::vector<Section>{
           results_section(rows), comparison_section(data, rows), tools_section(data, rows),
           choices_section(data, rows), members_section(data, rows), learning_section(data, rows),
           reliability_section(data), features_section(data), importance_section(data), bandit_section(data),
           data_section(data), timing_section(data), config_section(data)})
    if (!section.html.empty()) sections.push_back(std::move(section));
  return sections;
}

std::string section_html(const Section& section) {
  return fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}{}</section>\n", section.id, escape(section.title),
                     section.lead.empty() ? "" : "<p class=\"lead\">" + section.lead + "</p>\n",
                     section.html);
}

std::string navigation(const std::string& name, const std::vector<Section>& sections) {
  std::string links;
  for (const Section& section : sections)
    links += fmt::format("<a href=\"#{}\">{}</a>", section.id, section.label);
  return fmt::format(
      "<nav><a class=\"brand\" href=\"#top\">{}</a><div class=\"links\">{}</div>"
      "<button id=\"theme\" type=\"button\" hidden aria-label=\"Switch between light and "
      "dark\">◐</button></nav>\n",
      escape(name), links);
}

void append_script(std::string& page, std::string_view code) {
  for (const std::string_view part : {std::string_view("<script>"), code, std::string_view("</script>\n")})
    page += part;
}

}  // namespace

bool report_has_charts() { return !chart_script().empty(); }

std::string render_report(const ReportData& data) {
  const Rows rows(data.results.evaluation.rows);
  const std::vector<Section> sections = make_sections(data, rows);
  const std::string name = data.results.name.empty() ? "Report" : data.results.name;

  Json chart_data = Json::object();
  std::string body;
  for (const Section& section : sections) {
    body += section_html(section);
    if (!section.chart_data.is_null()) chart_data[section.id] = section.chart_data;
  }

  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\" id=\"top\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n"
      "<title>{} · TuneMix</title>\n<style>\n{}</style>\n</head>\n<body>\n",
      escape(name), page_style());
  page += navigation(name, sections);
  page += "<main>\n" + hero(data, rows) + body + "</main>\n";
  page += fmt::format(
      "<footer>Made by TuneMix {}. Every number carries the name of the preset it was measured "
      "under.</footer>\n",
      escape(data.version));
  page += fmt::format("<script type=\"application/json\" id=\"report-data\">{}</script>\n",
                      script_json(chart_data));
  page.reserve(page.size() + chart_script().size() + page_script().size() + 100);
  if (report_has_charts()) append_script(page, chart_script());
  append_script(page, page_script());
  return page + "</body>\n</html>\n";
}

}  // namespace tunemix
