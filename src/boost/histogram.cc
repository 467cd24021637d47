#include "boost/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace tunemix::boost {
namespace {

constexpr size_t kAhead = 24;  // documents that an indexed loop prefetches ahead

// A row of R int32 as vectors of at most 64 bytes; the compiler lowers them to what the machine has.
template <size_t R>
struct Row {
  static constexpr size_t kBytes = R * 4 < 64 ? R * 4 : 64;
  static constexpr size_t kParts = R * 4 / kBytes;
  typedef int32_t Vector __attribute__((vector_size(kBytes), aligned(4), may_alias));
  Vector part[kParts];

  static Row load(const int32_t* p) {
    Row row;
    for (size_t k = 0; k < kParts; ++k) row.part[k] = *reinterpret_cast<const Vector*>(p + k * kBytes / 4);
    return row;
  }
  void add_to(int32_t* p) const {
    for (size_t k = 0; k < kParts; ++k) *reinterpret_cast<Vector*>(p + k * kBytes / 4) += part[k];
  }
};

// The sum in a fixed order, so that it is the same for any vector width.
template <size_t P, typename T>
T reduce(T* values) {
  for (size_t step = P / 2; step > 0; step /= 2)
    for (size_t l = 0; l < step; ++l) values[l] += values[l + step];
  return values[0];
}

template <size_t P, RowKind kKind>
class KernelsOf final : public Kernels {
  static constexpr size_t R = kKind == RowKind::kSplit ? 2 * P : P;

 public:
  KernelsOf() : Kernels(R) {}

  void rows(const WeightTable& weights, const uint8_t* flip, const Documents& documents, size_t begin,
            size_t count, int32_t* out) const override {
    const auto scale = static_cast<float>(kOne / weights.sum());
    const uint8_t* labels = weights.label();
    for (size_t k = 0; k < count; ++k) {
      size_t i = begin + k;
      if (documents.index != nullptr) {
        __builtin_prefetch(weights.row(documents.index[std::min(i + kAhead, documents.count - 1)]));
        i = documents.index[i];
      }
      const float* w = weights.row(i);
      const float offset = rounding_offset(i);
      const int32_t label = labels[i];
      int32_t* row = out + k * R;
      if constexpr (kKind == RowKind::kSplit) {
        for (size_t l = 0; l < P; ++l) {
          const int32_t q = fixed_point(w[l], scale, offset);
          row[l] = static_cast<int32_t>(l) == label ? 0 : q;
          row[P + l] = static_cast<int32_t>(l) == label ? q : 0;
        }
      } else {
        const int32_t flipped = flip != nullptr && flip[i] != 0 ? -1 : 0;
        for (size_t l = 0; l < P; ++l) {
          const int32_t q = fixed_point(w[l], scale, offset);
          const int32_t negative = (static_cast<int32_t>(l) == label ? 0 : -1) ^ flipped;
          row[l] = (q ^ negative) - negative;
        }
      }
    }
  }

  void add_tile(const int32_t* rows, const uint8_t* tile, const Documents& documents, size_t begin,
                size_t count, int32_t* hist) const override {
    if (documents.index == nullptr) {
      for (size_t k = 0; k < count; ++k) add_document(rows + k * R, tile + (begin + k) * 8, hist);
      return;
    }
    const uint32_t* index = documents.index + begin;
    const size_t prefetched = count > kAhead ? count - kAhead : 0;
    size_t k = 0;
    for (; k < prefetched; ++k) {
      __builtin_prefetch(tile + static_cast<size_t>(index[k + kAhead]) * 8);
      add_document(rows + k * R, tile + static_cast<size_t>(index[k]) * 8, hist);
    }
    for (; k < count; ++k) add_document(rows + k * R, tile + static_cast<size_t>(index[k]) * 8, hist);
  }

  void add_columns(const int32_t* rows, std::span<const uint8_t* const> columns, size_t width,
                   const Documents& documents, size_t begin, size_t count, int32_t* hist) const override {
    size_t c = 0;
    for (; c + 4 <= columns.size(); c += 4)
      add_some_columns<4>(rows, columns.data() + c, width, documents, begin, count,
                          hist + c * feature_size());
    for (; c + 2 <= columns.size(); c += 2)
      add_some_columns<2>(rows, columns.data() + c, width, documents, begin, count,
                          hist + c * feature_size());
    for (; c < columns.size(); ++c)
      add_some_columns<1>(rows, columns.data() + c, width, documents, begin, count,
                          hist + c * feature_size());
  }

  BestCut best_cut(const int32_t* hist, size_t bins, const Sums& total,
                   const Criterion& criterion) const override {
    const auto scan = [&](auto value_of) { return scan_cuts(hist, bins, total, value_of); };
    BestCut best;
    if (criterion.pooled) {
      best = scan([&](const int32_t* below, const int32_t* above) {
        return pooled(below, criterion) + pooled(above, criterion);
      });
    } else if (criterion.kind == CriterionKind::kStump) {
      best = scan([](const int32_t* below, const int32_t* above) { return stump_edge(below, above); });
    } else if (criterion.kind == CriterionKind::kEdge) {
      best = scan([](const int32_t* below, const int32_t* above) { return leaf_edge(below, above); });
    } else if constexpr (kKind == RowKind::kSplit) {
      best = scan([](const int32_t* below, const int32_t* above) { return -energy(below, above); });
    } else {
      require(false, "the energy needs split rows");
    }
    if (best.found) best.below = this->total(hist, best.bin + size_t{1});
    return best;
  }

