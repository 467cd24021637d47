#include "trees/search.h"

#include <algorithm>
#include <cmath>

#include "trees/kernels/tiles.h"

namespace tunemix::trees {
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

// The buffer, with room for `size` values; new ones are zero.
template <typename T>
T* sized(AlignedVector<T>& buffer, size_t size) {
  if (buffer.size() < size) buffer.resize(size, T{0});
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
      kernels_(&kernels_for(weights.labels(), rows)),
      bandit_(bandit),
      arms_per_pull_(arms_per_pull),
      random_(random),
      reward_scale_(bandit, bins, cuts),
      context_(context),
      scratch_(static_cast<size_t>(context.threads())),
      packed_begin_{0} {
  for (Scratch& own : scratch_)
    for (AlignedVector<int32_t>* packed : {&own.packed, &own.joint})
      packed->resize(256 * kernels_->packed_lanes() + kernels_->lanes());
  for (size_t j = 0; j < bins.features(); ++j)
    packed_begin_.push_back(packed_begin_.back() + cuts.bins(j) * kernels_->packed_lanes());
}

void Searcher::add_columns(size_t t, const int32_t* rows, const Documents& documents, size_t begin,
                           size_t count, int32_t* open) const {
  const uint8_t* columns[8];
  const size_t width = tile_end(t) - t * 8;
  for (size_t f = 0; f < width; ++f) columns[f] = bins_.column(t * 8 + f);
  kernels_->add_columns(rows, {columns, width}, documents, begin, count, open);
}

// The bins of tiles first..last of one panel, for documents begin..begin+count: a tile after the other, 8
// bytes a document.
void Searcher::gather_tiles(size_t first, size_t last, const Documents& documents, size_t begin, size_t count,
                            uint8_t* out) const {
  const uint32_t* index = documents.index == nullptr ? nullptr : documents.index + begin;
  tile_kernels().gather(bins_.column(first * 8), bins_.width(first * 8), last - first, index, begin, count,
                        out, gathered_stride());
}

void Searcher::search_feature(size_t j, const int32_t* packed, const Criterion& criterion,
                              FoundCut& best) const {
  const BestCut cut = kernels_->best_cut(packed, cuts_.bins(j), best.total, criterion);
  FoundCut found = {cut.found, cut.value, {static_cast<uint32_t>(j), cut.bin}, best.total, {}};
  if (!better(found, best)) return;
  found.below = kernels_->total(packed, cut.bin + size_t{1});
  best = found;
}

template <typename Body>
void Searcher::take_column(size_t c, int32_t* open, int32_t* keep, Scratch& own, Body body) const {
  const size_t lanes = kernels_->packed_lanes();
  const std::span<const uint32_t> features = bins_.features_of(c);
  const auto place_for = [&](uint32_t j) {
    return keep != nullptr ? keep + packed_begin_[j] : own.packed.data();
  };
  if (features.size() == 1) {
    int32_t* packed = place_for(features[0]);
    kernels_->take(open, cuts_.bins(features[0]), packed);
    body(features[0], packed);
    return;
  }
  // The last feature's bins are sums over runs of rows; runs added up are the joint histogram of the others.
  int32_t* joint = own.joint.data();
  kernels_->take(open, bins_.column_bins(c), joint);
  for (size_t k = features.size(); k > 0; --k) {
    const uint32_t j = features[k - 1];
    const size_t run = bins_.place(j).step * lanes;
    int32_t* packed = place_for(j);
    std::fill_n(packed, cuts_.bins(j) * lanes, 0);
    for (size_t b = 0; b < cuts_.bins(j); ++b)
      for (size_t v = 0; v < run; v += lanes)
        for (size_t l = 0; l < lanes; ++l) packed[b * lanes + l] += joint[b * run + v + l];
    for (size_t b = 1; b < cuts_.bins(j); ++b) tile_kernels().add(joint, joint + b * run, run);
    body(j, packed);
  }
}

// Group g of G has a run of neighbouring tiles, which share cache lines.
std::pair<FoundCut, FoundCut> Searcher::search_group(const Documents& documents, const uint8_t* flip,
                                                     const Criterion& criterion, int32_t* keep,
                                                     int32_t* parent, size_t group, size_t groups) {
  constexpr size_t kTilesOfPanel = BinnedDataset::kPanel / 8;
  const size_t first_tile = tiles() * group / groups;
  const size_t last_tile = tiles() * (group + 1) / groups;
  const size_t tile_size = 8 * kernels_->open_size();
  Scratch& own = scratch_[group];
  int32_t* rows = sized(own.rows, row_block() * kernels_->lanes());
  int32_t* own_tile = sized(own.open, tile_size);
  std::pair<FoundCut, FoundCut> found;
  bool totals_known = false;
  size_t begin = 0;
  do {
    const size_t count = std::min(row_block(), documents.count - begin);
    kernels_->rows(weights_, flip, documents, begin, count, rows);
    for (size_t t = first_tile, gathered = first_tile; t < last_tile; ++t) {
      int32_t* open = documents.count > row_block() ? open_.data() + t * tile_size : own_tile;
      if (bins_.layout() == BinLayout::kColumns) {
        add_columns(t, rows, documents, begin, count, open);
      } else {
        if (t == first_tile || t % kTilesOfPanel == 0) {
          gathered = t;
          gather_tiles(t, std::min(last_tile, t / kTilesOfPanel * kTilesOfPanel + kTilesOfPanel), documents,
                       begin, count, sized(own.bins, kTilesOfPanel * gathered_stride()));
        }
        kernels_->add_tile(rows, own.bins.data() + (t - gathered) * gathered_stride(), count, open);
      }
      if (begin + count < documents.count) continue;
      for (size_t c = t * 8; c < tile_end(t); ++c)
        take_column(c, open + c % 8 * kernels_->open_size(), keep, own, [&](size_t j, const int32_t* packed) {
          const size_t bins = cuts_.bins(j);
          if (!totals_known) found.first.total = kernels_->total(packed, bins);
          search_feature(j, packed, criterion, found.first);
          if (parent != nullptr) {
            int32_t* rest = parent + packed_begin_[j];
            tile_kernels().subtract(rest, packed, bins * kernels_->packed_lanes());
            if (!totals_known) found.second.total = kernels_->total(rest, bins);
            search_feature(j, rest, criterion, found.second);
          }
          totals_known = true;
        });
      // Beyond the last column all documents are in bin 0.
      for (size_t c = tile_end(t); c < t * 8 + 8; ++c)
        kernels_->take(open + c % 8 * kernels_->open_size(), 1, own.packed.data());
    }
    begin += count;
  } while (begin < documents.count);
  return found;
}

std::pair<FoundCut, FoundCut> Searcher::search_all(const Documents& documents, const uint8_t* flip,
                                                   const Criterion& criterion, int32_t* keep,
                                                   int32_t* parent) {
  if (documents.count > row_block()) sized(open_, open_size());
  // To search a histogram is as much work as to add some hundred documents to it.
  const size_t work = (documents.count + (parent != nullptr ? 1500 : 600)) * bins_.features();
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

FoundCut Searcher::search_drawn(const Documents& documents, const uint8_t* flip, const Criterion& criterion,
                                Pay pay) {
  const std::vector<uint32_t> arms = bandit_->draw(arms_per_pull_, *random_);
  const std::vector<SearchedColumn> columns = reward_scale_.columns(arms, pay == Pay::kGain);
  FoundCut best;
  std::vector<double> rewards;
  for (size_t begin = 0; begin < columns.size(); begin += kDrawnAtOnce) {
    const std::span<const SearchedColumn> some =
        std::span(columns).subspan(begin, std::min(kDrawnAtOnce, columns.size() - begin));
    const size_t groups = add_drawn(documents, flip, some);
    for (size_t k = 0; k < some.size(); ++k) {
      const size_t bins = cuts_.bins(some[k].feature);
      const int32_t* packed = take_added(k, bins, groups);
      if (rewards.empty()) best.total = kernels_->total(packed, bins);
      FoundCut found;
      found.total = best.total;
      search_feature(some[k].feature, packed, criterion, found);
      if (begin + k < arms.size()) keep_better(best, found);
      rewards.push_back(!found.found        ? 0.0
                        : pay == Pay::kEdge ? bandit_reward(edge(found, criterion))
                                            : found.value - uncut(found.total, criterion));
    }
  }
  if (pay == Pay::kGain) reward_scale_.reward(rewards, arms.size(), documents.count, bins_.documents());
  bandit_->reward(arms, rewards,
                  static_cast<double>(documents.count) / static_cast<double>(bins_.documents()));
  return best;
}

size_t Searcher::add_drawn(const Documents& documents, const uint8_t* flip,
                           std::span<const SearchedColumn> columns) {
  std::vector<const uint8_t*> bins;
  for (const SearchedColumn& column : columns) bins.push_back(column.bins);
  const size_t wanted = documents.count * columns.size() / kFewWorthThreads + 1;
  const size_t groups = std::min(wanted, static_cast<size_t>(context_.threads()));
  const size_t share = (documents.count + groups - 1) / groups;
  context_.pool().run(groups, [&](size_t group) {
    int32_t* open = sized(scratch_[group].open, columns.size() * kernels_->open_size());
    const size_t begin = std::min(group * share, documents.count);
    const size_t end = std::min(begin + share, documents.count);
    kernels_->add_drawn(weights_, flip, bins, documents, begin, end - begin, open);
  });
  return groups;
}

const int32_t* Searcher::take_added(size_t k, size_t bins, size_t groups) {
  int32_t* packed = scratch_[0].packed.data();
  for (size_t group = 0; group < groups; ++group) {
    Scratch& own = scratch_[group];
    kernels_->take(own.open.data() + k * kernels_->open_size(), bins, own.packed.data());
    if (group > 0) tile_kernels().add(packed, own.packed.data(), bins * kernels_->packed_lanes());
  }
  return packed;
}

double Searcher::uncut(const Sums& total, const Criterion& criterion) const {
  if (criterion.kind != CriterionKind::kStump) return kernels_->uncut(total, criterion);
  double edge = 0;
  for (size_t l = 0; l < weights_.labels(); ++l)
    edge += std::abs(static_cast<double>(kernels_->signed_sum(total, l)));
  return edge;
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

}  // namespace tunemix::trees
