#include "boost/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "core/vector_width.h"

namespace tunemix::boost {
namespace {

// A row of R int32 as vectors.
template <size_t R>
struct Row {
  static constexpr size_t kBytes = std::min(R * 4, kVectorBytes);
  static constexpr size_t kParts = R * 4 / kBytes;
  typedef int32_t Vector __attribute__((vector_size(kBytes), aligned(4), may_alias));
  Vector part[kParts] = {};

  // Of weights, rounded down after adding the offset.
  static Row fixed_point(const float* weights, float scale, float offset) {
    int32_t q[R];
    for (size_t l = 0; l < R; ++l) q[l] = boost::fixed_point(weights[l], scale, offset);
    return load(q);
  }
  // Lane l from lane from[l].
  Row shuffled(const int32_t* from) const {
#if __has_builtin(__builtin_shuffle)
    if constexpr (kParts == 1) {
      Row row;
      row.part[0] = __builtin_shuffle(part[0], load(from).part[0]);
      return row;
    }
#endif
    int32_t before[R];
    int32_t after[R];
    store(before);
    for (size_t l = 0; l < R; ++l) after[l] = before[from[l]];
    return load(after);
  }
  static Row load(const int32_t* p) {
    Row row;
    for (size_t k = 0; k < kParts; ++k) row.part[k] = *reinterpret_cast<const Vector*>(p + k * kBytes / 4);
    return row;
  }
  void store(int32_t* p) const {
    for (size_t k = 0; k < kParts; ++k) *reinterpret_cast<Vector*>(p + k * kBytes / 4) = part[k];
  }
  void add(const Row& other) {
    for (size_t k = 0; k < kParts; ++k) part[k] += other.part[k];
  }
  void merge(const Row& other) {
    for (size_t k = 0; k < kParts; ++k) part[k] |= other.part[k];
  }
  bool is_zero() const {
    Vector any = part[0];
    for (size_t k = 1; k < kParts; ++k) any |= part[k];
    uint64_t words[kBytes / 8];
    std::memcpy(words, &any, sizeof words);
    uint64_t bits = 0;
    for (const uint64_t word : words) bits |= word;
    return bits == 0;
  }
  void add_to(int32_t* p) const {
    for (size_t k = 0; k < kParts; ++k) *reinterpret_cast<Vector*>(p + k * kBytes / 4) += part[k];
  }
};

// The lanes of `a`, then those of `b`.
template <size_t R>
Row<2 * R> joined(const Row<R>& a, const Row<R>& b) {
  Row<2 * R> row;
  if constexpr (Row<2 * R>::kParts == 2 * Row<R>::kParts) {
    for (size_t k = 0; k < Row<R>::kParts; ++k) {
      row.part[k] = a.part[k];
      row.part[Row<R>::kParts + k] = b.part[k];
    }
  } else {
    row.part[0] = [&]<size_t... kLane>(std::index_sequence<kLane...>) {
      return __builtin_shufflevector(a.part[0], b.part[0], kLane...);
    }
    (std::make_index_sequence<2 * R>());
  }
  return row;
}

// The sum in a fixed order, so that it is the same for any vector width.
template <size_t P, typename T>
T reduce(T* values) {
  for (size_t step = P / 2; step > 0; step /= 2)
    for (size_t l = 0; l < step; ++l) values[l] += values[l + step];
  return values[0];
}

// The sums of P rows of P values at once, each in the order of reduce().
template <size_t P, typename T>
struct RowSums {
  typedef T Vector __attribute__((vector_size(P * sizeof(T)), aligned(4), may_alias));

  static void reduce_all(const T (*rows)[P], T* sums) {
    Vector vectors[P];
    for (size_t k = 0; k < P; ++k) vectors[k] = *reinterpret_cast<const Vector*>(rows[k]);
    halve<P>(vectors);
    *reinterpret_cast<Vector*>(sums) = vectors[0];
  }

