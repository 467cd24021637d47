// Writes a text file that a user names piece by piece; under its own name it is whole, but for devices and
// pipes.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "tunemix/core/file.h"
#include "tunemix/core/parallel.h"

namespace tunemix {

class TextSink {
 public:
  explicit TextSink(const std::filesystem::path& file) : file_(file) {}

  // Appends the pieces in order, several at a time. Throws RunError.
  void append(std::span<const std::string> pieces, ThreadPool& pool);
  void close() { file_.commit(); }

 private:
  OutputFile file_;  // not there in the end unless it was closed
  size_t size_ = 0;
};

}  // namespace tunemix
