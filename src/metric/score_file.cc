#include "tunemix/metric/score_file.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <cmath>

#include "metric/number.h"
#include "tunemix/core/error.h"
#include "tunemix/core/file.h"
#include "tunemix/data/text_file.h"

namespace tunemix {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// How many numbers the line has; 0 if it has anything but finite numbers.
size_t count_numbers(std::string_view line) {
  size_t count = 0;
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    double value = 0;
    if (!parse_finite(word, value)) return 0;
    ++count;
    line.remove_prefix(word.size());
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  }
  return count;
}

}  // namespace

bool parse_finite(std::string_view text, double& value) {
  const bool plus = text.starts_with('+');
  if (plus) text.remove_prefix(1);
  if (text.empty() || (plus && text.front() == '-')) return false;
  const char* end = text.data() + text.size();
  // Too near 0 is read as 0, too large as infinity.
  const auto [stop, error] = fast_float::from_chars(text.data(), end, value);
  return stop == end && error != std::errc::invalid_argument && std::isfinite(value);
}

std::vector<double> parse_scores(std::string_view text, std::string_view name) {
  const size_t last = text.find_last_not_of(" \t\r\n");
  text = text.substr(0, last == std::string_view::npos ? 0 : last + 1);
  std::vector<double> scores;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(text.substr(at, end - at));
    at = end + 1;
    double score = 0;
    if (!parse_finite(line, score)) {
      if (const size_t columns = count_numbers(line); columns > 1)
        throw_input(
            "{}:{}: {} numbers; expected one score a document. Scores of {} labels become one with 'tunemix "
            "score "
            "--rank'",
            name, scores.size() + 1, columns, columns);
      throw_input("{}:{}: '{}', expected one finite number", name, scores.size() + 1, line.substr(0, 60));
    }
    scores.push_back(score);
  }
  return scores;
}

std::vector<double> read_scores(const std::filesystem::path& file, const Dataset& data) {
  return read_scores(file, data.documents(), data.source_rows());
}

std::vector<double> read_scores(const std::filesystem::path& file, size_t documents,
                                std::span<const uint32_t> source_rows) {
  const std::string name = file == "-" ? "standard input" : file.string();
  if (file != "-") expect_readable(file);
  std::vector<double> scores = parse_scores(read_any_text(file), name);
  if (scores.size() != documents)
    throw_input("{}: {} scores, expected {}, one for each document of the data", name, scores.size(),
                documents);
  if (source_rows.empty()) return scores;
  std::vector<double> grouped;
  grouped.reserve(scores.size());
  for (const uint32_t row : source_rows) grouped.push_back(scores[row]);
  return grouped;
}

ScoreMatrix read_score_columns(std::span<const std::filesystem::path> files, size_t documents,
                               std::span<const uint32_t> source_rows) {
  std::vector<float> values;
  size_t columns = 0;
  size_t lines = 0;
  for (const std::filesystem::path& file : files) {
    const std::string whole = read_any_text(file);
    std::string_view text = whole;
    text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
    size_t line_number = 0;
    for (size_t at = 0; at < text.size(); ++lines) {
      const size_t end = std::min(text.find('\n', at), text.size());
      std::string_view line = trimmed(text.substr(at, end - at));
      at = end + 1;
      ++line_number;
      size_t count = 0;
      while (!line.empty()) {
        const std::string_view word = line.substr(0, line.find_first_of(" \t,"));
        double value = 0;
        if (!parse_finite(word, value))
          throw_input("{}:{}: '{}', expected finite numbers", file.string(), line_number, word.substr(0, 60));
        values.push_back(static_cast<float>(value));
        if (!std::isfinite(values.back()))
          throw_input("{}:{}: {} is beyond the range of scores", file.string(), line_number, value);
        ++count;
        line.remove_prefix(word.size());
        line.remove_prefix(std::min(line.find_first_not_of(" \t,"), line.size()));
      }
      if (columns == 0) columns = count;
      if (count == 0 || count != columns)
        throw_input("{}:{}: {} numbers; expected {}, as on the first line", file.string(), line_number, count,
                    std::max<size_t>(1, columns));
    }
  }
  const size_t last = source_rows.empty() ? 0 : *std::max_element(source_rows.begin(), source_rows.end());
  if (last < documents ? lines != documents : lines <= last) {
    std::string names;
    for (const std::filesystem::path& file : files) names += (names.empty() ? "" : ", ") + file.string();
    throw_input("{}: {} lines of scores; expected {}, one for each document of the data", names, lines,
                std::max(documents, last + 1));
  }
  ScoreMatrix scores(documents, columns, files[0].filename().string());
  for (size_t i = 0; i < documents; ++i) {
    const size_t row = source_rows.empty() ? i : source_rows[i];
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * columns), columns, scores.row(i).begin());
  }
  return scores;
}

}  // namespace tunemix
