// Where sums lie in the rows that documents add, in open histograms and in packed ones.
//
// Labels are padded to P = 4, 8, 16 or 32 lanes. What a document of label 1 adds (P = 4, three labels,
// weights a b c; "." is 0):
//
//   kSigned   | -a  b -c  . |                  w y, where y is +1 on the document's label
//   kSplit    |  a  b  c  . |  .  b  .  . |    w, then w where y = +1
//
// An open histogram has a row of these for each of 256 bins, and the next feature begins 512 bytes behind it:
// features a multiple of 4096 bytes apart would compete for the same cache sets.
//
//   | bin 0 | bin 1 | ... | bin 255 | 512 bytes |   next feature ...
//
// Split rows in two planes: up to kOwn labels fit into P lanes instead of 2 P. Lane l holds w of label l
// whatever the sign of y, and one of the kFree last lanes w where y = +1: that of label l, for l < kFree, in
// the bins' first plane; documents of the other labels, l >= kFree, add to a second plane. P = 8, five
// labels:
//
//   lane       0  1  2  3  4 | 5     6     7         kOwn = 5, kFree = 3
//   plane 0    w0 w1 w2 w3 w4 | w0+   w1+   w2+       of documents with label 0, 1 or 2
//   plane 1    w0 w1 w2 w3 w4 | w3+   w4+   .         of documents with label 3 or 4
//
//   | plane 0: bin 0 | ... | bin 255 | 256 bytes | plane 1: bin 0 | ... | bin 255 | 256 bytes |   next
//   feature ...
//
// A packed histogram has what the labels need and no gaps: kOwn sums of w (or of w y), then, if split, as
// many where y = +1. In two planes: both planes added up, w0 .. w4 w0+ .. w4+.
//
//   | bin 0: w0 .. w(kOwn-1) w0+ .. w(kOwn-1)+ | bin 1: ... | ...
#pragma once

#include "learners/adaboost_mh/kernels/row.h"

namespace tunemix::trees::TUNEMIX_SET {

template <size_t P>
struct Planes {
  static constexpr size_t kFree = (P + 2) / 3;
  static constexpr size_t kOwn = P - kFree;
  static constexpr size_t kPlane = 256 * P + 64;  // int32 from the first plane to the second
};

template <size_t P, RowKind kKind, bool kTwoPlanes>
struct Layout {
  static constexpr size_t kLabels = P;
  static constexpr bool kSplit = kKind == RowKind::kSplit;
  static constexpr bool kHasTwoPlanes = kTwoPlanes;
  static constexpr size_t kOwn = kTwoPlanes ? Planes<P>::kOwn : P;  // sums of one kind in a packed row
  static constexpr size_t kPacked = kSplit ? 2 * kOwn : kOwn;
  static constexpr size_t kAdded = kSplit && !kTwoPlanes ? 2 * P : P;  // lanes that a document adds
  static constexpr size_t kBinBytes = kAdded * sizeof(int32_t);
  static constexpr size_t kFeature = kTwoPlanes ? 2 * Planes<P>::kPlane : 256 * kAdded + 128;  // int32

  static int32_t positive_at(const Sums& sums, size_t label) { return sums[(kOwn + label) % kMostLanes]; }
  static int32_t negative_at(const Sums& sums, size_t label) {
    return sums[label] - positive_at(sums, label);
  }
};

}  // namespace tunemix::trees::TUNEMIX_SET
