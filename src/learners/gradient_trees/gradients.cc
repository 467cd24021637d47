#include "learners/gradient_trees/gradients.h"

#include <algorithm>
#include <cmath>

namespace tunemix::trees {
namespace {

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

void Gradients::set_tree(const uint64_t* words, const WordScale& scale, size_t documents,
                         std::span<const uint8_t> features) {
  words_ = words;
  scale_ = scale;
  documents_ = documents;
  usable_.clear();
  for (uint32_t j = 0; j < cuts_.features(); ++j)
    if (cuts_.bins(j) > 1 && (features.empty() || features[j] != 0)) usable_.push_back(j);
}

double Gradients::free_value(uint64_t sum) const {
  const double g = packed_gradient(sum) / static_cast<double>(scale_.gradient);
  const double h = packed_hessian(sum) / static_cast<double>(scale_.hessian) + options_.l2;
  return h > 0 ? -g / h : 0;
}

NodeRule Gradients::rule(Random& random, const ValueBounds& bounds) const {
  NodeRule rule;
  rule.bounds = bounds;
  if (options_.random_cuts) rule.random_cuts = random.next() | 1;
  if (options_.node_features < 1) {
    // The wanted number of features, each set equally likely.
    const double wanted = std::round(options_.node_features * static_cast<double>(usable_.size()));
    auto needed = static_cast<uint64_t>(std::max(1.0, wanted));
    rule.features.assign(cuts_.features(), 0);
    for (size_t k = 0; k < usable_.size() && needed > 0; ++k)
      if (random.below(usable_.size() - k) < needed) {
        rule.features[usable_[k]] = 1;
        --needed;
      }
  }
  return rule;
}

void Gradients::add_columns(const uint64_t* rows, std::span<const uint8_t* const> columns,
                            const Documents& documents, size_t begin, size_t count, uint64_t* open) const {
  const uint32_t* index = documents.index == nullptr ? nullptr : documents.index + begin;
  for (size_t c = 0; c < columns.size(); ++c)
    kernels_.add_column(rows, columns[c], index, begin, count, open + c * kOpenStride);
}

void Gradients::add_drawn(std::span<const uint8_t* const> columns, const Documents& documents, size_t begin,
                          size_t count, uint64_t* open) const {
  uint64_t words[2048];
  for (const size_t end = begin + count; begin < end; begin += block()) {
    const size_t some = std::min(block(), end - begin);
    add_columns(rows(documents, begin, some, words), columns, documents, begin, some, open);
  }
}

bool Gradients::move_first(const uint64_t* kept, size_t bins, uint64_t* moved) const {
  const uint64_t first = kept[0];
  if (first == 0) return false;
  for (size_t b = 0; b + 2 < bins; ++b) moved[b] = kept[b + 1] - first;
  std::fill(moved + bins - 2, moved + kept_cells(bins - 1), kept[bins - 1]);
  return true;
}

// Whether the values of the children lie as the cut's feature asks for. Missing values have no place in the
// order: the first cut, which sets them apart, asks for nothing.
bool Gradients::keeps_order(const Cut& cut, uint64_t below, uint64_t above, const ValueBounds& bounds) const {
  const double direction = options_.monotone[cut.feature];
  if (direction == 0 || (cut.bin == 0 && cuts_.has_missing(cut.feature))) return true;
  return direction * bounds.clamp(free_value(below)) <= direction * bounds.clamp(free_value(above));
}

void Gradients::bound(const NodeCut<uint64_t>& cut, ValueBounds& below, ValueBounds& above) const {
  if (options_.monotone.empty()) return;
  const double direction = options_.monotone[cut.cut.feature];
  if (direction == 0 || (cut.cut.bin == 0 && cuts_.has_missing(cut.cut.feature))) return;
  const double middle =
      (below.clamp(free_value(cut.below)) + above.clamp(free_value(cut.total - cut.below))) / 2;
  (direction > 0 ? below : above).high = middle;
  (direction > 0 ? above : below).low = middle;
}

// The bin after which the children are worth most, the lowest of equal ones; -1 where no cut keeps the rules.
int Gradients::best_bounded(const Cut& first, const uint64_t* kept, size_t bins, uint64_t total, float least,
                            const ValueBounds& bounds) const {
  int best = -1;
  double highest = 0;
  Cut cut = first;
  for (size_t b = 0; b + 1 < bins; ++b, ++cut.bin) {
    const uint64_t above = total - kept[b];
    if (static_cast<float>(packed_hessian(kept[b])) < least ||
        static_cast<float>(packed_hessian(above)) < least || !keeps_order(cut, kept[b], above, bounds))
      continue;
    const double value = worth(kept[b], bounds) + worth(above, bounds);
    if (best >= 0 && value <= highest) continue;
    highest = value;
    best = static_cast<int>(b);
  }
  return best;
}

BestCut Gradients::best_cut(const Cut& first, const uint64_t* kept, size_t bins, size_t documents,
                            uint64_t total, const NodeRule& rule) const {
  const uint32_t feature = first.feature;
  if (bins < 2 || (!rule.features.empty() && rule.features[feature] == 0)) return {};
  const double hessian = packed_hessian(total);
  // As many documents as the hessian's share stands for.
  const double share =
      documents == 0 ? 0 : (options_.min_documents - 0.5) * hessian / static_cast<double>(documents);
  const auto least = static_cast<float>(std::max({1.0, options_.min_hessian * scale_.hessian, share}));
  const bool bounded = !options_.monotone.empty() && (options_.monotone[feature] != 0 || rule.bounds.any());
  int bin;
  if (rule.random_cuts != 0) {
    bin = random_cut(kept, bins, total, rule.random_cuts + feature * 0x9e3779b97f4a7c15ULL);
    const Cut cut = {feature, static_cast<uint8_t>(first.bin + bin)};
    if (bin >= 0 && (static_cast<float>(packed_hessian(kept[bin])) < least ||
                     static_cast<float>(packed_hessian(total - kept[bin])) < least ||
                     (bounded && !keeps_order(cut, kept[bin], total - kept[bin], rule.bounds))))
      bin = -1;
  } else if (bounded) {
    bin = best_bounded(first, kept, bins, total, least, rule.bounds);
  } else {
    const auto l2 = static_cast<float>(options_.l2 * scale_.hessian);
    bin = kernels_.best_cut(kept, kept_cells(bins), total, {l2, least});
  }
  if (bin < 0) return {};
  return {true, uncut(kept[bin], rule) + uncut(total - kept[bin], rule), static_cast<uint8_t>(bin)};
}

// What a leaf of this sum takes from twice the loss, in units: G^2 / (H + l2), and with another value w than
// the free one -2 G w - (H + l2) w^2.
double Gradients::worth(uint64_t sum, const ValueBounds& bounds) const {
  const double g = packed_gradient(sum);
  const double h = packed_hessian(sum) + options_.l2 * scale_.hessian;
  if (h <= 0) return 0;
  if (!bounds.any()) return g * g / h;
  const double free = free_value(sum);
  const double value = bounds.clamp(free);
  if (value == free) return g * g / h;
  const double w = value * scale_.gradient / scale_.hessian;
  return -(2 * g + h * w) * w;
}

}  // namespace tunemix::trees
