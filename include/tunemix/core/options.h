// Describes the fields of a plain options struct once: name, range, one line of doc. The command line (`--set
// key=value`), the YAML config and the reference in docs/ are all made from this table.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tunemix/core/error.h"
#include "tunemix/core/text.h"

namespace tunemix {

template <typename Struct>
class OptionTable {
 public:
  struct Entry {
    std::string name;
    std::string expected;  // "a whole number from 2 to 256", "one of: edge, energy"
    std::string doc;
    std::function<void(Struct&, std::string_view)> set;  // throws InputError("...; expected ...")
    std::function<std::string(const Struct&)> get;       // as text that `set` reads back exactly
  };

  // A whole or real number in [low, high].
  template <typename T>
  requires std::is_arithmetic_v<T> OptionTable& number(std::string name, T Struct::*member, T low, T high,
                                                       std::string doc) {
    constexpr bool kWhole = std::is_integral_v<T>;
    const std::string expected =
        fmt::format("a {} from {} to {}", kWhole ? "whole number" : "number", low, high);
    entries_.push_back({name, expected, std::move(doc),
                        [=](Struct& s, std::string_view text) {
                          T value{};
                          const char* end = text.data() + text.size();
                          const auto result = std::from_chars(text.data(), end, value);
                          // Written so that NaN is out of range.
                          const bool inside = value >= low && value <= high;
                          if (result.ec != std::errc() || result.ptr != end || !inside)
                            fail(name, text, expected);
                          s.*member = value;
                        },
                        [=](const Struct& s) { return fmt::format("{}", s.*member); }});
    return *this;
  }

  OptionTable& flag(std::string name, bool Struct::*member, std::string doc) {
    const std::string expected = "true or false";
    entries_.push_back({name, expected, std::move(doc),
                        [=](Struct& s, std::string_view text) {
                          if (text != "true" && text != "false") fail(name, text, expected);
                          s.*member = text == "true";
                        },
                        [=](const Struct& s) { return s.*member ? "true" : "false"; }});
    return *this;
  }

  // One of several words, each with the value that it stands for.
  template <typename T>
  OptionTable& choice(std::string name, T Struct::*member, std::vector<std::pair<std::string, T>> values,
                      std::string doc) {
    std::vector<std::string> words;
    for (const auto& value : values) words.push_back(value.first);
    const std::string expected = "one of: " + join(words, ", ");
    entries_.push_back({name, expected, std::move(doc),
                        [=](Struct& s, std::string_view text) {
                          for (const auto& [word, value] : values)
                            if (word == text) {
                              s.*member = value;
                              return;
                            }
                          fail(name, text, expected + did_you_mean(text, words));
                        },
                        [=](const Struct& s) {
                          for (const auto& [word, value] : values)
                            if (value == s.*member) return word;
                          throw InternalError("an option holds a value without a name");
                        }});
    return *this;
  }

  // A list of such words, each once; one alone is written without brackets.
  template <typename T>
  OptionTable& choices(std::string name, std::vector<T> Struct::*member,
                       std::vector<std::pair<std::string, T>> values, std::string doc) {
    std::vector<std::string> words;
    for (const auto& value : values) words.push_back(value.first);
    const std::string expected = "a list of: " + join(words, ", ");
    entries_.push_back({name, expected, std::move(doc),
                        [=](Struct& s, std::string_view text) {
                          std::vector<T> result;
                          for (const std::string& item : list_items(text)) {
                            const auto at = std::find(words.begin(), words.end(), item);
                            if (at == words.end()) fail(name, item, expected + did_you_mean(item, words));
                            const T value = values[static_cast<size_t>(at - words.begin())].second;
                            if (std::find(result.begin(), result.end(), value) != result.end())
                              fail(name, text, fmt::format("each word once; '{}' occurs twice", item));
                            result.push_back(value);
                          }
                          if (result.empty()) fail(name, text, expected);
                          s.*member = std::move(result);
                        },
                        [=](const Struct& s) {
                          std::vector<std::string> chosen;
                          for (const T value : s.*member)
                            for (const auto& [word, stands_for] : values)
                              if (stands_for == value) chosen.push_back(word);
                          return chosen.size() == 1 ? chosen[0] : "[" + join(chosen, ", ") + "]";
                        }});
    return *this;
  }

