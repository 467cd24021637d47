#include "learners/adaboost_mh/histogram.h"

// A scalar build has kernels/scalar.cc alone.
#if !defined(TUNEMIX_SCALAR)

#include "learners/adaboost_mh/kernels/adding.h"
#include "learners/adaboost_mh/kernels/cut_search.h"
#include "learners/adaboost_mh/kernels/row_maker.h"
#include "learners/adaboost_mh/kernels/taking.h"

namespace tunemix::trees::TUNEMIX_SET {
namespace {

template <size_t P, RowKind kKind, bool kTwoPlanes = false>
class KernelsOf final : public Kernels {
  using Own = Layout<P, kKind, kTwoPlanes>;

 public:
  constexpr KernelsOf()
      : Kernels(kKind, kTwoPlanes ? P + 1 : Own::kAdded, Own::kFeature, Own::kPacked, Own::kOwn) {}

  void rows(const WeightTable& weights, const uint8_t* flip, const Documents& documents, size_t begin,
            size_t count, int32_t* out) const override {
    make_rows<Own>(weights, flip, documents, begin, count, out);
  }
  void add_tile(const int32_t* rows, const uint8_t* tile, size_t count, int32_t* open) const override {
    Adding<Own>::tile(rows, tile, count, open);
  }
  void add_columns(const int32_t* rows, std::span<const uint8_t* const> columns, const Documents& documents,
                   size_t begin, size_t count, int32_t* open) const override {
    Adding<Own>::columns(rows, columns, documents, begin, count, open);
  }
  void add_drawn(const WeightTable& weights, const uint8_t* flip, std::span<const uint8_t* const> columns,
                 const Documents& documents, size_t begin, size_t count, int32_t* open) const override {
    Adding<Own>::drawn(weights, flip, columns, documents, begin, count, open);
  }
  void take(int32_t* open, size_t bins, int32_t* packed) const override {
    take_packed<Own>(open, bins, packed);
  }
  Sums total(const int32_t* packed, size_t bins) const override {
    Sums sums = {};
    for (size_t b = 0; b < bins; ++b)
      for (size_t l = 0; l < Own::kPacked; ++l) sums[l] += packed[b * Own::kPacked + l];
    return sums;
  }

 private:
  BestCut search(const int32_t* packed, size_t bins, const Sums& total,
                 const Criterion& criterion) const override {
    return CutSearch<Own>::best(packed, bins, total, criterion);
  }
  double value_uncut(const Sums& total, const Criterion& criterion) const override {
    return CutSearch<Own>::uncut(total, criterion);
  }
};

template <size_t P>
const Kernels* of_width(size_t labels, RowKind kind) {
  static constexpr KernelsOf<P, RowKind::kSigned> kSigned;
  static constexpr KernelsOf<P, RowKind::kSplit> kSplit;
  if (kind == RowKind::kSigned) return &kSigned;
  if constexpr (P > 4) {
    static constexpr KernelsOf<P, RowKind::kSplit, true> kTwoPlanes;
    if (labels <= Planes<P>::kOwn) return &kTwoPlanes;
  }
  return &kSplit;
}

const Kernels* of(size_t labels, RowKind kind) {
  switch (padded_labels(labels)) {
    case 4:
      return of_width<4>(labels, kind);
    case 8:
      return of_width<8>(labels, kind);
    case 16:
      return of_width<16>(labels, kind);
    default:
      return of_width<32>(labels, kind);
  }
}

}  // namespace

const HistogramKernels histogram_kernels_table = {of};

}  // namespace tunemix::trees::TUNEMIX_SET

#endif
