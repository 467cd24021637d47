// Random scores as a learner of the registry: what a ranking without any knowledge reaches.
#pragma once

#include "tunemix/learn/learner.h"

namespace tunemix {

LearnerEntry random_learner();

}  // namespace tunemix
