#include "tunemix/data/binning.h"

#include <algorithm>
#include <cmath>

#include "tunemix/core/error.h"

namespace tunemix {
namespace {

// The threshold between two neighbouring values: above `low`, at most `high`.
float between(float low, float high) {
  const float middle = low + (high - low) / 2;
  return middle > low ? middle : high;
}

std::vector<float> cuts_of(std::vector<float>& values, size_t max_bins) {
  std::sort(values.begin(), values.end());
  std::vector<float> distinct;
  std::vector<size_t> ends;  // how many values are at most distinct[k]
  for (size_t i = 0; i < values.size(); ++i) {
    if (distinct.empty() || values[i] > distinct.back()) {
      distinct.push_back(values[i]);
      ends.push_back(0);
    }
    ends.back() = i + 1;
  }
  std::vector<float> cuts;
  if (distinct.size() <= max_bins) {
    for (size_t k = 0; k + 1 < distinct.size(); ++k) cuts.push_back(between(distinct[k], distinct[k + 1]));
    return cuts;
  }
  // Fill each bin up to its share of what is left; a value that is heavier than a share gets a bin of its
  // own.
  size_t used = 0;
  for (size_t k = 0; k + 1 < distinct.size() && cuts.size() + 1 < max_bins; ++k) {
    const size_t bins_left = max_bins - cuts.size();
    const double share = static_cast<double>(values.size() - used) / static_cast<double>(bins_left);
    const double filled = static_cast<double>(ends[k] - used);
    const double with_next = static_cast<double>(ends[k + 1] - used);
    if (filled >= share || with_next - share > share - filled) {
      cuts.push_back(between(distinct[k], distinct[k + 1]));
      used = ends[k];
    }
  }
  return cuts;
}

}  // namespace

BinCuts::BinCuts(std::vector<std::vector<float>> thresholds) {
  for (const std::vector<float>& t : thresholds) {
    require(t.size() <= 255, "more than 255 thresholds of a feature");
    values_.insert(values_.end(), t.begin(), t.end());
    offsets_.push_back(values_.size());
  }
}

uint8_t BinCuts::bin(size_t feature, float x) const {
  const auto t = thresholds(feature);
  return static_cast<uint8_t>(std::upper_bound(t.begin(), t.end(), x) - t.begin());
}

void BinCuts::save(BinaryWriter& out) const {
  out.put(std::vector<uint64_t>(offsets_.begin(), offsets_.end()));
  out.put(values_);
}

BinCuts BinCuts::load(BinaryReader& in) {
  const auto offsets = in.get_vector<uint64_t>();
  BinCuts cuts;
  cuts.offsets_.assign(offsets.begin(), offsets.end());
  cuts.values_ = in.get_vector<float>();
  bool valid = !offsets.empty() && offsets.front() == 0 && offsets.back() == cuts.values_.size();
  for (size_t j = 0; valid && j + 1 < offsets.size(); ++j) {
    valid = offsets[j] <= offsets[j + 1] && offsets[j + 1] - offsets[j] <= 255 &&
            offsets[j + 1] <= cuts.values_.size();
    for (size_t k = offsets[j]; valid && k + 1 < offsets[j + 1]; ++k)
      valid = cuts.values_[k] < cuts.values_[k + 1];
  }
  if (!valid) in.fail("bin thresholds are out of order");
  return cuts;
}

BinCuts find_cuts(const Dataset& data, size_t max_bins, const Context& context) {
  if (max_bins < 2 || max_bins > 255) throw_input("max_bins is {}; expected 2 to 255", max_bins);
  std::vector<std::vector<float>> thresholds(data.features());
  context.pool().run(data.features(), [&](size_t j) {
    std::vector<float> values(data.documents());
    for (size_t i = 0; i < values.size(); ++i) values[i] = data.row(i)[j];
    thresholds[j] = cuts_of(values, max_bins);
  });
  return BinCuts(std::move(thresholds));
}

BinnedDataset::BinnedDataset(const Dataset& data, const BinCuts& cuts, BinLayout layout,
                             const Context& context)
    : documents_(data.documents()),
      features_(data.features()),
      width_(layout == BinLayout::kColumns ? 1 : kTileWidth),
      stride_((documents_ + 127) / 64 * 64),
      bins_((features_ + width_ - 1) / width_ * width_ * stride_) {
  if (cuts.features() != features_)
    throw_input("the data has {} features; the bins were made for {}", features_, cuts.features());
  parallel_blocks(context.pool(), documents_, 4096, [&](size_t begin, size_t end) {
    for (size_t j = 0; j < features_; ++j) {
      uint8_t* to = bins_.data() + (j / width_) * width_ * stride_ + j % width_;
      for (size_t i = begin; i < end; ++i) to[i * width_] = cuts.bin(j, data.row(i)[j]);
    }
  });
}

}  // namespace tunemix
