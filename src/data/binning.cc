#include "tunemix/data/binning.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "data/bin_search.h"
#include "tunemix/core/error.h"
#include "tunemix/core/random.h"
#include "tunemix/data/missing.h"

namespace tunemix {
namespace {

// The threshold between two neighbouring values: above `low`, at most `high`.
float between(float low, float high) {
  const float middle = low + (high - low) / 2;
  return middle > low ? middle : high;
}

// Distinct values, ascending, and how many of the sorted values are at most each.
struct Distinct {
  std::vector<float> values;
  std::vector<size_t> ends;
};

Distinct distinct_of(std::span<const float> sorted) {
  Distinct result;
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i == 0 || sorted[i] > result.values.back()) {
      result.values.push_back(sorted[i]);
      result.ends.push_back(0);
    }
    result.ends.back() = i + 1;
  }
  return result;
}

std::vector<float> exact_cuts(std::span<const float> distinct) {
  std::vector<float> cuts;
  for (size_t k = 0; k + 1 < distinct.size(); ++k) cuts.push_back(between(distinct[k], distinct[k + 1]));
  return cuts;
}

// Fills each bin up to its share of what is left; a value that is heavier than a share gets a bin of its own.
std::vector<float> quantile_cuts(const Distinct& distinct, size_t max_bins) {
  std::vector<float> cuts;
  const size_t total = distinct.ends.back();
  size_t used = 0;
  for (size_t k = 0; k + 1 < distinct.values.size() && cuts.size() + 1 < max_bins; ++k) {
    const size_t bins_left = max_bins - cuts.size();
    const double share = static_cast<double>(total - used) / static_cast<double>(bins_left);
    const double filled = static_cast<double>(distinct.ends[k] - used);
    const double with_next = static_cast<double>(distinct.ends[k + 1] - used);
    if (filled >= share || with_next - share > share - filled) {
      cuts.push_back(between(distinct.values[k], distinct.values[k + 1]));
      used = distinct.ends[k];
    }
  }
  return cuts;
}

// Integers in the order of the floats, a missing value last; -0 is taken as 0.
constexpr uint32_t kMissingKey = 0xffffffffU;
uint32_t order_key(float x) {
  if (is_missing(x)) return kMissingKey;
  const auto bits = std::bit_cast<uint32_t>(x + 0.0F);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}
float from_order_key(uint32_t key) {
  return std::bit_cast<float>((key & 0x80000000U) != 0 ? key & 0x7fffffffU : ~key);
}

// Radix sort, 11 bits a pass; a pass in which all keys agree is left out. The result is in one of the two.
std::span<const uint32_t> sort_keys(std::span<uint32_t> keys, std::span<uint32_t> scratch) {
  constexpr int kBits = 11;
  constexpr size_t kBuckets = size_t{1} << kBits;
  std::array<std::array<uint32_t, kBuckets>, 3> counts{};
  for (const uint32_t key : keys)
    for (size_t pass = 0; pass < 3; ++pass) ++counts[pass][(key >> (pass * kBits)) % kBuckets];
  for (size_t pass = 0; pass < 3; ++pass) {
    auto& start = counts[pass];
    if (start[(keys[0] >> (pass * kBits)) % kBuckets] == keys.size()) continue;
    uint32_t sum = 0;
    for (uint32_t& count : start) sum += std::exchange(count, sum);
    for (const uint32_t key : keys) scratch[start[(key >> (pass * kBits)) % kBuckets]++] = key;
    std::swap(keys, scratch);
  }
  return keys;
}

// One row at random from each of `count` equal parts of the data; the same rows for the same data size.
std::vector<size_t> sample_rows(size_t documents, size_t count) {
  std::vector<size_t> rows(std::min(documents, count));
  Random random(documents, "bin sample");
  for (size_t i = 0; i < rows.size(); ++i) {
    const size_t begin = i * documents / rows.size();
    const size_t end = (i + 1) * documents / rows.size();
    rows[i] = begin + (end - begin > 1 ? random.below(end - begin) : 0);
  }
  return rows;
}

