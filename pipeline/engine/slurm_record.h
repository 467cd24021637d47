// Which arrays of a run are with Slurm, in a file of its folder: a later run takes them up, `status` shows
// them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "pipeline/engine/manifest.h"
#include "pipeline/engine/slurm_commands.h"

namespace tunemix {

// Known by its name before it is submitted, so that no array is lost between sbatch's answer and the file.
struct SlurmArray {
  std::string name;
  std::string id;                  // empty: submitted, and no answer came
  std::filesystem::path manifest;  // its file; index i is its task i
  size_t tasks = 0;
};

class SlurmRecord {
 public:
  explicit SlurmRecord(const std::filesystem::path& directory);

  const std::vector<SlurmArray>& arrays() const { return arrays_; }
  std::set<std::string> names() const;
  void add(const SlurmArray& array);
  void set_id(const std::string& name, const std::string& id);
  void remove(const std::string& name);
  const std::filesystem::path& file() const { return file_; }

 private:
  void write() const;
  std::filesystem::path file_;
  std::vector<SlurmArray> arrays_;
};

// "12 tasks in arrays 7, 8: 3 running, 9 pending (Resources)"; empty where none is left.
std::string describe_slurm_tasks(const std::filesystem::path& directory);
// "3 running, 9 pending (Resources)".
std::string count_states(const SlurmStates& states);

}  // namespace tunemix
