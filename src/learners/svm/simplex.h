// Projection onto the probability simplex: the whole sub-problem of one document, in both solvers.
#pragma once

#include <algorithm>
#include <cstddef>

namespace tunemix::svm {

// u = argmin |u - v|^2 over u >= 0, sum u = 1. Exact in at most K rounds: the threshold of the entries kept
// so far only grows, so an entry below it never comes back. u may be v.
inline void project_to_simplex(const double* v, size_t K, double* u) {
  double sum = 0;
  for (size_t l = 0; l < K; ++l) sum += v[l];
  double threshold = (sum - 1) / static_cast<double>(K);
  size_t kept = K;
  for (;;) {
    double kept_sum = 0;
    size_t now = 0;
    for (size_t l = 0; l < K; ++l) {
      const bool keep = v[l] > threshold;
      kept_sum += keep ? v[l] : 0;
      now += keep ? 1 : 0;
    }
    // Rounding may keep none, or bring one back.
    if (now >= kept || now == 0) break;
    kept = now;
    threshold = (kept_sum - 1) / static_cast<double>(kept);
  }
  // A vertex is met exactly, so that it can be recognised.
  for (size_t l = 0; l < K; ++l) u[l] = v[l] <= threshold ? 0 : kept == 1 ? 1 : v[l] - threshold;
}

}  // namespace tunemix::svm
