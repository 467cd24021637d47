#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <thread>

#include "pipeline/engine/engine.h"
#include "tunemix/core/binary.h"
#include "tunemix/core/text.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;

// Slurm's default MaxArraySize allows no more tasks in one array.
constexpr size_t kTasksInArray = 1000;

struct CommandResult {
  int code = 0;
  std::string output;
};

CommandResult run_command(const std::string& command) {
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw_run("cannot start: {}", command);
  CommandResult result;
  std::array<char, 4096> buffer{};
  for (size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    result.output.append(buffer.data(), n);
  const int status = ::pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
  while (!result.output.empty() && result.output.back() == '\n') result.output.pop_back();
  return result;
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

// The batch script of one array: task i runs job number jobs[i] of the experiment.
std::string batch_script(const JobManifest& manifest, const SlurmConfig& slurm,
                         std::span<const size_t> jobs) {
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  std::string out = "#!/bin/bash\n";
  out += fmt::format("#SBATCH --job-name=tunemix\n#SBATCH --array=0-{}\n", jobs.size() - 1);
  out += fmt::format("#SBATCH --cpus-per-task={}\n#SBATCH --mem={}M\n#SBATCH --time={}\n", slurm.cpus,
                     slurm.memory_mb, slurm.time);
  out += "#SBATCH --ntasks=1\n#SBATCH --no-requeue\n";
  if (!slurm.partition.empty()) out += fmt::format("#SBATCH --partition={}\n", slurm.partition);
  out += fmt::format("jobs=({})\n", fmt::join(jobs, " "));
  out += fmt::format("exec {} job {} --runs {} --threads {} --job \"${{jobs[$SLURM_ARRAY_TASK_ID]}}\"\n",
                     quoted(program), quoted(fs::absolute(manifest.config).string()),
                     quoted(fs::absolute(manifest.runs).string()), slurm.cpus);
  return out;
}

std::string submit(const JobManifest& manifest, const SlurmConfig& slurm, std::span<const size_t> jobs) {
  const fs::path script = fs::absolute(manifest.directory) / "logs" / "slurm.sh";
  write_file_atomically(script, batch_script(manifest, slurm, jobs));
  // On the command line, where a folder's name may hold blanks.
  const std::string log = (script.parent_path() / "slurm-%A_%a.log").string();
  const CommandResult result =
      run_command("sbatch --parsable --output=" + quoted(log) + " " + quoted(script.string()));
  const std::string id = split(split(result.output, '\n').back(), ';').front();
  const bool number = !id.empty() && id.find_first_not_of("0123456789") == std::string::npos;
  if (result.code != 0 || !number) throw_run("sbatch refused the jobs: {}", result.output);
  return id;
}

using TaskStates = std::map<std::string, size_t>;

// States of one array's tasks that the scheduler still knows as unfinished, each with its count: "3 RUNNING,
// 10 PENDING". Nothing where the scheduler does not answer.
std::optional<TaskStates> unfinished(const std::string& array, std::string& trouble) {
  const CommandResult result = run_command("squeue --noheader --array --format=%T --jobs=" + array);
  TaskStates states;
  if (result.code != 0) {
    // An array that the scheduler has forgotten has ended.
    if (result.output.find("Invalid job id") != std::string::npos) return states;
    trouble = result.output;
    return std::nullopt;
  }
  for (const std::string& state : split(result.output, '\n'))
    if (!state.empty() && state != "COMPLETING") ++states[state];
  return states;
}

// The same of all arrays. A scheduler that restarts is away for a while: it is asked again before giving up.
class Scheduler {
 public:
  explicit Scheduler(std::vector<std::string> arrays) : arrays_(std::move(arrays)) {}

  std::optional<TaskStates> ask() {
    TaskStates all;
    std::string trouble;
    for (const std::string& array : arrays_) {
      const std::optional<TaskStates> states = unfinished(array, trouble);
      if (!states) {
        if (++failures_ > kMostFailures) throw_run("squeue failed {} times: {}", failures_, trouble);
        return std::nullopt;
      }
      for (const auto& [state, count] : *states) all[state] += count;
    }
    failures_ = 0;
    return all;
  }

 private:
  static constexpr int kMostFailures = 30;
  std::vector<std::string> arrays_;
  int failures_ = 0;
};

class ArrayGuard {
 public:
  explicit ArrayGuard(std::vector<std::string> arrays) : arrays_(std::move(arrays)) {}
  ~ArrayGuard() {
    if (!ended_) run_command("scancel " + join(arrays_, " "));
  }
  ArrayGuard(const ArrayGuard&) = delete;
  ArrayGuard& operator=(const ArrayGuard&) = delete;
  void ended() { ended_ = true; }

 private:
  std::vector<std::string> arrays_;
  bool ended_ = false;
};

std::vector<size_t> wait_for(const std::vector<std::string>& arrays, std::vector<size_t> jobs,
                             const SlurmConfig& slurm, const std::function<bool(size_t)>& is_done,
                             const std::function<void(size_t)>& on_done, const Context& context) {
  ArrayGuard guard(arrays);
  Scheduler scheduler(arrays);
  for (;;) {
    const std::optional<TaskStates> states = scheduler.ask();
    context.check_stop();
    std::erase_if(jobs, [&](size_t job) {
      if (!is_done(job)) return false;
      on_done(job);
      return true;
    });
    if (jobs.empty() || (states && states->empty())) break;
    std::vector<std::string> words;
    if (!states) words.emplace_back("no answer from the scheduler");
    if (states)
      for (const auto& [state, count] : *states) words.push_back(fmt::format("{} {}", count, state));
    context.log(LogLevel::kDebug, "slurm: " + join(words, ", "));
    for (int tenth = 0; tenth < 10 * slurm.poll_seconds; ++tenth) {
      context.check_stop();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  guard.ended();
  return jobs;
}

}  // namespace

void run_on_slurm(const JobManifest& manifest, const SlurmConfig& slurm,
                  const std::function<bool(size_t)>& is_done, const std::function<void(size_t)>& on_done,
                  const Context& context) {
  std::vector<size_t> left = manifest.jobs;
  for (int attempt = 0; attempt <= slurm.retries && !left.empty(); ++attempt) {
    if (attempt > 0) context.warn(fmt::format("{} Slurm tasks failed; submitted again", left.size()));
    std::vector<std::string> arrays;
    for (size_t first = 0; first < left.size(); first += kTasksInArray)
      arrays.push_back(submit(manifest, slurm,
                              std::span(left).subspan(first, std::min(kTasksInArray, left.size() - first))));
    context.log(LogLevel::kInfo,
                fmt::format("train      {} tasks submitted to Slurm as {}", left.size(), join(arrays, ", ")));
    left = wait_for(arrays, std::move(left), slurm, is_done, on_done, context);
  }
  if (!left.empty())
    throw_run("{} Slurm tasks failed after {} tries; their output is in {}", left.size(), slurm.retries + 1,
              (manifest.directory / "logs").string());
}

}  // namespace tunemix
