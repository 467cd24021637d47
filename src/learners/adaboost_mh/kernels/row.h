// A row of int32, the sums of one bin or what a document adds to them, in vector registers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/simd.h"
#include "learners/adaboost_mh/histogram.h"

namespace tunemix::trees::TUNEMIX_SET {

// Keeps the compiler from working out what follows from how a value came about: two instructions then use it
// as it is, where they would share a sum of it and something else that needs an instruction of its own.
template <typename T>
inline T opaque(T value) {
  asm("" : "+r"(value));
  return value;
}

template <size_t kBytes>
bool has_bits(const void* vector) {
  uint64_t words[kBytes / 8];
  std::memcpy(words, vector, sizeof words);
  uint64_t bits = 0;
  for (const uint64_t word : words) bits |= word;
  return bits != 0;
}

//   lanes   0 1 2 .. | ..       | .. R-1      R is 4, 8, 16, 32 or 64
//           part[0]    part[1]    part[2]     of a register each; one alone where the row is shorter than
//           that
template <size_t R>
struct Row {
  static constexpr size_t kBytes = std::min(R * 4, kVectorBytes);
  static constexpr size_t kParts = R * 4 / kBytes;
  typedef int32_t Vector __attribute__((vector_size(kBytes), aligned(4), may_alias));
  Vector part[kParts] = {};

  // Of weights, rounded down after adding the offset.
  static Row fixed_point(const float* weights, float scale, float offset) {
    int32_t q[R];
    for (size_t l = 0; l < R; ++l) q[l] = trees::fixed_point(weights[l], scale, offset);
    return load(q);
  }
  static Row below(size_t lane) {  // all bits of the lanes before this one
    int32_t mask[R];
    for (size_t l = 0; l < R; ++l) mask[l] = l < lane ? -1 : 0;
    return load(mask);
  }
  void keep(const Row& mask) {
    for (size_t k = 0; k < kParts; ++k) part[k] &= mask.part[k];
  }
  // Lane l from lane from[l].
  Row shuffled(const int32_t* from) const {
#if __has_builtin(__builtin_shuffle)
    if constexpr (kParts == 1) {
      Row row;
      row.part[0] = __builtin_shuffle(part[0], load(from).part[0]);
      return row;
    }
#endif
    int32_t before[R];
    int32_t after[R];
    store(before);
    for (size_t l = 0; l < R; ++l) after[l] = before[from[l]];
    return load(after);
  }
  static Row load(const int32_t* p) {
    Row row;
    for (size_t k = 0; k < kParts; ++k) row.part[k] = *reinterpret_cast<const Vector*>(p + k * kBytes / 4);
    return row;
  }
  void store(int32_t* p) const {
    for (size_t k = 0; k < kParts; ++k) *reinterpret_cast<Vector*>(p + k * kBytes / 4) = part[k];
  }
  void add(const Row& other) {
    for (size_t k = 0; k < kParts; ++k) part[k] += other.part[k];
  }
  void merge(const Row& other) {
    for (size_t k = 0; k < kParts; ++k) part[k] |= other.part[k];
  }
  bool is_zero() const {
    Vector any = part[0];
    for (size_t k = 1; k < kParts; ++k) any |= part[k];
    return !has_bits<kBytes>(&any);
  }
  // To what is `offset` bytes from `base`.
  void add_to(int32_t* base, size_t offset) const {
    Vector sum[kParts];
    for (size_t k = 0; k < kParts; ++k) sum[k] = part[k] + *at(base, offset, k);
    const size_t same_offset = opaque(offset);
    for (size_t k = 0; k < kParts; ++k) *at(base, same_offset, k) = sum[k];
  }

 private:
  static Vector* at(int32_t* base, size_t offset, size_t k) {
    return reinterpret_cast<Vector*>(reinterpret_cast<char*>(base) + k * kBytes + offset);
  }
};

// The lanes of `a`, then those of `b`.
template <size_t R>
Row<2 * R> joined(const Row<R>& a, const Row<R>& b) {
  Row<2 * R> row;
  if constexpr (Row<2 * R>::kParts == 2 * Row<R>::kParts) {
    for (size_t k = 0; k < Row<R>::kParts; ++k) {
      row.part[k] = a.part[k];
      row.part[Row<R>::kParts + k] = b.part[k];
    }
  } else {
    row.part[0] = [&]<size_t... kLane>(std::index_sequence<kLane...>) {
      return __builtin_shufflevector(a.part[0], b.part[0], kLane...);
    }
    (std::make_index_sequence<2 * R>());
  }
  return row;
}

}  // namespace tunemix::trees::TUNEMIX_SET
