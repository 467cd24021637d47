#include "boost/search.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tunemix::boost {
namespace {

// Work, in (document, feature) pairs, that is worth a fork and join: of all features, and of a few, where
// most of it is the documents' rows.
constexpr size_t kWorthThreads = 40000;
constexpr size_t kFewWorthThreads = 6000;

// The better of two cuts; of equal ones, that on the lower feature.
bool better(const FoundCut& a, const FoundCut& b) {
  if (!a.found || !b.found) return a.found;
  return a.value > b.value || (a.value == b.value && a.cut.feature < b.cut.feature);
}

// The buffer, with room for `size` values.
template <typename T>
T* sized(AlignedVector<T>& buffer, size_t size) {
  if (buffer.size() < size) buffer.resize(size);
  return buffer.data();
}

void keep_better(FoundCut& best, const FoundCut& other) {
  if (better(other, best)) best = other;
}

}  // namespace

Searcher::Searcher(const BinnedDataset& bins, const BinCuts& cuts, const WeightTable& weights, RowKind rows,
                   Bandit* bandit, size_t arms_per_pull, Random* random, const Context& context)
    : bins_(bins),
      cuts_(cuts),
      weights_(weights),
      kernels_(make_kernels(weights.labels(), rows)),
      bandit_(bandit),
      arms_per_pull_(arms_per_pull),
      random_(random),
      context_(context),
      scratch_(static_cast<size_t>(context.threads())),
      packed_begin_{0} {
  for (size_t j = 0; j < bins.features(); ++j)
    packed_begin_.push_back(packed_begin_.back() + cuts.bins(j) * kernels_->packed_lanes());
}

void Searcher::add_columns(size_t t, const int32_t* rows, const Documents& documents, size_t begin,
                           size_t count, int32_t* hist) const {
  const uint8_t* columns[8];
  const size_t width = std::min<size_t>(8, bins_.features() - t * 8);
  for (size_t f = 0; f < width; ++f) columns[f] = bins_.feature(t * 8 + f);
  kernels_->add_columns(rows, {columns, width}, documents, begin, count, hist);
}

// The bins of tiles first..last of one panel, for documents begin..begin+count: a tile after the other, 8
// bytes a document.
void Searcher::gather_tiles(size_t first, size_t last, const Documents& documents, size_t begin, size_t count,
                            uint8_t* out) const {
  constexpr size_t kAhead = 32;  // documents that an indexed loop prefetches ahead
  const uint8_t* bins = bins_.feature(first * 8);
  const size_t width = bins_.width(first * 8);
  const size_t stride = gathered_stride();
  const auto copy = [&](size_t k, size_t i) {
    for (size_t t = 0; t < last - first; ++t)
      std::memcpy(out + t * stride + k * 8, bins + i * width + t * 8, 8);
  };
  if (documents.index == nullptr) {
    for (size_t k = 0; k < count; ++k) copy(k, begin + k);
    return;
  }
  const uint32_t* index = documents.index + begin;
  for (size_t k = 0; k < count; ++k) {
    __builtin_prefetch(bins + index[std::min(k + kAhead, count - 1)] * width);
    copy(k, index[k]);
  }
}

void Searcher::scan_feature(size_t j, const int32_t* hist, const Criterion& criterion, FoundCut& best) const {
  const BestCut cut = kernels_->best_cut(hist, cuts_.bins(j), best.total, criterion);
  if (!cut.found || (best.found && cut.value <= best.value)) return;
  best.found = true;
  best.value = cut.value;
  best.cut = {static_cast<uint32_t>(j), cut.bin};
  best.below = kernels_->total(hist, cut.bin + size_t{1});
}

void Searcher::clear_tile(size_t t, int32_t* hist) const {
  // Beyond the last feature all documents are in bin 0.
  for (size_t j = t * 8; j < t * 8 + 8; ++j, hist += kernels_->feature_size())
    kernels_->clear(j < bins_.features() ? cuts_.bins(j) : 1, hist);
}

// Group g of G has a run of neighbouring tiles, which share cache lines.
std::pair<FoundCut, FoundCut> Searcher::search_group(const Documents& documents, const uint8_t* flip,
                                                     const Criterion& criterion, int32_t* keep,
                                                     int32_t* parent, size_t group, size_t groups) {
  constexpr size_t kTilesOfPanel = BinnedDataset::kPanel / 8;
  const size_t feature_size = kernels_->feature_size();
  const size_t first_tile = tiles() * group / groups;
  const size_t last_tile = tiles() * (group + 1) / groups;
  Scratch& own = scratch_[group];
  int32_t* rows = sized(own.rows, kRowBytes / 4);
  std::pair<FoundCut, FoundCut> found;
  size_t begin = 0;
  do {
    const size_t count = std::min(row_block(), documents.count - begin);
    kernels_->rows(weights_, flip, documents, begin, count, rows);
    for (size_t t = first_tile, gathered = first_tile; t < last_tile; ++t) {
      int32_t* hist = documents.count > row_block() ? hist_.data() + t * 8 * feature_size
                                                    : sized(own.tile, 8 * feature_size);
      if (begin == 0) clear_tile(t, hist);
      if (bins_.layout() == BinLayout::kColumns) {
        add_columns(t, rows, documents, begin, count, hist);
      } else {
        if (t == first_tile || t % kTilesOfPanel == 0) {
          gathered = t;
          gather_tiles(t, std::min(last_tile, t / kTilesOfPanel * kTilesOfPanel + kTilesOfPanel), documents,
                       begin, count, sized(own.bins, kTilesOfPanel * gathered_stride()));
        }
        kernels_->add_tile(rows, own.bins.data() + (t - gathered) * gathered_stride(), count, hist);
      }
      if (begin + count < documents.count) continue;
      for (size_t j = t * 8; j < tile_end(t); ++j, hist += feature_size) {
        const size_t bins = cuts_.bins(j);
        if (j == first_tile * 8) found.first.total = kernels_->total(hist, bins);
        scan_feature(j, hist, criterion, found.first);
        if (keep != nullptr) kernels_->pack(hist, bins, keep + packed_begin_[j]);
        if (parent == nullptr) continue;
        int32_t* rest = sized(own.rest, feature_size);
        kernels_->unpack(parent + packed_begin_[j], bins, rest);
        kernels_->subtract(hist, bins, rest);
        if (j == first_tile * 8) found.second.total = kernels_->total(rest, bins);
        scan_feature(j, rest, criterion, found.second);
        kernels_->pack(rest, bins, parent + packed_begin_[j]);
      }
    }
    begin += count;
  } while (begin < documents.count);
  return found;
}

