// Finds the best cut of a node: over all features, from histograms that siblings share by subtraction, or
// over those that a bandit draws.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "trees/bandit.h"
#include "trees/kernels/tiles.h"
#include "trees/reward_scale.h"
#include "trees/statistics.h"
#include "tunemix/core/aligned.h"
#include "tunemix/core/context.h"
#include "tunemix/core/error.h"
#include "tunemix/data/binning.h"

namespace tunemix::trees {

inline void add_cells(int32_t* to, const int32_t* from, size_t count) { tile_kernels().add(to, from, count); }
inline void add_cells(uint64_t* to, const uint64_t* from, size_t count) {
  tile_kernels().add_words(to, from, count);
}
inline void subtract_cells(int32_t* to, const int32_t* from, size_t count) {
  tile_kernels().subtract(to, from, count);
}
inline void subtract_cells(uint64_t* to, const uint64_t* from, size_t count) {
  tile_kernels().subtract_words(to, from, count);
}

// The better of two cuts; of equal ones, that on the lower feature.
template <typename Sum>
bool better(const NodeCut<Sum>& a, const NodeCut<Sum>& b) {
  if (!a.found || !b.found) return a.found;
  return a.value > b.value || (a.value == b.value && a.cut.feature < b.cut.feature);
}

template <Statistics S>
class NodeSearch {
 public:
  using Cell = typename S::Cell;
  using Rule = typename S::Rule;
  using Found = NodeCut<typename S::Sum>;

  // `bandit` may be null. All outlive this.
  NodeSearch(const S& statistics, const BinnedDataset& bins, const BinCuts& cuts, Bandit* bandit,
             size_t arms_per_pull, const Context& context);

  const BinnedDataset& bins() const { return bins_; }
  const Context& context() const { return context_; }
  bool has_bandit() const { return bandit_ != nullptr; }
  // What the bandit's rewards are relative to; belongs to its state.
  RewardScale& reward_scale() { return reward_scale_; }
  // Cells of the histograms of all features: open, and kept.
  size_t open_size() const { return tiles() * tile_size(); }
  size_t kept_size() const { return kept_begin_.back() + statistics_.spare_cells(); }

  // Histograms of features with a 0 are neither made nor kept; empty: all are.
  void set_features(std::span<const uint8_t> features);

  // Over all features. The histograms go to `keep`, which may be null.
  Found search(const Documents& documents, const Rule& rule, Cell* keep) {
    return search({documents, rule, keep, nullptr, 0, rule}).first;
  }
  // The same, and `parent` becomes parent - these, the histograms of the sibling, which is searched too.
  std::pair<Found, Found> search(const Documents& documents, const Rule& rule, Cell* keep, Cell* parent,
                                 size_t sibling_count, const Rule& sibling_rule) {
    return search({documents, rule, keep, parent, sibling_count, sibling_rule});
  }
  // Over features drawn from the bandit, which is paid.
  Found search_drawn(const Documents& documents, const Rule& rule, Random& random);

 private:
  struct Request {
    Documents documents;
    const Rule& rule;
    Cell* keep;
    Cell* parent;
    size_t sibling_count;
    const Rule& sibling_rule;
  };
  struct Scratch {
    std::pair<Found, Found> found;
    AlignedVector<Cell> rows;
    AlignedVector<uint8_t> tiles;  // gathered bins of a block of documents
    AlignedVector<Cell> open;      // of a tile, or of drawn columns; zero between searches
    AlignedVector<Cell> kept;      // of one feature
    AlignedVector<Cell> moved;     // the same with missing values above
    AlignedVector<Cell> joint;     // plain, of the features that share a column
    AlignedVector<Cell> plain;     // of one of them
  };

  size_t tiles() const { return (bins_.columns() + 7) / 8; }
  size_t tile_size() const { return 8 * statistics_.open_cells(); }
  // Bytes of a gathered tile; not a multiple of 4096, or those of a panel would compete for the same lines.
  size_t gathered_stride() const { return (statistics_.block() + 24) * 8; }
  bool used(size_t feature) const { return features_.empty() || features_[feature] != 0; }
  // The buffer, with room for `size` values; new ones are zero.
  template <typename T>
  static T* sized(AlignedVector<T>& buffer, size_t size) {
    if (buffer.size() < size) buffer.resize(size, T{0});
    return buffer.data();
  }