 private:
  // Adds the halves of each run of kRun values, and puts the runs of two neighbouring vectors into one.
  template <size_t kRun>
  static void halve(Vector* vectors) {
    if constexpr (kRun > 1) {
      for (size_t k = 0; k < kRun / 2; ++k)
        vectors[k] = added_halves<kRun>(vectors[2 * k], vectors[2 * k + 1], std::make_index_sequence<P>());
      halve<kRun / 2>(vectors);
    }
  }
  template <size_t kRun, size_t... kLane>
  static Vector added_halves(Vector a, Vector b, std::index_sequence<kLane...>) {
    constexpr size_t kHalf = kRun / 2;
    return __builtin_shufflevector(a, b, (kLane / kHalf * kRun + kLane % kHalf)...) +
           __builtin_shufflevector(a, b, (kLane / kHalf * kRun + kLane % kHalf + kHalf)...);
  }
};

// Split sums of up to kOwn labels fold into rows of P lanes: lane l holds the weight on label l whatever the
// sign of y, and one of the kFree last lanes that where y = +1. The first kFree labels and the others have a
// plane of bins each, so a document adds to one row of P lanes instead of 2P.
template <size_t P>
struct Fold {
  static constexpr size_t kFree = (P + 2) / 3;
  static constexpr size_t kOwn = P - kFree;
  static constexpr std::array<int32_t, P> kOwnLanes = [] {
    std::array<int32_t, P> lanes = {};
    std::fill_n(lanes.begin(), kOwn, -1);
    return lanes;
  }();
  // int32 from the first plane to the second; planes and features a multiple of 4096 bytes apart would
  // compete for the same cache sets.
  static constexpr size_t kPlane = 256 * P + 64;

  // Both planes in one row: the sums over labels, the first plane's free lanes, then those of the second.
  static constexpr size_t kPacked = P + kOwn - kFree;
  static void pack(const int32_t* first, const int32_t* second, int32_t* packed) {
    Row<P> row = Row<P>::load(second);
    const Row<P> own = Row<P>::load(kOwnLanes.data());
    for (size_t k = 0; k < Row<P>::kParts; ++k) row.part[k] &= own.part[k];
    row.add(Row<P>::load(first));
    row.store(packed);
    std::memcpy(packed + P, second + kOwn, (kPacked - P) * sizeof(int32_t));
  }
  static void unpack(const int32_t* packed, int32_t* first, int32_t* second) {
    Row<P>::load(packed).store(first);
    Row<P>().store(second);
    std::memcpy(second + kOwn, packed + P, (kPacked - P) * sizeof(int32_t));
  }

  // Both planes' sums to those over y = -1 and those over y = +1.
  static void unfold(const int32_t* first, const int32_t* second, int32_t* out) {
    unfold(first, second, out, std::make_index_sequence<P>());
  }

 private:
  template <size_t... kLane>
  static void unfold(const int32_t* first, const int32_t* second, int32_t* out,
                     std::index_sequence<kLane...>) {
    using Vector = typename Row<P>::Vector;
    if constexpr (Row<P>::kParts == 1) {
      constexpr Vector kUsed = {(kLane < kOwn ? -1 : 0)...};
      const Vector a = *reinterpret_cast<const Vector*>(first);
      const Vector b = *reinterpret_cast<const Vector*>(second);
      const Vector positive =
          __builtin_shufflevector(a, b, (kLane < kFree ? kOwn + kLane : P + (kOwn + kLane - kFree) % P)...) &
          kUsed;
      *reinterpret_cast<Vector*>(out) = ((a + b) & kUsed) - positive;
      *reinterpret_cast<Vector*>(out + P) = positive;
    } else {
      for (size_t l = 0; l < P; ++l) {
        const int32_t positive = l < kFree ? first[kOwn + l] : l < kOwn ? second[kOwn + l - kFree] : 0;
        out[l] = (l < kOwn ? first[l] + second[l] : 0) - positive;
        out[P + l] = positive;
      }
    }
  }
};

template <size_t P, RowKind kKind, bool kFolded = false>
class KernelsOf final : public Kernels {
  static constexpr size_t kRow = kKind == RowKind::kSplit ? 2 * P : P;
  static constexpr size_t kAdded = kFolded ? P : kRow;  // lanes that a document adds
  static constexpr size_t kFeature = kFolded ? 2 * Fold<P>::kPlane : 256 * kRow + 128;
  static constexpr size_t kPacked = kFolded ? Fold<P>::kPacked : kRow;

 public:
  KernelsOf() : Kernels(kRow, kFeature, kPacked) {}

