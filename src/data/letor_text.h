// Writes LETOR lines as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tunemix {

// Appends one line; the numbers read back to exactly the same floats. Features that are 0 are left out unless
// `dense`; `name` may be empty. With `keep_last` the last feature is written in any case, so that the number
// of features is not lost.
void append_letor_line(std::string& out, int32_t label, std::string_view query,
                       std::span<const float> features, std::string_view name, bool dense, bool keep_last);

}  // namespace tunemix
