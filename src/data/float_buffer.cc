#include "tunemix/data/float_buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

namespace tunemix {

namespace {

// Asks for 2 MB pages, so that a matrix is faulted in 500 times less often. Only for blocks that malloc maps
// on their own, and for the whole of such a mapping: realloc cannot move one that is split in two.
void use_huge_pages([[maybe_unused]] void* block, [[maybe_unused]] size_t bytes) {
#if defined(MADV_HUGEPAGE)
  constexpr size_t kMappedAlone = size_t{64} << 20;
  constexpr uintptr_t kPage = 4096;
  if (bytes < kMappedAlone) return;
  const size_t before = reinterpret_cast<uintptr_t>(block) % kPage;
  const size_t length = (before + bytes + kPage - 1) / kPage * kPage;
  ::madvise(static_cast<char*>(block) - before, length, MADV_HUGEPAGE);  // a hint: it may fail
#endif
}

}  // namespace

FloatBuffer::FloatBuffer(std::span<const float> values) {
  resize(values.size());
  if (!values.empty()) std::memcpy(data_, values.data(), values.size_bytes());
}

FloatBuffer::~FloatBuffer() { std::free(data_); }

void FloatBuffer::resize(size_t size) {
  // Pages that are not written to cost no memory, so growing by half wastes only addresses.
  if (size > capacity_) reallocate(capacity_ == 0 ? size : std::max(size, capacity_ + capacity_ / 2));
  size_ = size;
}

void FloatBuffer::shrink_to_fit() {
  if (capacity_ > size_) reallocate(size_);
}

void FloatBuffer::reallocate(size_t capacity) {
  if (capacity == 0) {
    std::free(data_);
    data_ = nullptr;
    capacity_ = 0;
    return;
  }
  if (capacity > std::numeric_limits<size_t>::max() / 2 / sizeof(float)) throw std::bad_alloc();
  // realloc moves pages instead of copying them when the block is large.
  void* moved = std::realloc(data_, capacity * sizeof(float));
  if (moved == nullptr) throw std::bad_alloc();
  data_ = static_cast<float*>(moved);
  capacity_ = capacity;
  use_huge_pages(moved, capacity * sizeof(float));
}

}  // namespace tunemix
