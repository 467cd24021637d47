// sample_page FILE [MEMBERS_PER_MODEL]: writes the report page of the made-up data. Prints whether it has
// charts.
#include <fstream>
#include <iostream>
#include <string>

#include "pipeline/report/report.h"
#include "tests/report/sample.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int members_per_model = argc > 2 ? std::stoi(argv[2]) : 8;
  std::ofstream(argv[1], std::ios::binary)
      << tunemix::render_report(tunemix::test::sample_report_data(members_per_model));
  std::cout << (tunemix::report_has_charts() ? "charts" : "tables") << '\n';
}
