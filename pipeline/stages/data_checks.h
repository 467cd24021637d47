// Whether the data of a run can give true numbers: what is refused before anything is trained, and what is
// said beside the results.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pipeline/stages/fold_data.h"

namespace tunemix {

// For each query a hash of its documents' features and labels, in any order and under any id. Zero for
// queries of which there may be equal ones by chance: one document, or all documents alike.
std::vector<Hash128> query_contents(const Dataset& data, const Context& context);

// The same of each document.
std::vector<uint64_t> document_contents(const Dataset& data, const Context& context);

// One sentence for each pair of splits that share queries: within a fold, or the test data of two folds.
std::vector<std::string> find_overlap(std::span<const FoldInfo* const> folds, bool has_test);

// Throws InputError where a split has no relevant document, or where a preset that the config names does not
// know a label of the data.
void expect_measurable(const Config& config, size_t fold, const FoldInfo& info);

// The presets to evaluate under: the config's, or where it names none those that know the data's labels.
std::vector<std::string> evaluation_tools(const Config& config, const std::vector<FoldInfo>& folds);

}  // namespace tunemix