// For each feature, whether a document has no value of it.
std::vector<uint8_t> find_missing(const Dataset& data, const Context& context) {
  constexpr size_t kBlock = 256;
  std::vector<std::vector<uint8_t>> missing(static_cast<size_t>(context.threads()),
                                            std::vector<uint8_t>(data.features(), 0));
  const size_t blocks = (data.documents() + kBlock - 1) / kBlock;
  context.pool().run_with_thread(blocks, [&](size_t block, int thread) {
    const size_t begin = block * kBlock;
    const size_t end = std::min(begin + kBlock, data.documents());
    float scratch[kBlock];
    for (size_t j = 0; j < data.features(); ++j) {
      const FeatureColumn column = data.column(j, begin, end - begin, scratch);
      bool found = false;
      for (size_t i = 0; i < end - begin; ++i) found |= is_missing(column.values[i * column.stride]);
      if (found) missing[static_cast<size_t>(thread)][j] = 1;
    }
  });
  for (size_t t = 1; t < missing.size(); ++t)
    for (size_t j = 0; j < data.features(); ++j) missing[0][j] |= missing[t][j];
  return missing[0];
}

// What the given rows tell of a feature: where it has more distinct values than bins, its thresholds; else
// those values.
struct SampledFeature {
  std::vector<float> thresholds;
  Distinct distinct;
};

std::vector<SampledFeature> sample_features(const Dataset& data, std::span<const size_t> rows,
                                            std::span<const size_t> max_bins, const Context& context) {
  constexpr size_t kGroup = 16;  // one cache line of each row
  std::vector<SampledFeature> result(data.features());
  const size_t groups = (data.features() + kGroup - 1) / kGroup;
  context.pool().run(groups, [&](size_t g) {
    const size_t first = g * kGroup;
    const size_t width = std::min(kGroup, data.features() - first);
    AlignedVector<uint32_t> keys(width * rows.size());
    std::array<float, kGroup> x;
    for (size_t i = 0; i < rows.size(); ++i) {
      data.read(rows[i], first, std::span(x).first(width));
      for (size_t j = 0; j < width; ++j) keys[j * rows.size() + i] = order_key(x[j]);
    }
    std::vector<uint32_t> scratch(rows.size());
    std::vector<float> sorted(rows.size());
    for (size_t j = 0; j < width; ++j) {
      const std::span<const uint32_t> in_order =
          sort_keys(std::span(keys).subspan(j * rows.size(), rows.size()), scratch);
      const auto end = std::find(in_order.begin(), in_order.end(), kMissingKey);
      const auto present = std::transform(in_order.begin(), end, sorted.begin(), from_order_key);
      Distinct distinct = distinct_of({sorted.begin(), present});
      if (distinct.values.size() > max_bins[first + j])
        result[first + j].thresholds = quantile_cuts(distinct, max_bins[first + j]);
      else
        result[first + j].distinct = std::move(distinct);
    }
  });
  return result;
}

// A set of at most 255 floats that answers quickly, by open addressing.
class SmallSet {
 public:
  SmallSet() : slots_(kSlots, kEmpty) {}
  void insert(float x) {
    size_t at = slot(x);
    while (slots_[at] != kEmpty) at = (at + 1) % kSlots;
    slots_[at] = std::bit_cast<uint32_t>(x + 0.0F);
  }
  bool contains(float x) const {
    const auto bits = std::bit_cast<uint32_t>(x + 0.0F);
    for (size_t at = slot(x);; at = (at + 1) % kSlots) {
      if (slots_[at] == bits) return true;
      if (slots_[at] == kEmpty) return false;
    }
  }

