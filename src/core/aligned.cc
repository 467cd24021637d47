#include "tunemix/core/aligned.h"

#include <sys/mman.h>

#include <cstdlib>

namespace tunemix {

void* allocate_aligned(size_t bytes) {
  constexpr size_t kLine = 64;
  constexpr size_t kHugePage = size_t{2} << 20;
  const bool large = bytes >= 2 * kHugePage;
  void* block = nullptr;
  if (::posix_memalign(&block, large ? kHugePage : kLine, bytes) != 0) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
  if (large) ::madvise(block, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);  // a hint: it may fail
#endif
  return block;
}

void free_aligned(void* block) { std::free(block); }

}  // namespace tunemix
