// Writes a text file piece by piece under a temporary name; close() gives it its own.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "tunemix/core/parallel.h"

namespace tunemix {

class TextSink {
 public:
  explicit TextSink(const std::filesystem::path& file);  // throws InputError
  ~TextSink();                                           // removes the file unless it was closed
  TextSink(const TextSink&) = delete;
  TextSink& operator=(const TextSink&) = delete;

  // Appends the pieces in order, several at a time. Throws RunError.
  void append(std::span<const std::string> pieces, ThreadPool& pool);
  void close();

 private:
  std::filesystem::path file_;
  std::filesystem::path temporary_;
  int fd_ = -1;
  size_t size_ = 0;
};

}  // namespace tunemix