 private:
  static constexpr size_t kSlots = 1024;
  static constexpr uint32_t kEmpty = 0xffffffffU;  // a NaN
  static size_t slot(float x) { return (std::bit_cast<uint32_t>(x + 0.0F) * 0x9e3779b1U) >> 22; }
  std::vector<uint32_t> slots_;
};

// Completes the distinct values of the features that show at most max_bins in the sample, from all documents.
void complete_distinct(const Dataset& data, std::span<const size_t> max_bins,
                       std::vector<SampledFeature>& features, const Context& context) {
  std::vector<size_t> open;
  for (size_t j = 0; j < features.size(); ++j)
    if (features[j].thresholds.empty()) open.push_back(j);
  std::vector<SmallSet> known(open.size());
  for (size_t k = 0; k < open.size(); ++k)
    for (const float x : features[open[k]].distinct.values) known[k].insert(x);

  constexpr size_t kBlock = 8192;
  constexpr size_t kTogether = 128;  // rows that stay in the cache
  const size_t blocks = (data.documents() + kBlock - 1) / kBlock;
  std::vector<std::vector<std::vector<float>>> fresh(blocks);  // of each block and open feature, ascending
  context.pool().run(blocks, [&](size_t b) {
    fresh[b].resize(open.size());
    const size_t end = std::min(data.documents(), (b + 1) * kBlock);
    for (size_t first = b * kBlock; first < end; first += kTogether)
      for (size_t k = 0; k < open.size(); ++k) {
        std::vector<float>& seen = fresh[b][k];
        if (seen.size() > max_bins[open[k]]) continue;  // too many already
        float scratch[kTogether];
        const size_t count = std::min(kTogether, end - first);
        const FeatureColumn column = data.column(open[k], first, count, scratch);
        for (size_t i = 0; i < count; ++i) {
          const float x = column.values[i * column.stride];
          if (known[k].contains(x) || is_missing(x) || seen.size() > max_bins[open[k]]) continue;
          const auto at = std::lower_bound(seen.begin(), seen.end(), x);
          if (at == seen.end() || *at != x) seen.insert(at, x);
        }
      }
  });
  for (size_t k = 0; k < open.size(); ++k) {
    Distinct& sampled = features[open[k]].distinct;
    std::vector<float> all = sampled.values;
    for (size_t b = 0; b < blocks; ++b) all.insert(all.end(), fresh[b][k].begin(), fresh[b][k].end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    // Quantiles are those of the sample; the values that it lacks weigh nothing, but get their place.
    Distinct full;
    size_t at = 0;
    size_t count = 0;
    for (const float x : all) {
      if (at < sampled.values.size() && sampled.values[at] == x) count = sampled.ends[at++];
      full.values.push_back(x);
      full.ends.push_back(count);
    }
    sampled = std::move(full);
  }
}

// The columns of all features, each with its features ascending. Features with few bins share columns, the
// fewest first, while that saves a step of 8 columns.
std::vector<std::vector<uint32_t>> share_columns(const BinCuts& cuts) {
  const size_t d = cuts.features();
  std::vector<uint32_t> by_bins(d);
  std::iota(by_bins.begin(), by_bins.end(), 0);
  std::stable_sort(by_bins.begin(), by_bins.end(),
                   [&](uint32_t a, uint32_t b) { return cuts.bins(a) < cuts.bins(b); });
  // Where a column of the first features is full, and the next begins.
  std::vector<bool> begins(d);
  size_t columns_least = 0;
  for (size_t k = 0, bins = 0; k < d; ++k) {
    bins *= cuts.bins(by_bins[k]);
    if (bins == 0 || bins > 256) {
      begins[k] = true;
      ++columns_least;
      bins = cuts.bins(by_bins[k]);
    }
  }
  const size_t enough = (columns_least + 7) / 8 * 8;
  std::vector<std::vector<uint32_t>> columns;
  for (size_t k = 0; k < d; ++k) {
    if (begins[k] || columns.size() + d - k <= enough) columns.emplace_back();
    columns.back().push_back(by_bins[k]);
  }
  for (std::vector<uint32_t>& features : columns) std::sort(features.begin(), features.end());
  std::sort(columns.begin(), columns.end());
  return columns;
}

// With one for missing values.
size_t most_thresholds(std::span<const float> thresholds) {
  return !thresholds.empty() && thresholds[0] == BinCuts::kLowest ? 255 : 254;
}

}  // namespace

