// What the commands on an experiment share: the config with its overrides or the data's files alone, and the
// folder of the runs.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/commands/commands.h"
#include "pipeline/run/experiment.h"

namespace tunemix {

struct ExperimentOptions {
  std::filesystem::path config;
  std::vector<std::string> overrides;
  std::filesystem::path runs = "runs";
  std::string engine;
  // One fold, for the recommended recipe without a config.
  std::vector<std::string> train;
  std::vector<std::string> valid;
  std::vector<std::string> test;

  void add_to(CLI::App& command);
  // Throws InputError where there is neither a config nor data, or both. `may_be_alone`: training data
  // without any other will do.
  Config read(bool may_be_alone = true) const;
  // The files that a config of read() is read from: its own, those of the data and what stands beside them.
  std::vector<std::filesystem::path> inputs(const Config& read) const;
};

// A finished run that a command reads to write `out`; throws InputError where `out` is one of the run's
// inputs. Everything that the command asks for must have been computed, and nothing under `runs` is written.
struct FinishedExperiment {
  FinishedExperiment(const ExperimentOptions& asked, const std::filesystem::path& out,
                     const Program& program);

  ProgressView view{true};
  std::unique_ptr<Context> context;
  Experiment experiment;
};

}  // namespace tunemix