  void clear(size_t bins, int32_t* hist) const override {
    std::fill_n(hist, bins * kAdded, 0);
    if constexpr (kFolded) std::fill_n(hist + Fold<P>::kPlane, bins * kAdded, 0);
  }

  void subtract(const int32_t* part, size_t bins, int32_t* hist) const override {
    for (size_t k = 0; k < bins * kAdded; ++k) hist[k] -= part[k];
    if constexpr (kFolded)
      for (size_t k = Fold<P>::kPlane; k < Fold<P>::kPlane + bins * kAdded; ++k) hist[k] -= part[k];
  }

  void pack(const int32_t* hist, size_t bins, int32_t* packed) const override {
    if constexpr (kFolded) {
      for (size_t b = 0; b < bins; ++b)
        Fold<P>::pack(hist + b * P, hist + Fold<P>::kPlane + b * P, packed + b * kPacked);
    } else {
      std::copy_n(hist, bins * kRow, packed);
    }
  }

  void unpack(const int32_t* packed, size_t bins, int32_t* hist) const override {
    if constexpr (kFolded) {
      for (size_t b = 0; b < bins; ++b)
        Fold<P>::unpack(packed + b * kPacked, hist + b * P, hist + Fold<P>::kPlane + b * P);
    } else {
      std::copy_n(packed, bins * kRow, hist);
    }
  }

  void rows(const WeightTable& weights, const uint8_t* flip, const Documents& documents, size_t begin,
            size_t count, int32_t* out) const override {
    const RowMaker maker(weights, flip);
    for_documents(weights, documents, begin, count, [=](size_t k, size_t i) {
      maker.row(i).store(out + k * kAdded);
      if constexpr (kFolded) out[count * kAdded + k] = static_cast<int32_t>(maker.plane(i));
    });
  }

  void add_tile(const int32_t* rows, const uint8_t* tile, size_t count, int32_t* hist) const override {
    for (size_t k = 0; k < count; ++k)
      add_document(rows + k * kAdded, tile + k * 8, hist + plane(rows, count, k));
  }

  void add_columns(const int32_t* rows, std::span<const uint8_t* const> columns, const Documents& documents,
                   size_t begin, size_t count, int32_t* hist) const override {
    for_columns(columns, hist, [&]<size_t C>(const uint8_t* const* column, int32_t* to) {
      add_some_columns<C>(rows, column, documents, begin, count, to);
    });
  }

  void add_drawn(const WeightTable& weights, const uint8_t* flip, std::span<const uint8_t* const> columns,
                 const Documents& documents, size_t begin, size_t count, int32_t* hist) const override {
    for_columns(columns, hist, [&]<size_t C>(const uint8_t* const* column, int32_t* to) {
      add_some_drawn<C>(weights, flip, column, documents, begin, count, to);
    });
  }

  BestCut best_cut(const int32_t* hist, size_t bins, const Sums& total,
                   const Criterion& criterion) const override {
    if (criterion.pooled)
      return scan_cuts<1, double>(hist, bins, total,
                                  [&](const int32_t* below, const int32_t* above, double* out) {
                                    *out = pooled(below, criterion) + pooled(above, criterion);
                                  });
    if (criterion.kind == CriterionKind::kStump) return scan_cuts<P, int32_t>(hist, bins, total, stump_terms);
    if (criterion.kind == CriterionKind::kEdge) return scan_cuts<P, int32_t>(hist, bins, total, edge_terms);
    if constexpr (kKind == RowKind::kSplit) return scan_cuts<P, float>(hist, bins, total, minus_energy_terms);
    throw InternalError("the energy needs split rows");
  }

  Sums total(const int32_t* hist, size_t bins) const override {
    Sums sums = {};
    if constexpr (kFolded) {
      int32_t first[P] = {};
      int32_t second[P] = {};
      for (size_t b = 0; b < bins; ++b)
        for (size_t l = 0; l < P; ++l) {
          first[l] += hist[b * P + l];
          second[l] += hist[Fold<P>::kPlane + b * P + l];
        }
      Fold<P>::unfold(first, second, sums.data());
    } else {
      for (size_t b = 0; b < bins; ++b)
        for (size_t l = 0; l < kRow; ++l) sums[l] += hist[b * kRow + l];
    }
    return sums;
  }

