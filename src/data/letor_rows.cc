#include "data/letor_rows.h"

#include "tunemix/core/error.h"

namespace tunemix {
namespace {

constexpr size_t kRunBytes = size_t{1} << 18;  // text parsed as one task

std::vector<std::string_view> split_runs(std::string_view lines) {
  std::vector<std::string_view> runs;
  while (!lines.empty()) {
    const size_t newline = lines.size() <= kRunBytes ? lines.size() - 1 : lines.find('\n', kRunBytes - 1);
    runs.push_back(lines.substr(0, newline + 1));
    lines.remove_prefix(newline + 1);
  }
  return runs;
}

}  // namespace

LetorRows::LetorRows(std::unique_ptr<TextSource> text, std::string name, bool grouped,
                     const LetorOptions& options, const Context& context, size_t batch_bytes)
    : text_(std::move(text)),
      name_(std::move(name)),
      grouped_(grouped),
      options_(options),
      context_(context),
      batches_(*text_, context.pool(), batch_bytes) {}

std::string LetorRows::place() const { return fmt::format("{}:{}", name_, lines_); }

std::string_view LetorRows::next_lines() {
  try {
    return batches_.next();
  } catch (const LongLine&) {
    throw_input("{}:{}: the line is longer than {} MiB, expected one document a line", name_, lines_ + 1,
                kMostLine >> 20);
  }
}

std::span<const RowBlock> LetorRows::next(size_t width) {
  const std::string_view text = next_lines();
  if (first_) {
    if (grouped_ && !first_line_has_qid(text)) ids_ = QueryIds::kNone;
    feature_names_ = names_in_header(text, name_);
    first_ = false;
  }
  const std::vector<std::string_view> runs = split_runs(text);
  if (blocks_.size() < runs.size()) blocks_.resize(runs.size());
  parsed_.resize(runs.size());
  context_.pool().run(runs.size(), [&](size_t i) {
    if (!options_.labels_only) blocks_[i].stride = width;
    parsed_[i] = parse_lines(runs[i], options_, ids_, blocks_[i]);
  });
  for (const ParsedLines& run : parsed_) {
    lines_ += run.lines;
    if (!run.error.empty()) throw_input("{}: {}", place(), run.error);
  }
  return std::span(blocks_).first(runs.size());
}

}  // namespace tunemix
