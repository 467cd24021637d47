// The report of a run: one HTML page that needs no network, with tables in the page itself and charts on top.
//
// The page is made of one JSON object; docs/report.md lists its keys. Every array may be absent or empty: its
// section is then left out. The same object gives the same bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tunemix {

// Throws InputError where `data` is not an object or a section is not an array of objects.
std::string render_report(const nlohmann::ordered_json& data);

// Whether this program was built with the chart scripts; without them the page shows tables only.
bool report_has_charts();

}  // namespace tunemix
