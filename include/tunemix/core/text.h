// Small helpers for messages to people.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tunemix {

// The candidate nearest to `word` by edit distance, or empty when none is near.
std::string nearest(std::string_view word, std::span<const std::string> candidates);
// "; did you mean 'X'?" or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);
std::string join(std::span<const std::string> parts, std::string_view separator);
std::vector<std::string> split(std::string_view text, char separator);
std::string human_bytes(double bytes);
std::string human_seconds(double seconds);

}  // namespace tunemix
