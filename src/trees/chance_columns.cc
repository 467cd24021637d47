#include "trees/chance_columns.h"

#include <algorithm>
#include <cmath>

#include "tunemix/core/error.h"
#include "tunemix/core/random.h"

namespace tunemix::trees {

void ChanceColumns::move_columns() {
  constexpr size_t kReadable = 64;  // bytes past the last document, as in the bins
  const size_t n = bins_.documents();
  std::vector<uint32_t> usable;
  for (uint32_t j = 0; j < bins_.features(); ++j)
    if (cuts_.bins(j) > 1) usable.push_back(j);
  if (usable.empty()) return;
  Random random(n, "moved columns");
  while (moved_.size() < kColumns) {
    const uint32_t j = usable[random.below(usable.size())];
    const size_t by = n / 8 + random.below(n - n / 4);
    const uint8_t* from = bins_.column(j);
    AlignedVector<uint8_t>& to = moved_.emplace_back(n + kReadable);
    std::rotate_copy(from, from + by, from + n, to.begin());
    features_.push_back(j);
  }
}

void ChanceColumns::append_next(std::vector<SearchedColumn>& columns) {
  require(bins_.layout() == BinLayout::kColumns, "drawn features are read from columns");
  const uint64_t search = searches_++;
  if (search % kEvery != 0) return;
  if (moved_.empty()) move_columns();
  for (size_t k = 0; k < moved_.size(); ++k)
    if (search == 0 || search / kEvery % moved_.size() == k)
      columns.push_back({features_[k], moved_[k].data()});
}

double ChanceColumns::mean(std::span<const double> gains, size_t size_class) {
  Mean& mean = means_[size_class];
  for (const double gain : gains) {
    mean.count = std::min(mean.count + 1, kMemory);
    mean.gain += (std::max(gain, 0.0) - mean.gain) / mean.count;
  }
  return mean.gain;
}

void ChanceColumns::save(BinaryWriter& out) const {
  out.put(searches_);
  for (const Mean& mean : means_) {
    out.put(mean.gain);
    out.put(mean.count);
  }
}

void ChanceColumns::load(BinaryReader& in) {
  searches_ = in.get<uint64_t>();
  for (Mean& mean : means_) {
    mean.gain = in.get<double>();
    mean.count = in.get<double>();
    const bool right = mean.gain >= 0 && std::isfinite(mean.gain) && mean.count >= 0 && mean.count <= kMemory;
    if (!right) in.fail("what chance gains is wrong");
  }
}

}  // namespace tunemix::trees
