// Solves small symmetric systems; keeps Eigen in one place.
#pragma once

#include <vector>

namespace tunemix::calibrate {

// x with A x = b; A is n x n, symmetric, positive semi-definite, row by row.
std::vector<double> solve_symmetric(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace tunemix::calibrate
