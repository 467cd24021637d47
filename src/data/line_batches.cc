#include "data/line_batches.h"

#include <algorithm>
#include <cstring>

namespace tunemix {

std::string_view LineBatches::next() {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
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
      std::string_view lines(buffer_.get(), used_);
      if (at_begin_ && lines.starts_with(kByteOrderMark)) lines.remove_prefix(kByteOrderMark.size());
      at_begin_ = false;
      return lines;
    }
    if (filled_ >= kMostLine) throw LongLine();
    wanted *= 2;
  }
}

// Not filled with zeros: of a small file nearly all of it stays untouched.
void LineBatches::make_room(size_t size) {
  if (size <= room_) return;
  auto larger = std::make_unique_for_overwrite<char[]>(size);
  if (filled_ > 0) std::memcpy(larger.get(), buffer_.get(), filled_);
  buffer_ = std::move(larger);
  room_ = size;
}

}  // namespace tunemix
