#include "trees/histogram.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "core/vector_width.h"

namespace tunemix::trees {
namespace {

// Keeps the compiler from working out what follows from how a value came about: two instructions then use it
// as it is, where they would share a sum of it and something else that needs an instruction of its own.
template <typename T>
inline T opaque(T value) {
  asm("" : "+r"(value));
  return value;
}

template <size_t kBytes>
bool has_bits(const void* vector) {
  uint64_t words[kBytes / 8];
  std::memcpy(words, vector, sizeof words);
  uint64_t bits = 0;
  for (const uint64_t word : words) bits |= word;
  return bits != 0;
}

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
    for (size_t l = 0; l < R; ++l) q[l] = trees::fixed_point(weights[l], scale, offset);
    return load(q);
  }
  static Row below(size_t lane) {  // all bits of the lanes before this one
    int32_t mask[R];
    for (size_t l = 0; l < R; ++l) mask[l] = l < lane ? -1 : 0;
    return load(mask);
  }
  void keep(const Row& mask) {
    for (size_t k = 0; k < kParts; ++k) part[k] &= mask.part[k];
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
    return !has_bits<kBytes>(&any);
  }
  // To what is `offset` bytes from `base`.
  void add_to(int32_t* base, size_t offset) const {
    Vector sum[kParts];
    for (size_t k = 0; k < kParts; ++k) sum[k] = part[k] + *at(base, offset, k);
    const size_t same_offset = opaque(offset);
    for (size_t k = 0; k < kParts; ++k) *at(base, same_offset, k) = sum[k];
  }

