// Missing values of features: NaN, always of the same bits, so that equal data has equal bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <span>

namespace tunemix {

inline constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
inline bool is_missing(float value) { return value != value; }

inline bool any_missing(std::span<const float> values) {
  constexpr uint32_t kInfinity = 0x7f800000;
  // Of the bits, and without a branch, so that the loop is one of vectors.
  uint32_t found = 0;
  for (const float value : values)
    found |= (std::bit_cast<uint32_t>(value) & 0x7fffffffU) > kInfinity ? 1U : 0U;
  return found != 0;
}

}  // namespace tunemix
