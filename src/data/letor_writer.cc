#include <fmt/format.h>

#include <cmath>

#include "data/decimal.h"
#include "data/letor_text.h"
#include "data/text_sink.h"
#include "tunemix/core/parallel.h"
#include "tunemix/data/letor_reader.h"

namespace tunemix {
namespace {

void append_whole(std::string& out, uint64_t value) {
  const fmt::format_int text(value);
  out.append(text.data(), text.size());
}

// `value` with at most `places` decimals, if that reads back to it.
bool append_fixed(std::string& out, float value, int places) {
  const auto scaled =
      static_cast<uint64_t>(std::nearbyint(std::abs(static_cast<double>(value)) * decimal::kPow10[places]));
  const double back = static_cast<double>(scaled) / decimal::kPow10[places];
  if (static_cast<float>(back) != std::abs(value) || !decimal::rounds_to_float(back)) return false;
  if (value < 0) out.push_back('-');
  const uint64_t unit = decimal::kWholePow10[places];
  append_whole(out, scaled / unit);
  uint64_t fraction = scaled % unit;
  if (fraction == 0) return true;
  char digits[8];
  for (int i = places; i-- > 0; fraction /= 10) digits[i] = static_cast<char>('0' + fraction % 10);
  int count = places;
  while (digits[count - 1] == '0') --count;
  out.push_back('.');
  out.append(digits, static_cast<size_t>(count));
  return true;
}

}  // namespace

void append_number(std::string& out, float value) {
  if (value >= 0 && value < 10 && value == std::floor(value)) {
    out.push_back(static_cast<char>('0' + static_cast<int>(value)));
    return;
  }
  const float size = std::abs(value);
  // Six decimals are what ranking files have; more digits than a float has would only look precise.
  if (size < 10 && size >= 1e-4F && append_fixed(out, value, 6)) return;
  if (size >= 10 && size < 1e7F && append_fixed(out, value, size < 100 ? 5 : size < 1000 ? 4 : 2)) return;
  fmt::format_to(std::back_inserter(out), "{}", value);
}

void append_letor_line(std::string& out, int32_t label, std::string_view query,
                       std::span<const float> features, std::string_view name, bool dense, bool keep_last) {
  append_whole(out, static_cast<uint64_t>(label));
  out.append(" qid:").append(query);
  for (size_t j = 0; j < features.size(); ++j) {
    const bool last = keep_last && j + 1 == features.size();
    if (!dense && features[j] == 0 && !last) continue;
    out.push_back(' ');
    append_whole(out, j + 1);
    out.push_back(':');
    append_number(out, features[j]);
  }
  if (!name.empty()) out.append(" #docid = ").append(name);
  out.push_back('\n');
}

void write_letor(const Dataset& data, const std::filesystem::path& file, bool dense) {
  constexpr size_t kPieceBytes = size_t{1} << 20;
  ThreadPool one(1);
  TextSink sink(file);
  std::string out;
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

}  // namespace tunemix
