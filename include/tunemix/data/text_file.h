// Whole text files, plain or compressed.
#pragma once

#include <filesystem>
#include <string>

namespace tunemix {

// The text of a plain, gzip or zstd file; `-` is standard input. Throws InputError.
std::string read_any_text(const std::filesystem::path& file);

}  // namespace tunemix
