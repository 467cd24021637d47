// Histograms of fixed-point weights over bins, and the search for the best cut in them. All sums are of
// integers, so they are exact in any order, on any number of threads and any instruction set.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/simd.h"
#include "learners/adaboost_mh/weights.h"
#include "trees/statistics.h"
#include "tunemix/data/binning.h"

namespace tunemix::trees {

// Weights that sum to 1 are integers that sum to about kOne: with room for two of them in 31 bits.
constexpr double kOne = 1 << 30;

// A weight in fixed point: rounded down after adding an offset from [0, 1) that is spread evenly over the
// documents, so that sums over many documents are right even where a single weight is a few units or less.
inline float rounding_offset(size_t document) {
  return static_cast<float>(static_cast<uint32_t>(document) * 0x9e3779b9U >> 8) * 0x1.0p-24F;
}
inline int32_t fixed_point(float weight, float scale, float offset) {
  return static_cast<int32_t>(weight * scale + offset);
}

// What is summed for each label: `signed` sums of w y, or the sums of w and of w where y = +1.
enum class RowKind { kSigned, kSplit };

constexpr size_t kMostLanes = 64;
using Sums = std::array<int32_t, kMostLanes>;

enum class CriterionKind {
  kStump,   // sum_l |S_l(above) - S_l(below)|: both sides share one vote vector, with opposite signs
  kEdge,    // sum_l |S_l| of both sides
  kEnergy,  // minus sum_l sqrt(W+ W-) of both sides
};

struct Criterion {
  CriterionKind kind = CriterionKind::kStump;
  // With shared votes v the labels are pooled: S = sum_l v_l S_l, and W+ is the weight where v_l y = +1.
  bool pooled = false;
  uint32_t votes = 0;
};

// Rows and histograms of one width. Documents are added to open histograms; what was added is then taken out
// into packed ones, plain arrays [bins][packed_lanes()] that can be added, subtracted, kept and searched; a
// search may read up to lanes() values beyond the end. Safe to share between threads. How the fast ones are
// laid out is drawn in kernels/layout.h.
class Kernels {
 public:
  bool split() const { return kind_ == RowKind::kSplit; }
  size_t lanes() const { return lanes_; }                // int32 a document in rows
  size_t open_size() const { return open_size_; }        // int32 of the open histogram of one feature
  size_t packed_lanes() const { return packed_lanes_; }  // int32 a bin of a packed histogram

  // The fixed-point rows of documents begin..begin+count of `documents`; those with flip != 0 have their y
  // negated (kSigned only). `out` has room for lanes() values a document; the two below take it as it is.
  virtual void rows(const WeightTable& weights, const uint8_t* flip, const Documents& documents, size_t begin,
                    size_t count, int32_t* out) const = 0;
  // open[8 features] += rows, from a tile of bins: 8 bytes a row.
  virtual void add_tile(const int32_t* rows, const uint8_t* tile, size_t count, int32_t* open) const = 0;
  // open[columns] += rows, the bin of document i in column c being columns[c][i].
  virtual void add_columns(const int32_t* rows, std::span<const uint8_t* const> columns,
                           const Documents& documents, size_t begin, size_t count, int32_t* open) const = 0;
  // The same from the weights themselves: rows() and add_columns() in one.
  virtual void add_drawn(const WeightTable& weights, const uint8_t* flip,
                         std::span<const uint8_t* const> columns, const Documents& documents, size_t begin,
                         size_t count, int32_t* open) const = 0;
  // Moves the first `bins` bins of one feature to `packed`; zeros stay behind.
  virtual void take(int32_t* open, size_t bins, int32_t* packed) const = 0;
  // Over the first `bins` bins.
  virtual Sums total(const int32_t* packed, size_t bins) const = 0;

  // Edges and energies are in units of kOne.
  BestCut best_cut(const int32_t* packed, size_t bins, const Sums& total, const Criterion& criterion) const {
    check(criterion);
    return search(packed, bins, total, criterion);
  }
  // The criterion's value where nothing is cut (kEdge, kEnergy).
  double uncut(const Sums& total, const Criterion& criterion) const {
    check(criterion);
    return value_uncut(total, criterion);
  }
  // S_l, the sum of w y.
  int32_t signed_sum(const Sums& sums, size_t label) const {
    if (!split()) return sums[label];
    const int32_t positive = sums[own_ + label];
    return positive - (sums[label] - positive);
  }
  // The sum of w where y = +1 (kSplit).
  int32_t positive_sum(const Sums& sums, size_t label) const {
    require(split(), "signed rows do not hold the positive sums");
    return sums[own_ + label];
  }

 protected:
  Kernels() = default;
  constexpr Kernels(RowKind kind, size_t lanes, size_t open_size, size_t packed_lanes, size_t own)
      : kind_(kind), lanes_(lanes), open_size_(open_size), packed_lanes_(packed_lanes), own_(own) {}
  Kernels(const Kernels&) = default;
  Kernels& operator=(const Kernels&) = default;
  ~Kernels() = default;  // none is ever owned

 private:
  virtual BestCut search(const int32_t* packed, size_t bins, const Sums& total,
                         const Criterion& criterion) const = 0;
  virtual double value_uncut(const Sums& total, const Criterion& criterion) const = 0;

  void check(const Criterion& criterion) const {
    require(split() || criterion.kind != CriterionKind::kEnergy, "the energy needs split rows");
  }

  RowKind kind_ = RowKind::kSigned;
  size_t lanes_ = 0;
  size_t open_size_ = 0;
  size_t packed_lanes_ = 0;
  size_t own_ = 0;  // where the sums with y = +1 begin in a packed row
};

struct HistogramKernels {
  const Kernels* (*of)(size_t labels, RowKind kind);
};
#if !defined(TUNEMIX_SCALAR)
TUNEMIX_KERNELS(HistogramKernels, histogram_kernels)
#endif

// They live as long as the program.
const Kernels& kernels_for(size_t labels, RowKind kind, Instructions set = instructions());

}  // namespace tunemix::trees
