#include "pipeline/engine/failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <vector>

#include "tunemix/core/text.h"

namespace tunemix {
namespace {

constexpr size_t kShownJobs = 3;
constexpr size_t kShownLines = 5;
// Of a log that nobody has bounded.
constexpr std::streamoff kReadFromEnd = 20000;
// How Slurm says that a task's folder or output could not be opened.
constexpr int kSlurmNoOutput = 53;

std::vector<std::string> last_lines(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) return {};
  const std::streamoff size = in.tellg();
  in.seekg(std::max<std::streamoff>(0, size - kReadFromEnd));
  std::vector<std::string> lines;
  std::string line;
  while (std::getline(in, line))
    if (!line.empty()) lines.push_back(line);
  if (lines.size() > kShownLines) lines.erase(lines.begin(), lines.end() - kShownLines);
  return lines;
}

std::string meaning_of(int signal) {
  switch (signal) {
    case SIGILL:
      return "illegal instruction: the node's processor is older than what the program was built for; build "
             "it without -march=native in CXXFLAGS, or set TUNEMIX_INSTRUCTIONS=sse2 in the setup lines";
    case SIGKILL:
      return "killed: by the system when memory runs out, or by the scheduler at a limit; give tasks more "
             "memory "
             "or time";
    case SIGTERM:
      return "terminated: cancelled, or at the time limit";
    case SIGSEGV:
    case SIGABRT:
    case SIGFPE:
      return "a crash of the program, please report it";
    case kSlurmNoOutput:
      return "the node could not open the run's folder or log: is it on a file system that all nodes share?";
    default:
      return ::strsignal(signal) == nullptr ? "unknown" : ::strsignal(signal);
  }
}

}  // namespace

std::string describe_end(int exit_code, int signal) {
  if (signal != 0) return fmt::format("signal {} ({})", signal, meaning_of(signal));
  return fmt::format("exit code {}", exit_code);
}

std::string describe_failures(const std::vector<FailedJob>& failed, int tries) {
  std::string text = fmt::format("{} job{} failed after {} {}", failed.size(), failed.size() == 1 ? "" : "s",
                                 tries, tries == 1 ? "try" : "tries");
  for (size_t i = 0; i < std::min(failed.size(), kShownJobs); ++i) {
    const FailedJob& job = failed[i];
    text += fmt::format("\n  {}: {}{}", job.name, job.state.empty() ? "" : job.state + ", ",
                        describe_end(job.exit_code, job.signal));
    const std::vector<std::string> lines = last_lines(job.log);
    if (lines.empty()) {
      text += fmt::format("\n    no output in {}", job.log.string());
      continue;
    }
    text += fmt::format("\n    {} ends with:", job.log.string());
    for (const std::string& line : lines) text += "\n    | " + line;
  }
  if (failed.size() > kShownJobs) text += fmt::format("\n  ... and {} more", failed.size() - kShownJobs);
  return text;
}

}  // namespace tunemix
