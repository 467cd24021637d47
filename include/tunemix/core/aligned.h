// Vectors that begin at a cache line, so that rows of 32 or 64 bytes never straddle two. Large ones ask the
// system for huge pages and return to it when they are freed. Their elements are not zeroed unless a value is
// given.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace tunemix {

void* allocate_aligned(size_t bytes);  // throws std::bad_alloc
void free_aligned(void* block, size_t bytes);

template <typename T>
struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <typename U>
  AlignedAllocator(const AlignedAllocator<U>&) {}  // NOLINT: implicit, as allocators are
  T* allocate(size_t count) { return static_cast<T*>(allocate_aligned(count * sizeof(T))); }
  void deallocate(T* p, size_t count) { free_aligned(p, count * sizeof(T)); }
  template <typename U, typename... Args>
  void construct(U* p, Args&&... args) {
    if constexpr (sizeof...(Args) == 0)
      ::new (static_cast<void*>(p)) U;
    else
      ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
  bool operator==(const AlignedAllocator&) const { return true; }
};

template <typename T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

}  // namespace tunemix
