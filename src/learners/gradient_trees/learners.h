// The learners of trees, each made by the file of its objective.
#pragma once

#include "learners/gradient_trees/tree_learner.h"

namespace tunemix::trees {

TreeLearner lambdamart();
TreeLearner mart();
TreeLearner query_rmse();
TreeLearner yetirank();
TreeLearner xendcg();
TreeLearner logitboost();
TreeLearner random_forest();
TreeLearner extra_trees();

}  // namespace tunemix::trees
