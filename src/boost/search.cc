#include "boost/search.h"

#include <algorithm>
#include <cmath>

namespace tunemix::boost {
namespace {

// Work, in (document, feature) pairs, that is worth a fork and join.
constexpr size_t kWorthThreads = 40000;

// The better of two cuts; of equal ones, that on the lower feature.
bool better(const FoundCut& a, const FoundCut& b) {
  if (!a.found || !b.found) return a.found;
  return a.value > b.value || (a.value == b.value && a.cut.feature < b.cut.feature);
}

int32_t* scratch(AlignedVector<int32_t>& buffer, size_t size) {
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
      rows_(static_cast<size_t>(context.threads())),
      tile_(static_cast<size_t>(context.threads())),
      drawn_hist_(static_cast<size_t>(context.threads())) {}

void Searcher::add_tile(size_t t, const int32_t* rows, const Documents& documents, size_t begin, size_t count,
                        int32_t* hist) const {
  if (bins_.layout() == BinLayout::kTiles) {
    kernels_->add_tile(rows, bins_.feature(t * 8), documents, begin, count, hist);
    return;
  }
  const uint8_t* columns[8];
  const size_t width = std::min<size_t>(8, bins_.features() - t * 8);
  for (size_t f = 0; f < width; ++f) columns[f] = bins_.feature(t * 8 + f);
  kernels_->add_columns(rows, {columns, width}, bins_.width(), documents, begin, count, hist);
}

void Searcher::scan_tile(size_t t, const int32_t* hist, const Criterion& criterion, FoundCut& best) const {
  best.total = kernels_->total(hist, cuts_.bins(t * 8));
  for (size_t j = t * 8; j < tile_end(t); ++j, hist += kernels_->feature_size()) {
    const BestCut cut = kernels_->best_cut(hist, cuts_.bins(j), best.total, criterion);
    if (!cut.found || (best.found && cut.value <= best.value)) continue;
    best.found = true;
    best.value = cut.value;
    best.cut = {static_cast<uint32_t>(j), cut.bin};
    best.below = kernels_->total(hist, cut.bin + size_t{1});
  }
}

void Searcher::clear_tile(size_t t, int32_t* hist) const {
  for (size_t j = t * 8; j < tile_end(t); ++j, hist += kernels_->feature_size())
    kernels_->clear(cuts_.bins(j), hist);
}

void Searcher::subtract_tile(size_t t, const int32_t* part, int32_t* hist) const {
  const size_t size = kernels_->feature_size();
  for (size_t j = t * 8; j < tile_end(t); ++j, part += size, hist += size)
    kernels_->subtract(part, cuts_.bins(j), hist);
}

// Group g of G has the tiles g, g + G, ...
std::pair<FoundCut, FoundCut> Searcher::search_group(const Documents& documents, const uint8_t* flip,
                                                     const Criterion& criterion, int32_t* hist,
                                                     int32_t* parent, size_t group, size_t groups) {
  const size_t tile_size = 8 * kernels_->feature_size();
  int32_t* rows = scratch(rows_[group], kRowBytes / 4);
  std::pair<FoundCut, FoundCut> found;
  const auto finish = [&](size_t t, const int32_t* tile) {
    scan_tile(t, tile, criterion, found.first);
    if (parent == nullptr) return;
    int32_t* rest = parent + t * tile_size;
    subtract_tile(t, tile, rest);
    scan_tile(t, rest, criterion, found.second);
  };
  if (documents.count <= row_block()) {
    // One block of rows: each tile can be finished while it is in the cache.
    kernels_->rows(weights_, flip, documents, 0, documents.count, rows);
    for (size_t t = group; t < tiles(); t += groups) {
      int32_t* tile = hist != nullptr ? hist + t * tile_size : scratch(tile_[group], tile_size);
      clear_tile(t, tile);
      add_tile(t, rows, documents, 0, documents.count, tile);
      finish(t, tile);
    }
    return found;
  }
  for (size_t t = group; t < tiles(); t += groups) clear_tile(t, hist + t * tile_size);
  for (size_t begin = 0; begin < documents.count; begin += row_block()) {
    const size_t count = std::min(row_block(), documents.count - begin);
    kernels_->rows(weights_, flip, documents, begin, count, rows);
    for (size_t t = group; t < tiles(); t += groups)
      add_tile(t, rows, documents, begin, count, hist + t * tile_size);
  }
  for (size_t t = group; t < tiles(); t += groups) finish(t, hist + t * tile_size);
  return found;
}

std::pair<FoundCut, FoundCut> Searcher::search_all(const Documents& documents, const uint8_t* flip,
                                                   const Criterion& criterion, int32_t* hist,
                                                   int32_t* parent) {
  require(hist != nullptr || documents.count <= row_block(), "many documents need a histogram");
  // A parent's histogram is as much work as some hundred documents.
  const size_t work = (documents.count + (parent != nullptr ? 256 : 0)) * bins_.features();
  const size_t groups = work > kWorthThreads ? std::min(tiles(), static_cast<size_t>(context_.threads())) : 1;
  std::vector<std::pair<FoundCut, FoundCut>> found(groups);
  context_.pool().run(groups, [&](size_t group) {
    found[group] = search_group(documents, flip, criterion, hist, parent, group, groups);
  });
  for (size_t group = 1; group < groups; ++group) {
    keep_better(found[0].first, found[group].first);
    keep_better(found[0].second, found[group].second);
  }
  return found[0];
}

FoundCut Searcher::search_all(const Documents& documents, const uint8_t* flip, const Criterion& criterion) {
  own_hist_.resize(histogram_size());
  return search_all(documents, flip, criterion, own_hist_.data(), nullptr).first;
}

FoundCut Searcher::search_drawn(const Documents& documents, const uint8_t* flip, const Criterion& criterion) {
  const std::vector<uint32_t> arms = bandit_->draw(arms_per_pull_, *random_);
  std::vector<const uint8_t*> columns;
  for (const uint32_t arm : arms) columns.push_back(bins_.feature(arm));
  const size_t size = arms.size() * kernels_->feature_size();

  const size_t wanted = documents.count * arms.size() / kWorthThreads + 1;
  const size_t groups = std::min(wanted, static_cast<size_t>(context_.threads()));
  const size_t share = (documents.count + groups - 1) / groups;
  context_.pool().run(groups, [&](size_t group) {
    drawn_hist_[group].assign(size, 0);
    int32_t* rows = scratch(rows_[group], kRowBytes / 4);
    const size_t end = std::min((group + 1) * share, documents.count);
    for (size_t begin = group * share; begin < end; begin += row_block()) {
      const size_t count = std::min(row_block(), end - begin);
      kernels_->rows(weights_, flip, documents, begin, count, rows);
      kernels_->add_columns(rows, columns, bins_.width(), documents, begin, count, drawn_hist_[group].data());
    }
  });
  int32_t* hist = drawn_hist_[0].data();
  for (size_t group = 1; group < groups; ++group)
    for (size_t k = 0; k < size; ++k) hist[k] += drawn_hist_[group][k];

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
  return has_bandit() ? search_drawn(documents, flip, criterion) : search_all(documents, flip, criterion);
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
