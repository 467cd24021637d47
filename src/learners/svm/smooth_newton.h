// Newton's method on the smoothed primal, the smoothing lowered until the duality gap is reached: for many
// documents and few enough weights that a system of equations in them can be solved.
#pragma once

#include "learners/svm/dual_descent.h"
#include "learners/svm/problem.h"

namespace tunemix::svm {

// Starts at state.u and its primal point state.M, and leaves in both a solution and its dual variables.
Progressed smooth_newton(const Problem& problem, double C, double gap, int max_steps, State& state,
                         const Context& context);

// The number of unknowns of a Newton step: weights up to their sum over the labels, which is 0.
size_t newton_unknowns(const Problem& problem);

}  // namespace tunemix::svm
