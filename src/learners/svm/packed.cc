#include "learners/svm/packed.h"

#include <algorithm>

#include "learners/ranker_kernels.h"

namespace tunemix {
namespace {

constexpr size_t kTaskDocuments = 1024;

}  // namespace

PackedSvms::PackedSvms(std::span<const SvmModel* const> models)
    : features_(models[0]->features()), labels_(models[0]->labels()), models_(models.size()) {
  constexpr size_t kLanes = RankerKernels::kLanes;
  stride_ = (models_ * labels_ + kLanes - 1) / kLanes * kLanes;
  weights_.resize((features_ + 1) * stride_);
  std::fill(weights_.begin(), weights_.end(), 0.0);
  for (size_t m = 0; m < models_; ++m) {
    const std::vector<double> folded = models[m]->folded();
    for (size_t j = 0; j <= features_; ++j)
      std::copy_n(&folded[j * labels_], labels_, &weights_[j * stride_ + m * labels_]);
  }
}

void PackedSvms::score(const Dataset& data, std::span<ScoreMatrix* const> scores,
                       const Context& context) const {
  require(scores.size() == models_ && data.features() == features_, "scores do not fit the models");
  parallel_blocks(context.pool(), data.documents(), kTaskDocuments, [&](size_t begin, size_t end) {
    AlignedVector<double> sums(stride_);
    for (size_t i = begin; i < end; ++i) {
      std::copy_n(&weights_[features_ * stride_], stride_, sums.data());
      ranker_kernels().add_columns(data.row(i).data(), features_, weights_.data(), stride_, sums.data());
      for (size_t m = 0; m < models_; ++m) {
        if (scores[m] == nullptr) continue;
        for (size_t l = 0; l < labels_; ++l) scores[m]->row(i)[l] = static_cast<float>(sums[m * labels_ + l]);
      }
    }
  });
}

}  // namespace tunemix
