// What a document adds to histograms, from its weights: fixed point, arranged as layout.h draws it.
#pragma once

#include <array>

#include "learners/adaboost_mh/kernels/layout.h"

namespace tunemix::trees::TUNEMIX_SET {

template <typename Layout>
class RowMaker {
  static constexpr size_t P = Layout::kLabels;

 public:
  RowMaker(const WeightTable& weights, const uint8_t* flip)
      : weights_(weights.row(0)),
        stride_(weights.labels()),
        used_(Row<P>::below(stride_)),
        labels_(weights.label()),
        flip_(flip),
        scale_(static_cast<float>(kOne / weights.sum())) {}

  Row<Layout::kAdded> row(size_t i) const {
    Row<P> q = Row<P>::fixed_point(weights_ + i * stride_, scale_, rounding_offset(i));
    q.keep(used_);  // beyond the labels are weights of the next document
    const uint8_t label = labels_[i];
    if constexpr (Layout::kHasTwoPlanes) {
      return q.shuffled(kLanes[label].data());
    } else if constexpr (Layout::kSplit) {
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
  size_t plane(size_t i) const { return Layout::kHasTwoPlanes ? kPlaneOf[labels_[i]] : 0; }

 private:
  using LaneNumbers = std::array<int32_t, P>;
  static constexpr std::array<uint32_t, P> kPlaneOf = [] {
    std::array<uint32_t, P> planes = {};
    for (size_t label = Planes<P>::kFree; label < P; ++label) planes[label] = Planes<P>::kPlane;
    return planes;
  }();
  // By label: all bits in its own lane.
  static constexpr std::array<LaneNumbers, P> kOwnLane = [] {
    std::array<LaneNumbers, P> lanes = {};
    for (size_t label = 0; label < P; ++label) lanes[label][label] = -1;
    return lanes;
  }();
  // By label: where the lanes of a row in two planes come from. Those beyond the labels are 0.
  static constexpr std::array<LaneNumbers, P> kLanes = [] {
    std::array<LaneNumbers, P> lanes = {};
    for (size_t label = 0; label < P; ++label) {
      for (size_t l = 0; l < P; ++l) lanes[label][l] = static_cast<int32_t>(l);
      if (label < Planes<P>::kOwn)
        lanes[label][Planes<P>::kOwn + label % Planes<P>::kFree] = static_cast<int32_t>(label);
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

// Calls body(k, document) for the k-th of `count` documents, and before it prefetch(document) for one that
// comes later, where they are not in a row.
template <typename Prefetch, typename Body>
void for_documents(const Documents& documents, size_t begin, size_t count, Prefetch prefetch, Body body) {
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

// The rows of documents, one behind the other; of rows in two planes then the beginning of each one's plane:
//   | row 0 | row 1 | ... | row count-1 | plane 0 | plane 1 | ... |
template <typename Layout>
void make_rows(const WeightTable& weights, const uint8_t* flip, const Documents& documents, size_t begin,
               size_t count, int32_t* out) {
  const RowMaker<Layout> maker(weights, flip);
  const auto prefetch = [=](size_t i) { maker.prefetch(i); };
  for_documents(documents, begin, count, prefetch, [=](size_t k, size_t i) {
    maker.row(i).store(out + k * Layout::kAdded);
    if constexpr (Layout::kHasTwoPlanes)
      out[count * Layout::kAdded + k] = static_cast<int32_t>(maker.plane(i));
  });
}

}  // namespace tunemix::trees::TUNEMIX_SET
