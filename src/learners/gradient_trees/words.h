// A document's gradient and hessian in one 64-bit word.
//
//   before packing:   | hessian (float) | gradient (float) |      as the objective writes them
//   after packing:    | gradient (int32, signed) | hessian (uint32) |
//                      63                      32 31             0
//
// Packed words are added and subtracted as 64-bit integers: hessians are not negative and their sum stays
// below 2^31, so nothing is ever carried into the gradient half, and both sums are exact in any order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tunemix::trees {

[[gnu::always_inline]] inline uint64_t raw_word(float gradient, float hessian) {
  return static_cast<uint64_t>(std::bit_cast<uint32_t>(hessian)) << 32 | std::bit_cast<uint32_t>(gradient);
}
[[gnu::always_inline]] inline float raw_gradient(uint64_t word) {
  return std::bit_cast<float>(static_cast<uint32_t>(word));
}
[[gnu::always_inline]] inline float raw_hessian(uint64_t word) {
  return std::bit_cast<float>(static_cast<uint32_t>(word >> 32));
}

[[gnu::always_inline]] inline int32_t packed_gradient(uint64_t word) {
  return static_cast<int32_t>(static_cast<uint32_t>(word >> 32));
}
[[gnu::always_inline]] inline int32_t packed_hessian(uint64_t word) {
  return static_cast<int32_t>(static_cast<uint32_t>(word));
}

// How many units a gradient or hessian of 1 has.
struct WordScale {
  float gradient = 1;
  float hessian = 1;
};

}  // namespace tunemix::trees
