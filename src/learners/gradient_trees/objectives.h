// Makers of the single objectives; make_objective chooses.
#pragma once

#include "learners/gradient_trees/objective.h"

namespace tunemix::trees {

std::unique_ptr<Objective> make_lambdamart(const TreeOptions&, const TrainingData&, const Context&);
std::unique_ptr<Objective> make_yetirank(const TreeOptions&, const TrainingData&, const Context&);
std::unique_ptr<Objective> make_logitboost(const TrainingData&, const Context&);
std::unique_ptr<Objective> make_grade_regression(const TrainingData&, const Context&);
std::unique_ptr<Objective> make_target_regression(const TrainingData&, std::span<const float> targets,
                                                  const Context&);

}  // namespace tunemix::trees
