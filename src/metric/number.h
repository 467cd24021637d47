// Reading of numbers that score files and runs share.
#pragma once

#include <string_view>

namespace tunemix {

// Whether the whole text is one finite number; `+` in front is fine, and what is too near 0 is read as 0.
bool parse_finite(std::string_view text, double& value);

}  // namespace tunemix
