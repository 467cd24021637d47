// Failed jobs for people: what happened to each, what it means, and the last lines of its log.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tunemix {

struct FailedJob {
  std::string name;
  std::string state;  // in the scheduler's words; may be empty
  int exit_code = 0;
  int signal = 0;
  std::filesystem::path log;
};

// "exit code 2", "signal 4 (illegal instruction: ...)".
std::string describe_end(int exit_code, int signal);
// "3 jobs failed after 2 tries. fold 1: ...": the first few with the ends of their logs.
std::string describe_failures(const std::vector<FailedJob>& failed, int tries);

}  // namespace tunemix
