// A big array of floats that is not zero-filled and grows in place where the system can, so that a feature
// matrix is never held twice.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace tunemix {

class FloatBuffer {
 public:
  FloatBuffer() = default;
  explicit FloatBuffer(size_t size) { resize(size); }  // the values are undefined
  FloatBuffer(const std::vector<float>& values) : FloatBuffer(std::span<const float>(values)) {}  // NOLINT
  explicit FloatBuffer(std::span<const float> values);
  FloatBuffer(const FloatBuffer& other) : FloatBuffer(std::span<const float>(other.data_, other.size_)) {}
  FloatBuffer(FloatBuffer&& other) noexcept { swap(other); }
  FloatBuffer& operator=(FloatBuffer other) noexcept {
    swap(other);
    return *this;
  }
  ~FloatBuffer();

  size_t size() const { return size_; }
  float* data() { return data_; }
  const float* data() const { return data_; }
  std::span<const float> values() const { return {data_, size_}; }

  void resize(size_t size);  // values past the old size are undefined
  void shrink_to_fit();

 private:
  void swap(FloatBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  void reallocate(size_t capacity);

  float* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace tunemix