  // Any text, as it stands.
  OptionTable& text(std::string name, std::string Struct::*member, std::string expected, std::string doc) {
    entries_.push_back({std::move(name), std::move(expected), std::move(doc),
                        [=](Struct& s, std::string_view value) { s.*member = std::string(value); },
                        [=](const Struct& s) { return s.*member; }});
    return *this;
  }

  // A list of different words, written `[a, b]` or `a,b`.
  OptionTable& words(std::string name, std::vector<std::string> Struct::*member,
                     std::vector<std::string> allowed, std::string doc) {
    const std::string expected = "a list of: " + join(allowed, ", ");
    entries_.push_back({name, expected, std::move(doc),
                        [=](Struct& s, std::string_view value) {
                          std::vector<std::string> result;
                          for (const std::string& word : list_items(value)) {
                            if (std::find(allowed.begin(), allowed.end(), word) == allowed.end())
                              fail(name, word, expected + did_you_mean(word, allowed));
                            if (std::find(result.begin(), result.end(), word) != result.end())
                              fail(name, value, fmt::format("each word once; '{}' occurs twice", word));
                            result.push_back(word);
                          }
                          s.*member = std::move(result);
                        },
                        [=](const Struct& s) { return "[" + join(s.*member, ", ") + "]"; }});
    return *this;
  }

  // A list of whole or real numbers in [low, high], written `[1, 2]` or `1,2`.
  template <typename T>
  requires std::is_arithmetic_v<T> OptionTable& numbers(std::string name, std::vector<T> Struct::*member,
                                                        std::type_identity_t<T> low,
                                                        std::type_identity_t<T> high, std::string doc) {
    const std::string expected = fmt::format("a list of {} from {} to {}",
                                             std::is_integral_v<T> ? "whole numbers" : "numbers", low, high);
    entries_.push_back({name, expected, std::move(doc),
                        [=](Struct& s, std::string_view value) {
                          std::vector<T> result;
                          for (const std::string& item : list_items(value)) {
                            T number{};
                            const char* end = item.data() + item.size();
                            const auto parsed = std::from_chars(item.data(), end, number);
                            const bool inside = number >= low && number <= high;
                            if (parsed.ec != std::errc() || parsed.ptr != end || !inside)
                              fail(name, item, expected);
                            result.push_back(number);
                          }
                          s.*member = std::move(result);
                        },
                        [=](const Struct& s) { return fmt::format("[{}]", fmt::join(s.*member, ", ")); }});
    return *this;
  }

  // A value with a grammar of its own: `set` throws InputError by itself, `get` writes what `set` reads.
  OptionTable& custom(std::string name, std::string expected,
                      std::function<void(Struct&, std::string_view)> set,
                      std::function<std::string(const Struct&)> get, std::string doc) {
    entries_.push_back(
        {std::move(name), std::move(expected), std::move(doc), std::move(set), std::move(get)});
    return *this;
  }

  const std::vector<Entry>& entries() const { return entries_; }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const Entry& entry : entries_) result.push_back(entry.name);
    return result;
  }
  const Entry& entry(std::string_view name) const {
    for (const Entry& entry : entries_)
      if (entry.name == name) return entry;
    const std::vector<std::string> known = names();
    throw_input("unknown option '{}'{}; expected one of: {}", name, did_you_mean(name, known),
                join(known, ", "));
  }
  void set(Struct& s, std::string_view name, std::string_view text) const { entry(name).set(s, text); }

 private:
  // The items of `[a, b]` or `a,b` without the blanks around them; `[]` has none.
  static std::vector<std::string> list_items(std::string_view value) {
    if (value.starts_with('[') && value.ends_with(']')) value = value.substr(1, value.size() - 2);
    std::vector<std::string> items;
    for (const std::string& part : split(value, ',')) {
      const size_t begin = part.find_first_not_of(' ');
      if (begin != std::string::npos)
        items.push_back(part.substr(begin, part.find_last_not_of(' ') - begin + 1));
    }
    return items;
  }

  [[noreturn]] static void fail(std::string_view name, std::string_view text, std::string_view expected) {
    throw_input("{} is '{}'; expected {}", name, text, expected);
  }
  std::vector<Entry> entries_;
};

}  // namespace tunemix
