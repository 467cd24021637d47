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

// What the hash of a file is that is not there: an error, or what it was when it was last seen.
enum class MissingFiles { kRefuse, kRemember };

class ArtifactStore {
 public:
  // Creates the folder; takes a shared lock on it, so that a cleaner keeps away while a run is active.
  explicit ArtifactStore(std::filesystem::path root);
  ~ArtifactStore();
  ArtifactStore(const ArtifactStore&) = delete;
  ArtifactStore& operator=(const ArtifactStore&) = delete;

  std::filesystem::path path_of(std::string_view kind, const Hash128& key) const;
  bool contains(std::string_view kind, const Hash128& key) const;
  void save(std::string_view kind, const Hash128& key, uint32_t version, std::span<const uint8_t> payload,
            Compression compression = Compression::kZstd) const;
  // Nothing where the artifact is missing. A damaged one is named in a warning, removed, and counts as
  // missing.
  std::optional<std::vector<uint8_t>> load(std::string_view kind, const Hash128& key, uint32_t version,
                                           const Context& context) const;

  // The hash of a file's bytes; remembered by path, size and time of change, so that an unchanged file is not
  // read.
  Hash128 file_hash(const std::filesystem::path& file, MissingFiles missing = MissingFiles::kRefuse);
  bool remembers(const std::filesystem::path& file) const;
  void save_file_hashes();

  const std::filesystem::path& root() const { return root_; }

 private:
  struct KnownFile {
    uintmax_t size = 0;
    int64_t time = 0;
    Hash128 hash;
  };
  std::filesystem::path root_;
  int lock_ = -1;
  mutable std::mutex mutex_;
  std::map<std::string, KnownFile> known_;
  bool known_changed_ = false;
};

struct CleanReport {
  size_t removed_files = 0;
  uintmax_t removed_bytes = 0;
  size_t kept_files = 0;
  std::vector<std::string> kept_runs;
  std::vector<std::string> removed_runs;
};

// Keeps the `keep_last` newest runs under `runs` and the artifacts that their manifests name; removes all
// other artifacts and runs, and what killed runs left half written. Throws RunError while a run is active.
CleanReport clean_runs(const std::filesystem::path& runs, size_t keep_last, bool dry_run);

}  // namespace tunemix
