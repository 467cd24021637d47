#include "pipeline/store/run_folder.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <nlohmann/json.hpp>
#include <system_error>

#include "tunemix/core/error.h"
#include "tunemix/core/file_lock.h"
#include "tunemix/core/hash.h"
#include "tunemix/core/host.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "manifest.json";
constexpr const char* kConfigs = "configs";
constexpr const char* kRemoved = ".removed.";
constexpr size_t kIdDigits = 12;

// What belongs to one config.
bool is_result(const fs::path& path) {
  const std::string name = path.filename().string();
  for (const char* known : {kManifest, "config.resolved.yaml", "results.json", "results.md", "report.html",
                            "exports", "importance.json"})
    if (name == known) return true;
  return name == "bundle.tmx" || (name.starts_with("bundle-fold") && name.ends_with(".tmx"));
}

bool is_ours(const fs::path& path) {
  const std::string name = path.filename().string();
  return is_result(path) || name == "logs" || name == "tasks" || name == "lock" || name == kConfigs ||
         is_temporary_name(path);
}

// None of a folder that is not there. One that cannot be read may hold what others need.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    entries.push_back(it->path());
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    throw_run("{}: cannot read the folder: {}", folder.string(), error.message());
  std::sort(entries.begin(), entries.end());
  return entries;
}

// The config whose files a folder holds; nothing without a manifest.
std::optional<std::string> config_of(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / kManifest, error)) return std::nullopt;
  const std::string text = read_text_file(folder / kManifest);
  const auto manifest = nlohmann::json::parse(text, nullptr, false);
  if (manifest.is_object() && manifest.contains("artifacts") && manifest["artifacts"].is_array())
    for (const auto& artifact : manifest["artifacts"])
      if (artifact.is_string() && artifact.get<std::string>().starts_with("evaluation/"))
        return fs::path(artifact.get<std::string>()).stem().string().substr(0, kIdDigits);
  return hash_bytes(text.data(), text.size()).hex().substr(0, kIdDigits);
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw_run("{}: cannot create the folder: {}", folder.string(), error.message());
}

// The same file under a second name, so that nothing is lost whenever the program is killed.
void link_file(const fs::path& from, const fs::path& to) {
  if (same_file(from, to)) return;
  std::error_code error;
  fs::remove(to, error);
  if (::link(from.c_str(), to.c_str()) == 0) return;
  write_file_atomically(to, read_file(from));
}

void link_tree(const fs::path& from, const fs::path& to) {
  if (!fs::is_directory(fs::symlink_status(from))) {
    link_file(from, to);
    return;
  }
  make_folder(to);
  for (const fs::path& entry : entries_of(from)) link_tree(entry, to / entry.filename());
}

// Out of sight by one rename, then removed: a killed cleaner leaves nothing that looks like a run.
void remove_folder(const fs::path& folder, const fs::path& runs) {
  const std::string path = fs::absolute(folder).string();
  const fs::path trash =
      runs / fmt::format("{}{}.{}.{}.tmp", kRemoved, hash_bytes(path.data(), path.size()).hex(), host_name(),
                         ::getpid());
  std::error_code error;
  fs::rename(folder, trash, error);
  fs::remove_all(error ? folder : trash, error);
  if (error) throw_run("{}: cannot remove the folder: {}", folder.string(), error.message());
}

void remove_results(const fs::path& folder) {
  std::error_code error;
  for (const fs::path& entry : entries_of(folder))
    if (is_result(entry) && entry.filename() != kManifest) fs::remove_all(entry, error);
  // Last: it says whose the others are.
  fs::remove(folder / kManifest, error);
  if (error) throw_run("{}: cannot remove the file: {}", (folder / kManifest).string(), error.message());
}

// A folder goes whole unless it has configs of its name in it, which may stay.
bool goes_whole(const fs::path& folder) { return entries_of(folder / kConfigs).empty(); }

bool is_folder(const fs::path& path) { return fs::is_directory(fs::symlink_status(path)); }

}  // namespace

RunLock::RunLock(const fs::path& folder) {
  make_folder(folder);
  const fs::path file = folder / "lock";
  fd_ = open_lock_file(file);
  std::array<char, 200> text{};
  const LockOutcome outcome = lock_file(fd_.get(), LockKind::kExclusive, LockWait::kTry, file);
  works_ = outcome != LockOutcome::kUnsupported;
  if (outcome == LockOutcome::kBusy) {
    const ssize_t size = ::pread(fd_.get(), text.data(), text.size(), 0);
    const std::string holder(text.data(), size > 0 ? static_cast<size_t>(size) : 0);
    throw_run(
        "{}: a run of this name is active ({}); wait for its end, or give this one another name: name=...",
        folder.string(), holder.empty() ? "by another process" : holder);
  }
  const std::string holder = fmt::format("process {} on {}", ::getpid(), host_name());
  // Only a help for people: what cannot be written is left out.
  if (::ftruncate(fd_.get(), 0) == 0 && ::pwrite(fd_.get(), holder.data(), holder.size(), 0) < 0) return;
}

