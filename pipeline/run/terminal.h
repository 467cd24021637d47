// Text from files and names on its way to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace tunemix {

// Control characters as \\xNN, so that no file's text can move the cursor or set a window's title; other text
// as it is.
std::string printable(std::string_view text);
// The same for a message of several lines.
std::string printable_lines(std::string_view text);

}  // namespace tunemix
