// All the data that a config names, each query once: what the final model is trained on.
#pragma once

#include <span>

#include "pipeline/stages/fold_data.h"

namespace tunemix {

// As the training data of a fold without validation and test data. `folds`: what describes the config's.
//
// A query is known by its documents, whatever its id; where documents cannot tell (one, or all alike), by its
// id. The source rows of the documents are rows of all the files of all folds, one after the other: fold by
// fold those of train, valid and test.
FoldFeatures read_all(const Config& config, std::span<const FoldInfo* const> folds,
                      const ArtifactStore& store, const Context& context);

}  // namespace tunemix
