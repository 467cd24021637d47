// Eight doubles at a time: exp and log without libm, so that loops vectorise and every machine gets the same
// bits. For kernel files (cmake/modules.cmake): all is inlined, or in the namespace of the instruction set.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "calibrate/lane_width.h"
#include "core/simd.h"

namespace tunemix::lanes {
inline namespace TUNEMIX_SET {

constexpr size_t kPartWidth = kVectorBytes / sizeof(double);
constexpr size_t kParts = kWidth / kPartWidth;
#define TUNEMIX_LANES inline __attribute__((always_inline))

typedef double Part __attribute__((vector_size(kVectorBytes)));
typedef uint64_t Bits __attribute__((vector_size(kVectorBytes)));

// All bits of a lane, or none.
struct Mask {
  Bits part[kParts];
};

// In as many registers as the machine needs for eight. Copied register by register: the compiler would copy
// the whole in smaller pieces, and then wait for these to be read again as one.
class V {
 public:
  V() = default;
  TUNEMIX_LANES V(const V& x) {
    for (size_t k = 0; k < kParts; ++k) part[k] = x.part[k];
  }
  TUNEMIX_LANES V& operator=(const V& x) {  // NOLINT(bugprone-unhandled-self-assignment): x may be this
    for (size_t k = 0; k < kParts; ++k) part[k] = x.part[k];
    return *this;
  }
  TUNEMIX_LANES V(double x) {
    for (size_t k = 0; k < kParts; ++k) part[k] = x - Part{};
  }

  TUNEMIX_LANES double operator[](size_t lane) const { return part[lane / kPartWidth][lane % kPartWidth]; }
  TUNEMIX_LANES V& operator+=(const V& y) {
    for (size_t k = 0; k < kParts; ++k) part[k] += y.part[k];
    return *this;
  }
  TUNEMIX_LANES V& operator-=(const V& y) {
    for (size_t k = 0; k < kParts; ++k) part[k] -= y.part[k];
    return *this;
  }
  TUNEMIX_LANES V& operator*=(const V& y) {
    for (size_t k = 0; k < kParts; ++k) part[k] *= y.part[k];
    return *this;
  }
  TUNEMIX_LANES V& operator/=(const V& y) {
    for (size_t k = 0; k < kParts; ++k) part[k] /= y.part[k];
    return *this;
  }
  friend TUNEMIX_LANES V operator+(V x, const V& y) { return x += y; }
  friend TUNEMIX_LANES V operator-(V x, const V& y) { return x -= y; }
  friend TUNEMIX_LANES V operator*(V x, const V& y) { return x *= y; }
  friend TUNEMIX_LANES V operator/(V x, const V& y) { return x /= y; }
  friend TUNEMIX_LANES V operator-(V x) {
    for (size_t k = 0; k < kParts; ++k) x.part[k] = -x.part[k];
    return x;
  }
  friend TUNEMIX_LANES Mask operator<(const V& x, const V& y) {
    Mask mask;
    for (size_t k = 0; k < kParts; ++k) mask.part[k] = std::bit_cast<Bits>(x.part[k] < y.part[k]);
    return mask;
  }
  friend TUNEMIX_LANES Mask operator==(const V& x, const V& y) {
    Mask mask;
    for (size_t k = 0; k < kParts; ++k) mask.part[k] = std::bit_cast<Bits>(x.part[k] == y.part[k]);
    return mask;
  }

  Part part[kParts];
};

TUNEMIX_LANES Part load_part(const double* p) {
  Part x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
TUNEMIX_LANES V load(const double* p) {
  V x;
  for (size_t k = 0; k < kParts; ++k) x.part[k] = load_part(p + k * kPartWidth);
  return x;
}
TUNEMIX_LANES void store_part(double* p, Part x) { std::memcpy(p, &x, sizeof x); }
TUNEMIX_LANES void store(double* p, const V& x) {
  for (size_t k = 0; k < kParts; ++k) store_part(p + k * kPartWidth, x.part[k]);
}
// x where the mask is set, else y.
TUNEMIX_LANES V select(const Mask& mask, V x, const V& y) {
  for (size_t k = 0; k < kParts; ++k) x.part[k] = mask.part[k] ? x.part[k] : y.part[k];
  return x;
}
TUNEMIX_LANES V min(const V& x, const V& y) { return select(x < y, x, y); }
TUNEMIX_LANES V max(const V& x, const V& y) { return select(y < x, x, y); }
TUNEMIX_LANES V abs(const V& x) { return select(x < 0, -x, x); }
TUNEMIX_LANES double sum(const V& x) {
  return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

// 1.5 * 2^52: adding it rounds to a whole number, which is then in the low bits.
constexpr double kShift = 6755399441055744.0;

// exp(x) for x <= 700; 0 below -708. Relative error about 2e-16; with `kShort` 1e-11, for a third less work.
template <bool kShort = false>
TUNEMIX_LANES V exp(const V& x) {
  const V y = max(x, -709.0);
  const V t = y * 1.4426950408889634 + kShift;
  const V n = t - kShift;
  const V r = (y - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  V p = 1.0 / 362880;
  if constexpr (!kShort) {
    p = 1.0 / 6227020800;
    p = p * r + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
  }
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r * r + r + 1.0;
  V power;  // 2^n
  for (size_t k = 0; k < kParts; ++k)
    power.part[k] = std::bit_cast<Part>((std::bit_cast<Bits>(t.part[k]) + 1023) << 52);
  return select(x < -708.0, 0, p * power);
}

// log(x) for normal positive x, to about 2e-16 plus rounding of the sum.
TUNEMIX_LANES V log(const V& x) {
  V m;  // the mantissa, in [sqrt(1/2), sqrt(2))
  V n;  // the exponent
  for (size_t k = 0; k < kParts; ++k) {
    constexpr uint64_t kBias = 1024;  // keeps the exponent positive
    const Bits bits = std::bit_cast<Bits>(x.part[k]);
    const Bits e = (bits - 0x3FE6A09E667F3BCD + (kBias << 52)) >> 52;
    m.part[k] = std::bit_cast<Part>(bits - ((e - kBias) << 52));
    n.part[k] = std::bit_cast<Part>(e - kBias + std::bit_cast<uint64_t>(kShift)) - kShift;
  }
  const V s = (m - 1.0) / (m + 1.0);
  const V q = s * s;
  V p = 2.0 / 21;
  p = p * q + 2.0 / 19;
  p = p * q + 2.0 / 17;
  p = p * q + 2.0 / 15;
  p = p * q + 2.0 / 13;
  p = p * q + 2.0 / 11;
  p = p * q + 2.0 / 9;
  p = p * q + 2.0 / 7;
  p = p * q + 2.0 / 5;
  p = p * q + 2.0 / 3;
  return n * 6.93147180369123816490e-01 + (n * 1.90821492927058770002e-10 + (s * (p * q) + 2.0 * s));
}

TUNEMIX_LANES V sigmoid(const V& x) {
  const V e = exp(-abs(x));
  return select(x < 0, e, 1) / (1.0 + e);
}

TUNEMIX_LANES V tanh(const V& x) {
  const V e = exp(-2.0 * abs(x));
  const V y = (1.0 - e) / (1.0 + e);
  return select(x < 0, -y, y);
}

}  // namespace TUNEMIX_SET
}  // namespace tunemix::lanes
