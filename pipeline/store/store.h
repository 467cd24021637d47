// The content-addressed store of an experiment's artifacts: one checked file per key, whole under its final
// name.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tunemix/core/binary.h"
#include "tunemix/core/context.h"
#include "tunemix/core/hash.h"

namespace tunemix {

// What the hash of a file is that is not there: an error, or what it was when it was last seen. kPlanned: of
// every file, there or not, what the store was told when it was planned.
enum class MissingFiles { kRefuse, kRemember, kPlanned };

// A reader changes nothing: it needs no right to write, and leaves a damaged artifact where it is.
enum class StoreUse { kWrite, kRead };

// What changes with a file's content, as far as the system tells without reading it.
struct FileState {
  uintmax_t size = 0;
  int64_t modified = 0;  // nanoseconds
  int64_t changed = 0;
  uint64_t inode = 0;
  bool operator==(const FileState&) const = default;
};

class ArtifactStore {
 public:
  // The folder is made by the first save. A shared lock keeps a cleaner away while the store is in use.
  explicit ArtifactStore(std::filesystem::path root, StoreUse use = StoreUse::kWrite);
  ~ArtifactStore() = default;
  ArtifactStore(const ArtifactStore&) = delete;
  ArtifactStore& operator=(const ArtifactStore&) = delete;

  std::filesystem::path path_of(std::string_view kind, const Hash128& key) const;
  bool contains(std::string_view kind, const Hash128& key) const;
  void save(std::string_view kind, const Hash128& key, uint32_t version, std::span<const uint8_t> payload,
            Compression compression = Compression::kZstd) const;
  // For writers of their own: where an artifact is to be, in a folder that is there, and the folder of files
  // that are not whole yet.
  std::filesystem::path place_for(std::string_view kind, const Hash128& key) const;
  std::filesystem::path temporaries() const { return root_ / "tmp"; }
  // Nothing where the artifact is missing. One with other content than its name says, or damaged, is named in
  // a warning, removed, and counts as missing. Throws RunError where it cannot be read: it may be good.
  std::optional<std::vector<uint8_t>> load(std::string_view kind, const Hash128& key, uint32_t version,
                                           const Context& context) const;
  // What `parse` makes of the payload; an InputError of it counts as damage.
  template <typename Parse>
  auto load_as(std::string_view kind, const Hash128& key, uint32_t version, const Context& context,
               Parse parse) const -> std::optional<decltype(parse(std::span<const uint8_t>()))> {
    const auto payload = load(kind, key, version, context);
    if (!payload) return std::nullopt;
    try {
      return parse(std::span<const uint8_t>(*payload));
    } catch (const InputError& error) {
      discard(kind, key, fmt::format("{}: {}", path_of(kind, key).string(), error.what()), context);
      return std::nullopt;
    }
  }
  // Removes an artifact that turned out wrong, and says why.
  void discard(std::string_view kind, const Hash128& key, const std::string& why,
               const Context& context) const;

  // The hash of a file's bytes; remembered by path and state, so that an unchanged file is not read.
  Hash128 file_hash(const std::filesystem::path& file, MissingFiles missing = MissingFiles::kRefuse);
  bool remembers(const std::filesystem::path& file) const;
  void save_file_hashes();
  // The files whose hashes were asked for; and to take them from another process' plan instead of the files.
  std::map<std::string, Hash128> planned_files() const;
  void take_planned_files(const std::map<std::string, Hash128>& files);
  // Reads files by `read` and makes sure that what was read is what file_hash told of them. Throws RunError
  // where a file has changed since then.
  template <typename Read>
  auto read_as_planned(const std::vector<std::filesystem::path>& files, Read read) const {
    const std::vector<FileState> before = planned_states(files);
    auto result = read();
    expect_states(files, before);
    return result;
  }

  const std::filesystem::path& root() const { return root_; }

 private:
  struct KnownFile {
    FileState state;
    Hash128 hash;
  };
  void open_to_write() const;
  std::vector<FileState> planned_states(const std::vector<std::filesystem::path>& files) const;
  void expect_states(const std::vector<std::filesystem::path>& files,
                     const std::vector<FileState>& before) const;

  std::filesystem::path root_;
  StoreUse use_;
  mutable std::mutex mutex_;
  mutable FileDescriptor lock_;
  mutable bool writable_ = false;
  std::map<std::string, KnownFile> known_;
  std::set<std::string> asked_;
  bool planned_elsewhere_ = false;
  bool known_changed_ = false;
};

// A run that goes, and what that alone gives back: its files and the artifacts that no other run names.
struct RemovedRun {
  std::string name;
  uintmax_t bytes = 0;
};

struct CleanReport {
  size_t removed_files = 0;
  uintmax_t removed_bytes = 0;
  size_t kept_files = 0;
  std::vector<std::string> kept_runs;
  std::vector<RemovedRun> removed_runs;
};

// Keeps the `keep_last` newest runs under `runs` (each config of a name counts) and the artifacts that their
// manifests name; removes all other artifacts and runs, and what killed runs and cleaners left half done.
// Throws RunError while a run is active.
CleanReport clean_runs(const std::filesystem::path& runs, size_t keep_last, bool dry_run);

}  // namespace tunemix
