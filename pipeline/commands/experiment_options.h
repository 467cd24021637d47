// What the commands on an experiment share: the config with its overrides, and the folder of the runs.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/run/experiment.h"

namespace tunemix {

struct ExperimentOptions {
  std::filesystem::path config;
  std::vector<std::string> overrides;
  std::filesystem::path runs = "runs";
  std::string engine;

  void add_to(CLI::App& command, bool required) {
    auto* file = command.add_option("config", config, "The experiment's YAML file");
    if (required) file->required();
    command.add_option("overrides", overrides, "key.path=value, as many as wanted");
    command.add_option("--runs", runs, "Folder of the runs and of the cache")->capture_default_str();
    command.add_option("--engine", engine, "local or slurm, instead of the config's");
  }
  Config read() const {
    std::vector<std::string> all = overrides;
    if (!engine.empty()) all.push_back("engine.type=" + engine);
    return read_config(config, all);
  }
};

}  // namespace tunemix
