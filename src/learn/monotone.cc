#include "tunemix/learn/monotone.h"

#include <algorithm>
#include <charconv>

#include "tunemix/core/error.h"
#include "tunemix/core/text.h"

namespace tunemix {
namespace {

std::string trimmed(std::string_view text) {
  constexpr std::string_view kAround = " \t'\"";
  const size_t begin = text.find_first_not_of(kAround);
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(kAround) + 1 - begin));
}

// The number from 1 that the text is; 0 where it is none.
size_t number_of(const std::string& text) {
  size_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? number : 0;
}

}  // namespace

Monotone parse_monotone(std::string_view text) {
  std::string_view inside = text;
  if (inside.starts_with('{') && inside.ends_with('}')) inside = inside.substr(1, inside.size() - 2);
  Monotone result;
  if (trimmed(inside).empty()) return result;
  for (const std::string& part : split(inside, ',')) {
    const size_t colon = part.rfind(':');
    const std::string feature =
        colon == std::string::npos ? "" : trimmed(std::string_view(part).substr(0, colon));
    const std::string word =
        colon == std::string::npos ? "" : trimmed(std::string_view(part).substr(colon + 1));
    if (feature.empty() || (word != "increasing" && word != "decreasing"))
      throw_input(
          "monotone is '{}'; expected features, each with increasing or decreasing, such as {{bm25: "
          "increasing, "
          "7: decreasing}}",
          text);
    result.emplace_back(feature, word == "increasing" ? 1 : -1);
  }
  return result;
}

std::string to_text(const Monotone& monotone) {
  std::vector<std::string> parts;
  for (const auto& [feature, direction] : monotone)
    parts.push_back(fmt::format("{}: {}", feature, direction > 0 ? "increasing" : "decreasing"));
  return fmt::format("{{{}}}", join(parts, ", "));
}

Monotone numbered(const Monotone& monotone, const FeatureNames& names) {
  std::vector<std::pair<size_t, int8_t>> found;
  for (const auto& [feature, direction] : monotone) {
    size_t number = number_of(feature);
    if (const auto named = names.find(feature)) number = *named + 1;
    if (number == 0) {
      std::vector<std::string> known;
      for (size_t j = 0; j < names.size(); ++j)
        if (!names[j].empty()) known.emplace_back(names[j]);
      throw_input(
          "monotone names the feature '{}', and no feature is called so{}; expected a name, or a number from "
          "1",
          feature, did_you_mean(feature, known));
    }
    found.emplace_back(number, direction);
  }
  std::sort(found.begin(), found.end());
  Monotone result;
  for (size_t k = 0; k < found.size(); ++k) {
    if (k > 0 && found[k].first == found[k - 1].first)
      throw_input("monotone names feature {} twice; expected each once", found[k].first);
    result.emplace_back(fmt::format("{}", found[k].first), found[k].second);
  }
  return result;
}

std::vector<int8_t> directions(const Monotone& monotone, size_t features) {
  if (monotone.empty()) return {};
  std::vector<int8_t> result(features, 0);
  for (const auto& [feature, direction] : monotone) {
    const size_t number = number_of(feature);
    if (number == 0 || number > features)
      throw_input("monotone names feature {}, and the data has features 1 to {}", feature, features);
    result[number - 1] = direction;
  }
  return result;
}

}  // namespace tunemix
