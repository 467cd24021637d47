#include "boost/bin_table.h"

#include <algorithm>

#include "data/bin_search.h"

namespace tunemix::boost {
namespace {

// Wide panels waste less of the cache lines that a leaf of few documents reads, narrow ones less of those
// that many documents read tile by tile.
constexpr size_t kMostTiles = 6;

size_t panel_width(size_t features) {
  const size_t tiles = (features + BinTable::kTile - 1) / BinTable::kTile;
  const size_t panels = (tiles + kMostTiles - 1) / kMostTiles;
  return (tiles + panels - 1) / panels * BinTable::kTile;
}

}  // namespace

BinTable::BinTable(const Dataset& data, const BinCuts& cuts, BinOrder order, const Context& context)
    : documents_(data.documents()),
      features_(data.features()),
      order_(order),
      width_(order == BinOrder::kByFeature ? 1 : panel_width(features_)),
      bins_((features_ + width_ - 1) / width_ * width_ * documents_) {
  std::vector<SearchTable> tables;
  tables.reserve(features_);
  for (size_t j = 0; j < features_; ++j) tables.emplace_back(cuts.thresholds(j));
  // A block of rows stays in the cache while its features are gone through, and so do the tables of some.
  const size_t together = std::min(width_, kTile);
  parallel_blocks(context.pool(), documents_, 128, [&](size_t begin, size_t end) {
    for (size_t first = 0; first < features_; first += together) {
      const size_t last = std::min(features_, first + together);
      uint8_t* to = bins_.data() + (feature(first) - bins_.data()) + begin * width_;
      for (size_t i = begin; i < end; ++i, to += width_) {
        const float* x = data.row(i).data();
        for (size_t j = first; j < last; ++j) to[j - first] = tables[j].bin(x[j]);
      }
    }
  });
}

}  // namespace tunemix::boost
