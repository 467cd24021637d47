// Finds the best cut in a packed histogram, several cuts at a time.
//
// The sums below a cut are the running sum of rows. N of them, one row for each of N neighbouring cuts, are
// transposed, so that a register holds one label's sums below all N cuts and nothing is summed across a
// register:
//
//   cut 0   a0 b0 c0 d0            label a   a0 a1 a2 a3
//   cut 1   a1 b1 c1 d1            label b   b0 b1 b2 b3
//   cut 2   a2 b2 c2 d2     ->     label c   c0 c1 c2 c3        N = 4
//   cut 3   a3 b3 c3 d3            label d   d0 d1 d2 d3
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <cmath>
#include <limits>

#include "learners/adaboost_mh/kernels/layout.h"

namespace tunemix::trees::TUNEMIX_SET {

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

  // Lane i of vector k becomes lane k of vector i: blocks of N/2 x N/2 lanes change places, then those of
  // half the size within them, and so on.
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

template <typename Layout>
class CutSearch {
  static constexpr size_t P = Layout::kLabels;
  static constexpr bool kSplit = Layout::kSplit;
  static constexpr size_t kOwn = Layout::kOwn;
  static constexpr size_t kPacked = Layout::kPacked;
  // Whether a register holds both kinds of sums of a bin.
  static constexpr bool kJoint =
      kSplit && !Layout::kHasTwoPlanes && kPacked * sizeof(int32_t) <= kVectorBytes;
  using ScanRow = Row<kJoint ? kPacked : P>;
  static constexpr size_t kCuts = ScanRow::kBytes / sizeof(int32_t);  // that are valued at a time
  using L = Lanes<kCuts>;
  using Ints = typename L::Ints;
  using Floats = typename L::Floats;

 public:
  static BestCut best(const int32_t* packed, size_t bins, const Sums& total, const Criterion& criterion) {
    if (criterion.pooled) return scan_pooled(packed, bins, total, criterion);
    if (criterion.kind == CriterionKind::kStump) return scan_cuts<StumpTerm>(packed, bins, total);
    if constexpr (kSplit)
      if (criterion.kind == CriterionKind::kEnergy) return scan_cuts<MinusEnergyTerm>(packed, bins, total);
    return scan_cuts<EdgeTerm>(packed, bins, total);
  }

  static double uncut(const Sums& total, const Criterion& criterion) {
    if (criterion.pooled) return pooled(total, criterion);
    if constexpr (kSplit)
      if (criterion.kind == CriterionKind::kEnergy) return uncut_as<MinusEnergyTerm>(total);
    return uncut_as<EdgeTerm>(total);
  }

 private:
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
        const Side above = {total[l] - below.sum,
                            kSplit ? Layout::positive_at(total, l) - below.positive : Ints{}};
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

  static BestCut scan_pooled(const int32_t* packed, size_t bins, const Sums& total,
                             const Criterion& criterion) {
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
  static double pooled(const Sums& sums, const Criterion& criterion) {
    double edge = 0;
    double right = 0;
    double wrong = 0;
    for (size_t l = 0; l < kOwn; ++l) {
      const bool up = (criterion.votes >> l & 1) != 0;
      const int32_t positive = Layout::positive_at(sums, l);
      const int32_t negative = Layout::negative_at(sums, l);
      const int32_t signed_weight = kSplit ? positive - negative : sums[l];
      edge += up ? signed_weight : -signed_weight;
      right += up ? positive : negative;
      wrong += up ? negative : positive;
    }
    return criterion.kind == CriterionKind::kEnergy ? -std::sqrt(right * wrong) : std::abs(edge);
  }
};

}  // namespace tunemix::trees::TUNEMIX_SET
