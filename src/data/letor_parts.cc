// Data sets of whole queries, part by part.
#include <unordered_set>

#include "data/open_rows.h"
#include "data/row_assembler.h"
#include "tunemix/core/error.h"
#include "tunemix/data/letor_reader.h"

namespace tunemix {

struct LetorParts::Impl {
  Impl(std::vector<std::filesystem::path> all, const LetorOptions& how, const Context& with)
      : files(std::move(all)), options(how), context(with) {
    if (files.empty()) throw InputError("no data files, expected at least one");
  }

  // The next whole queries of the file that is open; closes it at its end.
  std::optional<Dataset> read_part() {
    const bool more = rows->add(*source);
    widest = std::max(widest, rows->widest());
    if (!rows->apart().empty()) throw_apart(rows->apart());
    std::optional<Dataset> data;
    if (more)
      data = rows->take_finished_queries();
    else if (rows->rows() > 0)
      data = rows->finish();
    any = any || data;
    if (!more && !any) throw_input("{}: no documents, expected at least one line with one", source->name());
    if (data)
      for (const std::string& id : data->queries().ids())
        if (!seen.insert(id).second) throw_apart(id);
    if (!more) source.reset();
    return data;
  }
  void open_next() {
    source = open_rows(files[next_file++], options, context);
    rows.emplace(least_width(options), !options.labels_only, context);
    any = false;
  }
  [[noreturn]] void throw_apart(const std::string& query) const {
    throw NotInParts(fmt::format(
        "{}: the rows of query '{}' are not adjacent up to here; give --whole to read all of the data first",
        source->place(), query));
  }

  std::vector<std::filesystem::path> files;
  LetorOptions options;
  const Context& context;
  size_t next_file = 0;
  std::unique_ptr<RowSource> source;  // null between files
  std::optional<RowAssembler> rows;
  bool any = false;  // rows of the file
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
    if (in.source == nullptr && in.next_file == in.files.size()) return std::nullopt;
    if (in.source == nullptr) in.open_next();
    if (std::optional<Dataset> data = in.read_part()) return data;
  }
}

}  // namespace tunemix
