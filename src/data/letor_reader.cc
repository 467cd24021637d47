#include "tunemix/data/letor_reader.h"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "data/letor_parser.h"
#include "data/text_source.h"
#include "tunemix/core/binary.h"
#include "tunemix/core/error.h"
#include "tunemix/data/text_file.h"

namespace tunemix {
namespace {

constexpr size_t kBatchBytes = size_t{1} << 23;  // text held at a time, unless a line is longer
constexpr size_t kMostLine = size_t{1} << 28;    // a longer one is no line: a bomb of a few bytes holds it
constexpr size_t kRunBytes = size_t{1} << 18;    // text parsed as one task

class MemorySource : public TextSource {
 public:
  explicit MemorySource(std::string_view text) : text_(text) {}
  size_t read(char* to, size_t size, ThreadPool&) override {
    const size_t n = std::min(size, text_.size());
    if (n > 0) std::memcpy(to, text_.data(), n);
    text_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view text_;
};

struct LongLine {};

// Whole lines of a source, a batch at a time; throws LongLine.
class LineBatches {
 public:
  LineBatches(TextSource& source, ThreadPool& pool, size_t batch_bytes)
      : source_(source), pool_(pool), batch_bytes_(batch_bytes) {}

  // The next lines, the last one with a newline even if the file has none, followed by kTextPadding bytes;
  // empty at the end. Valid until the next call.
  std::string_view next() {
    const size_t rest = filled_ - used_;
    if (rest > 0) std::memmove(buffer_.get(), buffer_.get() + used_, rest);
    filled_ = rest;
    used_ = 0;
    size_t wanted = std::max(batch_bytes_, 2 * rest);
    for (;;) {
      if (!at_end_) {
        make_room(wanted + 1 + kTextPadding);
        const size_t got = source_.read(buffer_.get() + filled_, wanted - filled_, pool_);
        filled_ += got;
        at_end_ = filled_ < wanted;
        if (at_end_ && filled_ > 0 && buffer_[filled_ - 1] != '\n') buffer_[filled_++] = '\n';
        std::memset(buffer_.get() + filled_, 0, kTextPadding);
      }
      if (filled_ == 0) return {};
      const void* last = memrchr(buffer_.get(), '\n', filled_);
      if (last != nullptr) {
        used_ = static_cast<size_t>(static_cast<const char*>(last) - buffer_.get()) + 1;
        return {buffer_.get(), used_};
      }
      if (filled_ >= kMostLine) throw LongLine();
      wanted *= 2;
    }
  }

 private:
  // Not filled with zeros: of a small file nearly all of it stays untouched.
  void make_room(size_t size) {
    if (size <= room_) return;
    auto larger = std::make_unique_for_overwrite<char[]>(size);
    if (filled_ > 0) std::memcpy(larger.get(), buffer_.get(), filled_);
    buffer_ = std::move(larger);
    room_ = size;
  }

