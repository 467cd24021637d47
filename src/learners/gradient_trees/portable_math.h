// Logarithm and exponential from basic operations only: the same bits on every machine, which the C library
// does not promise.
#pragma once

#include <bit>
#include <cstdint>

namespace tunemix::trees {

// For positive normal x; the error is a few units of 1e-16.
[[gnu::always_inline]] inline double portable_log2(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  int64_t exponent = static_cast<int64_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL);  // in [1, 2)
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  // ln m = 2 atanh t.
  const double t = (m - 1) / (m + 1);
  const double square = t * t;
  double sum = 0;
  for (int k = 21; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return static_cast<double>(exponent) + 2 * t * sum * 1.4426950408889634;
}

[[gnu::always_inline]] inline double portable_log(double x) { return portable_log2(x) * 0.6931471805599453; }

// e^x for x in [-700, 700] (values beyond are taken as these).
[[gnu::always_inline]] inline double portable_exp(double x) {
  x = x < -700 ? -700 : x > 700 ? 700 : x;
  const double shifted = x * 1.4426950408889634 + 0x1.8p52;  // rounds to a whole number
  const double whole = shifted - 0x1.8p52;
  const double rest =
      (x - whole * 0x1.62e42fefa0000p-1) - whole * 0x1.cf79abc9e3b3ap-40;  // |rest| <= ln 2 / 2
  double sum = 1;
  for (int k = 13; k >= 1; --k) sum = sum * (rest / k) + 1;
  const auto power = static_cast<uint64_t>(static_cast<int64_t>(whole) + 1023) << 52;
  return sum * std::bit_cast<double>(power);
}

}  // namespace tunemix::trees
