// Moves what was added to an open histogram to a packed one; zeros stay behind.
#pragma once

#include "learners/adaboost_mh/kernels/layout.h"

namespace tunemix::trees::TUNEMIX_SET {

// Both planes of a bin (layout.h) to the kOwn sums of w, then those where y = +1:
//
//   first    w0 .. w4 | w0+ w1+ w2+       packed   w0+w0' .. w4+w4' w0+ w1+ w2+ | w3+ w4+
//   second   w0'.. w4'| w3+ w4+  .
template <size_t P>
void pack_planes(const int32_t* first, const int32_t* second, int32_t* packed) {
  constexpr size_t kOwn = Planes<P>::kOwn;
  Row<P> row = Row<P>::load(second);
  row.keep(Row<P>::below(kOwn));
  row.add(Row<P>::load(first));
  row.store(packed);
  std::memcpy(packed + P, second + kOwn, (kOwn - Planes<P>::kFree) * sizeof(int32_t));
}

// The first `bins` bins of one feature.
template <typename Layout>
void take_packed(int32_t* open, size_t bins, int32_t* packed) {
  constexpr size_t P = Layout::kLabels;
  constexpr size_t kPacked = Layout::kPacked;
  if constexpr (Layout::kHasTwoPlanes) {
    for (size_t b = 0; b < bins; ++b) {
      int32_t* first = open + b * P;
      int32_t* second = first + Planes<P>::kPlane;
      pack_planes<P>(first, second, packed + b * kPacked);
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

}  // namespace tunemix::trees::TUNEMIX_SET
