// Features as bytes: at most 255 quantile bins each, exact where a feature has no more distinct values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

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

// kColumns: one feature after the other. kTiles: 8 features side by side, 8 bytes a document.
enum class BinLayout { kColumns, kTiles };

class BinnedDataset {
 public:
  static constexpr size_t kTileWidth = 8;

  BinnedDataset(const Dataset& data, const BinCuts& cuts, BinLayout layout, const Context& context);

  size_t documents() const { return documents_; }
  size_t features() const { return features_; }
  size_t width() const { return width_; }  // bytes from one document to the next: 1 or kTileWidth
  BinLayout layout() const { return width_ == 1 ? BinLayout::kColumns : BinLayout::kTiles; }
  // Bin of (document i, feature j) is feature(j)[i * width()]. Readable for 64 bytes past the last document.
  const uint8_t* feature(size_t j) const {
    return bins_.data() + (j / width_) * width_ * stride_ + j % width_;
  }

 private:
  size_t documents_;
  size_t features_;
  size_t width_;
  size_t stride_;  // documents, padded
  std::vector<uint8_t> bins_;
};

}  // namespace tunemix
