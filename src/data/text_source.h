// Reads text from a plain, gzip or zstd file, piece by piece.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "tunemix/core/parallel.h"

namespace tunemix {

class TextSource {
 public:
  virtual ~TextSource() = default;
  // Fills up to `size` bytes and returns how many; fewer only at the end. Throws InputError.
  virtual size_t read(char* to, size_t size, ThreadPool& pool) = 0;
};

// `-` is standard input. The content tells the format; a `.gz` or `.zst` name must not lie about it.
std::unique_ptr<TextSource> open_text(const std::filesystem::path& file);

}  // namespace tunemix
