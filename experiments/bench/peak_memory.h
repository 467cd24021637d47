// The peak of this process' memory beyond what it held at some moment.
#pragma once

#include <malloc.h>

#include <fstream>
#include <string>

namespace tunemix {

class PeakMemory {
 public:
  PeakMemory() {
    ::malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak starts anew
    before_ = status_bytes("VmRSS");
  }
  double bytes() const { return status_bytes("VmHWM") - before_; }

 private:
  static double status_bytes(const char* key) {
    std::ifstream in("/proc/self/status");
    for (std::string line; std::getline(in, line);)
      if (line.starts_with(key)) return std::stod(line.substr(line.find(':') + 1)) * 1024;
    return 0;
  }
  double before_ = 0;
};

}  // namespace tunemix
