// What commands read from and write to: files that a user names, `-` for the standard streams.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tunemix {

// `-` is standard output; missing folders are made.
void write_output(const std::filesystem::path& file, const std::string& text);

// Throws InputError where `out` is one of the inputs, or where standard input would be read twice.
void expect_no_input(const std::filesystem::path& out, const std::vector<std::filesystem::path>& inputs);

}  // namespace tunemix
