// Checked little-endian files: magic, kind, version, key, payload (optionally zstd), checksum.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tunemix/core/error.h"
#include "tunemix/core/file.h"
#include "tunemix/core/hash.h"

namespace tunemix {

static_assert(std::endian::native == std::endian::little, "the file formats are little-endian");

class BinaryWriter {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void put(T value) { append(&value, sizeof value); }
  void put(std::string_view text) {
    put<uint64_t>(text.size());
    append(text.data(), text.size());
  }
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void put_span(std::span<const T> values) {
    put<uint64_t>(values.size());
    append(values.data(), values.size_bytes());
  }
  template <typename T>
  void put(const std::vector<T>& values) {
    put_span(std::span<const T>(values));
  }
  std::span<const uint8_t> bytes() const { return bytes_; }

 private:
  void append(const void* data, size_t size) {
    if (size == 0) return;
    bytes_.resize(bytes_.size() + size);
    std::memcpy(bytes_.data() + bytes_.size() - size, data, size);
  }
  std::vector<uint8_t> bytes_;
};

// Reads what BinaryWriter wrote; anything that does not fit throws InputError naming `source`.
class BinaryReader {
 public:
  BinaryReader(std::span<const uint8_t> bytes, std::string source)
      : bytes_(bytes), source_(std::move(source)) {}

  template <typename T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T> T get() {
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  std::string get_string() {
    const size_t size = get_count(1);
    const auto* p = take(size);
    return {reinterpret_cast<const char*>(p), size};
  }
  template <typename T>
  requires std::is_trivially_copyable_v<T> std::vector<T> get_vector() {
    const size_t size = get_count(sizeof(T));
    std::vector<T> values(size);
    if (size > 0) std::memcpy(values.data(), take(size * sizeof(T)), size * sizeof(T));
    return values;
  }
  // A count of items of `item_size` bytes that must still fit into what is left.
  size_t get_count(size_t item_size);
  void expect_end() const;
  [[noreturn]] void fail(std::string_view what) const;
  const std::string& source() const { return source_; }

 private:
  const uint8_t* take(size_t size);
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  std::string source_;
};

enum class Compression : uint8_t { kNone = 0, kZstd = 1 };

// `kind` names what is inside ("model", "bundle", ...); `version` is that kind's format version; `key`
// says which of its kind it is in a store, and is 0 in a file that users name.
std::vector<uint8_t> artifact_bytes(std::string_view kind, uint32_t version, std::span<const uint8_t> payload,
                                    Compression compression = Compression::kZstd, const Hash128& key = {});
// To a file that a user names.
void write_artifact(const std::filesystem::path& path, std::string_view kind, uint32_t version,
                    std::span<const uint8_t> payload, Compression compression = Compression::kZstd,
                    const Hash128& key = {});

struct Artifact {
  std::string kind;
  uint32_t version = 0;
  Hash128 key;
  std::vector<uint8_t> payload;
};
// Throws InputError when the bytes are truncated, of another format, or fail their checksum; `name` stands
// for the file in messages.
Artifact parse_artifact(std::span<const uint8_t> file, const std::string& name);
Artifact read_artifact(const std::filesystem::path& path);
// As above, and the kind must match and the version be at most `newest`.
Artifact read_artifact(const std::filesystem::path& path, std::string_view kind, uint32_t newest);
void expect_artifact(const Artifact& artifact, const std::string& name, std::string_view kind,
                     uint32_t newest);

// For loaders: NaN or infinity would spread into every score.
inline bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace tunemix
