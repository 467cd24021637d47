#include "tunemix/data/float_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

namespace tunemix {

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
}

}  // namespace tunemix
