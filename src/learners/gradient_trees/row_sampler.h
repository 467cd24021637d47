// Draws the documents of each tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learners/gradient_trees/options.h"
#include "tunemix/core/random.h"
#include "tunemix/learn/training_data.h"

namespace tunemix::trees {

class RowSampler {
 public:
  RowSampler(const TreeOptions& options, const TrainingData& data) : options_(options), data_(data) {}

  bool draws() const { return options_.bootstrap || options_.row_fraction < 1; }
  // Draws; documents() are then the chosen ones by their number in all(), ascending, and copies() tells how
  // often each is there (empty: once).
  void draw(Random& random);
  std::span<const uint32_t> documents() const { return chosen_; }
  std::span<const uint8_t> copies() const { return copies_; }

 private:
  const TreeOptions& options_;
  const TrainingData& data_;
  std::vector<uint32_t> chosen_;
  std::vector<uint8_t> copies_;
  std::vector<uint8_t> times_;  // of each query or training document
};

}  // namespace tunemix::trees
