#include "pipeline/store/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <system_error>

#include "pipeline/store/json_text.h"
#include "pipeline/store/run_folder.h"
#include "tunemix/core/file_lock.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;

// A change within this time of an earlier one may leave all that FileState holds as it was.
constexpr int64_t kClockStep = 2000000000;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

FileState state_of(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) throw_file_error(file, "cannot open the file", errno);
  if (S_ISDIR(info.st_mode)) throw_file_error(file, "cannot open the file", EISDIR);
  if (!S_ISREG(info.st_mode))
    throw_input("{}: not a regular file; an experiment reads its files several times", file.string());
  const auto nanoseconds = [](const timespec& t) {
    return static_cast<int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
  };
  return {static_cast<uintmax_t>(info.st_size), nanoseconds(info.st_mtim), nanoseconds(info.st_ctim),
          static_cast<uint64_t>(info.st_ino)};
}

[[noreturn]] void throw_changed(const fs::path& file) {
  throw_run("{}: the file changed during the run; nothing was kept of what was read, run again",
            file.string());
}

std::string full_name(const fs::path& file) { return fs::absolute(file).lexically_normal().string(); }

Hash128 hash_file(const fs::path& file) {
  const FileDescriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) throw_file_error(file, "cannot open the file", errno);
  Hasher hasher;
  std::vector<char> buffer(1 << 20);
  for (;;) {
    const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_file_error(file, "cannot read the file", errno);
    if (n == 0) return hasher.digest();
    hasher.bytes(buffer.data(), static_cast<size_t>(n));
  }
}

}  // namespace

ArtifactStore::ArtifactStore(fs::path root, StoreUse use) : root_(std::move(root)), use_(use) {
  // A reader of a store without a lock file has nothing to fear: no cleaner has been there.
  std::error_code ignored;
  if (use_ == StoreUse::kWrite && fs::exists(root_, ignored)) open_to_write();
  if (use_ == StoreUse::kRead) {
    lock_ = FileDescriptor(::open((root_ / "lock").c_str(), O_RDONLY | O_CLOEXEC));
    if (lock_.get() >= 0) lock_file(lock_.get(), LockKind::kShared, LockWait::kWait, root_ / "lock");
  }
  // The list of known files only saves time: one that cannot be read is made again.
  const auto list = json_if_there<nlohmann::json>(root_ / "files.json");
  if (!list.is_object()) return;
  for (const auto& [path, entry] : list.items()) {
    if (!entry.is_array() || entry.size() != 5 || !entry[4].is_string()) continue;
    if (!entry[0].is_number_unsigned() || !entry[1].is_number_integer() || !entry[2].is_number_integer() ||
        !entry[3].is_number_unsigned())
      continue;
    const auto hex = entry[4].get<std::string>();
    if (hex.size() != 32 || hex.find_first_not_of("0123456789abcdef") != std::string::npos) continue;
    known_[path] = {{entry[0].get<uintmax_t>(), entry[1].get<int64_t>(), entry[2].get<int64_t>(),
                     entry[3].get<uint64_t>()},
                    Hash128::from_hex(hex)};
  }
}

void ArtifactStore::open_to_write() const {
  require(use_ == StoreUse::kWrite, "a reader of the store writes to it");
  const std::lock_guard guard(mutex_);
  if (writable_) return;
  std::error_code error;
  fs::create_directories(temporaries(), error);
  if (error) throw_run("{}: cannot create the folder: {}", root_.string(), error.message());
  lock_ = open_lock_file(root_ / "lock");
  // A file system without locks is for the run to tell, which locks its own folder too.
  lock_file(lock_.get(), LockKind::kShared, LockWait::kWait, root_ / "lock");
  sweep_temporaries(temporaries());
  sweep_temporaries(root_);
  writable_ = true;
}

fs::path ArtifactStore::path_of(std::string_view kind, const Hash128& key) const {
  const std::string hex = key.hex();
  return root_ / kind / hex.substr(0, 2) / (hex + ".tmx");
}

bool ArtifactStore::contains(std::string_view kind, const Hash128& key) const {
  std::error_code ignored;
  return fs::exists(path_of(kind, key), ignored);
}

fs::path ArtifactStore::place_for(std::string_view kind, const Hash128& key) const {
  open_to_write();
  fs::path path = path_of(kind, key);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) throw_run("{}: cannot create the folder: {}", path.parent_path().string(), error.message());
  return path;
}

void ArtifactStore::save(std::string_view kind, const Hash128& key, uint32_t version,
                         std::span<const uint8_t> payload, Compression compression) const {
  const fs::path path = place_for(kind, key);
  write_file_atomically(path, artifact_bytes(kind, version, payload, compression, key), temporaries());
}