void sweep_run_folder(const fs::path& folder) {
  sweep_temporaries(folder);
  for (const fs::path& entry : entries_of(folder))
    if (is_folder(entry)) sweep_run_folder(entry);
}

fs::path folder_of_config(const fs::path& folder, const std::string& id) {
  const std::string wanted = id.substr(0, kIdDigits);
  const std::optional<std::string> last = config_of(folder);
  return !last || *last == wanted ? folder : folder / kConfigs / wanted;
}

std::optional<fs::path> set_aside_other_config(const fs::path& folder, const std::string& id) {
  const std::optional<std::string> last = config_of(folder);
  if (!last || *last == id.substr(0, kIdDigits)) return std::nullopt;
  const fs::path aside = folder / kConfigs / *last;
  make_folder(aside);
  for (const fs::path& entry : entries_of(folder))
    if (is_result(entry)) link_tree(entry, aside / entry.filename());
  const bool results = fs::exists(aside / "results.json");
  remove_results(folder);
  if (!results) return std::nullopt;
  return aside;
}

void bring_back_config(const fs::path& folder, const std::string& id) {
  const fs::path aside = folder / kConfigs / id.substr(0, kIdDigits);
  if (!fs::exists(aside)) return;
  for (const fs::path& entry : entries_of(aside))
    if (is_result(entry) && !fs::exists(folder / entry.filename()))
      link_tree(entry, folder / entry.filename());
  std::error_code ignored;
  fs::remove_all(aside, ignored);
}

fs::path task_record(const fs::path& folder) { return folder / "tasks" / "slurm.json"; }

bool has_tasks(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(task_record(folder), ignored);
}

std::vector<StoredRun> runs_by_age(const fs::path& runs) {
  std::vector<std::pair<fs::file_time_type, StoredRun>> found;
  const auto look_at = [&](const fs::path& folder) {
    if (is_folder(folder) && fs::exists(folder / kManifest))
      found.push_back(
          {fs::last_write_time(folder / kManifest), {folder, folder.lexically_relative(runs).string()}});
  };
  for (const fs::path& folder : entries_of(runs)) {
    if (folder.filename().string().starts_with(".") || !is_folder(folder)) continue;
    look_at(folder);
    for (const fs::path& config : entries_of(folder / kConfigs)) look_at(config);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<StoredRun> result;
  for (auto& [time, run] : found) result.push_back(std::move(run));
  return result;
}

std::vector<fs::path> files_of_run(const StoredRun& run) {
  const bool whole = goes_whole(run.folder);
  std::vector<fs::path> files;
  const std::function<void(const fs::path&)> add = [&](const fs::path& path) {
    if (!is_folder(path)) files.push_back(path);
    for (const fs::path& entry : is_folder(path) ? entries_of(path) : std::vector<fs::path>()) add(entry);
  };
  for (const fs::path& entry : entries_of(run.folder))
    if (whole || is_result(entry)) add(entry);
  return files;
}

void remove_run(const StoredRun& run) {
  const fs::path parent = run.folder.parent_path();
  const bool config = parent.filename() == kConfigs;
  if (goes_whole(run.folder))
    remove_folder(run.folder, config ? parent.parent_path().parent_path() : parent);
  else
    remove_results(run.folder);
}

std::vector<fs::path> left_over_files(const fs::path& runs) {
  std::vector<fs::path> files;
  for (const StoredRun& run : runs_by_age(runs)) {
    if (run.folder.parent_path().filename() == kConfigs) continue;  // within the folder of its name
    for (const auto& entry : fs::recursive_directory_iterator(run.folder))
      if (entry.is_regular_file() && is_temporary_name(entry.path())) files.push_back(entry.path());
  }
  return files;
}

void remove_left_over_folders(const fs::path& runs) {
  for (const fs::path& folder : entries_of(runs)) {
    if (!is_folder(folder)) continue;
    if (folder.filename().string().starts_with(kRemoved)) {
      std::error_code ignored;
      fs::remove_all(folder, ignored);
      continue;
    }
    if (folder.filename().string().starts_with(".")) continue;
    bool holds_configs = false;
    for (const fs::path& config : entries_of(folder / kConfigs)) {
      if (fs::exists(config / kManifest))
        holds_configs = true;
      else
        remove_folder(config, runs);
    }
    const std::vector<fs::path> entries = entries_of(folder);
    if (!holds_configs && !entries.empty() && !fs::exists(folder / kManifest) &&
        std::all_of(entries.begin(), entries.end(), is_ours))
      remove_folder(folder, runs);
  }
}

}  // namespace tunemix
