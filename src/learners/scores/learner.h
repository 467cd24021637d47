// Scores from elsewhere as a learner of the registry: nothing is trained.
#pragma once

#include "tunemix/learn/learner.h"

namespace tunemix {

LearnerEntry scores_learner();

}  // namespace tunemix
