// Lets a learner that takes numbers only be trained on data with missing values.
#pragma once

#include "tunemix/learn/learner.h"

namespace tunemix {

// Its trainings see the data filled in, and its models are composed ones that fill in what they score.
void fill_missing(LearnerEntry& entry);

}  // namespace tunemix
