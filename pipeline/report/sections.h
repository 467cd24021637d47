// The sections of the report page, in the order in which they appear.
#pragma once

#include <string>

#include "pipeline/report/html.h"
#include "pipeline/report/results.h"

namespace tunemix::report {

struct Section {
  std::string id, label, title;  // anchor, name in the navigation, heading
  std::string lead;              // one or two sentences of HTML under the title
  std::string html;              // tables and places for charts; empty where the data has nothing to show
  Json chart_data;               // what the script draws, under the section's id; null where it draws nothing
};

// What choices were made by, whatever tools the results are reported under: "NDCG@10, ties averaged".
std::string selection_metric(const Json& data);
// The same without the remark: "NDCG@10".
std::string short_metric(const Json& data);

Section results_section(const Results& results);
Section tools_section(const Json& data, const Results& results);
Section comparison_section(const Json& data, const Results& results);
Section learning_section(const Json& data, const Results& results);
Section choices_section(const Json& data, const Results& results);
Section members_section(const Json& data, const Results& results);
Section reliability_section(const Json& data);
Section features_section(const Json& data);
Section importance_section(const Json& data);
Section bandit_section(const Json& data);
Section data_section(const Json& data);
Section timing_section(const Json& data);
Section config_section(const Json& data);

// The headline, the tiles with the main numbers, and the notes.
std::string hero(const Json& data, const Results& results);

}  // namespace tunemix::report