std::pair<FoundCut, FoundCut> Searcher::search_all(const Documents& documents, const uint8_t* flip,
                                                   const Criterion& criterion, int32_t* keep,
                                                   int32_t* parent) {
  if (documents.count > row_block()) sized(hist_, histogram_size());
  // A parent's histogram is as much work as some hundred documents.
  const size_t work = (documents.count + (parent != nullptr ? 256 : 0)) * bins_.features();
  const size_t groups = work > kWorthThreads ? std::min(tiles(), static_cast<size_t>(context_.threads())) : 1;
  std::vector<std::pair<FoundCut, FoundCut>> found(groups);
  context_.pool().run(groups, [&](size_t group) {
    found[group] = search_group(documents, flip, criterion, keep, parent, group, groups);
  });
  for (size_t group = 1; group < groups; ++group) {
    keep_better(found[0].first, found[group].first);
    keep_better(found[0].second, found[group].second);
  }
  return found[0];
}

FoundCut Searcher::search_drawn(const Documents& documents, const uint8_t* flip, const Criterion& criterion) {
  const std::vector<uint32_t> arms = bandit_->draw(arms_per_pull_, *random_);
  std::vector<const uint8_t*> columns;
  for (const uint32_t arm : arms) columns.push_back(bins_.feature(arm));
  const size_t size = arms.size() * kernels_->feature_size();

  const size_t wanted = documents.count * arms.size() / kFewWorthThreads + 1;
  const size_t groups = std::min(wanted, static_cast<size_t>(context_.threads()));
  const size_t share = (documents.count + groups - 1) / groups;
  context_.pool().run(groups, [&](size_t group) {
    Scratch& own = scratch_[group];
    own.drawn.assign(size, 0);
    const size_t begin = std::min(group * share, documents.count);
    const size_t end = std::min(begin + share, documents.count);
    kernels_->add_drawn(weights_, flip, columns, documents, begin, end - begin, own.drawn.data());
  });
  int32_t* hist = scratch_[0].drawn.data();
  for (size_t group = 1; group < groups; ++group)
    for (size_t k = 0; k < size; ++k) hist[k] += scratch_[group].drawn[k];

  FoundCut best;
  const Sums total = kernels_->total(hist, cuts_.bins(arms[0]));
  std::vector<double> rewards;
  for (size_t k = 0; k < arms.size(); ++k) {
    const int32_t* of_arm = hist + k * kernels_->feature_size();
    const BestCut cut = kernels_->best_cut(of_arm, cuts_.bins(arms[k]), total, criterion);
    const FoundCut found = {
        cut.found, cut.value, {arms[k], cut.bin}, total, kernels_->total(of_arm, cut.bin + size_t{1})};
    rewards.push_back(found.found ? bandit_reward(edge(found, criterion)) : 0.0);
    keep_better(best, found);
  }
  best.total = total;
  bandit_->reward(arms, rewards);
  return best;
}

FoundCut Searcher::search(const Documents& documents, const uint8_t* flip, const Criterion& criterion) {
  return has_bandit() ? search_drawn(documents, flip, criterion)
                      : search_all(documents, flip, criterion, nullptr, nullptr).first;
}

double Searcher::edge(const FoundCut& cut, const Criterion& criterion) const {
  double below_pooled = 0;
  double above_pooled = 0;
  double sum = 0;
  for (size_t l = 0; l < weights_.labels(); ++l) {
    const double below = kernels_->signed_sum(cut.below, l);
    const double above = kernels_->signed_sum(cut.total, l) - below;
    const double vote = (criterion.votes >> l & 1) != 0 ? 1 : -1;
    below_pooled += vote * below;
    above_pooled += vote * above;
    sum +=
        criterion.kind == CriterionKind::kStump ? std::abs(above - below) : std::abs(above) + std::abs(below);
  }
  return std::min(1.0, (criterion.pooled ? std::abs(below_pooled) + std::abs(above_pooled) : sum) / kOne);
}

}  // namespace tunemix::boost
