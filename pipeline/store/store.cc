#include "pipeline/store/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace tunemix {
namespace {

namespace fs = std::filesystem;

int64_t change_time(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0 || S_ISDIR(info.st_mode))
    throw_input("{}: cannot open the file", file.string());
  return static_cast<int64_t>(info.st_mtim.tv_sec) * 1000000000 + info.st_mtim.tv_nsec;
}

std::string full_name(const fs::path& file) { return fs::absolute(file).lexically_normal().string(); }

int open_lock(const fs::path& root, int operation) {
  const int fd = ::open((root / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) throw_run("{}: cannot create a lock file", root.string());
  if (::flock(fd, operation) != 0) {
    ::close(fd);
    return -1;
  }
  return fd;
}

Hash128 hash_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || fs::is_directory(file)) throw_input("{}: cannot open the file", file.string());
  Hasher hasher;
  std::vector<char> buffer(1 << 20);
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    hasher.bytes(buffer.data(), static_cast<size_t>(in.gcount()));
  }
  if (in.bad()) throw_run("{}: cannot read the file", file.string());
  return hasher.digest();
}

}  // namespace

ArtifactStore::ArtifactStore(fs::path root) : root_(std::move(root)) {
  std::error_code error;
  fs::create_directories(root_, error);
  if (error) throw_run("{}: cannot create the folder: {}", root_.string(), error.message());
  lock_ = open_lock(root_, LOCK_SH);
  if (lock_ < 0) throw_run("{}: cannot lock the store", root_.string());
  // The list of known files only saves time: one that cannot be read is made anew.
  std::ifstream in(root_ / "files.json");
  const auto list = nlohmann::json::parse(in, nullptr, false);
  if (!list.is_object()) return;
  for (const auto& [path, entry] : list.items()) {
    if (!entry.is_array() || entry.size() != 3 || !entry[2].is_string() ||
        entry[2].get<std::string>().size() != 32)
      continue;
    if (!entry[0].is_number_unsigned() || !entry[1].is_number_integer()) continue;
    const auto hex = entry[2].get<std::string>();
    if (hex.find_first_not_of("0123456789abcdef") != std::string::npos) continue;
    known_[path] = {entry[0].get<uintmax_t>(), entry[1].get<int64_t>(), Hash128::from_hex(hex)};
  }
}

ArtifactStore::~ArtifactStore() {
  if (lock_ >= 0) ::close(lock_);
}

fs::path ArtifactStore::path_of(std::string_view kind, const Hash128& key) const {
  const std::string hex = key.hex();
  return root_ / kind / hex.substr(0, 2) / (hex + ".tmx");
}

bool ArtifactStore::contains(std::string_view kind, const Hash128& key) const {
  std::error_code ignored;
  return fs::exists(path_of(kind, key), ignored);
}

void ArtifactStore::save(std::string_view kind, const Hash128& key, uint32_t version,
                         std::span<const uint8_t> payload, Compression compression) const {
  const fs::path path = path_of(kind, key);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) throw_run("{}: cannot create the folder: {}", path.parent_path().string(), error.message());
  write_artifact(path, kind, version, payload, compression);
}

std::optional<std::vector<uint8_t>> ArtifactStore::load(std::string_view kind, const Hash128& key,
                                                        uint32_t version, const Context& context) const {
  if (!contains(kind, key)) return std::nullopt;
  const fs::path path = path_of(kind, key);
  try {
    Artifact artifact = read_artifact(path, kind, version);
    if (artifact.version == version) return std::move(artifact.payload);
  } catch (const InputError& error) {
    context.warn(fmt::format("{}; it is computed again", error.what()));
  }
  std::error_code ignored;
  fs::remove(path, ignored);
  return std::nullopt;
}

bool ArtifactStore::remembers(const fs::path& file) const {
  const std::lock_guard lock(mutex_);
  return known_.contains(full_name(file));
}

Hash128 ArtifactStore::file_hash(const fs::path& file, MissingFiles missing) {
  const std::string name = full_name(file);
  if (missing == MissingFiles::kRemember && !fs::exists(file)) {
    const std::lock_guard lock(mutex_);
    if (const auto it = known_.find(name); it != known_.end()) return it->second.hash;
  }
  const int64_t time = change_time(file);
  const uintmax_t size = fs::file_size(file);
  {
    const std::lock_guard lock(mutex_);
    const auto it = known_.find(name);
    if (it != known_.end() && it->second.size == size && it->second.time == time) return it->second.hash;
  }
  const Hash128 hash = hash_file(file);
  const std::lock_guard lock(mutex_);
  known_[name] = {size, time, hash};
  known_changed_ = true;
  return hash;
}

