// Data sets made from others: some of the features, other labels, or more queries with documents left out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tunemix/core/context.h"
#include "tunemix/core/random.h"
#include "tunemix/data/dataset.h"

namespace tunemix {

// The features of the given numbers (from 0), in the given order.
Dataset select_features(const Dataset& data, std::span<const uint32_t> columns, const Context& context);

// With features of value 0 after its own, so many in all.
Dataset widened(const Dataset& data, size_t features, const Context& context);

// The same documents with other labels.
Dataset with_labels(const Dataset& data, std::vector<int32_t> labels);

// The data and `copies` of every query in which each document is left out with probability `leave_out`, one
// at least staying (Burges et al. 2011: more training data by deleting documents).
Dataset with_copies(const Dataset& data, int copies, double leave_out, Random random);

}  // namespace tunemix
