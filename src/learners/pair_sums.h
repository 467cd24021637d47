// Sums over all pairs of a query's documents with different labels, for queries of many documents.
#pragma once

#include <span>
#include <vector>

#include "core/cell_sums.h"

namespace tunemix {

// For each document, labels descending, the sum over all documents with a lower label, of the function of its
// score less theirs; NaN for scores that are not finite.
std::vector<double> sums_over_worse(const CellFunction& function, std::span<const double> scores,
                                    std::span<const int32_t> labels);
// Likewise over all documents with a higher label, of their score less its own.
std::vector<double> sums_over_better(const CellFunction& function, std::span<const double> scores,
                                     std::span<const int32_t> labels);

}  // namespace tunemix
