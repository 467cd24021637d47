#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "data/decimal.h"
#include "data/letor_text.h"
#include "data/text_sink.h"
#include "tunemix/core/parallel.h"
#include "tunemix/data/letor_reader.h"

namespace tunemix {
namespace {

char* put_whole(char* to, uint64_t value) {
  if (value < 10) {
    *to = static_cast<char>('0' + value);
    return to + 1;
  }
  if (value < 100) {
    to[0] = static_cast<char>('0' + value / 10);
    to[1] = static_cast<char>('0' + value % 10);
    return to + 2;
  }
  const fmt::format_int text(value);
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

// `value` with at most `places` decimals, if that reads back to it; else nullptr.
char* put_fixed(char* to, float value, int places) {
  const double scale = decimal::kPow10[places];
  const auto scaled = static_cast<uint64_t>(
      static_cast<int64_t>(std::nearbyint(std::abs(static_cast<double>(value)) * scale)));
  const double back = static_cast<double>(static_cast<int64_t>(scaled)) / scale;
  if (static_cast<float>(back) != std::abs(value) || !decimal::rounds_to_float(back)) return nullptr;
  if (value < 0) *to++ = '-';
  const uint64_t unit = decimal::kWholePow10[places];
  to = put_whole(to, scaled / unit);
  uint64_t fraction = scaled % unit;
  if (fraction == 0) return to;
  *to++ = '.';
  for (int i = places; i-- > 0; fraction /= 10) to[i] = static_cast<char>('0' + fraction % 10);
  to += places;
  while (to[-1] == '0') --to;
  return to;
}

constexpr size_t kNumberBytes = 24;  // the longest is like -1.17549435e-38
constexpr size_t kIdBytes = 22;

// Text that reads back to exactly `value`.
char* put_number(char* to, float value) {
  if (value >= 0 && value < 1e6F && value == std::floor(value))
    return put_whole(to, static_cast<uint64_t>(static_cast<int64_t>(value)));
  const float size = std::abs(value);
  // Six decimals are what ranking files have; more digits than a float has would only look precise.
  char* end = nullptr;
  if (size < 10 && size >= 1e-4F)
    end = put_fixed(to, value, 6);
  else if (size >= 10 && size < 1e5F)
    end = put_fixed(to, value, size < 100 ? 5 : size < 1000 ? 4 : 2);
  return end != nullptr ? end : fmt::format_to(to, "{}", value);
}

}  // namespace

void append_letor_line(std::string& out, int32_t label, std::string_view query,
                       std::span<const float> features, std::string_view name, bool dense, bool keep_last) {
  const size_t before = out.size();
  out.resize(before + query.size() + name.size() + 64 + features.size() * (kNumberBytes + kIdBytes));
  char* to = put_whole(out.data() + before, static_cast<uint64_t>(label));
  to = std::copy_n(" qid:", 5, to);
  to = std::copy(query.begin(), query.end(), to);
  for (size_t j = 0; j < features.size(); ++j) {
    const bool last = keep_last && j + 1 == features.size();
    if (!dense && features[j] == 0 && !last) continue;
    *to++ = ' ';
    to = put_whole(to, j + 1);
    *to++ = ':';
    to = put_number(to, features[j]);
  }
  if (!name.empty()) {
    to = std::copy_n(" #docid = ", 10, to);
    to = std::copy(name.begin(), name.end(), to);
  }
  *to++ = '\n';
  out.resize(static_cast<size_t>(to - out.data()));
}

void write_letor(const Dataset& data, const std::filesystem::path& file, bool dense) {
  constexpr size_t kPieceBytes = size_t{1} << 20;
  ThreadPool one(1);
  TextSink sink(file);
  std::string out;
  for (size_t j = 0; j < data.feature_names().size(); ++j)
    if (const std::string_view name = data.feature_names()[j]; !name.empty())
      fmt::format_to(std::back_inserter(out), "#{}: {}\n", j + 1, name);
  for (size_t q = 0; q < data.queries().size(); ++q) {
    for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i)
      append_letor_line(out, data.labels()[i], data.queries().id(q), data.row(i),
                        data.names().size() > 0 ? data.names()[i] : std::string_view(), dense, i == 0);
    if (out.size() < kPieceBytes && q + 1 < data.queries().size()) continue;
    sink.append(std::span(&out, 1), one);
    out.clear();
  }
  sink.close();
}

void write_weights(const Dataset& data, const std::filesystem::path& file) {
  std::string out;
  for (size_t i = 0; i < data.documents(); ++i)
    fmt::format_to(std::back_inserter(out), "{}\n", data.weights().empty() ? 1.0F : data.weights()[i]);
  ThreadPool one(1);
  TextSink sink(file);
  sink.append(std::span(&out, 1), one);
  sink.close();
}

}  // namespace tunemix
