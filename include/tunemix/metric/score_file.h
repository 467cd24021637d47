// Score files: one number a line, or K, in the order of the documents in their data files.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "tunemix/data/dataset.h"
#include "tunemix/data/score_matrix.h"

namespace tunemix {

// As many scores as lines; throws InputError "file:line: what, what was expected" for a line that is not one
// finite number. Spaces around a number, CRLF, '+' and blank lines at the end are fine.
std::vector<double> parse_scores(std::string_view text, std::string_view name);

// The scores of the data set's documents, in the data set's order. Throws InputError also when their number
// is not that of the documents.
std::vector<double> read_scores(const std::filesystem::path& file, const Dataset& data);
// The same for so many documents of the given source rows (as they are, without).
std::vector<double> read_scores(const std::filesystem::path& file, size_t documents,
                                std::span<const uint32_t> source_rows);

// Files of one score, or the same number of scores, a line, one file after the other: those of `documents`
// documents, by their `source_rows` (as they are, without), which may leave lines out. Compressed files are
// read as they are.
ScoreMatrix read_score_columns(std::span<const std::filesystem::path> files, size_t documents,
                               std::span<const uint32_t> source_rows);

}  // namespace tunemix
