// What we ask of Slurm, by its own commands: its limits, to take an array, to tell how tasks are, to cancel.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pipeline/config/config.h"

namespace tunemix {

struct SlurmLimits {
  size_t array_tasks = 1000;  // of one array
  size_t jobs = 10000;        // that the controller keeps, of all users
};
SlurmLimits parse_slurm_limits(const std::string& show_config);  // what is not told is the default
SlurmLimits slurm_limits();

// A task of an array: "12_3".
struct SlurmTaskId {
  std::string array;
  size_t index = 0;
  auto operator<=>(const SlurmTaskId&) const = default;
  std::string text() const { return array + "_" + std::to_string(index); }
};

struct SlurmTaskState {
  std::string state;   // in Slurm's words: RUNNING, OUT_OF_MEMORY, ...
  std::string reason;  // why it is pending, or has failed
  std::string name;    // of the array
  // Still to end. A word that we do not know counts as such.
  bool alive() const;
};
using SlurmStates = std::map<SlurmTaskId, SlurmTaskState>;

// How a task has ended.
struct SlurmOutcome {
  std::string state;
  int exit_code = 0;
  int signal = 0;
};

// All tasks of the user's arrays of these names that the controller knows, also ended ones; one question for
// all. Nothing, and `trouble` filled, where it does not answer.
std::optional<SlurmStates> ask_squeue(const std::set<std::string>& names, std::string& trouble);
SlurmStates parse_squeue(const std::string& output);
// Asked before a task counts as failed: the controller's own record, or where it has forgotten the task the
// accounting. Tasks that neither knows are not in the result.
std::map<SlurmTaskId, SlurmOutcome> ask_outcomes(const std::vector<SlurmTaskId>& tasks);
std::map<SlurmTaskId, SlurmOutcome> parse_scontrol(const std::string& output);
std::map<SlurmTaskId, SlurmOutcome> parse_sacct(const std::string& output);
// Records that the controller holds now, of all users as far as it tells.
size_t jobs_in_controller();

struct SlurmSubmission {
  std::filesystem::path script;
  std::string name;            // of the array: by it tasks are found again
  size_t tasks = 0;            // 0 to tasks-1
  int throttle = 0;            // so many at once; 0: any
  std::filesystem::path logs;  // folder of the tasks' output
};
// Returns the array's id. Throws RunError where Slurm refuses.
std::string sbatch(const SlurmSubmission& submission);
// The output of a task: what sbatch was told, with the pattern filled in.
std::filesystem::path slurm_log(const std::filesystem::path& logs, const SlurmTaskId& task);

// Cancels arrays by their ids, and where an id never came back by name. Returns nothing, or what went wrong
// with the command to run by hand.
std::string scancel(const std::vector<std::string>& arrays, const std::vector<std::string>& names);

}  // namespace tunemix
