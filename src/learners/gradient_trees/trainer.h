// Trains any of the tree learners, round by round.
#pragma once

#include <memory>

#include "learners/gradient_trees/options.h"
#include "tunemix/learn/learner.h"

namespace tunemix::trees {

// `state` is null for a new run.
std::unique_ptr<Trainer> make_tree_trainer(TreeObjective objective, const TrainingRequest& request,
                                           BinaryReader* state, const Context& context);

}  // namespace tunemix::trees