 private:
  static Vector* at(int32_t* base, size_t offset, size_t k) {
    return reinterpret_cast<Vector*>(reinterpret_cast<char*>(base) + k * kBytes + offset);
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

// Vectors of a width that depends on a template's argument do not work as parameters of functions.
template <size_t N>
struct LaneTypes;
template <>
struct LaneTypes<4> {
  typedef int32_t Ints __attribute__((vector_size(16)));
  typedef float Floats __attribute__((vector_size(16)));
};
template <>
struct LaneTypes<8> {
  typedef int32_t Ints __attribute__((vector_size(32)));
  typedef float Floats __attribute__((vector_size(32)));
};
template <>
struct LaneTypes<16> {
  typedef int32_t Ints __attribute__((vector_size(64)));
  typedef float Floats __attribute__((vector_size(64)));
};

// N values of 32 bits in a register: one for each of N cuts.
template <size_t N>
struct Lanes {
  using Ints = typename LaneTypes<N>::Ints;
  using Floats = typename LaneTypes<N>::Floats;

  static Ints absolute(Ints x) { return x < 0 ? -x : x; }
  static Floats floats(Ints x) { return __builtin_convertvector(x, Floats); }
  static Floats square_root(Floats x) {
#if defined(__AVX512F__)
    if constexpr (N == 16) return Floats(_mm512_maskz_sqrt_ps(0xFFFF, __m512(x)));
#endif
#if defined(__AVX2__)
    if constexpr (N == 8) return Floats(_mm256_sqrt_ps(__m256(x)));
#endif
#if defined(__SSE2__)
    if constexpr (N == 4) return Floats(_mm_sqrt_ps(__m128(x)));
#endif
    for (size_t k = 0; k < N; ++k) x[k] = std::sqrt(x[k]);
    return x;
  }

  // Lane i of vector k becomes lane k of vector i.
  template <size_t kStep = N / 2>
  [[gnu::always_inline]] static void transpose(Ints* vectors) {
    for (size_t k = 0; k < N; ++k)
      if ((k & kStep) == 0) swap_blocks<kStep>(vectors[k], vectors[k + kStep], std::make_index_sequence<N>());
    if constexpr (kStep > 1) transpose<kStep / 2>(vectors);
  }

 private:
  // The upper kStep lanes of each 2 kStep in `a` against the lower ones in `b`.
  template <size_t kStep, size_t... kLane>
  static void swap_blocks(Ints& a, Ints& b, std::index_sequence<kLane...>) {
    const Ints lower = __builtin_shufflevector(a, b, ((kLane & kStep) == 0 ? kLane : N + kLane - kStep)...);
    b = __builtin_shufflevector(a, b, ((kLane & kStep) == 0 ? kLane + kStep : N + kLane)...);
    a = lower;
  }
};

// Split sums of up to kOwn labels fold into rows of P lanes: lane l holds the weight on label l whatever the
// sign of y, and one of the kFree last lanes that where y = +1. The first kFree labels and the others have a
// plane of bins each, so a document adds to one row of P lanes instead of 2P.
template <size_t P>
struct Fold {
  static constexpr size_t kFree = (P + 2) / 3;
  static constexpr size_t kOwn = P - kFree;
  // int32 from the first plane to the second; planes and features a multiple of 4096 bytes apart would
  // compete for the same cache sets.
  static constexpr size_t kPlane = 256 * P + 64;

  // Both planes of a bin to the kOwn sums of w, then those where y = +1.
  static void pack(const int32_t* first, const int32_t* second, int32_t* packed) {
    Row<P> row = Row<P>::load(second);
    row.keep(Row<P>::below(kOwn));
    row.add(Row<P>::load(first));
    row.store(packed);
    std::memcpy(packed + P, second + kOwn, (kOwn - kFree) * sizeof(int32_t));
  }
};

template <size_t P, RowKind kKind, bool kFolded = false>
class KernelsOf final : public Kernels {
  static constexpr bool kSplit = kKind == RowKind::kSplit;
  static constexpr size_t kOwn = kFolded ? Fold<P>::kOwn : P;  // sums of one kind in a packed row
  static constexpr size_t kPacked = kSplit ? 2 * kOwn : kOwn;
  static constexpr size_t kAdded = kSplit && !kFolded ? 2 * P : P;  // lanes that a document adds
  static constexpr size_t kBinBytes = kAdded * sizeof(int32_t);
  static constexpr size_t kFeature = kFolded ? 2 * Fold<P>::kPlane : 256 * kAdded + 128;

 public:
  KernelsOf() : Kernels(kFolded ? P + 1 : kAdded, kFeature, kPacked) {}

  void rows(const WeightTable& weights, const uint8_t* flip, const Documents& documents, size_t begin,
            size_t count, int32_t* out) const override {
    const RowMaker maker(weights, flip);
    const auto prefetch = [=](size_t i) { maker.prefetch(i); };
    for_documents(documents, begin, count, prefetch, [=](size_t k, size_t i) {
      maker.row(i).store(out + k * kAdded);
      if constexpr (kFolded) out[count * kAdded + k] = static_cast<int32_t>(maker.plane(i));
    });
  }

  void add_tile(const int32_t* rows, const uint8_t* tile, size_t count, int32_t* open) const override {
    for (size_t k = 0; k < count; ++k)
      add_document(rows + k * kAdded, tile + k * 8, opaque(open + plane(rows, count, k)));
  }

  void add_columns(const int32_t* rows, std::span<const uint8_t* const> columns, const Documents& documents,
                   size_t begin, size_t count, int32_t* open) const override {
    for_columns(columns, open, [&]<size_t C>(const uint8_t* const* column, int32_t* to) {
      add_some_columns<C>(rows, column, documents, begin, count, to);
    });
  }

  void add_drawn(const WeightTable& weights, const uint8_t* flip, std::span<const uint8_t* const> columns,
                 const Documents& documents, size_t begin, size_t count, int32_t* open) const override {
    for_columns(columns, open, [&]<size_t C>(const uint8_t* const* column, int32_t* to) {
      add_some_drawn<C>(weights, flip, column, documents, begin, count, to);
    });
  }

  void prefetch(const int32_t* open, size_t bins) const override {
    constexpr size_t kLine = 64 / sizeof(int32_t);
    for (size_t k = 0; k < bins * kAdded; k += kLine) {
      __builtin_prefetch(open + k, 1, 2);
      if constexpr (kFolded) __builtin_prefetch(open + Fold<P>::kPlane + k, 1, 2);
    }
  }

  void take(int32_t* open, size_t bins, int32_t* packed) const override {
    if constexpr (kFolded) {
      for (size_t b = 0; b < bins; ++b) {
        int32_t* first = open + b * P;
        int32_t* second = first + Fold<P>::kPlane;
        Fold<P>::pack(first, second, packed + b * kPacked);
        Row<P>().store(first);
        Row<P>().store(second);
      }
    } else {
      for (size_t k = 0; k < bins * kPacked; k += kPacked) {
        Row<kPacked>::load(open + k).store(packed + k);
        Row<kPacked>().store(open + k);
      }
    }
  }

  BestCut best_cut(const int32_t* packed, size_t bins, const Sums& total,
                   const Criterion& criterion) const override {
    if (criterion.pooled) return scan_pooled(packed, bins, total, criterion);
    if (criterion.kind == CriterionKind::kStump) return scan_cuts<StumpTerm>(packed, bins, total);
    if (criterion.kind == CriterionKind::kEdge) return scan_cuts<EdgeTerm>(packed, bins, total);
    if constexpr (kSplit) return scan_cuts<MinusEnergyTerm>(packed, bins, total);
    throw InternalError("the energy needs split rows");
  }

  Sums total(const int32_t* packed, size_t bins) const override {
    Sums sums = {};
    for (size_t b = 0; b < bins; ++b)
      for (size_t l = 0; l < kPacked; ++l) sums[l] += packed[b * kPacked + l];
    return sums;
  }

  double uncut(const Sums& total, const Criterion& criterion) const override {
    if (criterion.pooled) return pooled(total, criterion);
    if (criterion.kind == CriterionKind::kEdge) return uncut_as<EdgeTerm>(total);
    if constexpr (kSplit) return uncut_as<MinusEnergyTerm>(total);
    throw InternalError("the energy needs split rows");
  }

  int32_t signed_sum(const Sums& sums, size_t label) const override {
    if constexpr (kSplit) return positive_at(sums, label) - negative_at(sums, label);
    return sums[label];
  }
  int32_t positive_sum(const Sums& sums, size_t label) const override {
    require(kSplit, "signed rows do not hold the positive sums");
    return positive_at(sums, label);
  }

 private:
  static int32_t positive_at(const Sums& sums, size_t label) { return sums[(kOwn + label) % kMostLanes]; }
  static int32_t negative_at(const Sums& sums, size_t label) {
    return sums[label] - positive_at(sums, label);
  }

  // Whether a register holds both kinds of sums of a bin.
  static constexpr bool kJoint = kSplit && !kFolded && kPacked * sizeof(int32_t) <= kVectorBytes;
  using ScanRow = Row<kJoint ? kPacked : P>;
  static constexpr size_t kCuts = ScanRow::kBytes / sizeof(int32_t);  // that are valued at a time
  using L = Lanes<kCuts>;
  using Ints = typename L::Ints;
  using Floats = typename L::Floats;

  // The sums of one label over documents on one side of each cut.
  struct Side {
    Ints sum;       // of w, or of w y where that is all there is
    Ints positive;  // of w where y = +1

    Ints negative() const { return sum - positive; }
    Ints signed_sum() const { return kSplit ? positive - negative() : sum; }
  };

  // What a label adds to the value of a cut.
  struct StumpTerm {
    using Value = int32_t;
    using Values = Ints;
    static Values of(const Side& below, const Side& above) {
      return L::absolute(above.signed_sum() - below.signed_sum());
    }
  };
  struct EdgeTerm {
    using Value = int32_t;
    using Values = Ints;
    static Values of(const Side& below, const Side& above) {
      return L::absolute(above.signed_sum()) + L::absolute(below.signed_sum());
    }
  };
  struct MinusEnergyTerm {
    using Value = float;
    using Values = Floats;
    static Values of(const Side& below, const Side& above) { return -energy(below) - energy(above); }
    static Floats energy(const Side& side) {
      return L::square_root(L::floats(side.negative()) * L::floats(side.positive));
    }
  };

  // Where the plane of the k-th of `count` rows begins.
  static size_t plane(const int32_t* rows, size_t count, size_t k) {
    return kFolded ? static_cast<size_t>(rows[count * kAdded + k]) : 0;
  }

  static void add_document(const int32_t* row, const uint8_t* bins, int32_t* open) {
    uint64_t word;
    std::memcpy(&word, bins, sizeof word);
    const Row<kAdded> values = Row<kAdded>::load(row);
    for (size_t f = 0; f < 8; ++f) {
      // (bin of feature f) * kBinBytes in two instructions: a rotation that stops short, and a mask.
      constexpr int kShift = std::bit_width(kBinBytes) - 1;
      values.add_to(open + f * kFeature, std::rotr(word, static_cast<int>(8 * f) - kShift) & 255 * kBinBytes);
    }
  }

  // Calls body(columns, where they are added to) for all of them, up to four at a time.
  template <typename Body>
  static void for_columns(std::span<const uint8_t* const> columns, int32_t* open, Body body) {
    size_t c = 0;
    for (; c + 4 <= columns.size(); c += 4)
      body.template operator()<4>(columns.data() + c, open + c * kFeature);
    for (; c + 2 <= columns.size(); c += 2)
      body.template operator()<2>(columns.data() + c, open + c * kFeature);
    for (; c < columns.size(); ++c) body.template operator()<1>(columns.data() + c, open + c * kFeature);
  }

  // Calls body(k, document) for the k-th of `count` documents, and before it prefetch(document) for one that
  // comes later, where they are not in a row.
  template <typename Prefetch, typename Body>
  static void for_documents(const Documents& documents, size_t begin, size_t count, Prefetch prefetch,
                            Body body) {
    if (documents.index == nullptr) {
      for (size_t k = 0; k < count; ++k) body(k, begin + k);
      return;
    }
    constexpr size_t kAhead = 24;  // documents to prefetch ahead
    const uint32_t* index = documents.index + begin;
    const size_t prefetched = count - std::min(count, kAhead);
    for (size_t k = 0; k < prefetched; ++k) {
      prefetch(index[k + kAhead]);
      body(k, index[k]);
    }
    for (size_t k = prefetched; k < count; ++k) body(k, index[k]);
  }

  // The fixed-point rows of documents.
  class RowMaker {
   public:
    RowMaker(const WeightTable& weights, const uint8_t* flip)
        : weights_(weights.row(0)),
          stride_(weights.labels()),
          used_(Row<P>::below(stride_)),
          labels_(weights.label()),
          flip_(flip),
          scale_(static_cast<float>(kOne / weights.sum())) {}

    Row<kAdded> row(size_t i) const {
      Row<P> q = Row<P>::fixed_point(weights_ + i * stride_, scale_, rounding_offset(i));
      q.keep(used_);  // beyond the labels are weights of the next document
      const uint8_t label = labels_[i];
      if constexpr (kFolded) {
        return q.shuffled(kFold[label].data());
      } else if constexpr (kSplit) {
        const Row<P> own = Row<P>::load(kOwnLane[label].data());
        Row<P> positive = q;
        positive.keep(own);
        return joined(q, positive);
      } else {
        // Negates those with y = -1: all but the label's, or just that.
        const int32_t flipped = flip_ != nullptr && flip_[i] != 0 ? 0 : -1;
        Row<P> sign = Row<P>::load(kOwnLane[label].data());
        Row<P> result = q;
        for (size_t k = 0; k < Row<P>::kParts; ++k) {
          sign.part[k] ^= flipped;
          result.part[k] = (result.part[k] ^ sign.part[k]) - sign.part[k];
        }
        return result;
      }
    }
    void prefetch(size_t i) const { __builtin_prefetch(weights_ + i * stride_); }
    // Where the plane of the document begins.
    size_t plane(size_t i) const { return kFolded ? kPlaneOf[labels_[i]] : 0; }

   private:
    using LaneNumbers = std::array<int32_t, P>;
    static constexpr std::array<uint32_t, P> kPlaneOf = [] {
      std::array<uint32_t, P> planes = {};
      for (size_t label = Fold<P>::kFree; label < P; ++label) planes[label] = Fold<P>::kPlane;
      return planes;
    }();
    // By label: all bits in its own lane.
    static constexpr std::array<LaneNumbers, P> kOwnLane = [] {
      std::array<LaneNumbers, P> lanes = {};
      for (size_t label = 0; label < P; ++label) lanes[label][label] = -1;
      return lanes;
    }();
    // By label: where the lanes of a folded row come from. Those beyond the labels are 0.
    static constexpr std::array<LaneNumbers, P> kFold = [] {
      std::array<LaneNumbers, P> lanes = {};
      for (size_t label = 0; label < P; ++label) {
        for (size_t l = 0; l < P; ++l) lanes[label][l] = static_cast<int32_t>(l);
        if (label < Fold<P>::kOwn)
          lanes[label][Fold<P>::kOwn + label % Fold<P>::kFree] = static_cast<int32_t>(label);
      }
      return lanes;
    }();

    const float* weights_;
    size_t stride_;
    Row<P> used_;
    const uint8_t* labels_;
    const uint8_t* flip_;
    float scale_;
  };

  template <size_t C>
  static void add_some_columns(const int32_t* rows, const uint8_t* const* columns, const Documents& documents,
                               size_t begin, size_t count, int32_t* open) {
    const uint8_t* column[C];
    std::copy_n(columns, C, column);
    for (size_t k = 0; k < count; ++k) {
      const size_t i = documents.index == nullptr ? begin + k : documents.index[begin + k];
      const Row<kAdded> values = Row<kAdded>::load(rows + k * kAdded);
      int32_t* first = opaque(open + plane(rows, count, k));
      for (size_t c = 0; c < C; ++c) values.add_to(first + c * kFeature, column[c][i] * kBinBytes);
    }
  }

  template <size_t C>
  static void add_some_drawn(const WeightTable& weights, const uint8_t* flip, const uint8_t* const* columns,
                             const Documents& documents, size_t begin, size_t count, int32_t* open) {
    std::array<const uint8_t*, C> column;
    std::copy_n(columns, C, column.begin());
    const RowMaker maker(weights, flip);
    const auto prefetch = [=](size_t i) {
      maker.prefetch(i);
      for (size_t c = 0; c < C; ++c) __builtin_prefetch(column[c] + i);
    };
    for_documents(documents, begin, count, prefetch, [=](size_t, size_t i) {
      const Row<kAdded> values = maker.row(i);
      int32_t* first = opaque(open + maker.plane(i));
      for (size_t c = 0; c < C; ++c) values.add_to(first + c * kFeature, column[c][i] * kBinBytes);
    });
  }

  // A bin whose sums of w, or of w y, are 0 changes no side's sums.
  static bool is_empty(const int32_t* packed, size_t bin) {
    return Row<P>::load(packed + bin * kPacked).is_zero();
  }

  // The best of the cuts after each bin but the last; a bin without weight brings no cut of its own.
  template <typename Term>
  static BestCut scan_cuts(const int32_t* packed, size_t bins, const Sums& total) {
    Scan<Term> scan(total);
    size_t first = 0;
    while (first + 1 < bins && is_empty(packed, first)) ++first;
    for (; first + kCuts < bins; first += kCuts)
      scan.next(packed, first, std::integral_constant<size_t, kCuts>());
    if (first + 1 < bins) scan.next(packed, first, bins - 1 - first);
    if (scan.bin == kNone) return {};
    return {true, static_cast<double>(scan.highest), static_cast<uint8_t>(scan.bin)};
  }

  static constexpr size_t kNone = 256;
  template <typename Term>
  struct Scan {
    explicit Scan(const Sums& of_all) : total(of_all) {}

    // Cuts first..first+count, at most kCuts.
    template <typename Count>
    void next(const int32_t* packed, size_t first, Count count) {
      ScanRow any;
      ScanRow sums[kCuts];
      ScanRow positives[kCuts];
      for (size_t k = 0; k < kCuts; ++k) {
        if (k < count) {
          const int32_t* row = packed + (first + k) * kPacked;
          any.merge(ScanRow::load(row));
          sum.add(ScanRow::load(row));
          if constexpr (kSplit && !kJoint) positive.add(ScanRow::load(row + kOwn));
        }
        sums[k] = sum;
        positives[k] = positive;
      }
      // An empty bin's cut equals the one before it, and the first of equal cuts is taken.
      if (any.is_zero()) return;
      const typename Term::Values values = value_cuts<Term>(sums, positives, total);
      const Ints higher = values > highest;
      if (!has_bits<sizeof higher>(&higher)) return;
      for (size_t k = 0; k < count; ++k)
        if (values[k] > highest) {
          highest = values[k];
          bin = first + k;
        }
    }

    const Sums& total;
    ScanRow sum;       // below the last cut, for each label
    ScanRow positive;  // the same where y = +1; if kJoint these follow in `sum`
    typename Term::Value highest = std::numeric_limits<typename Term::Value>::lowest();
    size_t bin = kNone;  // of the highest
  };

  // From the sums below each cut. Terms are added in an order that does not depend on the vectors' width.
  template <typename Term>
  static typename Term::Values value_cuts(const ScanRow* sums, const ScanRow* positives, const Sums& total) {
    typename Term::Values terms[P] = {};
    for (size_t part = 0; part < ScanRow::kParts; ++part) {
      Ints sum[kCuts];  // of one label below each cut
      Ints positive[kCuts] = {};
      for (size_t k = 0; k < kCuts; ++k) sum[k] = sums[k].part[part];
      L::transpose(sum);
      if constexpr (kJoint) {
        std::copy_n(sum + kOwn, kOwn, positive);
      } else if constexpr (kSplit) {
        for (size_t k = 0; k < kCuts; ++k) positive[k] = positives[k].part[part];
        L::transpose(positive);
      }
      const size_t first = part * kCuts;
      for (size_t l = first; l < std::min(kOwn, first + kCuts); ++l) {
        const Side below = {sum[l - first], positive[l - first]};
        const Side above = {total[l] - below.sum, kSplit ? positive_at(total, l) - below.positive : Ints{}};
        terms[l] = Term::of(below, above);
      }
    }
    for (size_t step = P / 2; step > 0; step /= 2)
      for (size_t l = 0; l < step; ++l) terms[l] += terms[l + step];
    return terms[0];
  }

  // As of a cut with all documents below it.
  template <typename Term>
  static double uncut_as(const Sums& total) {
    ScanRow sums[kCuts];
    ScanRow positives[kCuts];
    sums[0] = ScanRow::load(total.data());
    if constexpr (kSplit && !kJoint) positives[0] = ScanRow::load(total.data() + kOwn);
    return value_cuts<Term>(sums, positives, total)[0];
  }

  BestCut scan_pooled(const int32_t* packed, size_t bins, const Sums& total,
                      const Criterion& criterion) const {
    Sums below = {};
    Sums above = total;
    BestCut best;
    for (size_t b = 0; b + 1 < bins; ++b) {
      const int32_t* row = packed + b * kPacked;
      if (is_empty(packed, b)) continue;
      for (size_t l = 0; l < kPacked; ++l) below[l] += row[l];
      for (size_t l = 0; l < kPacked; ++l) above[l] -= row[l];
      const double value = pooled(below, criterion) + pooled(above, criterion);
      if (!best.found || value > best.value) best = {true, value, static_cast<uint8_t>(b)};
    }
    return best;
  }

  // One side's edge, or minus its energy, with the labels pooled by their votes.
  double pooled(const Sums& sums, const Criterion& criterion) const {
    double edge = 0;
    double right = 0;
    double wrong = 0;
    for (size_t l = 0; l < kOwn; ++l) {
      const bool up = (criterion.votes >> l & 1) != 0;
      const int32_t signed_weight = signed_sum(sums, l);
      edge += up ? signed_weight : -signed_weight;
      right += up ? positive_at(sums, l) : negative_at(sums, l);
      wrong += up ? negative_at(sums, l) : positive_at(sums, l);
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

}  // namespace tunemix::trees
