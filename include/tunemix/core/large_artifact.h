// Artifacts too large to be held twice: written from parts, and read through a mapping of the file, which
// processes of one machine share; and how large one is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "tunemix/core/hash.h"

namespace tunemix {

// The parts one after the other as the payload, uncompressed; a file of the program's own (AtomicFile).
void write_large_artifact(const std::filesystem::path& path, std::string_view kind, uint32_t version,
                          std::span<const std::span<const uint8_t>> parts, const Hash128& key,
                          const std::filesystem::path& folder = {});

// How many bytes a file's payload unpacks to, known before it is. Throws InputError as parse_artifact does.
uint64_t payload_size(std::span<const uint8_t> file, const std::string& name);

class MappedArtifact {
 public:
  // Throws InputError when the file is not there, truncated, compressed, of another format, or fails its
  // checksum.
  explicit MappedArtifact(const std::filesystem::path& path);
  ~MappedArtifact();
  MappedArtifact(const MappedArtifact&) = delete;
  MappedArtifact& operator=(const MappedArtifact&) = delete;

  const std::string& kind() const { return kind_; }
  uint32_t version() const { return version_; }
  const Hash128& key() const { return key_; }
  std::span<const uint8_t> payload() const { return payload_; }

 private:
  void* mapped_ = nullptr;
  size_t size_ = 0;
  std::string kind_;
  uint32_t version_ = 0;
  Hash128 key_;
  std::span<const uint8_t> payload_;
};

}  // namespace tunemix
