#include "tunemix/data/feature_names.h"

#include <algorithm>
#include <charconv>

#include "tunemix/core/error.h"
#include "tunemix/core/file.h"

namespace tunemix {
namespace {

constexpr size_t kMostFeatures = 100000000;
constexpr size_t kLongestName = 1000;
constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

// The bytes of the UTF-8 character at the beginning of the text; 0 where there is none.
size_t character_bytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead < 0xf5                 ? 4
                                                      : 0;
  if (lead < 0xc2 || length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // Overlong forms, surrogates, and what is above the last code point.
  const unsigned char second = byte(1);
  const bool good = (lead != 0xe0 || second >= 0xa0) && (lead != 0xed || second < 0xa0) &&
                    (lead != 0xf0 || second >= 0x90) && (lead != 0xf4 || second < 0x90);
  return good ? length : 0;
}

void expect_printable(std::string_view name) {
  for (std::string_view rest = name; !rest.empty();) {
    const size_t bytes = character_bytes(rest);
    if (bytes == 0) throw_input("a name that is no UTF-8; expected text");
    if (const auto c = static_cast<unsigned char>(rest[0]); c < 0x20 || c == 0x7f)
      throw_input("a name with a control character; expected text");
    rest.remove_prefix(bytes);
  }
}

struct NumberedName {
  size_t number = 0;
  std::string_view name;
};

// `NUMBER: name` or, where a colon may be missing, `NUMBER name`.
std::optional<NumberedName> numbered(std::string_view line, bool colon_needed) {
  NumberedName result;
  const char* end = line.data() + line.size();
  const auto [stop, error] = std::from_chars(line.data(), end, result.number);
  if (error != std::errc() || stop == end) return std::nullopt;
  std::string_view rest(stop, static_cast<size_t>(end - stop));
  const bool blank = kBlanks.find(rest[0]) != std::string_view::npos;
  rest = trimmed(rest);
  const bool colon = rest.starts_with(':');
  if (colon) rest = trimmed(rest.substr(1));
  if ((colon_needed && !colon) || (!colon && !blank) || rest.empty()) return std::nullopt;
  result.name = rest;
  return result;
}

// Calls body(line, number) for each line, numbers from 1, until it returns false.
template <typename Body>
void for_each_line(std::string_view text, Body body) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (!body(trimmed(text.substr(0, end)), ++number)) return;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void set_at(FeatureNames& names, size_t number, std::string_view name, const std::string& source,
            size_t line) {
  if (number < 1 || number > kMostFeatures)
    throw_input("{}:{}: feature {}; expected a number from 1 to {}", source, line, number, kMostFeatures);
  if (!names[number - 1].empty())
    throw_input("{}:{}: feature {} has a name already; expected one for each", source, line, number);
  try {
    names.set(number - 1, std::string(name));
  } catch (const InputError& error) {
    throw_input("{}:{}: {}", source, line, error.what());
  }
}

}  // namespace

void FeatureNames::set(size_t feature, std::string name) {
  if (name.empty()) throw_input("feature {} has an empty name; expected text", feature + 1);
  if (name.size() > kLongestName)
    throw_input("feature {} has a name of {} bytes; expected at most {}", feature + 1, name.size(),
                kLongestName);
  expect_printable(name);
  if (const auto other = find(name); other && *other != feature)
    throw_input("features {} and {} are both called '{}'; expected different names", *other + 1, feature + 1,
                name);
  if (const auto old = names_.find(feature); old != names_.end()) features_.erase(old->second);
  features_[name] = feature;
  names_[feature] = std::move(name);
}

std::string FeatureNames::label(size_t feature) const {
  const std::string_view name = (*this)[feature];
  return name.empty() ? fmt::format("{}", feature + 1) : std::string(name);
}

std::optional<size_t> FeatureNames::find(std::string_view name) const {
  const auto at = features_.find(name);
  if (at == features_.end()) return std::nullopt;
  return at->second;
}

FeatureNames FeatureNames::first(size_t count) const {
  FeatureNames result;
  for (auto at = names_.begin(); at != names_.lower_bound(count); ++at) result.set(at->first, at->second);
  return result;
}

void FeatureNames::save(BinaryWriter& out) const {
  out.put<uint64_t>(names_.size());
  for (const auto& [feature, name] : names_) {
    out.put<uint64_t>(feature);
    out.put(name);
  }
}

FeatureNames FeatureNames::load(BinaryReader& in) {
  FeatureNames result;
  const size_t count = in.get_count(2 * sizeof(uint64_t));
  for (size_t i = 0; i < count; ++i) {
    const auto feature = in.get<uint64_t>();
    if (feature >= kMostFeatures) in.fail("a name of no feature");
    try {
      result.set(feature, in.get_string());
    } catch (const InputError& error) {
      in.fail(error.what());
    }
  }
  if (result.names_.size() != count) in.fail("a feature has two names");
  return result;
}

FeatureNames read_feature_names(const std::filesystem::path& file, std::optional<size_t> features) {
  return parse_feature_names(read_text_file(file), file.string(), features);
}

FeatureNames parse_feature_names(std::string_view text, const std::string& source,
                                 std::optional<size_t> features) {
  FeatureNames names;
  std::optional<bool> with_numbers;  // as the first name has it
  size_t last = 0;                   // line with a name, in a list without numbers
  for_each_line(text, [&](std::string_view line, size_t number) {
    if (line.empty()) return true;
    const auto found = numbered(line, false);
    if (!with_numbers) with_numbers = found.has_value();
    if (*with_numbers) {
      if (!found)
        throw_input("{}:{}: '{}' without a number; expected `NUMBER name`, as the first line has it", source,
                    number, line.substr(0, 40));
      set_at(names, found->number, found->name, source, number);
      return true;
    }
    if (number != last + 1)
      throw_input("{}:{}: a name after an empty line; expected one name a line, that of feature 1 first",
                  source, number);
    set_at(names, ++last, line, source, number);
    return true;
  });
  if (names.empty()) throw_input("{}: no names; expected one a line, or lines `NUMBER name`", source);
  if (!features) return names;
  if (!*with_numbers && names.size() < *features)
    throw_input("{}: {} names and the data has {} features; expected one a line, or lines `NUMBER name`",
                source, names.size(), *features);
  return names.first(*features);
}

FeatureNames names_in_header(std::string_view text, const std::string& source) {
  FeatureNames names;
  for_each_line(text, [&](std::string_view line, size_t number) {
    if (line.empty()) return true;
    if (!line.starts_with('#')) return false;
    if (const auto found = numbered(trimmed(line.substr(1)), true))
      set_at(names, found->number, found->name, source, number);
    return true;
  });
  return names;
}

}  // namespace tunemix
