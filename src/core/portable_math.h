// exp and log without libm, whose results differ between machines; plain enough for loops to be vectorised.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tunemix {

// Within 2 ulp for |x| <= 700, cut off there.
inline double portable_exp(double x) {
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kLn2High = 0x1.62e42fee00000p-1;  // few enough bits that n times it is exact
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  constexpr double kShift = 0x1.8p52;  // adding it rounds to a whole number, kept in the low bits
  x = std::min(700.0, std::max(-700.0, x));
  const double shifted = x * kLog2E + kShift;
  const double n = shifted - kShift;
  const double r = (x - n * kLn2High) - n * kLn2Low;
  double sum = 1.0 / 479001600;
  sum = sum * r + 1.0 / 39916800;
  sum = sum * r + 1.0 / 3628800;
  sum = sum * r + 1.0 / 362880;
  sum = sum * r + 1.0 / 40320;
  sum = sum * r + 1.0 / 5040;
  sum = sum * r + 1.0 / 720;
  sum = sum * r + 1.0 / 120;
  sum = sum * r + 1.0 / 24;
  sum = sum * r + 1.0 / 6;
  sum = sum * r + 1.0 / 2;
  sum = sum * (r * r) + r;  // the terms above r, then r; 1 comes last, being the largest
  const double power = std::bit_cast<double>((std::bit_cast<uint64_t>(shifted) + 1023) << 52);
  return power * sum + power;
}

// log2 of a positive normal x, within a few units of 1e-16.
inline double portable_log2(double x) {
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

// For normal x > 0: x = 2^n m with m near 1, log m = 2 atanh((m - 1) / (m + 1)).
inline double portable_log(double x) {
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  const auto bits = std::bit_cast<uint64_t>(x);
  // So that m is in [0.7, 1.4): the series is short, and x near 1 loses nothing.
  const uint64_t above = bits - 0x3fe6666666666666ULL;
  const auto n = static_cast<double>(static_cast<int64_t>(above) >> 52);
  const double m = std::bit_cast<double>(bits - (above & 0xfff0000000000000ULL));
  const double z = (m - 1) / (m + 1);
  const double z2 = z * z;
  double sum = 1.0 / 23;
  for (const double odd : {21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0})
    sum = sum * z2 + 1.0 / odd;
  return n * kLn2 + (2 * z + 2 * z * z2 * sum);
}

}  // namespace tunemix
