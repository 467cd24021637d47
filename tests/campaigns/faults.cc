// Loaded before a program (LD_PRELOAD): counts its calls on files under a folder, and at one of them ends the
// program or lets the call fail.
//   FAULT_UNDER  part of the paths that count
//   FAULT_CALLS  write: calls that change files; read: those that open and read them
//   FAULT_AT     number of the call, from 1; 0: only count
//   FAULT_HOW    before, half, after (SIGKILL there), or the number of an error
//   FAULT_COUNT  file to write the count to at the end
// Besides, without counting:
//   FAULT_MISSING  what begins with this path is not there and cannot be made
//   FAULT_CLOCK    how often the time of day is told before the clock is set back by an hour
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<long> g_calls{0};
std::atomic<bool> g_tracked[1024];

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool counts_writes() { return std::strcmp(setting("FAULT_CALLS"), "write") == 0; }
bool counts_path(const char* path) {
  return *setting("FAULT_UNDER") != '\0' && std::strstr(path, setting("FAULT_UNDER")) != nullptr;
}
bool is_missing(const char* path) {
  const char* missing = setting("FAULT_MISSING");
  if (*missing == '\0' || std::strncmp(path, missing, std::strlen(missing)) != 0) return false;
  errno = ENOENT;
  return true;
}
bool tracked(int fd) { return fd >= 0 && fd < 1024 && g_tracked[fd]; }

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void die() { ::kill(::getpid(), SIGKILL); }

// Makes the call, unless it is the one that fails. `half` does a part of it, if that can be.
template <typename Call, typename Half>
auto faulty(Call call, Half half) -> decltype(call()) {
  const long number = ++g_calls;
  if (number != std::atol(setting("FAULT_AT"))) return call();
  const char* how = setting("FAULT_HOW");
  if (std::strcmp(how, "before") == 0) die();
  if (std::strcmp(how, "half") == 0) {
    half();
    die();
  }
  if (std::strcmp(how, "after") == 0) {
    call();
    die();
  }
  errno = std::atoi(how);
  return -1;
}

int opened(int fd, bool track) {
  if (fd >= 0 && fd < 1024) g_tracked[fd] = track;
  return fd;
}

struct Report {
  ~Report() {
    const char* file = setting("FAULT_COUNT");
    if (*file == '\0') return;
    const int fd =
        static_cast<int>(::syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_TRUNC, 0644));
    char text[32];
    const int size = std::snprintf(text, sizeof text, "%ld\n", g_calls.load());
    if (::syscall(SYS_write, fd, text, size) < 0) return;
    ::syscall(SYS_close, fd);
  }
} g_report;

int open_any(const char* name, const char* path, int flags, mode_t mode) {
  if (is_missing(path)) return -1;
  const auto call = [&] { return next<int (*)(const char*, int, ...)>(name)(path, flags, mode); };
  if (!counts_path(path)) return opened(call(), false);
  const bool writes = (flags & (O_WRONLY | O_RDWR | O_CREAT)) != 0;
  if (writes != counts_writes() || (flags & O_DIRECTORY) != 0)
    return opened(call(), writes == counts_writes());
  return opened(faulty(call, [] {}), true);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  return open_any("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  return open_any("open64", path, flags, mode);
}

ssize_t write(int fd, const void* bytes, size_t size) {
  const auto call = [&] { return next<ssize_t (*)(int, const void*, size_t)>("write")(fd, bytes, size); };
  if (!tracked(fd) || !counts_writes()) return call();
  return faulty(call, [&] { return ::syscall(SYS_write, fd, bytes, size / 2); });
}

ssize_t read(int fd, void* bytes, size_t size) {
  const auto call = [&] { return next<ssize_t (*)(int, void*, size_t)>("read")(fd, bytes, size); };
  if (!tracked(fd) || counts_writes()) return call();
  return faulty(call, [] {});
}

int fsync(int fd) {
  const auto call = [&] { return next<int (*)(int)>("fsync")(fd); };
  return tracked(fd) && counts_writes() ? faulty(call, [] {}) : call();
}

int close(int fd) {
  if (fd >= 0 && fd < 1024) g_tracked[fd] = false;
  return next<int (*)(int)>("close")(fd);
}

int rename(const char* from, const char* to) noexcept {
  const auto call = [&] { return next<int (*)(const char*, const char*)>("rename")(from, to); };
  return counts_writes() && counts_path(to) ? faulty(call, [] {}) : call();
}

int link(const char* from, const char* to) noexcept {
  const auto call = [&] { return next<int (*)(const char*, const char*)>("link")(from, to); };
  return counts_writes() && counts_path(to) ? faulty(call, [] {}) : call();
}

int unlink(const char* path) noexcept {
  const auto call = [&] { return next<int (*)(const char*)>("unlink")(path); };
  return counts_writes() && counts_path(path) ? faulty(call, [] {}) : call();
}

int unlinkat(int at, const char* path, int flags) noexcept {
  const auto call = [&] { return next<int (*)(int, const char*, int)>("unlinkat")(at, path, flags); };
  return counts_writes() ? faulty(call, [] {}) : call();
}

int remove(const char* path) noexcept {
  const auto call = [&] { return next<int (*)(const char*)>("remove")(path); };
  return counts_writes() && counts_path(path) ? faulty(call, [] {}) : call();
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static std::atomic<long> told{0};
  const int result = next<int (*)(clockid_t, timespec*)>("clock_gettime")(clock, time);
  const char* until = setting("FAULT_CLOCK");
  if (clock == CLOCK_REALTIME && *until != '\0' && ++told > std::atol(until)) time->tv_sec -= 3600;
  return result;
}

int mkdir(const char* path, mode_t mode) noexcept {
  if (is_missing(path)) return -1;
  const auto call = [&] { return next<int (*)(const char*, mode_t)>("mkdir")(path, mode); };
  return counts_writes() && counts_path(path) ? faulty(call, [] {}) : call();
}
}
