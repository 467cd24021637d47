#include "pipeline/engine/slurm_commands.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <sstream>
#include <thread>

#include "pipeline/engine/shell.h"
#include "tunemix/core/error.h"
#include "tunemix/core/text.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostIndex = 5000000;  // far above what Slurm allows

// Defaults that users set for these commands (a filter of states, another format) would change the answers.
CommandResult slurm(const std::string& command) {
  return run_command(command, {"SQUEUE_", "SBATCH_", "SCANCEL_", "SACCT_"});
}

std::string mine() { return fmt::format("--user={}", ::geteuid()); }

std::optional<size_t> number_of(std::string_view text) {
  size_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
    return std::nullopt;
  return value;
}

// "12_3", as scontrol and sacct write it.
std::optional<SlurmTaskId> task_of(std::string_view text) {
  const size_t line = text.find('_');
  if (line == std::string_view::npos) return std::nullopt;
  const auto index = number_of(text.substr(line + 1));
  if (!number_of(text.substr(0, line)) || !index) return std::nullopt;
  return SlurmTaskId{std::string(text.substr(0, line)), *index};
}

// "1:0": exit code and signal.
void read_exit(std::string_view text, SlurmOutcome& outcome) {
  const size_t colon = text.find(':');
  outcome.exit_code = static_cast<int>(number_of(text.substr(0, colon)).value_or(0));
  if (colon != std::string_view::npos)
    outcome.signal = static_cast<int>(number_of(text.substr(colon + 1)).value_or(0));
  if (outcome.signal == 0 && outcome.exit_code > 128) outcome.signal = outcome.exit_code - 128;
}

// The value of "Key=value" in a line of such words.
std::string value_of(const std::string& line, const std::string& key) {
  const std::string mark = " " + key + "=";
  const size_t at = (" " + line).find(mark);
  if (at == std::string::npos) return "";
  const size_t begin = at + mark.size() - 1;
  return line.substr(begin, line.find(' ', begin) - begin);
}

// "0-5,7%2": the indices of tasks that have not begun and share one record.
std::vector<size_t> indices_of(const std::string& text) {
  std::vector<size_t> indices;
  for (const std::string& range : split(text.substr(0, text.find('%')), ',')) {
    const size_t dash = range.find('-');
    const auto from = number_of(std::string_view(range).substr(0, dash));
    const auto to = dash == std::string::npos ? from : number_of(std::string_view(range).substr(dash + 1));
    if (!from || !to || *to > kMostIndex) continue;
    for (size_t i = *from; i <= *to; ++i) indices.push_back(i);
  }
  return indices;
}

std::string escaped_pattern(const std::string& path) {
  std::string result;
  for (const char c : path) result += c == '%' ? "%%" : std::string(1, c);
  return result;
}

}  // namespace

SlurmLimits parse_slurm_limits(const std::string& show_config) {
  SlurmLimits limits;
  std::istringstream lines(show_config);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string key;
    std::string equals;
    size_t value = 0;
    if (!(words >> key >> equals >> value) || equals != "=") continue;
    // Indices of an array go up to one less.
    if (key == "MaxArraySize" && value > 1) limits.array_tasks = value - 1;
    if (key == "MaxJobCount" && value > 0) limits.jobs = value;
  }
  return limits;
}

SlurmLimits slurm_limits() {
  const CommandResult result = slurm("scontrol show config");
  if (result.code == 127)
    throw_run(
        "scontrol is not found; expected Slurm's commands on the PATH: load Slurm's module, or take another "
        "engine");
  return parse_slurm_limits(result.code == 0 ? result.output : "");
}

bool SlurmTaskState::alive() const {
  static const std::set<std::string> ended = {"BOOT_FAIL", "CANCELLED", "COMPLETED",     "DEADLINE",
                                              "FAILED",    "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
                                              "REVOKED",   "TIMEOUT"};
  return !ended.contains(state);
}

SlurmStates parse_squeue(const std::string& output) {
  SlurmStates states;
  for (const std::string& line : split(output, '\n')) {
    const std::vector<std::string> words = split(line, '|');
    if (words.size() != 5) continue;
    const auto index = number_of(words[1]);
    if (!number_of(words[0]) || !index) continue;
    states[{words[0], *index}] = {words[2], words[3], words[4]};
  }
  return states;
}

std::optional<SlurmStates> ask_squeue(const std::set<std::string>& names, std::string& trouble) {
  std::vector<std::string> list(names.begin(), names.end());
  const CommandResult result =
      slurm(fmt::format("squeue --noheader --array --states=all {} --format='%F|%K|%T|%r|%j' --name={}",
                        mine(), join(list, ",")));
  if (result.code == 0) return parse_squeue(result.output);
  trouble = result.output;
  return std::nullopt;
}

