// Histograms by plain loops: the reference of the fast ones, and what runs where there are no vectors. Rows,
// open and packed histograms have one layout, labels sums of w (or w y), then, if split, those where y = +1.
#include <array>
#include <cmath>
#include <limits>

#include "learners/adaboost_mh/histogram.h"
#include "tunemix/core/error.h"

namespace tunemix::trees {
namespace {

class ScalarKernels final : public Kernels {
 public:
  ScalarKernels() = default;
  ScalarKernels(size_t labels, RowKind kind) : ScalarKernels(labels, kind, kind == RowKind::kSplit ? 2 : 1) {}

  void rows(const WeightTable& weights, const uint8_t* flip, const Documents& documents, size_t begin,
            size_t count, int32_t* out) const override {
    for (size_t k = 0; k < count; ++k)
      make_row(weights, flip, document(documents, begin + k), out + k * lanes());
  }

  void add_tile(const int32_t* rows, const uint8_t* tile, size_t count, int32_t* open) const override {
    for (size_t k = 0; k < count; ++k)
      for (size_t f = 0; f < 8; ++f) add(rows + k * lanes(), tile[k * 8 + f], open + f * open_size());
  }

  void add_columns(const int32_t* rows, std::span<const uint8_t* const> columns, const Documents& documents,
                   size_t begin, size_t count, int32_t* open) const override {
    for (size_t k = 0; k < count; ++k)
      for (size_t c = 0; c < columns.size(); ++c)
        add(rows + k * lanes(), columns[c][document(documents, begin + k)], open + c * open_size());
  }

  void add_drawn(const WeightTable& weights, const uint8_t* flip, std::span<const uint8_t* const> columns,
                 const Documents& documents, size_t begin, size_t count, int32_t* open) const override {
    int32_t row[kMostLanes];
    for (size_t k = 0; k < count; ++k) {
      const size_t i = document(documents, begin + k);
      make_row(weights, flip, i, row);
      for (size_t c = 0; c < columns.size(); ++c) add(row, columns[c][i], open + c * open_size());
    }
  }

  void take(int32_t* open, size_t bins, int32_t* packed) const override {
    for (size_t k = 0; k < bins * lanes(); ++k) {
      packed[k] = open[k];
      open[k] = 0;
    }
  }

  Sums total(const int32_t* packed, size_t bins) const override {
    Sums sums = {};
    for (size_t b = 0; b < bins; ++b)
      for (size_t l = 0; l < lanes(); ++l) sums[l] += packed[b * lanes() + l];
    return sums;
  }

 private:
  ScalarKernels(size_t labels, RowKind kind, size_t kinds)
      : Kernels(kind, kinds * labels, 256 * kinds * labels, kinds * labels, labels), labels_(labels) {}

  static size_t document(const Documents& documents, size_t k) {
    return documents.index == nullptr ? k : documents.index[k];
  }

  void make_row(const WeightTable& weights, const uint8_t* flip, size_t i, int32_t* row) const {
    const auto scale = static_cast<float>(kOne / weights.sum());
    for (size_t l = 0; l < labels_; ++l) {
      const int32_t q = fixed_point(weights.row(i)[l], scale, rounding_offset(i));
      const bool up = (weights.label()[i] == l) != (flip != nullptr && flip[i] != 0);
      row[l] = split() || up ? q : -q;
      if (split()) row[labels_ + l] = up ? q : 0;
    }
  }

  void add(const int32_t* row, uint8_t bin, int32_t* open) const {
    for (size_t l = 0; l < lanes(); ++l) open[bin * lanes() + l] += row[l];
  }

  BestCut search(const int32_t* packed, size_t bins, const Sums& total,
                 const Criterion& criterion) const override {
    Sums below = {};
    BestCut best;
    for (size_t b = 0; b + 1 < bins; ++b) {
      const int32_t* row = packed + b * lanes();
      bool empty = true;
      for (size_t l = 0; l < labels_; ++l) empty = empty && row[l] == 0;
      if (empty) continue;
      for (size_t l = 0; l < lanes(); ++l) below[l] += row[l];
      const double value = value_cut(below, total, criterion);
      if (!best.found || value > best.value) best = {true, value, static_cast<uint8_t>(b)};
    }
    return best;
  }

  double value_uncut(const Sums& total, const Criterion& criterion) const override {
    return criterion.pooled ? pooled(total, criterion) : value_cut(total, total, criterion);
  }

  double value_cut(const Sums& below, const Sums& total, const Criterion& criterion) const {
    Sums above = {};
    for (size_t l = 0; l < lanes(); ++l) above[l] = total[l] - below[l];
    if (criterion.pooled) return pooled(below, criterion) + pooled(above, criterion);
    if (criterion.kind == CriterionKind::kEnergy) return minus_energy(below, above);
    int32_t value = 0;
    for (size_t l = 0; l < labels_; ++l)
      value += criterion.kind == CriterionKind::kStump
                   ? std::abs(signed_sum(above, l) - signed_sum(below, l))
                   : std::abs(signed_sum(above, l)) + std::abs(signed_sum(below, l));
    return value;
  }

  // In floats, added in the order of the fast kernels: halves of the padded labels again and again.
  double minus_energy(const Sums& below, const Sums& above) const {
    const auto energy = [&](const Sums& side, size_t l) {
      const int32_t positive = positive_sum(side, l);
      return std::sqrt(static_cast<float>(side[l] - positive) * static_cast<float>(positive));
    };
    std::array<float, kMostLabels> terms = {};
    for (size_t l = 0; l < labels_; ++l) terms[l] = -energy(below, l) - energy(above, l);
    for (size_t step = padded_labels(labels_) / 2; step > 0; step /= 2)
      for (size_t l = 0; l < step; ++l) terms[l] += terms[l + step];
    return terms[0];
  }

  double pooled(const Sums& sums, const Criterion& criterion) const {
    double edge = 0;
    double right = 0;
    double wrong = 0;
    for (size_t l = 0; l < labels_; ++l) {
      const bool up = (criterion.votes >> l & 1) != 0;
      const int32_t signed_weight = signed_sum(sums, l);
      edge += up ? signed_weight : -signed_weight;
      if (criterion.kind != CriterionKind::kEnergy) continue;
      const int32_t positive = positive_sum(sums, l);
      right += up ? positive : sums[l] - positive;
      wrong += up ? sums[l] - positive : positive;
    }
    return criterion.kind == CriterionKind::kEnergy ? -std::sqrt(right * wrong) : std::abs(edge);
  }

  size_t labels_ = 0;
};

using ByLabels = std::array<ScalarKernels, kMostLabels + 1>;

ByLabels all_labels(RowKind kind) {
  ByLabels kernels;
  for (size_t labels = 1; labels <= kMostLabels; ++labels) kernels[labels] = ScalarKernels(labels, kind);
  return kernels;
}

}  // namespace

const Kernels& kernels_for(size_t labels, RowKind kind, Instructions set) {
  require(labels >= 1 && labels <= kMostLabels, "histograms have 1 to 32 labels");
#if !defined(TUNEMIX_SCALAR)
  if (set != Instructions::kScalar) return *histogram_kernels(set).of(labels, kind);
#else
  static_cast<void>(set);
#endif
  static const ByLabels kSigned = all_labels(RowKind::kSigned);
  static const ByLabels kSplit = all_labels(RowKind::kSplit);
  return (kind == RowKind::kSigned ? kSigned : kSplit)[labels];
}

}  // namespace tunemix::trees
