// Decimal text to float and back: a short path for the usual numbers, exact for all of them.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace tunemix::decimal {

inline uint64_t load8(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

// How many of the 8 bytes, from the first, are digits. A borrow or carry only spoils bytes after the first
// one that is no digit.
inline int leading_digits(uint64_t word) {
  const uint64_t other =
      ((word + 0x4646464646464646ULL) | (word - 0x3030303030303030ULL)) & 0x8080808080808080ULL;
  return other == 0 ? 8 : std::countr_zero(other) >> 3;
}

// The number that the first `count` (0 to 8) bytes write: pairs, then fours, then all eight digits. Shifted
// in two halves, so that none of the digits are left when there are none.
inline uint64_t digits_value(uint64_t word, int count) {
  const int half = 32 - 4 * count;
  uint64_t v = (word - 0x3030303030303030ULL) << half << half;
  v = (v * 10 + (v >> 8)) & 0x00ff00ff00ff00ffULL;
  v = (v * 100 + (v >> 16)) & 0x0000ffff0000ffffULL;
  return (v * 10000 + (v >> 32)) & 0xffffffffULL;
}

inline constexpr double kPow10[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
inline constexpr uint64_t kWholePow10[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

inline bool ends_number(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '#'; }

// Rounding to double first is harmless unless it lands on the middle between two floats. Holds for results in
// float's normal range, and 0.
inline bool rounds_to_float(double d) {
  return (std::bit_cast<uint64_t>(d) & 0x1fffffffULL) != 0x10000000ULL;
}

// Reads `[+-]digits[.digits]` with at most 8 digits on either side, followed by a blank, a line end or '#'.
// Returns the place after it and sets `value` as a correctly rounded conversion would, -0 excepted (read as
// 0); nullptr when the number must be read some other way. May look at 24 bytes from p.
inline const char* parse_short(const char* p, float& value) {
  const auto first = static_cast<unsigned char>(*p - '0');
  if (first < 10 && ends_number(p[1])) {
    value = static_cast<float>(first);
    return p + 1;
  }
  const bool negative = *p == '-';
  p += negative || *p == '+';
  const uint64_t first_word = load8(p);
  const int whole = leading_digits(first_word);
  p += whole;
  // No branch on whether there is a fraction: that is as good as random in ranking data.
  const bool point = *p == '.';
  p += point;
  const uint64_t second_word = load8(p);
  const int fraction = leading_digits(second_word) & -static_cast<int>(point);
  p += fraction;
  const uint64_t mantissa =
      digits_value(first_word, whole) * kWholePow10[fraction] + digits_value(second_word, fraction);
  if (whole == 0 || mantissa >= (uint64_t{1} << 53)) return nullptr;
  const double result = static_cast<double>(static_cast<int64_t>(mantissa)) / kPow10[fraction];
  if (!ends_number(*p) || !rounds_to_float(result)) return nullptr;
  const auto rounded = static_cast<float>(result);
  value = negative ? 0.0F - rounded : rounded;
  return p;
}

}  // namespace tunemix::decimal