std::map<SlurmTaskId, SlurmOutcome> parse_scontrol(const std::string& output) {
  std::map<SlurmTaskId, SlurmOutcome> outcomes;
  for (const std::string& line : split(output, '\n')) {
    const std::string array = value_of(line, "ArrayJobId");
    if (!number_of(array)) continue;
    SlurmOutcome outcome;
    outcome.state = value_of(line, "JobState");
    read_exit(value_of(line, "ExitCode"), outcome);
    for (const size_t index : indices_of(value_of(line, "ArrayTaskId"))) outcomes[{array, index}] = outcome;
  }
  return outcomes;
}

std::map<SlurmTaskId, SlurmOutcome> parse_sacct(const std::string& output) {
  std::map<SlurmTaskId, SlurmOutcome> outcomes;
  for (const std::string& line : split(output, '\n')) {
    const std::vector<std::string> words = split(line, '|');
    if (words.size() != 3) continue;
    const auto task = task_of(words[0]);  // steps, "12_3.batch", are left out
    if (!task) continue;
    SlurmOutcome outcome;
    outcome.state = words[1].substr(0, words[1].find(' '));  // "CANCELLED by 1000"
    read_exit(words[2], outcome);
    outcomes[*task] = outcome;
  }
  return outcomes;
}

std::map<SlurmTaskId, SlurmOutcome> ask_outcomes(const std::vector<SlurmTaskId>& tasks) {
  std::set<std::string> arrays;
  for (const SlurmTaskId& task : tasks) arrays.insert(task.array);
  std::map<SlurmTaskId, SlurmOutcome> known;
  for (const std::string& array : arrays)
    known.merge(parse_scontrol(slurm("env SLURM_BITSTR_LEN=0 scontrol --oneliner show job " + array).output));
  std::vector<std::string> forgotten;
  for (const SlurmTaskId& task : tasks)
    if (!known.contains(task)) forgotten.push_back(task.text());
  constexpr size_t kAtOnce = 500;
  for (size_t first = 0; first < forgotten.size(); first += kAtOnce) {
    const std::vector<std::string> some(
        forgotten.begin() + static_cast<ptrdiff_t>(first),
        forgotten.begin() + static_cast<ptrdiff_t>(std::min(first + kAtOnce, forgotten.size())));
    const CommandResult result =
        slurm("sacct --noheader --parsable2 --format=JobID,State,ExitCode --jobs=" + join(some, ","));
    if (result.code != 0) break;  // a cluster without accounting
    known.merge(parse_sacct(result.output));
  }
  return known;
}

size_t jobs_in_controller() {
  const CommandResult result = slurm("squeue --noheader --array --states=all --format=%i");
  if (result.code != 0 || result.output.empty()) return 0;
  return static_cast<size_t>(std::count(result.output.begin(), result.output.end(), '\n')) + 1;
}

std::string sbatch(const SlurmSubmission& submission) {
  const std::string throttle = submission.throttle > 0 ? fmt::format("%{}", submission.throttle) : "";
  const std::string log = escaped_pattern(submission.logs.string()) + "/slurm-%A_%a.log";
  // On the command line, which wins over what the script's lines say.
  const CommandResult result =
      slurm(fmt::format("sbatch --parsable --array=0-{}{} --job-name={} --output={} {}", submission.tasks - 1,
                        throttle, submission.name, quoted(log), quoted(submission.script.string())));
  std::string id = split(split(result.output, '\n').back(), ';').front();
  if (result.code == 127) throw_run("sbatch is not found; expected Slurm's commands on the PATH");
  if (result.code != 0 || !number_of(id)) throw_run("sbatch refused the jobs: {}", result.output);
  return id;
}

fs::path slurm_log(const fs::path& logs, const SlurmTaskId& task) {
  return logs / fmt::format("slurm-{}.log", task.text());
}

std::string scancel(const std::vector<std::string>& arrays, const std::vector<std::string>& names) {
  std::vector<std::string> commands;
  if (!arrays.empty()) commands.push_back("scancel " + join(arrays, " "));
  for (const std::string& name : names) commands.push_back(fmt::format("scancel {} --name={}", mine(), name));
  std::vector<std::string> failed;
  std::string why;
  for (const std::string& command : commands) {
    constexpr int kTries = 3;
    for (int attempt = 1;; ++attempt) {
      const CommandResult result = slurm(command);
      // What the controller has forgotten needs no cancelling.
      if (result.code == 0 || result.output.find("Invalid job id") != std::string::npos) break;
      why = result.output;
      if (attempt == kTries) {
        failed.push_back(command);
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
  }
  if (failed.empty()) return "";
  return fmt::format("tasks could not be cancelled and may still run ({}); cancel them by: {}", why,
                     join(failed, "; "));
}

}  // namespace tunemix
