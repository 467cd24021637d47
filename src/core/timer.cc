#include "tunemix/core/timer.h"

#include <sys/resource.h>

namespace tunemix {

double peak_rss_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

}  // namespace tunemix
