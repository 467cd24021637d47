// The sections of the report page, in the order in which they appear.
#pragma once

#include <string>

#include "pipeline/report/data.h"
#include "pipeline/report/html.h"
#include "pipeline/report/rows.h"

namespace tunemix::report {

struct Section {
  std::string id, label, title;  // anchor, name in the navigation, heading
  std::string lead;              // one or two sentences of HTML under the title
  std::string html;              // tables and places for charts; empty where the data has nothing to show
  Json chart_data;               // what the script draws, under the section's id; null where it draws nothing
};

// What choices were made by: "NDCG@10".
std::string metric_name(const ReportData& data);
// The same with what distinguishes it from what the tools measure: "NDCG@10, ties averaged".
std::string selection_metric(const ReportData& data);

Section results_section(const Rows& rows);
Section tools_section(const ReportData& data, const Rows& rows);
Section comparison_section(const ReportData& data, const Rows& rows);
Section learning_section(const ReportData& data, const Rows& rows);
Section choices_section(const ReportData& data, const Rows& rows);
Section members_section(const ReportData& data, const Rows& rows);
Section reliability_section(const ReportData& data);
Section features_section(const ReportData& data);
Section importance_section(const ReportData& data);
Section bandit_section(const ReportData& data);
Section data_section(const ReportData& data);
Section timing_section(const ReportData& data);
Section config_section(const ReportData& data);

// The name of the run, its main row, the tiles with the main numbers, and the notes.
std::string hero(const ReportData& data, const Rows& rows);

}  // namespace tunemix::report
