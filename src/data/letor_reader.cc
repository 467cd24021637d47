#include "tunemix/data/letor_reader.h"

#include <algorithm>
#include <cstring>

#include "data/letor_rows.h"
#include "data/open_rows.h"
#include "data/row_assembler.h"
#include "tunemix/core/error.h"
#include "tunemix/data/side_files.h"

namespace tunemix {
namespace {

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

}  // namespace

std::unique_ptr<RowSource> open_rows(const std::filesystem::path& file, const LetorOptions& options,
                                     const Context& context) {
  return std::make_unique<LetorRows>(open_text(file), file == "-" ? "standard input" : file.string(),
                                     !group_file_of(file).empty(), options, context);
}

Dataset read_letor(std::span<const std::filesystem::path> files, const LetorOptions& options,
                   const Context& context) {
  if (files.empty()) throw InputError("no data files, expected at least one");
  RowAssembler rows(least_width(options), !options.labels_only, context);
  for (const auto& file : files)
    rows.read(*open_rows(file, options, context), group_file_of(file), weight_file_of(file));
  return rows.finish();
}

Dataset read_letor(const std::filesystem::path& file, const LetorOptions& options, const Context& context) {
  return read_letor(std::span(&file, 1), options, context);
}

Dataset parse_letor(std::string_view text, std::string_view name, const LetorOptions& options,
                    const Context& context) {
  LetorRows source(std::make_unique<MemorySource>(text), std::string(name), false, options, context,
                   std::min(kBatchBytes, text.size() + 1));
  RowAssembler rows(least_width(options), !options.labels_only, context);
  rows.read(source, {}, {});
  return rows.finish();
}

FeatureNames read_header_names(const std::filesystem::path& file) {
  const std::unique_ptr<TextSource> source = open_text(file);
  ThreadPool pool(1);
  LineBatches batches(*source, pool);
  try {
    return names_in_header(batches.next(), file.string());
  } catch (const LongLine&) {  // which is no comment, or will be refused with the data
    return {};
  }
}

}  // namespace tunemix