  TextSource& source_;
  ThreadPool& pool_;
  size_t batch_bytes_;
  std::unique_ptr<char[]> buffer_;
  size_t room_ = 0;
  size_t filled_ = 0;
  size_t used_ = 0;
  bool at_end_ = false;
};

std::vector<std::string_view> split_runs(std::string_view lines) {
  std::vector<std::string_view> runs;
  while (!lines.empty()) {
    const size_t newline = lines.size() <= kRunBytes ? lines.size() - 1 : lines.find('\n', kRunBytes - 1);
    runs.push_back(lines.substr(0, newline + 1));
    lines.remove_prefix(newline + 1);
  }
  return runs;
}

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// The qid of a line of a document; empty for other lines.
std::string_view qid_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  for (int word = 0; word < 2; ++word) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (word == 0) line.remove_prefix(std::min(line.find_first_of(" \t\r"), line.size()));
  }
  if (!line.starts_with("qid:")) return {};
  return line.substr(4, line.find_first_of(" \t\r\n", 4) - 4);
}

// Where the last query of some whole lines begins; 0 where they may all be of one.
size_t begin_of_last_query(std::string_view text) {
  std::string_view last;
  size_t begin = text.size();
  while (begin > 0) {
    const size_t before = begin < 2 ? std::string_view::npos : text.rfind('\n', begin - 2);
    const size_t line = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view qid = qid_of(text.substr(line, begin - 1 - line));
    if (!qid.empty() && !last.empty() && qid != last) return begin;
    if (!qid.empty()) last = qid;
    begin = line;
  }
  return 0;
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

// LightGBM's group sizes: whole numbers, one a line.
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

class Assembler {
 public:
  Assembler(const LetorOptions& options, const Context& context)
      : options_(options),
        context_(context),
        width_(options.labels_only ? 0 : std::max(options.num_features, options.least_features)) {}

  // `group_file`, `weight_file`: where LightGBM's group sizes and the weights may be; empty for none.
  void read(TextSource& source, const std::string& name, const std::filesystem::path& group_file,
            const std::filesystem::path& weight_file, size_t batch_bytes = kBatchBytes) {
    const size_t before = rows_;
    QueryIds ids = QueryIds::kRequired;
    size_t lines = 0;
    bool first = true;
    LineBatches batches(source, context_.pool(), batch_bytes);
    const auto next = [&] {
      try {
        return batches.next();
      } catch (const LongLine&) {
        throw_input("{}:{}: the line is longer than {} MiB, expected one document a line", name, lines + 1,
                    kMostLine >> 20);
      }
    };
    for (std::string_view text = next(); !text.empty(); text = next()) {
      context_.check_stop();
      if (first) {
        if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
        if (!group_file.empty() && !first_line_has_qid(text)) ids = QueryIds::kNone;
        add_feature_names(names_in_header(text, name), name);
        first = false;
      }
      add(text, name, ids, lines);
    }
    if (rows_ == before) throw_input("{}: no documents, expected at least one line with one", name);
    if (ids == QueryIds::kNone) add_groups(name, group_file, before);
    if (!weight_file.empty()) {
      weights_.resize(before, 1.0F);
      const std::vector<float> weights = read_weights(weight_file, name, rows_ - before);
      weights_.insert(weights_.end(), weights.begin(), weights.end());
    }
    (ids == QueryIds::kNone ? any_groups_ : any_qids_) = true;
    if (any_groups_ && any_qids_)
      throw_input("{}: {}; expected all files of a data set alike", name,
                  ids == QueryIds::kNone ? "has group sizes, other files have qids"
                                         : "has qids, other files have group sizes");
  }

  size_t rows() const { return rows_; }
  bool grouped() const { return grouped_; }  // the rows of every query are adjacent
  size_t widest() const { return widest_; }  // the largest feature id

  Dataset finish() {
    if (!weights_.empty()) weights_.resize(rows_, 1.0F);
    std::vector<uint32_t> order = grouped_order();
    if (!order.empty()) {
      context_.warn("rows of a query are not adjacent; they are grouped in order of first appearance");
      permute_rows(order);
    }
    features_.shrink_to_fit();
    std::vector<size_t> offsets(query_ids_.size() + 1, 0);
    for (const Segment& s : segments_) offsets[s.query + 1] += s.rows;
    for (size_t q = 0; q < query_ids_.size(); ++q) offsets[q + 1] += offsets[q];
    return Dataset(std::move(features_), width_,
                   {.labels = std::move(labels_),
                    .queries = QueryIndex(std::move(offsets), std::move(query_ids_)),
                    .names = std::move(names_),
                    .source_rows = std::move(order),
                    .weights = std::move(weights_)})
        .named(feature_names_);
  }

  // Of the files of a data set some may have no names; those that have must agree.
  void add_feature_names(FeatureNames names, const std::string& file) {
    if (names.empty()) return;
    if (!feature_names_.empty() && feature_names_ != names)
      throw_input("{}: its head has other names of features than that of {}; expected the same", file,
                  named_by_);
    feature_names_ = std::move(names);
    named_by_ = file;
  }

  // Parses whole lines, which are followed by kTextPadding bytes; `lines` counts those of the file.
  void add(std::string_view text, const std::string& name, QueryIds ids, size_t& lines) {
    const std::vector<std::string_view> texts = split_runs(text);
    if (runs_.size() < texts.size()) runs_.resize(texts.size());
    context_.pool().run(texts.size(), [&](size_t i) {
      if (!options_.labels_only) runs_[i].stride = width_;
      parse_lines(texts[i], options_, ids, runs_[i]);
    });
    size_t widest = width_;
    size_t added = 0;
    std::vector<size_t> first_row;
    for (size_t i = 0; i < texts.size(); ++i) {
      lines += runs_[i].lines;
      if (!runs_[i].error.empty()) throw_input("{}:{}: {}", name, lines, runs_[i].error);
      if (!options_.labels_only) widest = std::max(widest, runs_[i].max_id);
      widest_ = std::max(widest_, runs_[i].max_id);
      first_row.push_back(rows_ + added);
      added += runs_[i].rows;
    }
    if (rows_ + added > std::numeric_limits<uint32_t>::max())
      throw_input("{}: too many documents, expected less than 2^32 in a data set", name);
    widen(widest);
    features_.resize((rows_ + added) * width_);
    context_.pool().run(texts.size(), [&](size_t i) { place(runs_[i], first_row[i]); });
    for (size_t i = 0; i < texts.size(); ++i) append_rows(runs_[i]);
  }

 private:
  struct Segment {  // adjacent rows of one query
    size_t query;
    size_t rows;
  };

  // Copies the rows of a run to their final place.
  void place(const LetorRun& run, size_t first_row) {
    const size_t shared = std::min(run.stride, width_);
    float* to = features_.data() + first_row * width_;
    if (run.stride == width_) {
      if (run.rows * width_ > 0) std::memcpy(to, run.values.data(), run.rows * width_ * sizeof(float));
      return;
    }
    for (size_t i = 0; i < run.rows; ++i, to += width_) {
      std::copy_n(run.values.data() + i * run.stride, shared, to);
      std::fill(to + shared, to + width_, 0.0F);
    }
  }

  void widen(size_t width) {
    if (width == width_) return;
    features_.resize(rows_ * width);
    for (size_t i = rows_; i-- > 0;) {
      float* to = features_.data() + i * width;
      std::memmove(to, features_.data() + i * width_, width_ * sizeof(float));
      std::fill(to + width_, to + width, 0.0F);
    }
    width_ = width;
  }

  void append_rows(const LetorRun& run) {
    labels_.insert(labels_.end(), run.labels.begin(), run.labels.begin() + static_cast<ptrdiff_t>(run.rows));
    for (size_t k = 0; k < run.queries.size(); ++k) {
      const size_t end = k + 1 < run.queries.size() ? run.queries[k + 1].first_row : run.rows;
      add_segment(run.queries[k].id, end - run.queries[k].first_row);
    }
    if (run.names.size() > 0 || names_.size() > 0) {
      while (names_.size() < rows_ + (run.names.size() > 0 ? run.first_named : run.rows)) names_.add({});
      for (size_t i = 0; i < run.names.size(); ++i) names_.add(run.names[i]);
    }
    rows_ += run.rows;
  }

  void add_segment(std::string_view id, size_t rows) {
    if (!segments_.empty() && query_ids_[segments_.back().query] == id) {
      segments_.back().rows += rows;
      return;
    }
    const auto [it, fresh] = query_of_.try_emplace(std::string(id), query_ids_.size());
    if (fresh) query_ids_.emplace_back(id);
    grouped_ = grouped_ && fresh;
    segments_.push_back({it->second, rows});
  }

  void add_groups(const std::string& name, const std::filesystem::path& file, size_t before) {
    size_t total = 0;
    for (const size_t size : read_group_sizes(file)) {
      total += size;
      add_segment(std::to_string(query_ids_.size() + 1), size);
    }
    if (total != rows_ - before)
      throw_input("{}: the group sizes add up to {}, expected {}, the documents of {}", file.string(), total,
                  rows_ - before, name);
  }

  // Old row of each new row when queries must be brought together; empty when they are already.
  std::vector<uint32_t> grouped_order() const {
    if (grouped_) return {};
    std::vector<size_t> next(query_ids_.size() + 1, 0);
    for (const Segment& s : segments_) next[s.query + 1] += s.rows;
    for (size_t q = 0; q + 1 < next.size(); ++q) next[q + 1] += next[q];
    std::vector<uint32_t> order(rows_);
    uint32_t row = 0;
    for (const Segment& s : segments_)
      for (size_t i = 0; i < s.rows; ++i) order[next[s.query]++] = row++;
    return order;
  }

  // Row i becomes what row order[i] was, cycle by cycle, so that the matrix is not copied.
  void permute_rows(std::span<const uint32_t> order) {
    std::vector<bool> done(rows_, false);
    std::vector<float> held(width_);
    const auto row = [&](size_t i) { return features_.data() + i * width_; };
    for (size_t start = 0; start < rows_; ++start) {
      if (done[start]) continue;
      std::copy_n(row(start), width_, held.begin());
      size_t i = start;
      for (; order[i] != start; i = order[i]) {
        std::copy_n(row(order[i]), width_, row(i));
        done[i] = true;
      }
      std::copy_n(held.begin(), width_, row(i));
      done[i] = true;
    }
    std::vector<int32_t> labels(rows_);
    for (size_t i = 0; i < rows_; ++i) labels[i] = labels_[order[i]];
    labels_ = std::move(labels);
    if (!weights_.empty()) {
      std::vector<float> weights(rows_);
      for (size_t i = 0; i < rows_; ++i) weights[i] = weights_[order[i]];
      weights_ = std::move(weights);
    }
    if (names_.size() == 0) return;
    NameTable names;
    for (size_t i = 0; i < rows_; ++i) names.add(names_[order[i]]);
    names_ = std::move(names);
  }

  const LetorOptions& options_;
  const Context& context_;
  std::vector<LetorRun> runs_;  // reused from batch to batch
  FloatBuffer features_;
  size_t width_;
  size_t rows_ = 0;
  std::vector<int32_t> labels_;
  std::vector<float> weights_;  // empty while no file has any
  NameTable names_;
  FeatureNames feature_names_;
  std::string named_by_;  // the file that named the features
  std::vector<Segment> segments_;
  std::vector<std::string> query_ids_;
  std::unordered_map<std::string, size_t> query_of_;
  bool grouped_ = true;
  size_t widest_ = 0;
  bool any_qids_ = false;
  bool any_groups_ = false;
};

}  // namespace

std::filesystem::path group_file_of(const std::filesystem::path& file) {
  std::filesystem::path beside = file;
  beside += ".query";
  std::error_code ignored;
  if (std::filesystem::exists(beside, ignored)) return beside;
  if (file.extension() != ".gz" && file.extension() != ".zst") return {};
  beside = file.parent_path() / (file.stem().string() + ".query");
  return std::filesystem::exists(beside, ignored) ? beside : std::filesystem::path();
}

std::vector<std::filesystem::path> possible_weight_files(const std::filesystem::path& file) {
  std::vector<std::filesystem::path> result;
  const auto add = [&](std::filesystem::path of) {
    of += ".weight";
    result.push_back(of);
    result.push_back(of += ".gz");
  };
  if (file == "-") return result;
  add(file);
  if (file.extension() == ".gz" || file.extension() == ".zst") add(file.parent_path() / file.stem());
  return result;
}

std::filesystem::path weight_file_of(const std::filesystem::path& file) {
  std::error_code ignored;
  for (const std::filesystem::path& possible : possible_weight_files(file))
    if (std::filesystem::exists(possible, ignored)) return possible;
  return {};
}

Dataset read_letor(std::span<const std::filesystem::path> files, const LetorOptions& options,
                   const Context& context) {
  if (files.empty()) throw InputError("no data files, expected at least one");
  Assembler assembler(options, context);
  for (const auto& file : files)
    assembler.read(*open_text(file), file == "-" ? "standard input" : file.string(), group_file_of(file),
                   weight_file_of(file));
  return assembler.finish();
}

Dataset read_letor(const std::filesystem::path& file, const LetorOptions& options, const Context& context) {
  return read_letor(std::span(&file, 1), options, context);
}

Dataset parse_letor(std::string_view text, std::string_view name, const LetorOptions& options,
                    const Context& context) {
  MemorySource source(text);
  Assembler assembler(options, context);
  assembler.read(source, std::string(name), {}, {}, std::min(kBatchBytes, text.size() + 1));
  return assembler.finish();
}

FeatureNames read_header_names(const std::filesystem::path& file) {
  const std::unique_ptr<TextSource> source = open_text(file);
  ThreadPool pool(1);
  LineBatches batches(*source, pool, kBatchBytes);
  try {
    return names_in_header(batches.next(), file.string());
  } catch (const LongLine&) {  // which is no comment, or will be refused with the data
    return {};
  }
}

struct LetorParts::Impl {
  Impl(std::vector<std::filesystem::path> all, const LetorOptions& how, const Context& with)
      : files(std::move(all)), options(how), context(with) {
    if (files.empty()) throw InputError("no data files, expected at least one");
  }

