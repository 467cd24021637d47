// Vectors that begin at a cache line: rows of 32 or 64 bytes then never straddle two. Large ones ask for huge
// pages, as a search reads them out of order and would wait for the translation of addresses.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace tunemix::boost {

template <typename T>
struct CacheLineAllocator {
  using value_type = T;
  CacheLineAllocator() = default;
  template <typename U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}  // NOLINT: implicit, as allocators are
  T* allocate(size_t count) {
    void* p = ::operator new(count * sizeof(T), alignment(count));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    // Advice only; a last page that is not full stays as it is.
    if (count * sizeof(T) >= kHugePage) madvise(p, count * sizeof(T) / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(p);
  }
  void deallocate(T* p, size_t count) { ::operator delete(p, alignment(count)); }
  bool operator==(const CacheLineAllocator&) const { return true; }

 private:
  static constexpr size_t kHugePage = size_t{2} << 20;
  static std::align_val_t alignment(size_t count) {
    return std::align_val_t{count * sizeof(T) >= kHugePage ? kHugePage : 64};
  }
};

template <typename T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

}  // namespace tunemix::boost
