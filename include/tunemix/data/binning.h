// Features as bytes: at most 255 quantile bins each, exact where a feature has no more distinct values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tunemix/core/aligned.h"
#include "tunemix/core/binary.h"
#include "tunemix/core/context.h"
#include "tunemix/data/dataset.h"

namespace tunemix {

// Thresholds of every feature, ascending. Bin of x: how many thresholds are <= x; so x >= threshold[b] is bin
// > b.
class BinCuts {
 public:
  BinCuts() = default;
  explicit BinCuts(const std::vector<std::vector<float>>& thresholds);

  size_t features() const { return offsets_.size() - 1; }
  std::span<const float> thresholds(size_t feature) const {
    return {values_.data() + offsets_[feature], offsets_[feature + 1] - offsets_[feature]};
  }
  size_t bins(size_t feature) const { return thresholds(feature).size() + 1; }
  uint8_t bin(size_t feature, float x) const;

  void save(BinaryWriter& out) const;
  static BinCuts load(BinaryReader& in);

 private:
  std::vector<size_t> offsets_ = {0};
  std::vector<float> values_;
};

BinCuts find_cuts(const Dataset& data, size_t max_bins, const Context& context);

// kColumns: one feature after the other. kPanels: 64 features side by side, a cache line a document; the last
// panel is as narrow as it can be in steps of 8.
enum class BinLayout { kColumns, kPanels };

class BinnedDataset {
 public:
  static constexpr size_t kPanel = 64;

  BinnedDataset(const Dataset& data, const BinCuts& cuts, BinLayout layout, const Context& context);

  size_t documents() const { return documents_; }
  size_t features() const { return features_; }
  BinLayout layout() const { return layout_; }
  // Bin of (document i, feature j) is feature(j)[i * width(j)]. Readable for 64 bytes past the last document.
  const uint8_t* feature(size_t j) const { return bins_.data() + begin_of(j); }
  size_t width(size_t j) const {
    return layout_ == BinLayout::kColumns ? 1
                                          : std::min(kPanel, (features_ + 7) / 8 * 8 - j / kPanel * kPanel);
  }

 private:
  size_t begin_of(size_t j) const {
    return layout_ == BinLayout::kColumns ? j * stride_ : j / kPanel * kPanel * stride_ + j % kPanel;
  }

  size_t documents_;
  size_t features_;
  BinLayout layout_;
  size_t stride_;  // documents, padded
  AlignedVector<uint8_t> bins_;
};

}  // namespace tunemix