  void open_next() {
    source = open_text(files[next_file]);
    name = files[next_file] == "-" ? "standard input" : files[next_file].string();
    ++next_file;
    batches = std::make_unique<LineBatches>(*source, context.pool(), kBatchBytes);
    pending.clear();
    lines = rows = 0;
    first = true;
  }
  void close() {
    batches.reset();
    source.reset();
    if (rows == 0) throw_input("{}: no documents, expected at least one line with one", name);
  }

  // More lines behind those that wait; false at the end of the file.
  bool fill() {
    std::string_view text;
    try {
      text = batches->next();
    } catch (const LongLine&) {
      throw_input("{}: a line is longer than {} MiB, expected one document a line", name, kMostLine >> 20);
    }
    if (first) {
      if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
      feature_names = names_in_header(text, name);
    }
    first = false;
    pending.append(text);
    return !text.empty();
  }

  // The first `size` bytes of what waits.
  std::optional<Dataset> parse(size_t size) {
    std::string text(pending, 0, size);
    pending.erase(0, size);
    text.append(kTextPadding, '\0');
    Assembler assembler(options, context);
    assembler.add(std::string_view(text).substr(0, size), name, QueryIds::kRequired, lines);
    if (assembler.rows() == 0) return std::nullopt;  // comments
    rows += assembler.rows();
    widest = std::max(widest, assembler.widest());
    if (!assembler.grouped()) throw_apart("a query");
    Dataset data = assembler.finish().named(feature_names);
    for (const std::string& id : data.queries().ids())
      if (!seen.insert(id).second) throw_apart("query '" + id + "'");
    return data;
  }
  [[noreturn]] void throw_apart(const std::string& query) const {
    throw NotInParts(fmt::format(
        "{}:{}: the rows of {} are not adjacent up to here; give --whole to read all of the data first", name,
        lines, query));
  }

