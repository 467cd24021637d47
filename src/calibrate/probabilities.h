// Class probabilities of eight documents at once from x_l, in log space: neither a steep nor a far sigmoid
// gives 0/0.
#pragma once

#include "calibrate/kernels.h"
#include "calibrate/lanes.h"

namespace tunemix::calibrate::TUNEMIX_SET {

// Far beyond any real score, and still finite when such numbers are subtracted.
TUNEMIX_LANES lanes::V bounded(const lanes::V& x) { return lanes::min(lanes::max(x, -1e300), 1e300); }

// log s(x) = min(x, 0) - log(1 + exp(-|x|)); e may not be x.
TUNEMIX_LANES lanes::V log_sigmoid(const lanes::V& x, lanes::V& e) {
  e = lanes::exp(-lanes::abs(x));
  return lanes::min(x, 0) - lanes::log(1.0 + e);
}

// p = exp(x) / sum exp(x); p may be x.
TUNEMIX_LANES void softmax_probabilities(const lanes::V* x, size_t columns, lanes::V* p) {
  lanes::V highest = -1e301;
  for (size_t k = 0; k < columns; ++k) highest = lanes::max(highest, x[k]);
  lanes::V total{};
  for (size_t k = 0; k < columns; ++k) {
    p[k] = lanes::exp(x[k] - highest);
    total += p[k];
  }
  for (size_t k = 0; k < columns; ++k) p[k] /= total;
}

// p(l) alone; p may not alias x.
TUNEMIX_LANES void sigmoid_probabilities(const lanes::V* x, size_t columns, lanes::V* p) {
  lanes::V e;
  for (size_t k = 0; k < columns; ++k) p[k] = log_sigmoid(bounded(x[k]), e);
  softmax_probabilities(p, columns, p);
}

// Of sigmoids by plain division, for |x| < kPlainReach.
TUNEMIX_LANES void plain_probabilities(const lanes::V* x, size_t columns, lanes::V* p) {
  lanes::V total{};
  for (size_t k = 0; k < columns; ++k) {
    p[k] = lanes::sigmoid(x[k]);
    total += p[k];
  }
  const lanes::V inverse = 1.0 / total;
  for (size_t k = 0; k < columns; ++k) p[k] *= inverse;
}

}  // namespace tunemix::calibrate::TUNEMIX_SET
