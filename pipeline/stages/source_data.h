// Data of another set to learn from (data.source): its features as the folds number theirs, and both sets as
// one.
#pragma once

#include "pipeline/config/config.h"
#include "tunemix/core/context.h"
#include "tunemix/data/dataset.h"

namespace tunemix {

// Reads the source's files. Of its features those stay that the folds have too, under the folds' numbers;
// what the folds have alone is 0. Throws InputError where nothing is in common or a label is new.
Dataset read_source(const Config& config, size_t features, int labels, const Context& context);

// The documents of `first`, then those of `second`, whose weights are multiplied by `weight`.
Dataset joined(const Dataset& first, const Dataset& second, double weight);

// Throws InputError where queries of the source are among those that are chosen or tested on.
void expect_unseen(const Dataset& source, const Dataset& valid, const Dataset& test, size_t fold,
                   const Context& context);

}  // namespace tunemix
