// Where training jobs run: on this machine, or as a Slurm job array. Results are the same bytes, through the
// store.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "pipeline/config/config.h"
#include "tunemix/core/context.h"

namespace tunemix {

// One manifest for all engines: the jobs by number, and the config that they come from.
struct JobManifest {
  std::filesystem::path config;     // the resolved config
  std::filesystem::path runs;       // the folder of the runs and of the store
  std::filesystem::path directory;  // of this run: scripts and logs go below it
  std::vector<size_t> jobs;
};

// Submits the jobs as an array through sbatch and waits. Failed tasks are submitted again up to `retries`
// times; throws RunError naming what still failed. `is_done` tells whether a job's result is in the store;
// `on_done` is called for each.
void run_on_slurm(const JobManifest& manifest, const SlurmConfig& slurm,
                  const std::function<bool(size_t)>& is_done, const std::function<void(size_t)>& on_done,
                  const Context& context);

}  // namespace tunemix
