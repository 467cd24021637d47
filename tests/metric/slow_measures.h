// Ranking measures written as their definitions read, for the fast ones to be held against.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace tunemix::test {

using Labels = std::vector<int>;  // from rank 1 down

inline double slow_dcg(const Labels& ranked, size_t k, const std::function<double(int)>& gain,
                       const std::function<double(size_t)>& discount) {
  double sum = 0;
  for (size_t i = 0; i < std::min(k, ranked.size()); ++i) sum += gain(ranked[i]) * discount(i + 1);
  return sum;
}

inline double slow_ndcg(const Labels& ranked, size_t k, const std::function<double(int)>& gain,
                        const std::function<double(size_t)>& discount, double empty) {
  Labels best = ranked;
  std::sort(best.rbegin(), best.rend());
  const double ideal = slow_dcg(best, k, gain, discount);
  return ideal == 0 ? empty : slow_dcg(ranked, k, gain, discount) / ideal;
}

inline double slow_average_precision(const Labels& ranked, int relevant_from, double empty = 0) {
  double relevant = 0;
  double sum = 0;
  for (size_t i = 0; i < ranked.size(); ++i)
    if (ranked[i] >= relevant_from) sum += ++relevant / static_cast<double>(i + 1);
  return relevant == 0 ? empty : sum / relevant;
}

inline double slow_reciprocal_rank(const Labels& ranked, int relevant_from, size_t cut) {
  for (size_t i = 0; i < std::min(cut, ranked.size()); ++i)
    if (ranked[i] >= relevant_from) return 1 / static_cast<double>(i + 1);
  return 0;
}

inline double slow_err(const Labels& ranked, double most, size_t cut) {
  double sum = 0;
  for (size_t r = 0; r < std::min(cut, ranked.size()); ++r) {
    double stop_here = (std::exp2(ranked[r]) - 1) / most;
    for (size_t i = 0; i < r; ++i) stop_here *= 1 - (std::exp2(ranked[i]) - 1) / most;
    sum += stop_here / static_cast<double>(r + 1);
  }
  return sum;
}

inline double slow_precision(const Labels& ranked, size_t k, int relevant_from) {
  double relevant = 0;
  for (size_t i = 0; i < std::min(k, ranked.size()); ++i) relevant += ranked[i] >= relevant_from ? 1 : 0;
  return relevant / static_cast<double>(k);
}

}  // namespace tunemix::test
