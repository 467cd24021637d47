// Where training jobs run if not here: as Slurm's job arrays, or by a command that runs a list of commands.
// Results are the same bytes, through the store.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "pipeline/config/config.h"
#include "pipeline/engine/manifest.h"
#include "tunemix/core/context.h"

namespace tunemix {

// One order for all engines.
struct WorkOrder {
  std::filesystem::path directory;      // of this run: manifests and logs go below it
  TaskManifest manifest;                // all but its tasks
  std::string stage;                    // of the jobs, for messages
  std::vector<EngineJob> jobs;          // of one stage
  std::function<bool(size_t)> is_done;  // whether a job's results are in the store
  std::function<void(size_t)> on_done;  // called for each
};

enum class AfterSubmit { kWait, kLeave };

// Submits the jobs and waits; takes up tasks of the same plan that an earlier run has left. Failed jobs are
// submitted again up to `retries` times; throws RunError naming what still failed. Whatever ends it early
// cancels its tasks. With kLeave it does not wait; returns whether all jobs are done.
bool run_on_slurm(const WorkOrder& order, const SlurmConfig& slurm, AfterSubmit after,
                  const Context& context);

// Runs the config's command, which is to run the tasks and to end when they have ended; the same about failed
// jobs. The command is ended when the run is interrupted.
void run_by_command(const WorkOrder& order, const CommandConfig& command, const Context& context);

}  // namespace tunemix
