#include "calibrate/solve.h"

// Plain arithmetic: the systems are small, and packets would make results depend on the machine.
#include <Eigen/Cholesky>

namespace tunemix::calibrate {

std::vector<double> solve_symmetric(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<Eigen::Index>(b.size());
  if (n == 0) return {};
  const Eigen::Map<const Eigen::MatrixXd> matrix(a.data(), n, n);
  const Eigen::Map<const Eigen::VectorXd> right(b.data(), n);
  const Eigen::VectorXd x = matrix.ldlt().solve(right);
  return {x.data(), x.data() + n};
}

}  // namespace tunemix::calibrate
