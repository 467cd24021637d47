#include "data/text_sink.h"

#include <vector>

namespace tunemix {
namespace {

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace

void TextSink::append(std::span<const std::string> pieces, ThreadPool& pool) {
  if (!file_.replaces()) {
    for (const std::string& piece : pieces) file_.write(bytes_of(piece));
    return;
  }
  std::vector<size_t> offsets;
  for (const std::string& piece : pieces) {
    offsets.push_back(size_);
    size_ += piece.size();
  }
  pool.run(pieces.size(), [&](size_t i) { file_.write_at(bytes_of(pieces[i]), offsets[i]); });
}

}  // namespace tunemix
