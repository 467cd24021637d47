#include "learners/adaboost_mh/class_weights.h"

#include <cmath>

namespace tunemix::trees {

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
