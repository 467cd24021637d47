// Decimal text to float and back: a short path for the usual numbers, exact for all of them.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <bit>
#include <cstdint>
#include <cstring>

namespace tunemix::decimal {

inline uint64_t load8(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

// The number that the first `count` (0 to 8) bytes write: pairs, then fours, then all eight digits. Shifted
// in two halves, which leaves no digit of an empty number.
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

// Which of 16 bytes are digits and which are points, a bit each from the lowest.
struct ByteKinds {
  uint32_t digits;
  uint32_t points;
};

inline ByteKinds byte_kinds(const char* p) {
#if defined(__SSE2__)
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i from_zero = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
  const __m128i digits = _mm_cmpeq_epi8(_mm_min_epu8(from_zero, _mm_set1_epi8(9)), from_zero);
  const __m128i points = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('.'));
  return {static_cast<uint32_t>(_mm_movemask_epi8(digits)), static_cast<uint32_t>(_mm_movemask_epi8(points))};
#else
  ByteKinds kinds{0, 0};
  for (uint32_t i = 0; i < 16; ++i) {
    kinds.digits |= static_cast<uint32_t>(p[i] >= '0' && p[i] <= '9') << i;
    kinds.points |= static_cast<uint32_t>(p[i] == '.') << i;
  }
  return kinds;
#endif
}

// Reads `[+-]digits[.digits]` with at most 8 digits on either side, followed by a blank, a line end or '#'.
// Returns the place after it and sets `value` as a correctly rounded conversion would, -0 excepted (read as
// 0); nullptr when the number must be read some other way. May look at 24 bytes from p.
//
// The end of the number is found from one load, since the next number waits for it; there is no branch on
// whether there is a fraction, which is as good as random in ranking data.
inline const char* parse_short(const char* p, float& value) {
  const auto digit = static_cast<unsigned char>(*p - '0');
  if (digit < 10 && ends_number(p[1])) {
    value = static_cast<float>(digit);
    return p + 1;
  }
  const ByteKinds kinds = byte_kinds(p);
  const bool negative = *p == '-';
  const uint32_t sign = negative || *p == '+';
  const uint32_t ends = ~(kinds.digits | kinds.points | sign) | 0x10000U;
  const char* end = p + std::countr_zero(ends);
  const uint32_t points = kinds.points & (ends - 1) & ~ends;  // those before the end
  const char* point = p + std::countr_zero(points | ends);
  const char* first = p + sign;
  const auto whole = static_cast<uint32_t>(point - first);
  const auto fraction = static_cast<uint32_t>(end - point) - (points != 0);
  if (whole - 1 > 7 || fraction > 8 || (points & (points - 1)) != 0 || !ends_number(*end)) return nullptr;
  const uint64_t mantissa = digits_value(load8(first), static_cast<int>(whole)) * kWholePow10[fraction] +
                            digits_value(load8(point + 1), static_cast<int>(fraction));
  const double result = static_cast<double>(static_cast<int64_t>(mantissa)) / kPow10[fraction];
  if (mantissa >= (uint64_t{1} << 53) || !rounds_to_float(result)) return nullptr;
  const auto rounded = static_cast<float>(result);
  value = negative ? 0.0F - rounded : rounded;
  return end;
}

}  // namespace tunemix::decimal