std::optional<std::vector<uint8_t>> ArtifactStore::load(std::string_view kind, const Hash128& key,
                                                        uint32_t version, const Context& context) const {
  if (!contains(kind, key)) return std::nullopt;
  const fs::path path = path_of(kind, key);
  std::vector<uint8_t> file;
  try {
    file = read_file(path);
  } catch (const InputError& error) {
    if (!contains(kind, key)) return std::nullopt;
    throw RunError(error.what());
  }
  try {
    Artifact artifact = parse_artifact(file, path.string());
    expect_artifact(artifact, path.string(), kind, version);
    if (artifact.key != key)
      throw_input("{}: holds the {} of another key, {}", path.string(), kind, artifact.key.hex());
    if (artifact.version == version) return std::move(artifact.payload);
  } catch (const InputError& error) {
    discard(kind, key, error.what(), context);
    return std::nullopt;
  }
  if (use_ == StoreUse::kWrite) {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
  return std::nullopt;
}

void ArtifactStore::discard(std::string_view kind, const Hash128& key, const std::string& why,
                            const Context& context) const {
  if (use_ == StoreUse::kRead) {
    context.warn(why + "; the next run computes it again");
    return;
  }
  context.warn(why + "; it is computed again");
  std::error_code ignored;
  fs::remove(path_of(kind, key), ignored);
}

bool ArtifactStore::remembers(const fs::path& file) const {
  const std::lock_guard lock(mutex_);
  return known_.contains(full_name(file));
}

Hash128 ArtifactStore::file_hash(const fs::path& file, MissingFiles missing) {
  const std::string name = full_name(file);
  {
    const std::lock_guard lock(mutex_);
    asked_.insert(name);
  }
  if (missing == MissingFiles::kPlanned || (missing == MissingFiles::kRemember && !fs::exists(file))) {
    const std::lock_guard lock(mutex_);
    if (const auto it = known_.find(name); it != known_.end()) return it->second.hash;
  }
  FileState state = state_of(file);
  {
    const std::lock_guard lock(mutex_);
    const auto it = known_.find(name);
    if (it != known_.end() && it->second.state == state) return it->second.hash;
  }
  const int64_t begin = now();
  const Hash128 hash = hash_file(file);
  if (state_of(file) != state) throw_changed(file);
  // A file that changed just now may change again without a trace: its state is not to be trusted later.
  if (state.changed + kClockStep > begin) state.changed = 0;
  const std::lock_guard lock(mutex_);
  known_[name] = {state, hash};
  known_changed_ = true;
  return hash;
}

std::map<std::string, Hash128> ArtifactStore::planned_files() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, Hash128> files;
  for (const std::string& name : asked_) files[name] = known_.at(name).hash;
  return files;
}

void ArtifactStore::take_planned_files(const std::map<std::string, Hash128>& files) {
  const std::lock_guard lock(mutex_);
  known_.clear();
  planned_elsewhere_ = true;
  // Without a state: whoever reads one of them checks its content.
  for (const auto& [name, hash] : files) known_[name] = {FileState(), hash};
}

std::vector<FileState> ArtifactStore::planned_states(const std::vector<fs::path>& files) const {
  std::vector<FileState> states;
  for (const fs::path& file : files) {
    states.push_back(state_of(file));
    std::optional<KnownFile> known;
    {
      const std::lock_guard lock(mutex_);
      const auto it = known_.find(full_name(file));
      if (it != known_.end()) known = it->second;
    }
    if (!known) throw_changed(file);  // it was not there when the run was planned
    if (known->state != states.back() && hash_file(file) != known->hash) throw_changed(file);
  }
  return states;
}

void ArtifactStore::expect_states(const std::vector<fs::path>& files,
                                  const std::vector<FileState>& before) const {
  const int64_t end = now();
  for (size_t i = 0; i < files.size(); ++i) {
    std::error_code error;
    if (!fs::exists(files[i], error) || state_of(files[i]) != before[i]) throw_changed(files[i]);
    if (before[i].changed + kClockStep < end) continue;
    const std::lock_guard lock(mutex_);
    if (hash_file(files[i]) != known_.at(full_name(files[i])).hash) throw_changed(files[i]);
  }
}

void ArtifactStore::save_file_hashes() {
  if (use_ == StoreUse::kRead || planned_elsewhere_ || !known_changed_) return;
  open_to_write();
  const std::lock_guard lock(mutex_);
  nlohmann::json list = nlohmann::json::object();
  for (const auto& [path, file] : known_)
    list[path] = {file.state.size, file.state.modified, file.state.changed, file.state.inode,
                  file.hash.hex()};
  // Paths are bytes; those that are no text are shown as well as they can be.
  write_file_atomically(root_ / "files.json", json_text(list));
  known_changed_ = false;
}

namespace {

// Locks a store for the cleaner alone, if there is a store.
class CleanerLock {
 public:
  explicit CleanerLock(const fs::path& store) {
    if (!fs::exists(store)) return;
    fd_ = open_lock_file(store / "lock");
    const LockOutcome outcome = lock_file(fd_.get(), LockKind::kExclusive, LockWait::kTry, store / "lock");
    if (outcome == LockOutcome::kBusy)
      throw_run("{}: a run is active; clean when it has ended", store.string());
    if (outcome == LockOutcome::kUnsupported)
      throw_run(
          "{}: the file system has no locks, so that it cannot be told whether a run is active; clean from "
          " a machine where it has, or remove the folder by hand",
          store.string());
  }

