#include "pipeline/run/terminal.h"

#include <fmt/format.h>

#include <algorithm>

namespace tunemix {

std::string printable(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {  // the controls beyond ASCII, as UTF-8 has them
      result += fmt::format("\\x{:02x}", next);
      ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string printable_lines(std::string_view text) {
  std::string result;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    result += (at > 0 ? "\n" : "") + printable(text.substr(at, end - at));
    at = end + 1;
  }
  return result;
}

}  // namespace tunemix
