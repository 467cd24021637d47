#include "tunemix/core/aligned.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

namespace tunemix {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kHugePage = size_t{2} << 20;
// Blocks from here on are mapped on their own: freeing one gives its memory back at once.
constexpr size_t kLarge = size_t{1} << 20;

size_t whole_pages(size_t bytes) {
  constexpr size_t kPage = 4096;
  return (bytes + kPage - 1) / kPage * kPage;
}

void* map_aligned(size_t bytes) {
  // Room to move the beginning to a huge page's; what lies before and behind is given back.
  const size_t room = whole_pages(bytes) + kHugePage;
  void* mapped = ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  auto* begin = static_cast<char*>(mapped);
  const size_t before = kHugePage - 1 - (reinterpret_cast<uintptr_t>(begin) + kHugePage - 1) % kHugePage;
  const size_t behind = room - before - whole_pages(bytes);
  if (before > 0) ::munmap(begin, before);
  if (behind > 0) ::munmap(begin + before + whole_pages(bytes), behind);
#if defined(MADV_HUGEPAGE)
  // A hint: it may fail. The end is left out, where a huge page would be mostly unused.
  if (bytes >= kHugePage) ::madvise(begin + before, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
  return begin + before;
}

}  // namespace

void* allocate_aligned(size_t bytes) {
  if (bytes >= kLarge) return map_aligned(bytes);
  void* block = nullptr;
  if (::posix_memalign(&block, kLine, bytes) != 0) throw std::bad_alloc();
  return block;
}

void free_aligned(void* block, size_t bytes) {
  if (bytes >= kLarge)
    ::munmap(block, whole_pages(bytes));
  else
    std::free(block);
}

}  // namespace tunemix
