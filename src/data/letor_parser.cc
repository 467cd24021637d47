#include "data/letor_parser.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "data/decimal.h"
#include "tunemix/core/error.h"
#include "tunemix/data/missing.h"

namespace tunemix {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Text from a file, as it may be shown in a message.
std::string quoted(std::string_view text) {
  constexpr size_t kMost = 40;
  std::string result = "'";
  for (const char c : text.substr(0, kMost)) {
    if (c >= 0x20 && c < 0x7f)
      result += c;
    else
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  return result + (text.size() > kMost ? "...'" : "'");
}

// The bytes of " ID:" for each small id: dense files have just these, one after the other.
struct IdText {
  uint64_t bytes;
  uint32_t shift;  // 64 minus its bits
  uint32_t length;
};
constexpr size_t kKnownIds = 4096;

const std::array<IdText, kKnownIds>& id_texts() {
  static const std::array<IdText, kKnownIds> table = [] {
    std::array<IdText, kKnownIds> result{};
    for (size_t id = 0; id < kKnownIds; ++id) {
      const std::string text = fmt::format(" {}:", id);
      std::memcpy(&result[id].bytes, text.data(), text.size());
      result[id].length = static_cast<uint32_t>(text.size());
      result[id].shift = static_cast<uint32_t>(64 - 8 * text.size());
    }
    return result;
  }();
  return table;
}

std::string_view document_name(std::string_view comment) {
  const size_t key = comment.find("docid");
  if (key == std::string_view::npos) return {};
  size_t at = comment.find_first_not_of(" \t", key + 5);
  if (at == std::string_view::npos || comment[at] != '=') return {};
  at = comment.find_first_not_of(" \t", at + 1);
  if (at == std::string_view::npos) return {};
  return comment.substr(at, comment.find_first_of(" \t\r", at) - at);
}

class LineParser {
 public:
  LineParser(const LetorOptions& options, QueryIds ids, RowBlock& run)
      : options_(options),
        known_(id_texts().data()),
        ids_(ids),
        most_label_(options.num_labels > 0 ? options.num_labels - 1 : options.max_label),
        most_id_(options.num_features > 0 ? std::min(options.num_features, options.max_feature_id)
                                          : options.max_feature_id),
        run_(run) {}

  // Parses the line at p, which ends before `stop`; the place after it, or nullptr after an error.
  const char* line(const char* p, const char* stop) {
    while (is_blank(*p)) ++p;
    if (!at_line_end(p) && *p != '#') {
      p = label(p);
      if (p == nullptr) return nullptr;
      p = query(p);
      if (p == nullptr) return nullptr;
      p = features(p);
      if (p == nullptr) return nullptr;
      return finish_row(p, stop);
    }
    return skip_comment(p, stop);
  }
  const std::string& error() const { return error_; }

 private:
  size_t kept_rows() const { return options_.labels_only ? 0 : run_.rows; }
  static bool at_line_end(const char* p) { return *p == '\n' || (*p == '\r' && p[1] == '\n'); }
  // A word goes up to a blank, a comment, or the end of the line.
  static std::string_view word_at(const char* p) {
    const char* end = p;
    while (!is_blank(*end) && *end != '#' && !at_line_end(end)) ++end;
    return {p, static_cast<size_t>(end - p)};
  }

  template <typename... Args>
  [[gnu::noinline]] const char* fail(std::string_view culprit, fmt::format_string<Args...> format,
                                     Args&&... args) {
    if (culprit.find('\0') != std::string_view::npos)
      error_ = "a NUL byte, expected text (is this a binary file?)";
    else
      error_ = fmt::format(format, std::forward<Args>(args)...);
    return nullptr;
  }

  // Any number that fast_float reads, with '+' allowed before it; false when the whole word is none.
  template <typename T>
  static bool number(std::string_view word, T& value) {
    if (word.starts_with('+')) {
      word.remove_prefix(1);
      if (word.starts_with('-')) return false;
    }
    const char* end = word.data() + word.size();
    const auto [stop, error] = fast_float::from_chars(word.data(), end, value);
    // Newer versions report results out of range, as 0 or infinity; 0 is what a tiny number rounds to.
    return stop == end && (error == std::errc() || (error == std::errc::result_out_of_range && value == 0));
  }

  const char* label(const char* p) {
    const auto digit = static_cast<unsigned char>(*p - '0');
    if (digit < 10 && is_blank(p[1]) && digit <= most_label_) {
      run_.labels.push_back(digit);
      return p + 1;
    }
    const std::string_view word = word_at(p);
    double value = 0;
    bool good = number(word, value);
    if (good && options_.unlabelled && value == -1) value = 0;
    good = good && value >= 0 && value <= most_label_ && value == std::floor(value);
    if (!good) return fail(word, "label {}, expected a whole number from 0 to {}", quoted(word), most_label_);
    run_.labels.push_back(static_cast<int32_t>(value));
    return p + word.size();
  }

  const char* query(const char* p) {
    if (ids_ == QueryIds::kNone) return p;
    while (is_blank(*p)) ++p;
    const std::string_view word = word_at(p);
    if (!word.starts_with("qid:"))
      return fail(word, "no qid but {}, expected 'qid:ID' after the label", quoted(word));
    if (word.size() == 4) return fail(word, "an empty qid, expected 'qid:ID'");
    const std::string_view id = word.substr(4);
    if (run_.queries.empty() || run_.queries.back().id != id) {
      if (std::any_of(id.begin(), id.end(), [](char c) { return c >= 0 && c < 0x20; }))
        return fail(word, "qid {}, expected an ID of printable characters", quoted(id));
      run_.queries.push_back({id, run_.rows});
    }
    return p + word.size();
  }

  // The hot loop: what it seldom needs is kept out of line, or it runs out of registers.
  [[gnu::noinline]] const char* features(const char* p) {
    row_ = run_.values.data() + kept_rows() * run_.stride;
    float* row = row_;
    size_t room = std::min(run_.stride, most_id_);
    const IdText* known = known_ + 1;
    const IdText* const known_end = known_ + kKnownIds;
    size_t last = 0;
    for (;;) {
      size_t id = last + 1;
      if (known != known_end && ((decimal::load8(p) ^ known->bytes) << known->shift) == 0) {
        p += known->length;
        ++known;
      } else {
        while (is_blank(*p)) ++p;
        if (at_line_end(p) || *p == '#') break;
        p = feature_id(p, last, id);
        if (p == nullptr) return nullptr;
        known = known_ + std::min(id + 1, kKnownIds);
      }
      if (id > room) {
        if (id > most_id_) return id_too_large(id);
        widen(id);
        row = row_;
        room = std::min(run_.stride, most_id_);
      }
      if (id > last + 1) std::fill(row + last, row + id - 1, 0.0F);
      const char* next = decimal::parse_short(p, row[id - 1]);
      if (next == nullptr) next = any_value(p, id);
      if (next == nullptr) return nullptr;
      p = next;
      last = id;
    }
    std::fill(row_ + last, row_ + run_.stride, 0.0F);
    run_.max_id = std::max(run_.max_id, last);
    return p;
  }

  // An id with its colon that is not just the next one.
  [[gnu::noinline]] const char* feature_id(const char* p, size_t last, size_t& id) {
    const std::string_view word = word_at(p);
    const size_t colon = word.find(':');
    if (colon == std::string_view::npos)
      return fail(word, "{} is no feature, expected 'ID:VALUE'", quoted(word));
    const std::string_view text = word.substr(0, colon);
    if (text == "qid") return fail(word, "a second or misplaced qid, expected features after the first qid");
    const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
    constexpr size_t kAbsurd = size_t{1} << 40;
    id = 0;
    bool good = !digits.empty();
    for (const char c : digits) {
      good = good && c >= '0' && c <= '9';
      if (good) id = std::min(id * 10 + static_cast<size_t>(c - '0'), kAbsurd);
    }
    if (!good || id == 0)
      return fail(word, "feature id {}, expected a whole number from 1 to {}", quoted(text), most_id_);
    if (id > most_id_) return id_too_large(id);
    if (id <= last) return fail(word, "feature id {} after {}, expected rising ids", id, last);
    return p + colon + 1;
  }

  [[gnu::noinline]] const char* id_too_large(size_t id) {
    if (most_id_ == options_.num_features)
      return fail({}, "feature id {}, expected at most {}, the number of features", id, most_id_);
    return fail({}, "feature id {}, expected at most {} (--max-feature-id)", id, most_id_);
  }

  // A value that the short path does not read.
  [[gnu::noinline]] const char* any_value(const char* p, size_t id) {
    const std::string_view word = word_at(p);
    if (word.empty()) return fail(word, "feature {} has no value, expected a number after the colon", id);
    float value = 0;
    const bool good = number(word, value);
    if (good && std::isnan(value)) {
      if (options_.missing == MissingValues::kRefuse)
        return fail(word, "value {} of feature {}, expected a finite number (data.missing is refuse)",
                    quoted(word), id);
      row_[id - 1] = kMissing;
      return p + word.size();
    }
    if (good && !std::isfinite(value) && word.find_first_of("0123456789") != std::string_view::npos)
      return fail(word, "value {} of feature {} overflows, expected a finite 32-bit float", quoted(word), id);
    if (!good || !std::isfinite(value))
      return fail(word, "value {} of feature {}, expected a finite number, or nan for a missing one",
                  quoted(word), id);
    row_[id - 1] = value + 0.0F;  // -0 becomes 0
    return p + word.size();
  }

  // Makes room for `id` in every row of the run.
  [[gnu::noinline]] void widen(size_t id) {
    const size_t stride = std::min(std::max(id, 2 * run_.stride), std::max(id, most_id_));
    const size_t old = run_.stride;
    const size_t rows = kept_rows() + 1;  // the current one is in the making
    run_.values.resize(rows * stride);
    for (size_t i = rows; i-- > 0;) {
      float* to = run_.values.data() + i * stride;
      std::memmove(to, run_.values.data() + i * old, old * sizeof(float));
      std::fill(to + old, to + stride, 0.0F);
    }
    run_.stride = stride;
    row_ = run_.values.data() + kept_rows() * stride;
  }

  // From a comment or the end of the line to the next line.
  const char* skip_comment(const char* p, const char* stop) {
    if (*p == '\n') return p + 1;
    const auto* end = static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(stop - p)));
    const std::string_view comment(p, static_cast<size_t>(end - p));
    return comment.find('\0') == std::string_view::npos ? end + 1 : fail(comment, "");
  }

