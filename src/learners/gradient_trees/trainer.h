// Trains any of the tree learners, round by round.
#pragma once

#include <memory>

#include "learners/gradient_trees/tree_learner.h"

namespace tunemix::trees {

struct TreeRun {
  TreeKind kind;
  TreeOptions options;
  const MakeObjective& objective;
};

// `state` is null for a new run.
std::unique_ptr<Trainer> make_tree_trainer(const TreeRun& run, const TrainingRequest& request,
                                           BinaryReader* state, const Context& context);

}  // namespace tunemix::trees