  double uncut(const Sums& total, const Criterion& criterion) const override {
    const Sums none = {};
    if (criterion.pooled) return pooled(total.data(), criterion);
    if constexpr (kKind == RowKind::kSplit)
      if (criterion.kind == CriterionKind::kEnergy) {
        float terms[P];
        minus_energy_terms(total.data(), none.data(), terms);
        return reduce<P>(terms);
      }
    int32_t terms[P];
    edge_terms(total.data(), none.data(), terms);
    return reduce<P>(terms);
  }

  int32_t signed_sum(const Sums& sums, size_t label) const override { return signed_at(sums.data(), label); }
  int32_t positive_sum(const Sums& sums, size_t label) const override {
    require(kKind == RowKind::kSplit, "signed rows do not hold the positive sums");
    return sums[(P + label) % kMostLanes];
  }

 private:
  static int32_t signed_at(const int32_t* sums, size_t l) {
    if constexpr (kKind == RowKind::kSplit)
      return sums[P + l] - sums[l];
    else
      return sums[l];
  }

  // Where the plane of the k-th of `count` rows begins.
  static size_t plane(const int32_t* rows, size_t count, size_t k) {
    return kFolded ? static_cast<size_t>(rows[count * kAdded + k]) : 0;
  }

  static void add_document(const int32_t* row, const uint8_t* bins, int32_t* hist) {
    uint64_t word;
    std::memcpy(&word, bins, sizeof word);
    const Row<kAdded> values = Row<kAdded>::load(row);
    // (bin of feature f) * kAdded * 4 in two instructions: a shift that stops short, and a mask.
    constexpr size_t kShift = std::bit_width(kAdded * 4) - 1;
    const auto bin_offset = [&](size_t f) {
      const uint64_t moved = 8 * f < kShift ? word << (kShift - 8 * f) : word >> (8 * f - kShift);
      return (moved & uint64_t{255} << kShift) / 4;
    };
    for (size_t f = 0; f < 8; ++f) values.add_to(hist + f * kFeature + bin_offset(f));
  }

  // Calls body(columns, where they are added to) for all of them, up to four at a time.
  template <typename Body>
  static void for_columns(std::span<const uint8_t* const> columns, int32_t* hist, Body body) {
    size_t c = 0;
    for (; c + 4 <= columns.size(); c += 4)
      body.template operator()<4>(columns.data() + c, hist + c * kFeature);
    for (; c + 2 <= columns.size(); c += 2)
      body.template operator()<2>(columns.data() + c, hist + c * kFeature);
    for (; c < columns.size(); ++c) body.template operator()<1>(columns.data() + c, hist + c * kFeature);
  }

  // Calls body(k, document) for the k-th of `count` documents, with their weights on the way.
  template <typename Body>
  static void for_documents(const WeightTable& weights, const Documents& documents, size_t begin,
                            size_t count, Body body) {
    if (documents.index == nullptr) {
      for (size_t k = 0; k < count; ++k) body(k, begin + k);
      return;
    }
    constexpr size_t kAhead = 24;  // documents to prefetch ahead
    const uint32_t* index = documents.index + begin;
    const size_t prefetched = count - std::min(count, kAhead);
    for (size_t k = 0; k < prefetched; ++k) {
      __builtin_prefetch(weights.row(index[k + kAhead]));
      body(k, index[k]);
    }
    for (size_t k = prefetched; k < count; ++k) body(k, index[k]);
  }

  // The fixed-point rows of documents.
  class RowMaker {
   public:
    RowMaker(const WeightTable& weights, const uint8_t* flip)
        : weights_(weights.row(0)),
          labels_(weights.label()),
          flip_(flip),
          scale_(static_cast<float>(kOne / weights.sum())) {}

