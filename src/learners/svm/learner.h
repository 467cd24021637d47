// The linear multi-class SVM as a learner of the registry.
#pragma once

#include "tunemix/learn/learner.h"

namespace tunemix {

LearnerEntry svm_learner();

}  // namespace tunemix
