// What commands read from and write to: files that a user names, `-` for the standard streams.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tunemix {

// `-` is standard output; missing folders are made.
void write_output(const std::filesystem::path& file, const std::string& text);

// Throws InputError where `out` is one of the inputs, or where standard input would be read twice.
void expect_no_input(const std::filesystem::path& out, const std::vector<std::filesystem::path>& inputs);

// Throws InputError if `out` is `-`: for files that cannot go to standard output.
void expect_file_name(const std::filesystem::path& out, std::string_view option, std::string_view what);

}  // namespace tunemix
