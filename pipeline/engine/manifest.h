// What the tasks of a run read instead of the user's files: the jobs of each task, the config by its hash,
// and the files and the program that the run was planned with.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "pipeline/engine/grouping.h"
#include "tunemix/core/hash.h"

namespace tunemix {

// Does not change while a run waits for its tasks: found out once, when the program starts to plan.
struct ProgramFile {
  std::filesystem::path path;
  Hash128 hash;  // of its bytes
  std::string version;
};
ProgramFile this_program();

struct TaskManifest {
  ProgramFile program;
  std::filesystem::path folder;  // the working folder of the run
  std::filesystem::path runs;
  std::filesystem::path config;          // a copy named by its hash
  std::map<std::string, Hash128> files;  // what the plan was made from
  Hash128 plan;                          // of the keys of all jobs
  bool final_model = false;              // whether the jobs are of the final model
  int threads = 1;
  std::vector<Task> tasks;
};

// A manifest in a folder of its own under `directory`/tasks, never written again: manifest.json, and
// seconds/N, what the jobs of task N took.
struct StoredManifest {
  std::filesystem::path folder;
  TaskManifest manifest;

  std::string id() const { return folder.filename().string(); }
  std::filesystem::path file() const { return folder / "manifest.json"; }
  // What the jobs of a task took, as far as they have ended.
  std::map<size_t, double> seconds(size_t task) const;
};

// Copies the config to `directory`/tasks/config-HASH.yaml.
std::filesystem::path keep_config(const std::filesystem::path& directory, const std::string& text);
StoredManifest write_manifest(const std::filesystem::path& directory, TaskManifest manifest);
// Throws InputError where the file is no manifest.
StoredManifest read_manifest(const std::filesystem::path& file);
// Throws RunError where the program or the config are not those of the manifest.
void expect_unchanged(const TaskManifest& manifest);
// One more job of a task has ended.
void note_seconds(const StoredManifest& stored, size_t task, size_t job, double seconds);

}  // namespace tunemix
