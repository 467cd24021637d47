// The bins of the training documents in the order that a search reads them: by document for one over all
// features, by feature for one over a few.
#pragma once

#include "boost/aligned.h"
#include "tunemix/data/binning.h"

namespace tunemix::boost {

enum class BinOrder { kByFeature, kByDocument };

class BinTable {
 public:
  static constexpr size_t kTile = 8;  // features whose bins are read together

  BinTable(const Dataset& data, const BinCuts& cuts, BinOrder order, const Context& context);

  size_t documents() const { return documents_; }
  size_t features() const { return features_; }
  BinOrder order() const { return order_; }
  // The bin of (document i, feature j) is feature(j)[i * width()]. By document, the width is that of a panel
  // of features, a multiple of kTile: a leaf of few documents reads a few cache lines of each.
  size_t width() const { return width_; }
  size_t bytes() const { return bins_.size(); }
  const uint8_t* feature(size_t j) const {
    return bins_.data() + (j / width_) * width_ * documents_ + j % width_;
  }

 private:
  size_t documents_;
  size_t features_;
  BinOrder order_;
  size_t width_;
  AlignedVector<uint8_t> bins_;
};

}  // namespace tunemix::boost