  const char* finish_row(const char* p, const char* stop) {
    const char* next = skip_comment(p, stop);
    if (next == nullptr) return nullptr;
    const std::string_view name =
        *p == '#' ? document_name({p, static_cast<size_t>(next - 1 - p)}) : std::string_view();
    if (run_.names.size() == 0) run_.first_named = run_.rows;
    if (run_.names.size() > 0 || !name.empty()) run_.names.add(name);
    ++run_.rows;
    run_.values.resize((kept_rows() + 1) * run_.stride);
    return next;
  }

  const LetorOptions& options_;
  const IdText* known_;
  QueryIds ids_;
  int most_label_;
  size_t most_id_;
  RowBlock& run_;
  std::string error_;
  float* row_ = nullptr;
};

}  // namespace

ParsedLines parse_lines(std::string_view text, const LetorOptions& options, QueryIds ids, RowBlock& block) {
  require(!text.empty() && text.back() == '\n', "a run of lines ends with a newline");
  block.rows = 0;
  block.max_id = 0;
  block.labels.clear();
  block.queries.clear();
  block.names = {};
  block.first_named = 0;
  if (block.stride == 0) block.stride = options.num_features > 0 ? options.num_features : 16;
  block.values.resize(block.stride);
  LineParser parser(options, ids, block);
  ParsedLines parsed;
  const char* p = text.data();
  const char* stop = p + text.size();
  while (p != nullptr && p < stop) {
    ++parsed.lines;
    p = parser.line(p, stop);
  }
  parsed.error = parser.error();
  return parsed;
}

bool first_line_has_qid(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, std::min(text.find('#', at), end) - at);
    at = end + 1;
    const size_t label = line.find_first_not_of(" \t\r");
    if (label == std::string_view::npos) continue;
    const size_t gap = line.find_first_of(" \t\r", label);
    if (gap == std::string_view::npos) return false;
    const size_t word = line.find_first_not_of(" \t\r", gap);
    return word != std::string_view::npos && line.substr(word).starts_with("qid:");
  }
  return true;
}

}  // namespace tunemix
