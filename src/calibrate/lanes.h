// Eight doubles at a time: exp and log without libm, so that loops vectorise and every machine gets the same
// bits.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tunemix::lanes {

constexpr size_t kWidth = 8;
typedef double V __attribute__((vector_size(64)));
typedef int64_t I __attribute__((vector_size(64)));
typedef double Unaligned __attribute__((vector_size(64), aligned(8), may_alias));
#define TUNEMIX_LANES inline __attribute__((always_inline))

TUNEMIX_LANES V splat(double x) { return V{x, x, x, x, x, x, x, x}; }
TUNEMIX_LANES V load(const double* p) { return *reinterpret_cast<const Unaligned*>(p); }
TUNEMIX_LANES void store(double* p, V x) { *reinterpret_cast<Unaligned*>(p) = x; }
TUNEMIX_LANES V min(V x, V y) { return x < y ? x : y; }
TUNEMIX_LANES V max(V x, V y) { return x > y ? x : y; }
TUNEMIX_LANES V abs(V x) { return x < 0 ? -x : x; }
TUNEMIX_LANES double sum(V x) { return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])); }

// exp(x) for x <= 700; 0 below -708. Relative error about 2e-16; with `kShort` 1e-11, for a third less work.
template <bool kShort = false>
TUNEMIX_LANES V exp(V x) {
  const V shift = splat(6755399441055744.0);  // 1.5 * 2^52: adding it rounds to a whole number
  const V y = max(x, splat(-709.0));
  const V t = y * 1.4426950408889634 + shift;
  const V n = t - shift;
  const V r = (y - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  V p = splat(1.0 / 362880);
  if constexpr (!kShort) {
    p = splat(1.0 / 6227020800);
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
  const I exponent = (std::bit_cast<I>(t) + 1023) << 52;  // the low bits of t hold n
  const V result = p * std::bit_cast<V>(exponent);
  return x < splat(-708.0) ? splat(0) : result;
}

// log(x) for normal positive x, to about 2e-16 plus rounding of the sum.
TUNEMIX_LANES V log(V x) {
  const I bits = std::bit_cast<I>(x);
  // The mantissa moves to [sqrt(1/2), sqrt(2)).
  const I e = (bits - 0x3FE6A09E667F3BCDll) >> 52;
  const I mantissa = bits - (e << 52);
  const V m = std::bit_cast<V>(mantissa);
  const V s = (m - 1.0) / (m + 1.0);
  const V q = s * s;
  V p = splat(2.0 / 21);
  p = p * q + 2.0 / 19;
  p = p * q + 2.0 / 17;
  p = p * q + 2.0 / 15;
  p = p * q + 2.0 / 13;
  p = p * q + 2.0 / 11;
  p = p * q + 2.0 / 9;
  p = p * q + 2.0 / 7;
  p = p * q + 2.0 / 5;
  p = p * q + 2.0 / 3;
  const V n = __builtin_convertvector(e, V);
  return n * 6.93147180369123816490e-01 + (n * 1.90821492927058770002e-10 + (s * (p * q) + 2.0 * s));
}

TUNEMIX_LANES V sigmoid(V x) {
  const V e = exp(-abs(x));
  return (x < 0 ? e : splat(1)) / (1.0 + e);
}

TUNEMIX_LANES V tanh(V x) {
  const V e = exp(-2.0 * abs(x));
  const V y = (1.0 - e) / (1.0 + e);
  return x < 0 ? -y : y;
}

}  // namespace tunemix::lanes