  Sums total(const int32_t* hist, size_t bins) const override {
    Sums sums = {};
    for (size_t b = 0; b < bins; ++b)
      for (size_t l = 0; l < R; ++l) sums[l] += hist[b * R + l];
    return sums;
  }

  double uncut(const Sums& total, const Criterion& criterion) const override {
    const Sums none = {};
    if (criterion.pooled) return pooled(total.data(), criterion);
    if (criterion.kind == CriterionKind::kEnergy) return -energy(total.data(), none.data());
    return leaf_edge(total.data(), none.data());
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

  static void add_document(const int32_t* row, const uint8_t* bins, int32_t* hist) {
    uint64_t word;
    std::memcpy(&word, bins, sizeof word);
    const Row<R> values = Row<R>::load(row);
    // (bin of feature f) * R * 4 in two instructions: a shift that stops short, and a mask.
    constexpr size_t kShift = std::bit_width(R * 4) - 1;
    const auto bin_offset = [&](size_t f) {
      const uint64_t moved = 8 * f < kShift ? word << (kShift - 8 * f) : word >> (8 * f - kShift);
      return (moved & uint64_t{255} << kShift) / 4;
    };
    for (size_t f = 0; f < 8; ++f) values.add_to(hist + f * 256 * R + bin_offset(f));
  }

  template <size_t C>
  static void add_some_columns(const int32_t* rows, const uint8_t* const* columns, size_t width,
                               const Documents& documents, size_t begin, size_t count, int32_t* hist) {
    const uint8_t* column[C];
    std::copy_n(columns, C, column);
    for (size_t k = 0; k < count; ++k) {
      const size_t i = documents.index == nullptr ? begin + k : documents.index[begin + k];
      const Row<R> values = Row<R>::load(rows + k * R);
      for (size_t c = 0; c < C; ++c) values.add_to(hist + (c * 256 + column[c][i * width]) * R);
    }
  }

  // Cuts after each bin but the last; a bin without weight brings no cut of its own.
  template <typename ValueOf>
  BestCut scan_cuts(const int32_t* hist, size_t bins, const Sums& total, ValueOf value_of) const {
    using Value = decltype(value_of(hist, hist));
    int32_t below[R] = {};
    int32_t above[R];
    for (size_t l = 0; l < R; ++l) above[l] = total[l];
    bool found = false;
    Value best_value = 0;
    size_t best_bin = 0;
    for (size_t b = 0; b + 1 < bins; ++b) {
      const int32_t* h = hist + b * R;
      int32_t any = 0;
      for (size_t l = 0; l < R; ++l) any |= h[l];
      if (any == 0) continue;
      for (size_t l = 0; l < R; ++l) below[l] += h[l];
      for (size_t l = 0; l < R; ++l) above[l] -= h[l];
      const Value value = value_of(below, above);
      if (!found || value > best_value) {
        found = true;
        best_value = value;
        best_bin = b;
      }
    }
    return {found, static_cast<double>(best_value), static_cast<uint8_t>(best_bin), {}};
  }

  static int32_t stump_edge(const int32_t* below, const int32_t* above) {
    int32_t terms[P];
    for (size_t l = 0; l < P; ++l) terms[l] = std::abs(signed_at(above, l) - signed_at(below, l));
    return reduce<P>(terms);
  }

  static int32_t leaf_edge(const int32_t* below, const int32_t* above) {
    int32_t terms[P];
    for (size_t l = 0; l < P; ++l) terms[l] = std::abs(signed_at(above, l)) + std::abs(signed_at(below, l));
    return reduce<P>(terms);
  }

  static float energy(const int32_t* below, const int32_t* above) {
    if constexpr (kKind == RowKind::kSplit) {
      float terms[P];
      for (size_t l = 0; l < P; ++l)
        terms[l] = std::sqrt(static_cast<float>(below[l]) * static_cast<float>(below[P + l])) +
                   std::sqrt(static_cast<float>(above[l]) * static_cast<float>(above[P + l]));
      return reduce<P>(terms);
    } else {
      throw InternalError("the energy needs split rows");
    }
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

template <RowKind kKind>
std::unique_ptr<Kernels> make_kernels_of(size_t stride) {
  switch (stride) {
    case 4:
      return std::make_unique<KernelsOf<4, kKind>>();
    case 8:
      return std::make_unique<KernelsOf<8, kKind>>();
    case 16:
      return std::make_unique<KernelsOf<16, kKind>>();
    default:
      return std::make_unique<KernelsOf<32, kKind>>();
  }
}

}  // namespace

std::unique_ptr<Kernels> make_kernels(size_t labels, RowKind kind) {
  const size_t stride = padded_labels(labels);
  return kind == RowKind::kSplit ? make_kernels_of<RowKind::kSplit>(stride)
                                 : make_kernels_of<RowKind::kSigned>(stride);
}

}  // namespace tunemix::boost