  std::pair<Found, Found> search(const Request& request);
  void search_tiles(const Request& request, size_t first, size_t last, Scratch& own);
  void search_shared(const Request& request);
  template <typename Done>
  void add_documents(const Documents& documents, size_t begin, size_t end, size_t first, size_t last,
                     Cell* open, Scratch& own, Done done);
  void add_columns(const Cell* rows, size_t tile, const Documents& documents, size_t begin, size_t count,
                   Cell* open) const;
  void search_tile(const Request& request, size_t tile, Cell* open, Scratch& own);
  template <typename Body>
  void take_column(size_t c, Cell* open, Cell* keep, Scratch& own, Body body) const;
  void search_feature(uint32_t j, const Cell* kept, size_t count, const Rule& rule, Cell* moved,
                      Found& best) const;
  void search_cuts(const Cut& first, const Cell* kept, size_t bins, size_t count, const Rule& rule,
                   bool side_known, Found& best) const;
  size_t add_drawn(const Documents& documents, std::span<const SearchedColumn> columns);
  const Cell* take_added(size_t k, size_t bins, size_t groups);

  // Work, in (document, feature) pairs, that is worth a fork and join: of all features, and of a few, where
  // most of it is the documents' rows.
  static constexpr size_t kWorthThreads = 40000;
  static constexpr size_t kFewWorthThreads = 6000;
  // Documents of a node for which it pays to divide tiles between threads.
  static constexpr size_t kWorthSharing = 4096;
  static constexpr size_t kDrawnAtOnce = 16;  // columns whose open histograms exist together

