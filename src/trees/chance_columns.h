// Columns that tell nothing, to see what chance gains.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "trees/gain_scale.h"
#include "tunemix/core/aligned.h"
#include "tunemix/core/binary.h"
#include "tunemix/data/binning.h"

namespace tunemix::trees {

// A column of bins to search: a feature's own, or one that was moved.
struct SearchedColumn {
  uint32_t feature = 0;
  const uint8_t* bins = nullptr;
};

// The best cut of any column gains something on the documents that it is chosen on. How much of that is
// chance is seen from columns of some features moved by many documents: their values are as they were, and
// documents of a query still resemble each other, but they say nothing about the labels. Now and then one of
// them is searched beside the drawn features.
class ChanceColumns {
 public:
  // `bins` in columns. Both outlive this.
  ChanceColumns(const BinnedDataset& bins, const BinCuts& cuts) : bins_(bins), cuts_(cuts) {}

  // Adds those to be searched this time: all in the first search, one in every kEvery-th, else none.
  void append_next(std::vector<SearchedColumn>& columns);
  // Takes in what they gained in leaves of that size, and tells the mean of the last gains there.
  double mean(std::span<const double> gains, size_t size_class);

  void save(BinaryWriter& out) const;
  void load(BinaryReader& in);

  static constexpr size_t kColumns = 8;
  static constexpr uint64_t kEvery = 4;

 private:
  void move_columns();

  static constexpr double kMemory = 20;  // gains that the mean is over
  struct Mean {
    double gain = 0;
    double count = 0;
  };

  const BinnedDataset& bins_;
  const BinCuts& cuts_;
  std::vector<AlignedVector<uint8_t>> moved_;
  std::vector<uint32_t> features_;  // of the moved columns
  uint64_t searches_ = 0;
  std::array<Mean, kSizeClasses> means_ = {};
};

}  // namespace tunemix::trees
