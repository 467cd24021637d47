// 128-bit content hashes (XXH3): dataset fingerprints, artifact keys, checksums.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tunemix {

struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const Hash128&) const = default;
  std::string hex() const;                         // 32 lower-case digits
  static Hash128 from_hex(std::string_view text);  // throws InputError
};

// Hashes a sequence of byte runs; equal to hashing their concatenation.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  Hasher& bytes(const void* data, size_t size);
  Hasher& text(std::string_view value);  // with its length, so that ("ab","c") differs from ("a","bc")
  Hasher& number(uint64_t value);
  Hasher& hash(const Hash128& value) { return number(value.high).number(value.low); }
  template <typename T>
  Hasher& values(std::span<const T> v) {
    number(v.size());
    return bytes(v.data(), v.size_bytes());
  }
  Hash128 digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Hash128 hash_bytes(const void* data, size_t size);
uint64_t checksum64(const void* data, size_t size);

}  // namespace tunemix
