// Says why a file cannot be read before anything tries to.
#pragma once

#include <filesystem>

namespace tunemix {

// Throws InputError with the reason and what to do where the file is missing, a folder, a pattern that no
// shell has expanded, or not ours to read. "-" and whatever is not a regular file are left to the reader.
void expect_readable(const std::filesystem::path& file);

}  // namespace tunemix