BinCuts::BinCuts(const std::vector<std::vector<float>>& thresholds) {
  for (const std::vector<float>& t : thresholds) {
    require(t.size() <= most_thresholds(t), "more than 254 thresholds of a feature");
    values_.insert(values_.end(), t.begin(), t.end());
    offsets_.push_back(values_.size());
  }
}

uint8_t BinCuts::bin(size_t feature, float x) const {
  const auto t = thresholds(feature);
  const auto at = std::partition_point(t.begin(), t.end(), [=](float threshold) { return threshold <= x; });
  return static_cast<uint8_t>(at - t.begin());
}

BinCuts BinCuts::with_missing() const {
  std::vector<std::vector<float>> result(features());
  for (size_t j = 0; j < features(); ++j) {
    if (!has_missing(j)) result[j].push_back(kLowest);
    result[j].insert(result[j].end(), thresholds(j).begin(), thresholds(j).end());
  }
  return BinCuts(result);
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
    valid = offsets[j] <= offsets[j + 1] && offsets[j + 1] <= cuts.values_.size() &&
            offsets[j + 1] - offsets[j] <= most_thresholds(cuts.thresholds(j));
    for (size_t k = offsets[j]; valid && k + 1 < offsets[j + 1]; ++k)
      valid = cuts.values_[k] < cuts.values_[k + 1];
  }
  if (!valid) in.fail("bin thresholds are out of order");
  return cuts;
}

BinCuts find_cuts(const Dataset& data, size_t max_bins, const Context& context) {
  if (max_bins < 2 || max_bins > 255) throw_input("max_bins is {}; expected 2 to 255", max_bins);
  constexpr size_t kSample = 50000;
  std::vector<std::vector<float>> thresholds(data.features());
  if (data.documents() == 0) return BinCuts(thresholds);
  const std::vector<uint8_t> missing = find_missing(data, context);
  std::vector<size_t> most(data.features(), max_bins);  // bins of values; with that of missing ones 255
  for (size_t j = 0; j < most.size(); ++j)
    if (missing[j] != 0) most[j] = std::min<size_t>(max_bins, 254);
  const std::vector<size_t> rows = sample_rows(data.documents(), kSample);
  std::vector<SampledFeature> features = sample_features(data, rows, most, context);
  if (rows.size() < data.documents()) complete_distinct(data, most, features, context);
  for (size_t j = 0; j < thresholds.size(); ++j) {
    const Distinct& distinct = features[j].distinct;
    thresholds[j] = !features[j].thresholds.empty()     ? std::move(features[j].thresholds)
                    : distinct.values.size() <= most[j] ? exact_cuts(distinct.values)
                                                        : quantile_cuts(distinct, most[j]);
    if (missing[j] != 0) thresholds[j].insert(thresholds[j].begin(), BinCuts::kLowest);
  }
  return BinCuts(thresholds);
}

std::array<uint8_t, 256> BinnedDataset::Place::above(uint8_t given, bool missing_above) const {
  std::array<uint8_t, 256> result = {};
  for (size_t begin = 0; begin < 256; begin += step * bins) {
    if (missing && missing_above) std::fill_n(result.begin() + begin, std::min(step, 256 - begin), 1);
    for (size_t byte = begin + (given + size_t{1}) * step; byte < std::min<size_t>(256, begin + step * bins);
         ++byte)
      result[byte] = 1;
  }
  return result;
}

