// Reads what lies beside a data file: LightGBM's group sizes, and weights.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tunemix/data/side_files.h"

namespace tunemix {

// Whole numbers above 0, one a line.
std::vector<size_t> read_group_sizes(const std::filesystem::path& file);
// One for each of so many documents of `data`.
std::vector<float> read_weights(const std::filesystem::path& file, const std::string& data, size_t documents);

}  // namespace tunemix
