// The folder runs/NAME: the files of the last config that ran under the name, and under configs/ID those of
// the configs before it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tunemix/core/file.h"

namespace tunemix {

// Keeps a run folder for one run. Throws RunError where another has it, saying which.
class RunLock {
 public:
  explicit RunLock(const std::filesystem::path& folder);
  bool works() const { return works_; }  // false where the file system has no locks

 private:
  FileDescriptor fd_;
  bool works_ = true;
};

// Removes what killed writers have left in a run folder and in those within it (core/file.h).
void sweep_run_folder(const std::filesystem::path& folder);

// Where the files of a config are (its id is the key of its evaluation): the folder itself while it is the
// last that ran, else a folder of its own.
std::filesystem::path folder_of_config(const std::filesystem::path& folder, const std::string& id);
// Makes room for a run: files of another config move to its own folder, which is returned if there were
// results among them.
std::optional<std::filesystem::path> set_aside_other_config(const std::filesystem::path& folder,
                                                            const std::string& id);
// Brings back what an earlier run of the config has left, once the folder's manifest names the config.
void bring_back_config(const std::filesystem::path& folder, const std::string& id);

// Where a run folder names the arrays that it has with a scheduler.
std::filesystem::path task_record(const std::filesystem::path& folder);
bool has_tasks(const std::filesystem::path& folder);

// A run as a cleaner sees it: a config of a name.
struct StoredRun {
  std::filesystem::path folder;
  std::string name;  // relative to the folder of the runs
};

std::vector<StoredRun> runs_by_age(const std::filesystem::path& runs);  // the newest first
// The files that go with a run: all of its folder, but for other configs of its name.
std::vector<std::filesystem::path> files_of_run(const StoredRun& run);
void remove_run(const StoredRun& run);
// Files that killed runs left half written.
std::vector<std::filesystem::path> left_over_files(const std::filesystem::path& runs);
// Folders that killed runs and cleaners left without a manifest.
void remove_left_over_folders(const std::filesystem::path& runs);

}  // namespace tunemix
