// Splits of a data set by whole queries.
#pragma once

#include <cstdint>
#include <vector>

#include "tunemix/core/random.h"
#include "tunemix/data/query_index.h"

namespace tunemix {

struct QuerySplit {
  std::vector<size_t> train;        // query numbers, ascending
  std::vector<size_t> calibration;  // query numbers, ascending
};

// A random `fraction` of the queries (at least one, never all) goes to calibration. Needs two queries or
// more.
QuerySplit split_queries(const QueryIndex& queries, double fraction, Random random);

// Part `part` of a random partition of so many queries into `parts` parts of nearly the same size goes to
// calibration.
QuerySplit leave_out_part(size_t queries, size_t parts, size_t part, Random random);

}  // namespace tunemix
