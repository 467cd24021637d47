// Wall-clock seconds since construction, and the process's peak memory.
#pragma once

#include <chrono>

namespace tunemix {

class Timer {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  void restart() { start_ = std::chrono::steady_clock::now(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

double peak_rss_mb();

}  // namespace tunemix