void BinnedDataset::place_features(const BinCuts& cuts) {
  if (layout_ == BinLayout::kPanels)
    features_of_ = share_columns(cuts);
  else
    for (uint32_t j = 0; j < cuts.features(); ++j) features_of_.push_back({j});
  places_.resize(cuts.features());
  for (size_t c = 0; c < features_of_.size(); ++c) {
    size_t step = 1;
    for (const uint32_t j : features_of_[c]) {
      places_[j] = {c, step, cuts.bins(j), cuts.has_missing(j)};
      step *= cuts.bins(j);
    }
  }
}

BinnedDataset::BinnedDataset(size_t documents, const BinCuts& cuts, BinLayout layout)
    : documents_(documents), layout_(layout), stride_((documents_ + 127) / 64 * 64) {
  place_features(cuts);
  bytes_.resize(padded_columns() * stride_);
}

BinnedDataset::BinnedDataset(size_t documents, const BinCuts& cuts, BinLayout layout,
                             std::span<const uint8_t> content)
    : BinnedDataset(documents, cuts, layout) {
  if (content.size() != bytes_.size())
    throw_input("damaged bins: {} bytes where {} documents have {}", content.size(), documents,
                bytes_.size());
  std::copy(content.begin(), content.end(), bytes_.begin());
  constexpr size_t kTogether = 512;  // documents whose columns stay in the cache
  for (size_t begin = 0; begin < documents_; begin += kTogether)
    for (size_t c = 0; c < columns(); ++c) {
      const uint8_t* byte = column(c);
      const auto most = static_cast<uint8_t>(column_bins(c) - 1);
      bool good = true;
      for (size_t i = begin; i < std::min(documents_, begin + kTogether); ++i)
        good &= byte[i * width(c)] <= most;
      if (!good) throw_input("damaged bins: a value of column {} is not below {}", c, column_bins(c));
    }
}

BinnedDataset::BinnedDataset(const Dataset& data, const BinCuts& cuts, BinLayout layout,
                             const Context& context)
    : BinnedDataset(data.documents(), cuts, layout) {
  if (cuts.features() != data.features())
    throw_input("the data has {} features; the bins were made for {}", data.features(), cuts.features());
  // What is past the last document is read, and kept with the rest.
  for (size_t c = 0; c < padded_columns(); ++c)
    for (size_t i = documents_; i < stride_; ++i) bytes_[begin_of(c) + i * width(c)] = 0;
  std::vector<SearchTable> tables;
  tables.reserve(features());
  for (size_t j = 0; j < features(); ++j) tables.emplace_back(cuts.thresholds(j));
  const BinKernels& kernels = bin_kernels();
  // A block of rows stays in the cache while its columns are gone through.
  constexpr size_t kBlock = 128;
  parallel_blocks(context.pool(), documents_, kBlock, [&](size_t begin, size_t end) {
    const size_t count = end - begin;
    float scratch[kBlock];
    const auto find = [&](size_t j, uint8_t* bins, size_t width) {
      const FeatureColumn column = data.column(j, begin, count, scratch);
      kernels.find(tables[j], column.values, column.stride, count, bins, width);
    };
    for (size_t c = 0; c < columns(); ++c) {
      const size_t width = this->width(c);
      uint8_t* to = bytes_.data() + begin_of(c) + begin * width;
      const std::vector<uint32_t>& features = features_of_[c];
      find(features[0], to, width);
      for (size_t k = 1; k < features.size(); ++k) {
        uint8_t bins[kBlock];
        find(features[k], bins, 1);
        const size_t step = places_[features[k]].step;
        for (size_t i = 0; i < count; ++i)
          to[i * width] = static_cast<uint8_t>(to[i * width] + step * bins[i]);
      }
    }
    for (size_t c = columns(); c < padded_columns(); ++c)
      for (size_t i = begin; i < end; ++i) bytes_[begin_of(c) + i * width(c)] = 0;
  });
}

}  // namespace tunemix