  const S& statistics_;
  const BinnedDataset& bins_;
  const BinCuts& cuts_;
  Bandit* bandit_;
  size_t arms_per_pull_;
  RewardScale reward_scale_;
  const Context& context_;
  std::vector<size_t> kept_begin_;  // of each feature in the kept histograms
  std::vector<uint8_t> features_;
  std::vector<size_t> used_tiles_;
  AlignedVector<Cell>
      open_;  // of all features, where documents come in several blocks; zero between searches
  std::vector<Scratch> scratch_;  // per group
};

template <Statistics S>
NodeSearch<S>::NodeSearch(const S& statistics, const BinnedDataset& bins, const BinCuts& cuts, Bandit* bandit,
                          size_t arms_per_pull, const Context& context)
    : statistics_(statistics),
      bins_(bins),
      cuts_(cuts),
      bandit_(bandit),
      arms_per_pull_(arms_per_pull),
      reward_scale_(bandit, bins, cuts),
      context_(context),
      kept_begin_{0},
      scratch_(static_cast<size_t>(context.threads())) {
  for (size_t j = 0; j < cuts.features(); ++j)
    kept_begin_.push_back(kept_begin_.back() + statistics.kept_cells(cuts.bins(j)));
  for (Scratch& own : scratch_) {
    own.kept.resize(statistics.kept_cells(256) + statistics.spare_cells());
    own.moved.resize(own.kept.size());
    own.joint.resize(256 * statistics.plain_cells() + statistics.spare_cells());
    own.plain.resize(own.joint.size());
  }
  set_features({});
}

template <Statistics S>
void NodeSearch<S>::set_features(std::span<const uint8_t> features) {
  features_.assign(features.begin(), features.end());
  used_tiles_.clear();
  for (size_t c = 0; c < bins_.columns(); ++c)
    if (std::ranges::any_of(bins_.features_of(c), [&](uint32_t j) { return used(j); }) &&
        (used_tiles_.empty() || used_tiles_.back() != c / 8))
      used_tiles_.push_back(c / 8);
}

template <Statistics S>
auto NodeSearch<S>::search(const Request& request) -> std::pair<Found, Found> {
  const size_t count = request.documents.count;
  const size_t nodes = request.parent != nullptr ? 2 : 1;
  const size_t work = (count + nodes * S::kSearchCost) * bins_.features();
  const size_t tiles = used_tiles_.size();
  const size_t groups = work > kWorthThreads ? std::min(tiles, scratch_.size()) : 1;
  for (Scratch& own : scratch_) own.found = {};
  if (count >= std::min(statistics_.block(), kWorthSharing)) sized(open_, open_size());
  if (groups > 1 && count >= kWorthSharing)
    search_shared(request);
  else
    context_.pool().run(groups, [&](size_t group) {
      search_tiles(request, tiles * group / groups, tiles * (group + 1) / groups, scratch_[group]);
    });
  std::pair<Found, Found> best = scratch_[0].found;
  for (size_t group = 1; group < scratch_.size(); ++group) {
    if (better(scratch_[group].found.first, best.first)) best.first = scratch_[group].found.first;
    if (better(scratch_[group].found.second, best.second)) best.second = scratch_[group].found.second;
  }
  return best;
}

// The used tiles number first..last, from beginning to end.
template <Statistics S>
void NodeSearch<S>::search_tiles(const Request& request, size_t first, size_t last, Scratch& own) {
  const size_t count = request.documents.count;
  Cell* open = count <= statistics_.block() ? sized(own.open, tile_size()) : nullptr;
  add_documents(request.documents, 0, count, first, last, open, own,
                [&](size_t tile, Cell* at) { search_tile(request, tile, at, own); });
}

// All (tile, document) pairs in a row, tile by tile: threads add equal numbers of them. The rest of a tile
// that does not begin with a thread goes to its scratch; a tile is put together before it is searched.
template <Statistics S>
void NodeSearch<S>::search_shared(const Request& request) {
  const Documents& documents = request.documents;
  const size_t count = documents.count;
  const size_t threads = scratch_.size();
  const size_t pairs = used_tiles_.size() * count;
  const auto nothing = [](size_t, Cell*) {};
  context_.pool().run(threads, [&](size_t share) {
    Scratch& own = scratch_[share];
    const size_t from = pairs * share / threads;
    const size_t to = pairs * (share + 1) / threads;
    size_t tile = from / count;
    if (const size_t begin = from % count; begin > 0) {
      const size_t end = std::min(count, to - tile * count);
      add_documents(documents, begin, end, tile, tile + 1, sized(own.open, tile_size()), own, nothing);
      ++tile;
    }
    const size_t last = to / count;
    if (tile < last) add_documents(documents, 0, count, tile, last, nullptr, own, nothing);
    if (tile <= last && to % count > 0)
      add_documents(documents, 0, to % count, last, last + 1, nullptr, own, nothing);
  });
  for (size_t share = 1; share < threads; ++share) {
    const size_t from = pairs * share / threads;
    if (from % count == 0) continue;
    Cell* part = scratch_[share].open.data();
    add_cells(open_.data() + used_tiles_[from / count] * tile_size(), part, tile_size());
    std::fill_n(part, tile_size(), Cell{0});
  }
  context_.pool().run_with_thread(used_tiles_.size(), [&](size_t u, int thread) {
    search_tile(request, used_tiles_[u], open_.data() + used_tiles_[u] * tile_size(),
                scratch_[static_cast<size_t>(thread)]);
  });
}

// Adds documents begin..end to the used tiles number first..last: to the histograms of one tile at `open`, or
// of each in its place. Calls done(tile, its histograms) for each that has them all.
template <Statistics S>
template <typename Done>
void NodeSearch<S>::add_documents(const Documents& documents, size_t begin, size_t end, size_t first,
                                  size_t last, Cell* open, Scratch& own, Done done) {
  constexpr size_t kTilesOfPanel = BinnedDataset::kPanel / 8;
  Cell* row_space = sized(own.rows, statistics_.block() * statistics_.row_cells());
  const auto place = [&](size_t tile) { return open != nullptr ? open : open_.data() + tile * tile_size(); };
  do {
    const size_t count = std::min(statistics_.block(), end - begin);
    const Cell* rows = statistics_.rows(documents, begin, count, row_space);
    const uint32_t* index = documents.index == nullptr ? nullptr : documents.index + begin;
    for (size_t u = first; u < last;) {
      // The used tiles of one panel.
      const size_t from = used_tiles_[u];
      size_t to = u + 1;
      while (to < last && used_tiles_[to] / kTilesOfPanel == from / kTilesOfPanel) ++to;
      if (bins_.layout() == BinLayout::kPanels)
        tile_kernels().gather(bins_.column(from * 8), bins_.width(from * 8), used_tiles_[to - 1] + 1 - from,
                              index, begin, count, sized(own.tiles, kTilesOfPanel * gathered_stride()),
                              gathered_stride());
      for (; u < to; ++u) {
        const size_t tile = used_tiles_[u];
        if (bins_.layout() == BinLayout::kPanels)
          statistics_.add_tile(rows, own.tiles.data() + (tile - from) * gathered_stride(), count,
                               place(tile));
        else
          add_columns(rows, tile, documents, begin, count, place(tile));
        if (begin + count == end) done(tile, place(tile));
      }
    }
    begin += count;
  } while (begin < end);
}

template <Statistics S>
void NodeSearch<S>::add_columns(const Cell* rows, size_t tile, const Documents& documents, size_t begin,
                                size_t count, Cell* open) const {
  const uint8_t* columns[8];
  const size_t width = std::min<size_t>(8, bins_.columns() - tile * 8);
  for (size_t c = 0; c < width; ++c) columns[c] = bins_.column(tile * 8 + c);
  statistics_.add_columns(rows, std::span<const uint8_t* const>(columns, width), documents, begin, count,
                          open);
}

template <Statistics S>
void NodeSearch<S>::search_tile(const Request& request, size_t tile, Cell* open, Scratch& own) {
  for (size_t c = tile * 8; c < tile * 8 + 8; ++c, open += statistics_.open_cells()) {
    if (c >= bins_.columns()) {  // here all documents are in bin 0
      statistics_.take(open, 1, own.kept.data());
      continue;
    }
    take_column(c, open, request.keep, own, [&](uint32_t j, const Cell* kept) {
      if (!used(j)) return;
      search_feature(j, kept, request.documents.count, request.rule, own.moved.data(), own.found.first);
      if (request.parent == nullptr) return;
      Cell* rest = request.parent + kept_begin_[j];
      subtract_cells(rest, kept, kept_begin_[j + 1] - kept_begin_[j]);
      search_feature(j, rest, request.sibling_count, request.sibling_rule, own.moved.data(),
                     own.found.second);
    });
  }
}

// Calls body(feature, kept) for the features of column c, with their histograms in `keep` or, for the call
// only, in the scratch.
template <Statistics S>
template <typename Body>
void NodeSearch<S>::take_column(size_t c, Cell* open, Cell* keep, Scratch& own, Body body) const {
  const std::span<const uint32_t> features = bins_.features_of(c);
  const auto place = [&](uint32_t j) { return keep != nullptr ? keep + kept_begin_[j] : own.kept.data(); };
  if (features.size() == 1) {
    const uint32_t j = features[0];
    statistics_.take(open, cuts_.bins(j), place(j));
    return body(j, place(j));
  }
  // The last feature's bins are sums over runs of cells; runs added up are the joint histogram of the others.
  const size_t cells = statistics_.plain_cells();
  Cell* joint = own.joint.data();
  statistics_.take_plain(open, bins_.column_bins(c), joint);
  for (size_t k = features.size(); k > 0; --k) {
    const uint32_t j = features[k - 1];
    const size_t bins = cuts_.bins(j);
    const size_t run = bins_.place(j).step * cells;
    std::fill_n(own.plain.data(), bins * cells, Cell{0});
    for (size_t b = 0; b < bins; ++b)
      for (size_t v = 0; v < run; v += cells)
        for (size_t l = 0; l < cells; ++l) own.plain[b * cells + l] += joint[b * run + v + l];
    for (size_t b = 1; b < bins; ++b) add_cells(joint, joint + b * run, run);
    statistics_.keep_plain(own.plain.data(), bins, place(j));
    body(j, place(j));
  }
}

template <Statistics S>
void NodeSearch<S>::search_feature(uint32_t j, const Cell* kept, size_t count, const Rule& rule, Cell* moved,
                                   Found& best) const {
  const size_t bins = cuts_.bins(j);
  if (!best.searched) best.total = statistics_.sum(kept, bins);
  best.searched = true;
  // With documents that have no value: with these below all cuts, of which the first takes them alone, and
  // above them.
  const bool missing = bins_.place(j).missing && statistics_.move_first(kept, bins, moved);
  search_cuts({j, 0, false}, kept, bins, count, rule, missing, best);
  if (missing) search_cuts({j, 1, true}, moved, bins - 1, count, rule, missing, best);
}

// From a histogram whose first bin is that of the first cut.
template <Statistics S>
void NodeSearch<S>::search_cuts(const Cut& first, const Cell* kept, size_t bins, size_t count,
                                const Rule& rule, bool side_known, Found& best) const {
  const BestCut found = statistics_.best_cut(first, kept, bins, count, best.total, rule);
  if (!found.found) return;
  if (best.found &&
      (found.value < best.value || (found.value == best.value && best.cut.feature <= first.feature)))
    return;
  best.found = true;
  best.value = found.value;
  best.cut = {first.feature, static_cast<uint8_t>(first.bin + found.bin), first.missing_above};
  best.side_known = side_known;
  best.below = statistics_.sum(kept, found.bin + size_t{1});
}

template <Statistics S>
auto NodeSearch<S>::search_drawn(const Documents& documents, const Rule& rule, Random& random) -> Found {
  require(bins_.layout() == BinLayout::kColumns, "drawn features are read from columns");
  const std::vector<uint32_t> arms = bandit_->draw(arms_per_pull_, random);
  const std::vector<SearchedColumn> columns = reward_scale_.columns(arms, statistics_.pays_gain());
  Found best;
  std::vector<double> rewards;
  for (size_t begin = 0; begin < columns.size(); begin += kDrawnAtOnce) {
    const std::span<const SearchedColumn> some =
        std::span(columns).subspan(begin, std::min(kDrawnAtOnce, columns.size() - begin));
    const size_t groups = add_drawn(documents, some);
    for (size_t k = 0; k < some.size(); ++k) {
      const size_t bins = cuts_.bins(some[k].feature);
      Found found;
      found.searched = best.searched;
      found.total = best.total;
      search_feature(some[k].feature, take_added(k, bins, groups), documents.count, rule,
                     scratch_[0].moved.data(), found);
      if (!best.searched || (begin + k < arms.size() && better(found, best))) best = found;
      rewards.push_back(found.found ? statistics_.pay(found, rule) : 0.0);
    }
  }
  if (statistics_.pays_gain())
    reward_scale_.reward(rewards, arms.size(), documents.count, statistics_.documents());
  bandit_->reward(arms, rewards,
                  static_cast<double>(documents.count) / static_cast<double>(statistics_.documents()));
  return best;
}

// Adds the documents to open histograms of the columns, in as many groups of documents as it returns.
template <Statistics S>
size_t NodeSearch<S>::add_drawn(const Documents& documents, std::span<const SearchedColumn> columns) {
  std::vector<const uint8_t*> bins;
  for (const SearchedColumn& column : columns) bins.push_back(column.bins);
  const size_t groups = std::min(documents.count * columns.size() / kFewWorthThreads + 1, scratch_.size());
  const size_t share = (documents.count + groups - 1) / groups;
  context_.pool().run(groups, [&](size_t group) {
    Cell* open = sized(scratch_[group].open, columns.size() * statistics_.open_cells());
    const size_t begin = std::min(group * share, documents.count);
    const size_t end = std::min(begin + share, documents.count);
    statistics_.add_drawn(bins, documents, begin, end - begin, open);
  });
  return groups;
}

// The kept histogram of the k-th of them, over all groups.
template <Statistics S>
auto NodeSearch<S>::take_added(size_t k, size_t bins, size_t groups) -> const Cell* {
  Cell* kept = scratch_[0].kept.data();
  for (size_t group = 0; group < groups; ++group) {
    Scratch& own = scratch_[group];
    statistics_.take(own.open.data() + k * statistics_.open_cells(), bins, own.kept.data());
    if (group > 0) add_cells(kept, own.kept.data(), statistics_.kept_cells(bins));
  }
  return kept;
}

}  // namespace tunemix::trees
