// All monomials of K inputs up to a degree: by degree, then lexicographically; each is an earlier one times
// one input.
#pragma once

#include <cstdint>
#include <vector>

namespace tunemix::calibrate {

struct Monomial {
  int32_t parent;  // the monomial to multiply with input `input`; -1: the input alone
  int32_t input;
};

// How many monomials of degrees 1..degree there are: C(inputs + degree, degree) - 1.
inline double monomial_count(size_t inputs, int degree) {
  double count = 1;
  for (int d = 1; d <= degree; ++d) count *= static_cast<double>(inputs + d) / d;
  return count - 1;
}

inline std::vector<Monomial> monomials(size_t inputs, int degree) {
  std::vector<Monomial> result;
  size_t begin = 0;
  for (size_t k = 0; k < inputs; ++k) result.push_back({-1, static_cast<int32_t>(k)});
  for (int d = 2; d <= degree; ++d) {
    const size_t end = result.size();
    for (size_t m = begin; m < end; ++m)
      for (size_t k = static_cast<size_t>(result[m].input); k < inputs; ++k)
        result.push_back({static_cast<int32_t>(m), static_cast<int32_t>(k)});
    begin = end;
  }
  return result;
}

}  // namespace tunemix::calibrate
