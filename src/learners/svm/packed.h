// The weights of several models side by side, so that one pass over a document's features scores all.
#pragma once

#include <span>
#include <vector>

#include "tunemix/core/aligned.h"
#include "tunemix/learners/svm.h"

namespace tunemix {

class PackedSvms {
 public:
  // Of the same features and labels.
  explicit PackedSvms(std::span<const SvmModel* const> models);

  // scores[m] gets those of model m; null where they are not wanted.
  void score(const Dataset& data, std::span<ScoreMatrix* const> scores, const Context& context) const;

 private:
  size_t features_;
  size_t labels_;
  size_t models_;
  size_t stride_;                  // models x labels, whole vectors
  AlignedVector<double> weights_;  // (features + 1) x stride, of raw features; the last row is the bias
};

}  // namespace tunemix
