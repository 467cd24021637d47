// The files that are built into the program and go into every report page.
#pragma once

#include <string_view>

namespace tunemix::report {

std::string_view page_style();
std::string_view page_script();
// Vega, Vega-Lite and Vega-Embed in one script; empty where the program was built without charts.
std::string_view chart_script();

}  // namespace tunemix::report