void ArtifactStore::save_file_hashes() {
  const std::lock_guard lock(mutex_);
  if (!known_changed_) return;
  nlohmann::json list = nlohmann::json::object();
  for (const auto& [path, file] : known_) list[path] = {file.size, file.time, file.hash.hex()};
  write_file_atomically(root_ / "files.json", list.dump(1));
  known_changed_ = false;
}

namespace {

// Locks a store for the cleaner alone, if there is a store.
class CleanerLock {
 public:
  explicit CleanerLock(const fs::path& store) {
    if (!fs::exists(store)) return;
    fd_ = open_lock(store, LOCK_EX | LOCK_NB);
    if (fd_ < 0) throw_run("{}: a run is active; clean when it has ended", store.string());
  }
  ~CleanerLock() {
    if (fd_ >= 0) ::close(fd_);
  }
  CleanerLock(const CleanerLock&) = delete;
  CleanerLock& operator=(const CleanerLock&) = delete;

 private:
  int fd_ = -1;
};

// Of the newest run first.
std::vector<fs::path> runs_by_age(const fs::path& runs) {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  for (const auto& entry : fs::directory_iterator(runs))
    if (entry.is_directory() && fs::exists(entry.path() / "manifest.json"))
      found.emplace_back(fs::last_write_time(entry.path() / "manifest.json"), entry.path());
  std::sort(found.begin(), found.end(), std::greater<>());
  std::vector<fs::path> result;
  for (auto& [time, path] : found) result.push_back(std::move(path));
  return result;
}

void add_needed(const fs::path& manifest_file, std::set<std::string>& needed) {
  std::ifstream in(manifest_file);
  const auto manifest = nlohmann::json::parse(in, nullptr, false);
  const auto artifacts = manifest.is_object() ? manifest.find("artifacts") : manifest.end();
  if (artifacts == manifest.end() || !artifacts->is_array() ||
      !std::all_of(artifacts->begin(), artifacts->end(), [](const auto& name) { return name.is_string(); }))
    throw_run("{}: cannot read what this run needs; nothing was removed", manifest_file.string());
  for (const auto& name : *artifacts) needed.insert(name.template get<std::string>());
}

bool is_temporary(const fs::path& file) { return file.extension() == ".tmp"; }

}  // namespace

CleanReport clean_runs(const fs::path& runs, size_t keep_last, bool dry_run) {
  const fs::path store = runs / ".store";
  if (!fs::exists(runs)) throw_input("{}: no such folder; expected the folder of the runs", runs.string());
  const CleanerLock lock(store);
  const std::vector<fs::path> found = runs_by_age(runs);
  const size_t kept = std::min(keep_last, found.size());
  std::set<std::string> needed;
  for (size_t i = 0; i < kept; ++i) add_needed(found[i] / "manifest.json", needed);

  CleanReport report;
  std::vector<fs::path> files;  // to remove; gathered first, since a walk must not see its own removals
  if (fs::exists(store))
    for (const auto& entry : fs::recursive_directory_iterator(store)) {
      if (!entry.is_regular_file()) continue;
      const bool of_the_store = entry.path().parent_path() == store;  // the lock and the list of files
      if (!is_temporary(entry.path()) &&
          (of_the_store || needed.contains(fs::relative(entry.path(), store).string()))) {
        report.kept_files += of_the_store ? 0 : 1;
        continue;
      }
      files.push_back(entry.path());
    }
  for (size_t i = 0; i < found.size(); ++i) {
    (i < kept ? report.kept_runs : report.removed_runs).push_back(found[i].filename().string());
    if (i >= kept) {
      if (!dry_run) fs::remove_all(found[i]);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(found[i]))
      if (entry.is_regular_file() && is_temporary(entry.path())) files.push_back(entry.path());
  }
  for (const fs::path& file : files) {
    ++report.removed_files;
    report.removed_bytes += fs::file_size(file);
    if (!dry_run) fs::remove(file);
  }
  return report;
}

}  // namespace tunemix