    Row<kAdded> row(size_t i) const {
      const Row<P> q = Row<P>::fixed_point(weights_ + i * P, scale_, rounding_offset(i));
      const uint8_t label = labels_[i];
      if constexpr (kFolded) {
        return q.shuffled(kFold[label].data());
      } else if constexpr (kKind == RowKind::kSplit) {
        const Row<P> own = Row<P>::load(kOwn[label].data());
        Row<P> positive = q;
        Row<P> negative = q;
        for (size_t k = 0; k < Row<P>::kParts; ++k) {
          positive.part[k] &= own.part[k];
          negative.part[k] &= ~own.part[k];
        }
        return joined(negative, positive);
      } else {
        // Negates those with y = -1: all but the label's, or just that.
        const int32_t flipped = flip_ != nullptr && flip_[i] != 0 ? 0 : -1;
        Row<P> sign = Row<P>::load(kOwn[label].data());
        Row<P> result = q;
        for (size_t k = 0; k < Row<P>::kParts; ++k) {
          sign.part[k] ^= flipped;
          result.part[k] = (result.part[k] ^ sign.part[k]) - sign.part[k];
        }
        return result;
      }
    }
    // Where the plane of the document begins.
    size_t plane(size_t i) const { return kFolded ? kPlaneOf[labels_[i]] : 0; }

   private:
    using Lanes = std::array<int32_t, P>;
    static constexpr std::array<uint32_t, P> kPlaneOf = [] {
      std::array<uint32_t, P> planes = {};
      for (size_t label = Fold<P>::kFree; label < P; ++label) planes[label] = Fold<P>::kPlane;
      return planes;
    }();
    // By label: all bits in its own lane.
    static constexpr std::array<Lanes, P> kOwn = [] {
      std::array<Lanes, P> lanes = {};
      for (size_t label = 0; label < P; ++label) lanes[label][label] = -1;
      return lanes;
    }();
    // By label: where the lanes of a folded row come from. Weights beyond the labels are 0.
    static constexpr std::array<Lanes, P> kFold = [] {
      std::array<Lanes, P> lanes = {};
      for (size_t label = 0; label < P; ++label) {
        for (size_t l = 0; l < P; ++l) lanes[label][l] = static_cast<int32_t>(l);
        if (label < Fold<P>::kOwn)
          lanes[label][Fold<P>::kOwn + label % Fold<P>::kFree] = static_cast<int32_t>(label);
      }
      return lanes;
    }();

    const float* weights_;
    const uint8_t* labels_;
    const uint8_t* flip_;
    float scale_;
  };

  template <size_t C>
  static void add_some_columns(const int32_t* rows, const uint8_t* const* columns, const Documents& documents,
                               size_t begin, size_t count, int32_t* hist) {
    const uint8_t* column[C];
    std::copy_n(columns, C, column);
    for (size_t k = 0; k < count; ++k) {
      const size_t i = documents.index == nullptr ? begin + k : documents.index[begin + k];
      const Row<kAdded> values = Row<kAdded>::load(rows + k * kAdded);
      int32_t* first = hist + plane(rows, count, k);
      for (size_t c = 0; c < C; ++c) values.add_to(first + c * kFeature + column[c][i] * kAdded);
    }
  }

  template <size_t C>
  static void add_some_drawn(const WeightTable& weights, const uint8_t* flip, const uint8_t* const* columns,
                             const Documents& documents, size_t begin, size_t count, int32_t* hist) {
    std::array<const uint8_t*, C> column;
    std::copy_n(columns, C, column.begin());
    const RowMaker maker(weights, flip);
    for_documents(weights, documents, begin, count, [=](size_t, size_t i) {
      const Row<kAdded> values = maker.row(i);
      int32_t* first = hist + maker.plane(i);
      for (size_t c = 0; c < C; ++c) values.add_to(first + c * kFeature + column[c][i] * kAdded);
    });
  }

  // Whether bins begin..end have no weight.
  static bool are_empty(const int32_t* hist, size_t begin, size_t end) {
    Row<kAdded> any;
    for (size_t b = begin; b < end; ++b) {
      any.merge(Row<kAdded>::load(hist + b * kAdded));
      if constexpr (kFolded) any.merge(Row<kAdded>::load(hist + Fold<P>::kPlane + b * kAdded));
    }
    return any.is_zero();
  }