 private:
  FileDescriptor fd_;
};

// The artifacts that a run names; nothing where its manifest does not say.
std::optional<std::set<std::string>> artifacts_of(const StoredRun& run) {
  const auto manifest = json_if_there<nlohmann::json>(run.folder / "manifest.json");
  const auto artifacts = manifest.is_object() ? manifest.find("artifacts") : manifest.end();
  if (artifacts == manifest.end() || !artifacts->is_array() ||
      !std::all_of(artifacts->begin(), artifacts->end(), [](const auto& name) { return name.is_string(); }))
    return std::nullopt;
  return artifacts->template get<std::set<std::string>>();
}

uintmax_t bytes_of(const fs::path& file) {
  std::error_code gone;
  const uintmax_t size = fs::is_regular_file(fs::symlink_status(file, gone)) ? fs::file_size(file, gone) : 0;
  return gone ? 0 : size;
}

// A run as the cleaner weighs it.
struct Candidate {
  StoredRun run;
  bool kept = false;
  std::set<std::string> artifacts;
};

std::vector<Candidate> weigh_runs(const fs::path& runs, size_t keep_last) {
  std::vector<Candidate> result;
  for (StoredRun& run : runs_by_age(runs)) {
    // A run that was left to a scheduler is needed however old it is.
    const bool kept = result.size() < keep_last || has_tasks(run.folder);
    auto artifacts = artifacts_of(run);
    if (kept && !artifacts)
      throw_run("{}: cannot read what this run needs; nothing was removed",
                (run.folder / "manifest.json").string());
    result.push_back({std::move(run), kept, std::move(artifacts).value_or(std::set<std::string>())});
  }
  return result;
}

void remove_runs(const std::vector<Candidate>& found, const fs::path& store, bool dry_run,
                 CleanReport& report) {
  std::map<std::string, size_t> users;
  for (const Candidate& candidate : found)
    for (const std::string& artifact : candidate.artifacts) ++users[artifact];
  for (const Candidate& candidate : found) {
    if (candidate.kept) {
      report.kept_runs.push_back(candidate.run.name);
      continue;
    }
    RemovedRun& removed = report.removed_runs.emplace_back(RemovedRun{candidate.run.name});
    for (const fs::path& file : files_of_run(candidate.run)) removed.bytes += bytes_of(file);
    for (const std::string& artifact : candidate.artifacts)
      if (users.at(artifact) == 1) removed.bytes += bytes_of(store / artifact);
    if (!dry_run) remove_run(candidate.run);
  }
}

// What no run needs that stays, and what was left half written.
std::vector<fs::path> unneeded_files(const fs::path& store, const std::set<std::string>& needed,
                                     CleanReport& report) {
  std::vector<fs::path> files;
  if (!fs::exists(store)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(store)) {
    if (entry.is_directory() && !entry.is_symlink()) continue;
    const bool of_the_store = entry.path().parent_path() == store;  // the lock and the list of files
    if (!is_temporary_name(entry.path()) &&
        (of_the_store || needed.contains(fs::relative(entry.path(), store).string())))
      report.kept_files += of_the_store ? 0 : 1;
    else
      files.push_back(entry.path());
  }
  return files;
}

void remove_empty_folders(const fs::path& store) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::recursive_directory_iterator it(store, error), end; !error && it != end; it.increment(error))
    if (fs::is_directory(it->symlink_status())) folders.push_back(it->path());
  // Inner ones first; a folder that is not empty is not removed.
  std::sort(folders.begin(), folders.end(), std::greater<>());
  for (const fs::path& folder : folders) ::rmdir(folder.c_str());
}

}  // namespace

CleanReport clean_runs(const fs::path& runs, size_t keep_last, bool dry_run) {
  const fs::path store = runs / ".store";
  if (!fs::exists(runs)) throw_input("{}: no such folder; expected the folder of the runs", runs.string());
  const CleanerLock lock(store);
  const std::vector<Candidate> found = weigh_runs(runs, keep_last);
  std::set<std::string> needed;
  for (const Candidate& candidate : found)
    if (candidate.kept) needed.insert(candidate.artifacts.begin(), candidate.artifacts.end());

  CleanReport report;
  std::vector<fs::path> files = unneeded_files(store, needed, report);
  remove_runs(found, store, dry_run, report);
  for (const fs::path& file : left_over_files(runs)) files.push_back(file);
  for (const fs::path& file : files) {
    ++report.removed_files;
    report.removed_bytes += bytes_of(file);
    if (dry_run) continue;
    std::error_code error;
    fs::remove(file, error);
    if (error) throw_run("{}: cannot remove the file: {}", file.string(), error.message());
  }
  if (dry_run) return report;
  remove_empty_folders(store);
  remove_left_over_folders(runs);
  return report;
}

}  // namespace tunemix
