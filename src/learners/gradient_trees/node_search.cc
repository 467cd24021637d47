#include "learners/gradient_trees/node_search.h"

#include <algorithm>

#include "learners/gradient_trees/words.h"
#include "tunemix/core/error.h"

namespace tunemix::trees {
namespace {

// Work, in (document, feature) pairs, that is worth a fork and join.
constexpr size_t kWorthThreads = 40000;
// Documents of a node for which it pays to divide tiles between threads.
constexpr size_t kWorthSharing = 4096;

uint64_t mix_bits(uint64_t x) {  // the finaliser of SplitMix64
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
  return x ^ x >> 31;
}

// One cut, drawn evenly from those with documents on both sides; -1 where there is none.
int random_cut(const uint64_t* kept, size_t bins, uint64_t total, uint64_t seed) {
  size_t low = 0;
  while (low + 1 < bins && kept[low] == 0) ++low;
  size_t high = bins - 1;  // the highest bin with documents
  while (high > low && kept[high - 1] == total) --high;
  if (high == low) return -1;
  return static_cast<int>(low + mix_bits(seed) % (high - low));
}

}  // namespace

NodeSearch::NodeSearch(const BinnedDataset& bins, const BinCuts& cuts, const Context& context)
    : bins_(bins), cuts_(cuts), context_(context), begin_{0} {
  for (size_t j = 0; j < cuts.features(); ++j)
    begin_.push_back(begin_.back() + (cuts.bins(j) + kCutLanes - 1) / kCutLanes * kCutLanes);
  scratch_.resize(static_cast<size_t>(context.threads()));
  for (Scratch& own : scratch_) {
    own.words.resize(kBlock);
    if (bins.layout() == BinLayout::kPanels) {
      own.tiles.resize(BinnedDataset::kPanel / 8 * kTileStride);
      own.part.assign(8 * kOpenStride, 0);
    }
    own.joint.resize(256);
    own.kept.resize(256);
  }
  set_features({});
}

void NodeSearch::set_features(std::span<const uint8_t> features) {
  features_.assign(features.begin(), features.end());
  used_tiles_.clear();
  const auto is_used = [&](size_t c) {
    const std::span<const uint32_t> held = bins_.features_of(c);
    return std::any_of(held.begin(), held.end(), [&](uint32_t j) { return used(j); });
  };
  for (size_t c = 0; c < bins_.columns(); ++c)
    if (is_used(c) && (used_tiles_.empty() || used_tiles_.back() != c / 8)) used_tiles_.push_back(c / 8);
}

double NodeSearch::uncut(uint64_t total, double l2) {
  const double g = packed_gradient(total);
  const double h = packed_hessian(total) + l2;
  return h > 0 ? g * g / h : 0;
}

// Adds documents to the used tiles number first..last; the first one's histograms are at `open`, or all in
// their places.
void NodeSearch::add_documents(const uint64_t* words, const NodeDocuments& documents, size_t first_tile,
                               size_t last_tile, uint64_t* open, Scratch& own) {
  constexpr size_t kTilesOfPanel = BinnedDataset::kPanel / 8;
  for (size_t begin = 0; begin < documents.count; begin += kBlock) {
    const size_t count = std::min(kBlock, documents.count - begin);
    const uint32_t* index = documents.index == nullptr ? nullptr : documents.index + begin;
    const uint64_t* block = words + documents.first + begin;
    if (index != nullptr) {
      kernels_.gather_words(words, index, count, own.words.data());
      block = own.words.data();
    }
    for (size_t u = first_tile; u < last_tile;) {
      // The used tiles of one panel.
      const size_t first = used_tiles_[u];
      size_t end = u + 1;
      while (end < last_tile && used_tiles_[end] / kTilesOfPanel == first / kTilesOfPanel) ++end;
      tile_kernels_.gather(bins_.column(first * 8), bins_.width(first * 8), used_tiles_[end - 1] + 1 - first,
                           index, documents.first + begin, count, own.tiles.data(), kTileStride);
      for (; u < end; ++u) {
        const size_t tile = used_tiles_[u];
        kernels_.add_tile(block, own.tiles.data() + (tile - first) * kTileStride, count,
                          open != nullptr ? open : open_.data() + tile * 8 * kOpenStride);
      }
    }
  }
}

// All (tile, document) pairs in a row, tile by tile; adds those numbered from..to. The rest of a tile that
// does not begin here goes to own.part.
void NodeSearch::add_share(const uint64_t* words, const NodeDocuments& documents, size_t from, size_t to,
                           Scratch& own) {
  const size_t count = documents.count;
  size_t tile = from / count;
  if (const size_t begin = from % count; begin > 0) {
    const size_t end = std::min(count, to - tile * count);
    add_documents(words, documents.part(begin, end), tile, tile + 1, own.part.data(), own);
    ++tile;
  }
  const size_t last = to / count;
  if (tile < last) add_documents(words, documents, tile, last, nullptr, own);
  if (tile <= last && to % count > 0)
    add_documents(words, documents.part(0, to % count), last, last + 1, nullptr, own);
}

// Calls body(feature, kept) for the features of column c, with their cumulative histograms in `keep` or, for
// the call only, in the scratch.
template <typename Body>
void NodeSearch::take_column(size_t c, uint64_t* keep, Scratch& own, Body body) {
  uint64_t* open = open_.data() + c * kOpenStride;
  const std::span<const uint32_t> features = bins_.features_of(c);
  const auto take = [&](uint32_t j, uint64_t* from, size_t bins) {
    uint64_t* kept = keep != nullptr ? keep + begin_[j] : own.kept.data();
    kernels_.take_cumulative(from, bins, begin_[j + 1] - begin_[j], kept);
    body(j, kept);
  };
  if (features.size() == 1) return take(features[0], open, cuts_.bins(features[0]));
  // The last feature's bins are sums over runs of words; runs added up are the joint histogram of the others.
  for (size_t k = features.size(); k > 0; --k) {
    const uint32_t j = features[k - 1];
    const size_t run = bins_.place(j).step;
    const size_t bins = cuts_.bins(j);
    uint64_t* own_bins = own.joint.data();
    for (size_t b = 0; b < bins; ++b) {
      own_bins[b] = 0;
      for (size_t v = 0; v < run; ++v) own_bins[b] += open[b * run + v];
      if (b == 0) continue;
      for (size_t v = 0; v < run; ++v) {
        open[v] += open[b * run + v];
        open[b * run + v] = 0;
      }
    }
    take(j, own_bins, bins);
  }
  open[0] = 0;
}

void NodeSearch::search_feature(size_t j, const uint64_t* kept, size_t count, const NodeRule& rule,
                                NodeCut& best) const {
  const size_t bins = cuts_.bins(j);
  if (bins < 2 || (!rule.features.empty() && rule.features[j] == 0)) return;
  const uint64_t total = kept[bins - 1];
  best.total = total;
  const double hessian = packed_hessian(total);
  // As many documents as the hessian's share stands for.
  const double share = count == 0 ? 0 : (rule.min_documents - 0.5) * hessian / static_cast<double>(count);
  const CutRule cut_rule = {static_cast<float>(rule.l2),
                            static_cast<float>(std::max({1.0, rule.min_hessian, share}))};
  int bin;
  if (rule.random_cuts != 0) {
    bin = random_cut(kept, bins, total, rule.random_cuts + j * 0x9e3779b97f4a7c15ULL);
    if (bin >= 0 && (static_cast<float>(packed_hessian(kept[bin])) < cut_rule.least ||
                     static_cast<float>(packed_hessian(total - kept[bin])) < cut_rule.least))
      bin = -1;
  } else {
    bin = kernels_.best_cut(kept, begin_[j + 1] - begin_[j], total, cut_rule);
  }
  if (bin < 0) return;
  const uint64_t below = kept[bin];
  const NodeCut found = {true,
                         uncut(below, rule.l2) + uncut(total - below, rule.l2),
                         {static_cast<uint32_t>(j), static_cast<uint8_t>(bin)},
                         total,
                         below};
  if (better(found, best)) best = found;
}

void NodeSearch::search_tile(const Request& request, size_t tile, Scratch& own, Found& found) {
  for (size_t c = tile * 8; c < std::min(tile * 8 + 8, bins_.columns()); ++c)
    take_column(c, request.keep, own, [&](size_t j, const uint64_t* kept) {
      if (!used(j)) return;
      search_feature(j, kept, request.small.count, request.small_rule, found.first);
      if (request.parent == nullptr) return;
      uint64_t* rest = request.parent + begin_[j];
      kernels_.subtract_words(rest, kept, begin_[j + 1] - begin_[j]);
      search_feature(j, rest, request.sibling_count, request.sibling_rule, found.second);
    });
  // Beyond the last column all documents are in bin 0.
  for (size_t c = bins_.columns(); c < tile * 8 + 8; ++c) open_[c * kOpenStride] = 0;
}

std::pair<NodeCut, NodeCut> NodeSearch::search(const uint64_t* words, const NodeDocuments& small,
                                               const NodeRule& small_rule, uint64_t* keep, uint64_t* parent,
                                               size_t sibling_count, const NodeRule& sibling_rule) {
  if (open_.empty()) open_.assign(open_size(), 0);
  const Request request = {words, small, small_rule, keep, parent, sibling_count, sibling_rule};
  const size_t tiles = used_tiles_.size();
  const size_t threads = scratch_.size();
  std::vector<Found> found(tiles);
  // To search a histogram is as much work as to add some hundred documents to it.
  const size_t work = (small.count + (parent != nullptr ? 300 : 150)) * bins_.features();
  if (work <= kWorthThreads || threads == 1) {
    add_documents(words, small, 0, tiles, nullptr, scratch_[0]);
    for (size_t u = 0; u < tiles; ++u) search_tile(request, used_tiles_[u], scratch_[0], found[u]);
  } else if (small.count < kWorthSharing) {
    // Each thread has whole tiles from beginning to end.
    const size_t groups = std::min(tiles, threads);
    context_.pool().run(groups, [&](size_t group) {
      const size_t first = tiles * group / groups;
      const size_t last = tiles * (group + 1) / groups;
      add_documents(words, small, first, last, nullptr, scratch_[group]);
      for (size_t u = first; u < last; ++u) search_tile(request, used_tiles_[u], scratch_[group], found[u]);
    });
  } else {
    // Threads add equal numbers of pairs; a tile that several add to is put together before it is searched.
    const size_t pairs = tiles * small.count;
    context_.pool().run(threads, [&](size_t share) {
      add_share(words, small, pairs * share / threads, pairs * (share + 1) / threads, scratch_[share]);
    });
    for (size_t share = 1; share < threads; ++share) {
      const size_t from = pairs * share / threads;
      if (from % small.count == 0) continue;
      AlignedVector<uint64_t>& part = scratch_[share].part;
      uint64_t* open = open_.data() + used_tiles_[from / small.count] * part.size();
      for (size_t k = 0; k < part.size(); ++k) open[k] += part[k];
      std::fill(part.begin(), part.end(), 0);
    }
    context_.pool().run_with_thread(tiles, [&](size_t u, int thread) {
      search_tile(request, used_tiles_[u], scratch_[static_cast<size_t>(thread)], found[u]);
    });
  }
  Found best;
  for (const Found& of_tile : found) {
    if (better(of_tile.first, best.first)) best.first = of_tile.first;
    if (better(of_tile.second, best.second)) best.second = of_tile.second;
  }
  return best;
}

void NodeSearch::search_drawn(const uint64_t* words, const NodeDocuments& documents, const NodeRule& rule,
                              std::span<const SearchedColumn> columns, std::span<NodeCut> found) {
  require(bins_.layout() == BinLayout::kColumns, "drawn features are read from columns");
  if (open_.size() < scratch_.size() * kOpenStride) open_.assign(scratch_.size() * kOpenStride, 0);
  const auto search_one = [&](size_t k, int thread) {
    const auto group = static_cast<size_t>(thread);
    Scratch& own = scratch_[group];
    uint64_t* open = open_.data() + group * kOpenStride;
    const auto [j, bins] = columns[k];
    for (size_t begin = 0; begin < documents.count; begin += kBlock) {
      const size_t count = std::min(kBlock, documents.count - begin);
      const uint32_t* index = documents.index == nullptr ? nullptr : documents.index + begin;
      if (index != nullptr) kernels_.gather_words(words, index, count, own.words.data());
      kernels_.add_column(index != nullptr ? own.words.data() : words + begin, bins, index, begin, count,
                          open);
    }
    found[k] = NodeCut();
    kernels_.take_cumulative(open, cuts_.bins(j), begin_[j + 1] - begin_[j], own.kept.data());
    found[k].total = own.kept[cuts_.bins(j) - 1];
    search_feature(j, own.kept.data(), documents.count, rule, found[k]);
  };
  if ((documents.count + 150) * columns.size() > kWorthThreads / 4)
    context_.pool().run_with_thread(columns.size(), search_one);
  else
    for (size_t k = 0; k < columns.size(); ++k) search_one(k, 0);
}

}  // namespace tunemix::trees