  std::vector<std::filesystem::path> files;
  LetorOptions options;
  const Context& context;
  size_t next_file = 0;
  std::unique_ptr<TextSource> source;  // null between files
  std::unique_ptr<LineBatches> batches;
  std::string name;
  std::string pending;  // whole lines that are not parsed yet
  size_t lines = 0;     // parsed, of the file
  size_t rows = 0;
  bool first = true;
  FeatureNames feature_names;  // of the file's head
  size_t widest = 0;
  std::unordered_set<std::string> seen;  // queries
};

LetorParts::LetorParts(std::vector<std::filesystem::path> files, const LetorOptions& options,
                       const Context& context)
    : impl_(std::make_unique<Impl>(std::move(files), options, context)) {}
LetorParts::~LetorParts() = default;

size_t LetorParts::widest() const { return impl_->widest; }

std::optional<Dataset> LetorParts::next() {
  Impl& in = *impl_;
  for (;;) {
    in.context.check_stop();
    if (in.source == nullptr) {
      if (in.next_file == in.files.size()) return std::nullopt;
      in.open_next();
    }
    const bool more = in.fill();
    const size_t size = more ? begin_of_last_query(in.pending) : in.pending.size();
    std::optional<Dataset> data;
    if (size > 0) data = in.parse(size);
    if (!more) in.close();
    if (data) return data;
  }
}

}  // namespace tunemix
