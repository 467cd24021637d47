#include "learners/adaboost_mh/class_weights.h"

#include <algorithm>
#include <cmath>

namespace tunemix::trees {

bool ClassWeights::move_first(const int32_t* kept, size_t bins, int32_t* moved) const {
  const size_t lanes = kernels_.packed_lanes();
  if (std::all_of(kept, kept + lanes, [](int32_t sum) { return sum == 0; })) return false;
  std::copy(kept + lanes, kept + bins * lanes, moved);
  for (size_t l = 0; l < lanes; ++l) moved[(bins - 2) * lanes + l] += kept[l];
  return true;
}

void ClassWeights::see_root(const NodeCut<Sums>& cut) {
  if (criterion_.kind == kind_) return;
  criterion_ = {kind_, true, 0};
  for (size_t l = 0; l < labels(); ++l)
    if (signed_sum(cut.total, l) > 2 * signed_sum(cut.below, l)) criterion_.votes |= 1U << l;
}

double ClassWeights::uncut(const Sums& total, const Criterion& criterion) const {
  if (criterion.kind != CriterionKind::kStump) return kernels_.uncut(total, criterion);
  double edge = 0;
  for (size_t l = 0; l < labels(); ++l) edge += std::abs(signed_sum(total, l));
  return edge;
}

}  // namespace tunemix::trees
