// Features as bytes: at most 255 quantile bins each, exact where a feature has no more distinct values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tunemix/core/aligned.h"
#include "tunemix/core/binary.h"
#include "tunemix/core/context.h"
#include "tunemix/data/dataset.h"

namespace tunemix {

// Thresholds of every feature, ascending. Bin of x: how many thresholds are <= x; so x >= threshold[b] is bin
// > b. A missing value (NaN) is in bin 0. The first threshold of a feature with missing values is kLowest,
// which all its other values reach, so that bin 0 is that of the missing ones alone.
class BinCuts {
 public:
  static constexpr float kLowest = std::numeric_limits<float>::lowest();

  BinCuts() = default;
  explicit BinCuts(const std::vector<std::vector<float>>& thresholds);

  size_t features() const { return offsets_.size() - 1; }
  std::span<const float> thresholds(size_t feature) const {
    return {values_.data() + offsets_[feature], offsets_[feature + 1] - offsets_[feature]};
  }
  size_t bins(size_t feature) const { return thresholds(feature).size() + 1; }
  // Whether bin 0 is that of missing values alone.
  bool has_missing(size_t feature) const {
    const auto t = thresholds(feature);
    return !t.empty() && t[0] == kLowest;
  }
  // The same with a bin for missing values in every feature.
  BinCuts with_missing() const;
  uint8_t bin(size_t feature, float x) const;

  void save(BinaryWriter& out) const;
  static BinCuts load(BinaryReader& in);

 private:
  std::vector<size_t> offsets_ = {0};
  std::vector<float> values_;
};

BinCuts find_cuts(const Dataset& data, size_t max_bins, const Context& context);

// kColumns: one feature after the other. kPanels: 64 columns side by side, a cache line a document; the last
// panel is as narrow as it can be in steps of 8. Its features with few bins may share a column, whose byte is
// the number of their bins together, where that makes for fewer steps of 8.
enum class BinLayout { kColumns, kPanels };

class BinnedDataset {
 public:
  static constexpr size_t kPanel = 64;

  BinnedDataset(const Dataset& data, const BinCuts& cuts, BinLayout layout, const Context& context);
  // From content() of one with the same documents, cuts and layout; throws InputError where it cannot be
  // that.
  BinnedDataset(size_t documents, const BinCuts& cuts, BinLayout layout, std::span<const uint8_t> content);

  size_t documents() const { return documents_; }
  size_t features() const { return places_.size(); }
  BinLayout layout() const { return layout_; }

  size_t columns() const { return features_of_.size(); }
  size_t bytes() const { return bytes_.size(); }
  std::span<const uint8_t> content() const { return bytes_; }
  // The byte of (document i, column c) is column(c)[i * width(c)]. Readable for 64 bytes past the last
  // document.
  const uint8_t* column(size_t c) const { return bytes_.data() + begin_of(c); }
  size_t width(size_t c) const {
    return layout_ == BinLayout::kColumns ? 1 : std::min(kPanel, padded_columns() - c / kPanel * kPanel);
  }
  // How many values the bytes of a column have: the product of its features' bins.
  size_t column_bins(size_t c) const {
    const Place& last = places_[features_of_[c].back()];
    return last.step * last.bins;
  }
  std::span<const uint32_t> features_of(size_t c) const { return features_of_[c]; }

  // A feature's bin is (byte of its column) / step % bins. The first feature of a column has step 1, each
  // other one the product of the bins before it.
  struct Place {
    size_t column = 0;
    size_t step = 1;
    size_t bins = 1;
    bool missing = false;  // bin 0 is that of missing values alone

    uint8_t bin(uint8_t byte) const { return static_cast<uint8_t>(byte / step % bins); }
    // For every byte: 1 if the feature's bin is above the given one, else 0; `missing_above`: 1 too for a
    // missing value.
    std::array<uint8_t, 256> above(uint8_t given, bool missing_above) const;
  };
  const Place& place(size_t feature) const { return places_[feature]; }
  uint8_t bin(size_t document, size_t feature) const {
    const Place& at = places_[feature];
    return at.bin(column(at.column)[document * width(at.column)]);
  }

 private:
  BinnedDataset(size_t documents, const BinCuts& cuts, BinLayout layout);
  void place_features(const BinCuts& cuts);
  size_t padded_columns() const {
    return layout_ == BinLayout::kColumns ? columns() : (columns() + 7) / 8 * 8;
  }
  size_t begin_of(size_t c) const {
    return layout_ == BinLayout::kColumns ? c * stride_ : c / kPanel * kPanel * stride_ + c % kPanel;
  }

  size_t documents_;
  BinLayout layout_;
  size_t stride_;  // documents, padded
  std::vector<Place> places_;
  std::vector<std::vector<uint32_t>> features_of_;
  AlignedVector<uint8_t> bytes_;
};

}  // namespace tunemix
