// Text that is put together piece by piece.
#pragma once

#include <fmt/format.h>

#include <iterator>

namespace tunemix {

using Buffer = fmt::memory_buffer;

template <typename... Args>
inline void print(Buffer& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

}  // namespace tunemix
