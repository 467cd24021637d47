#include "tunemix/core/hash.h"

#include <fmt/format.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

#include <charconv>

#include "tunemix/core/error.h"

namespace tunemix {

std::string Hash128::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

Hash128 Hash128::from_hex(std::string_view text) {
  Hash128 hash;
  auto parse = [&](size_t at, uint64_t& word) {
    const char* end = text.data() + at + 16;
    const auto result = std::from_chars(text.data() + at, end, word, 16);
    return result.ec == std::errc() && result.ptr == end;
  };
  if (text.size() != 32 || !parse(0, hash.high) || !parse(16, hash.low))
    throw_input("'{}' is not a hash: expected 32 hexadecimal digits", text);
  return hash;
}

struct Hasher::State {
  XXH3_state_t xxh;
};

Hasher::Hasher() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->xxh); }
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

Hasher& Hasher::bytes(const void* data, size_t size) {
  XXH3_128bits_update(&state_->xxh, data, size);
  return *this;
}

Hasher& Hasher::text(std::string_view value) {
  number(value.size());
  return bytes(value.data(), value.size());
}

Hasher& Hasher::number(uint64_t value) { return bytes(&value, sizeof value); }

Hash128 Hasher::digest() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->xxh);
  return {hash.high64, hash.low64};
}

Hash128 hash_bytes(const void* data, size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(data, size);
  return {hash.high64, hash.low64};
}

uint64_t checksum64(const void* data, size_t size) { return XXH3_64bits(data, size); }

}  // namespace tunemix
