// Dual coordinate descent, one document after the other in a random order.
#pragma once

#include "learners/svm/problem.h"

namespace tunemix::svm {

struct Progressed {
  Certificate certificate;
  int epochs = 0;
};

// Takes state.u (feasible) and state.M (its primal point for C) on until the gap is reached or the epochs are
// used up; M stays the primal point of u.
Progressed dual_descent(const Problem& problem, double C, double gap, int max_epochs, State& state,
                        Random& random, const Context& context);

// M = C sum_i weight_i (e_{l_i} - u_i) x_i
std::vector<double> primal_point(const Problem& problem, double C, const State& state,
                                 const Context& context);

// The primal value at M and the dual value of u, computed from scratch; dual_M becomes the primal point of u.
Certificate certify(const Problem& problem, double C, const State& state, std::vector<double>& dual_M,
                    const Context& context);

}  // namespace tunemix::svm
