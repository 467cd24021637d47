// The rankers that are sums of weak ones, added round by round.
#pragma once

#include "tunemix/learn/learner.h"

namespace tunemix {

LearnerEntry adarank_learner();
LearnerEntry rankboost_learner();
LearnerEntry frank_learner();

}  // namespace tunemix
