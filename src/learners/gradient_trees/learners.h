// The tree learners as the registry lists them.
#pragma once

#include "tunemix/learn/learner.h"

namespace tunemix {

LearnerEntry lambdamart_learner();
LearnerEntry mart_learner();
LearnerEntry yetirank_learner();
LearnerEntry logitboost_learner();
LearnerEntry random_forest_learner();
LearnerEntry extra_trees_learner();

}  // namespace tunemix
