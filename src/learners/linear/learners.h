// The rankers that score by a weighted sum of features, or by a small network of such sums.
#pragma once

#include "tunemix/learn/learner.h"

namespace tunemix {

LearnerEntry best_feature_learner();
LearnerEntry linear_regression_learner();
LearnerEntry ranksvm_learner();
LearnerEntry ranknet_learner();
LearnerEntry listnet_learner();
LearnerEntry coordinate_ascent_learner();

}  // namespace tunemix
