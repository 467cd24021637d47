// Score files: one number a line, in the order of the documents in their data files.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "tunemix/data/dataset.h"

namespace tunemix {

// As many scores as lines; throws InputError "file:line: what, what was expected" for a line that is not one
// finite number. Spaces around a number, CRLF, '+' and blank lines at the end are fine.
std::vector<double> parse_scores(std::string_view text, std::string_view name);

// The scores of the data set's documents, in the data set's order. Throws InputError also when their number
// is not that of the documents.
std::vector<double> read_scores(const std::filesystem::path& file, const Dataset& data);

}  // namespace tunemix
