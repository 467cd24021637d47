// The report of a run: one HTML page that needs no network, with tables in the page itself and charts on top.
// The same data gives the same bytes.
#pragma once

#include <string>

#include "pipeline/report/data.h"

namespace tunemix {

std::string render_report(const ReportData& data);

// Whether this program was built with the chart scripts; without them the page shows tables only.
bool report_has_charts();

}  // namespace tunemix
