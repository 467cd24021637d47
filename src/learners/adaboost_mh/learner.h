// AdaBoost.MH as a learner of the registry.
#pragma once

#include "tunemix/learn/learner.h"

namespace tunemix {

LearnerEntry adaboost_mh_learner();

}  // namespace tunemix
