// Two tiers of error: what the user did wrong (InputError), and a run that failed (RunError). Our own bugs
// assert.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace tunemix {

// Wrong usage, config or input data: one clear sentence for the user; the program exits with code 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The run could not be finished (disk, memory, a failed job); the program exits with code 1.
class RunError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The user pressed Ctrl-C; the program exits with code 130 and keeps everything finished so far.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

// A broken promise inside the library: a bug of ours.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

template <typename... Args>
[[noreturn]] void throw_input(fmt::format_string<Args...> format, Args&&... args) {
  throw InputError(fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
[[noreturn]] void throw_run(fmt::format_string<Args...> format, Args&&... args) {
  throw RunError(fmt::format(format, std::forward<Args>(args)...));
}

// Checked in every build: the cost is nil beside what it guards.
inline void require(bool condition, const char* what) {
  if (!condition) throw InternalError(what);
}

}  // namespace tunemix
