// Adds documents to open histograms.
#pragma once

#include <array>
#include <bit>

#include "learners/adaboost_mh/kernels/row_maker.h"

namespace tunemix::trees::TUNEMIX_SET {

template <typename Layout>
class Adding {
  static constexpr size_t kAdded = Layout::kAdded;
  static constexpr size_t kBinBytes = Layout::kBinBytes;
  static constexpr size_t kFeature = Layout::kFeature;

 public:
  // To eight features at once, from a tile of their bins:
  //   tile    | document 0: bins of features 0 .. 7 | document 1: ... | ...       8 bytes each
  static void tile(const int32_t* rows, const uint8_t* tile, size_t count, int32_t* open) {
    for (size_t k = 0; k < count; ++k)
      add_document(rows + k * kAdded, tile + k * 8, opaque(open + plane(rows, count, k)));
  }

  static void columns(const int32_t* rows, std::span<const uint8_t* const> columns,
                      const Documents& documents, size_t begin, size_t count, int32_t* open) {
    for_columns(columns, open, [&]<size_t C>(const uint8_t* const* column, int32_t* to) {
      some_columns<C>(rows, column, documents, begin, count, to);
    });
  }

  static void drawn(const WeightTable& weights, const uint8_t* flip, std::span<const uint8_t* const> columns,
                    const Documents& documents, size_t begin, size_t count, int32_t* open) {
    for_columns(columns, open, [&]<size_t C>(const uint8_t* const* column, int32_t* to) {
      some_drawn<C>(weights, flip, column, documents, begin, count, to);
    });
  }

 private:
  // Where the plane of the k-th of `count` rows begins.
  static size_t plane(const int32_t* rows, size_t count, size_t k) {
    return Layout::kHasTwoPlanes ? static_cast<size_t>(rows[count * kAdded + k]) : 0;
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

  template <size_t C>
  static void some_columns(const int32_t* rows, const uint8_t* const* columns, const Documents& documents,
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
  static void some_drawn(const WeightTable& weights, const uint8_t* flip, const uint8_t* const* columns,
                         const Documents& documents, size_t begin, size_t count, int32_t* open) {
    std::array<const uint8_t*, C> column;
    std::copy_n(columns, C, column.begin());
    const RowMaker<Layout> maker(weights, flip);
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
};

}  // namespace tunemix::trees::TUNEMIX_SET
