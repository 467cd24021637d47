// Loaded before a program (LD_PRELOAD): counts its allocations and lets one of them fail, or many.
//   FAULT_AT     number of the allocation, from 1; 0: only count
//   FAULT_SIZE   with it, all from there on fail that are of so many bytes or more
//   FAULT_EVERY  with it, every so many-th fails from there on
//   FAULT_ONLY   c: those of C alone; operator new works and is not counted
//   FAULT_STOP   with it, a trap for debuggers at the first that fails
//   FAULT_COUNT  file to write two counts to at the end: all, and those before the program's own code, by the
//                loader and by constructors of shared libraries
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

// glibc's own, which are there before any symbol can be looked up.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace {

std::atomic<long> g_allocations{0};
std::atomic<long> g_at{-1};  // not read yet
std::atomic<long> g_size{0};
std::atomic<long> g_every{0};
bool g_only_c = false;
long g_before = 0;  // the program's own code

long setting(const char* name, long otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::atol(value);
}

// Nothing waits forever for memory that it does not get.
void start() {
  g_size = setting("FAULT_SIZE", 0);
  g_every = setting("FAULT_EVERY", 0);
  const char* only = std::getenv("FAULT_ONLY");
  g_only_c = only != nullptr && std::strcmp(only, "c") == 0;
  g_at = setting("FAULT_AT", 0);
  ::alarm(60);
}

bool fails(size_t size) {
  if (g_at < 0) start();
  const long number = ++g_allocations;
  const bool from_there = number >= g_at;
  const bool drawn = g_every > 0  ? from_there && number % g_every == 0
                     : g_size > 0 ? from_there && size >= static_cast<size_t>(g_size.load())
                                  : number == g_at;
  const bool failed = g_at > 0 && drawn;
  if (!failed) return false;
  if (std::getenv("FAULT_STOP") != nullptr) ::raise(SIGTRAP);
  errno = ENOMEM;
  return true;
}

struct Report {
  ~Report() {
    const char* file = std::getenv("FAULT_COUNT");
    if (file == nullptr) return;
    const int fd =
        static_cast<int>(::syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_TRUNC, 0644));
    char text[64];
    const int size = std::snprintf(text, sizeof text, "%ld %ld\n", g_allocations.load(), g_before);
    if (::syscall(SYS_write, fd, text, size) < 0) return;
    ::syscall(SYS_close, fd);
  }
} g_report;

}  // namespace

void* operator new(size_t size) {
  for (;;) {
    void* memory = g_at >= 0 && g_only_c ? __libc_malloc(size) : ::malloc(size);
    if (memory != nullptr) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

extern "C" {

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*loader_fini)(), void* stack_end) {
  const auto next = reinterpret_cast<decltype(&__libc_start_main)>(dlsym(RTLD_NEXT, "__libc_start_main"));
  g_before = g_allocations;
  return next(main, argc, argv, init, fini, loader_fini, stack_end);
}

void* malloc(size_t size) { return fails(size) ? nullptr : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails(count * size) ? nullptr : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return fails(size) ? nullptr : __libc_realloc(old, size); }
void* memalign(size_t alignment, size_t size) {
  return fails(size) ? nullptr : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** place, size_t alignment, size_t size) {
  void* memory = memalign(alignment, size);
  if (memory == nullptr) return ENOMEM;
  *place = memory;
  return 0;
}
}
