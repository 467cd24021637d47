// Files that lie beside a data file and belong to it, whatever its format.
#pragma once

#include <filesystem>
#include <vector>

namespace tunemix {

// LightGBM's `FILE.query` with the sizes of queries, also beside a compressed file under the name of the
// plain one; empty if there is none.
std::filesystem::path group_file_of(const std::filesystem::path& file);
std::vector<std::filesystem::path> possible_group_files(const std::filesystem::path& file);

// The weights of its documents, one number a line: `FILE.weight`, or `FILE.weight.gz`; beside a compressed
// file also under the name of the plain one. Empty if there is none. Files without weights read together with
// others have weight 1.
std::filesystem::path weight_file_of(const std::filesystem::path& file);
std::vector<std::filesystem::path> possible_weight_files(const std::filesystem::path& file);

}  // namespace tunemix