  // The best of the cuts after each bin but the last; a bin without weight brings no cut of its own. The
  // value of a cut is the sum of N terms; those of N cuts are summed at a time.
  template <size_t N, typename Value, typename TermsOf>
  static BestCut scan_cuts(const int32_t* hist, size_t bins, const Sums& total, TermsOf terms_of) {
    int32_t below[kRow] = {};
    int32_t above[kRow];
    for (size_t l = 0; l < kRow; ++l) above[l] = total[l];
    Value best = std::numeric_limits<Value>::lowest();
    size_t best_bin = bins;
    size_t first = 0;
    while (first + 1 < bins && are_empty(hist, first, first + 1)) ++first;
    for (; first + 1 < bins; first += N) {
      const size_t count = std::min(N, bins - 1 - first);
      // An empty bin's cut equals the one before it, and the first of equal cuts is taken.
      if (are_empty(hist, first, first + count)) continue;
      Value terms[N][N];
      Value values[N];
      for (size_t k = 0; k < count; ++k) {
        const int32_t* h = hist + (first + k) * kAdded;
        int32_t unfolded[kRow];
        if constexpr (kFolded) {
          Fold<P>::unfold(h, h + Fold<P>::kPlane, unfolded);
          h = unfolded;
        }
        for (size_t l = 0; l < kRow; ++l) below[l] += h[l];
        for (size_t l = 0; l < kRow; ++l) above[l] -= h[l];
        terms_of(below, above, terms[k]);
      }
      if constexpr (N > 1 && N * sizeof(Value) <= kVectorBytes) {
        for (size_t k = count; k < N; ++k) std::copy_n(terms[count - 1], N, terms[k]);
        RowSums<N, Value>::reduce_all(terms, values);
        int any = 0;
        for (size_t k = 0; k < N; ++k) any |= values[k] > best ? 1 : 0;
        if (any == 0) continue;
      } else {
        for (size_t k = 0; k < count; ++k) values[k] = reduce<N>(terms[k]);
      }
      for (size_t k = 0; k < count; ++k)
        if (values[k] > best) {
          best = values[k];
          best_bin = first + k;
        }
    }
    if (best_bin == bins) return {};
    return {true, static_cast<double>(best), static_cast<uint8_t>(best_bin)};
  }

  static void stump_terms(const int32_t* below, const int32_t* above, int32_t* out) {
    for (size_t l = 0; l < P; ++l) out[l] = std::abs(signed_at(above, l) - signed_at(below, l));
  }

  static void edge_terms(const int32_t* below, const int32_t* above, int32_t* out) {
    for (size_t l = 0; l < P; ++l) out[l] = std::abs(signed_at(above, l)) + std::abs(signed_at(below, l));
  }

  static void minus_energy_terms(const int32_t* below, const int32_t* above, float* out) {
    for (size_t l = 0; l < P; ++l)
      out[l] = -std::sqrt(static_cast<float>(below[l]) * static_cast<float>(below[P + l])) -
               std::sqrt(static_cast<float>(above[l]) * static_cast<float>(above[P + l]));
  }

  // One side's edge, or minus its energy, with the labels pooled by their votes.
  static double pooled(const int32_t* sums, const Criterion& criterion) {
    double edge = 0;
    double right = 0;
    double wrong = 0;
    for (size_t l = 0; l < P; ++l) {
      const bool up = (criterion.votes >> l & 1) != 0;
      const double s = signed_at(sums, l);
      edge += up ? s : -s;
      if constexpr (kKind == RowKind::kSplit) {
        right += sums[up ? P + l : l];
        wrong += sums[up ? l : P + l];
      }
    }
    return criterion.kind == CriterionKind::kEnergy ? -std::sqrt(right * wrong) : std::abs(edge);
  }
};

template <size_t P>
std::unique_ptr<Kernels> make_kernels_of(size_t labels, RowKind kind) {
  if (kind == RowKind::kSigned) return std::make_unique<KernelsOf<P, RowKind::kSigned>>();
  if (P > 4 && labels <= Fold<P>::kOwn) return std::make_unique<KernelsOf<P, RowKind::kSplit, true>>();
  return std::make_unique<KernelsOf<P, RowKind::kSplit>>();
}

}  // namespace

std::unique_ptr<Kernels> make_kernels(size_t labels, RowKind kind) {
  switch (padded_labels(labels)) {
    case 4:
      return make_kernels_of<4>(labels, kind);
    case 8:
      return make_kernels_of<8>(labels, kind);
    case 16:
      return make_kernels_of<16>(labels, kind);
    default:
      return make_kernels_of<32>(labels, kind);
  }
}

}  // namespace tunemix::boost
