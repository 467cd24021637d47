// Whole lines of a text, a batch at a time.
#pragma once

#include <memory>
#include <string_view>

#include "data/text_source.h"

namespace tunemix {

// Bytes that can be read after a batch.
inline constexpr size_t kTextPadding = 64;
inline constexpr size_t kBatchBytes = size_t{1} << 23;  // of a batch, unless a line is longer
inline constexpr size_t kMostLine = size_t{1}
                                    << 28;  // a longer one is no line: a bomb of a few bytes holds it

struct LongLine {};

class LineBatches {
 public:
  LineBatches(TextSource& source, ThreadPool& pool, size_t batch_bytes = kBatchBytes)
      : source_(source), pool_(pool), batch_bytes_(batch_bytes) {}

  // The next lines, without the file's byte order mark, the last one with a newline even if the file has
  // none, followed by kTextPadding bytes; empty at the end. Valid until the next call. Throws LongLine.
  std::string_view next();

 private:
  void make_room(size_t size);

  TextSource& source_;
  ThreadPool& pool_;
  size_t batch_bytes_;
  std::unique_ptr<char[]> buffer_;
  size_t room_ = 0;
  size_t filled_ = 0;
  size_t used_ = 0;
  bool at_begin_ = true;
  bool at_end_ = false;
};

}  // namespace tunemix
