#include "data/side_files.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <charconv>

#include "tunemix/core/error.h"
#include "tunemix/core/file.h"
#include "tunemix/data/text_file.h"

namespace tunemix {
namespace {

bool is_compressed(const std::filesystem::path& file) {
  return file.extension() == ".gz" || file.extension() == ".zst";
}

std::filesystem::path with_ending(std::filesystem::path file, const char* ending) { return file += ending; }

std::filesystem::path first_that_exists(const std::vector<std::filesystem::path>& files) {
  std::error_code ignored;
  for (const std::filesystem::path& file : files)
    if (std::filesystem::exists(file, ignored)) return file;
  return {};
}

// Calls f(word, line) for the lines of a file that are not blank.
template <typename F>
void for_each_word(const std::string& text, F f) {
  size_t line = 0;
  for (size_t at = 0; at < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view word = std::string_view(text).substr(at, end - at);
    at = end + 1;
    const size_t first = word.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) continue;
    f(word.substr(first, word.find_last_not_of(" \t\r") + 1 - first), line + 1);
  }
}

}  // namespace

std::vector<std::filesystem::path> possible_group_files(const std::filesystem::path& file) {
  std::vector<std::filesystem::path> result = {with_ending(file, ".query")};
  if (is_compressed(file)) result.push_back(with_ending(file.parent_path() / file.stem(), ".query"));
  return result;
}

std::vector<std::filesystem::path> possible_weight_files(const std::filesystem::path& file) {
  std::vector<std::filesystem::path> result;
  if (file == "-") return result;
  const auto add = [&](const std::filesystem::path& of) {
    result.push_back(with_ending(of, ".weight"));
    result.push_back(with_ending(of, ".weight.gz"));
  };
  add(file);
  if (is_compressed(file)) add(file.parent_path() / file.stem());
  return result;
}

std::filesystem::path group_file_of(const std::filesystem::path& file) {
  return first_that_exists(possible_group_files(file));
}

std::filesystem::path weight_file_of(const std::filesystem::path& file) {
  return first_that_exists(possible_weight_files(file));
}

std::vector<size_t> read_group_sizes(const std::filesystem::path& file) {
  std::vector<size_t> sizes;
  for_each_word(read_text_file(file), [&](std::string_view word, size_t line) {
    size_t size = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), size);
    if (error != std::errc() || stop != word.data() + word.size() || size == 0)
      throw_input("{}:{}: group size '{}', expected a positive whole number", file.string(), line,
                  word.substr(0, 40));
    sizes.push_back(size);
  });
  return sizes;
}

std::vector<float> read_weights(const std::filesystem::path& file, const std::string& data,
                                size_t documents) {
  constexpr float kMost = 1e9F;
  std::vector<float> weights;
  bool any = false;
  for_each_word(read_any_text(file), [&](std::string_view word, size_t line) {
    float weight = 0;
    const auto [stop, error] = fast_float::from_chars(word.data(), word.data() + word.size(), weight);
    if (error != std::errc() || stop != word.data() + word.size() || !(weight >= 0) || weight > kMost)
      throw_input("{}:{}: weight '{}', expected one number a line, from 0 to 1e9", file.string(), line,
                  word.substr(0, 40));
    weights.push_back(weight);
    any = any || weight > 0;
  });
  if (weights.size() != documents)
    throw_input("{}: {} weights, expected {}, one for each document of {}", file.string(), weights.size(),
                documents, data);
  if (!any) throw_input("{}: every weight is 0, expected at least one above 0", file.string());
  return weights;
}

}  // namespace tunemix
