// A toy learner, whose weight of a feature is its covariance with the label: what a new folder has to hold.
#pragma once

#include "tunemix/learn/learner.h"

namespace tunemix {

LearnerEntry covariance_learner();

}  // namespace tunemix
