#include "pipeline/run/wait_policy.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace tunemix {
namespace {

// About .1 ms, which bridges the gaps between the loops of a boosting round.
constexpr const char* kSpinCount = "10000";
constexpr const char* kStartedAgain = "TUNEMIX_STARTED_AGAIN";

}  // namespace

void set_wait_policy(char** argv) {
  if (std::getenv(kStartedAgain) != nullptr) {
    unsetenv(kStartedAgain);
    unsetenv("GOMP_SPINCOUNT");
    return;
  }
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return;
  setenv("GOMP_SPINCOUNT", kSpinCount, 1);
  setenv(kStartedAgain, "1", 1);
  execv(program.c_str(), argv);
  // Without it everything works as well, only slower on a busy machine.
  unsetenv("GOMP_SPINCOUNT");
  unsetenv(kStartedAgain);
}

}  // namespace tunemix
