// The weights of members, cells and families under one set of qualities.
#pragma once

#include <span>
#include <vector>

#include "mix/layout.h"

namespace tunemix::mixing {

// Weights of one cell's members: exp(c (omega - best)).
struct CellWeights {
  double best = 0;              // highest omega
  std::vector<double> mass;     // for each c: their sum
  std::vector<double> members;  // members x c
};

// The weight of a member in a mixture is its weight in the cell times the cell's factor.
struct Weights {
  std::vector<CellWeights> cells;
  std::vector<std::vector<double>> blocks;  // by block: c x cells, so that the block's weights sum to 1
  // By variant and T: c x cells, so that the mixture's weights sum to 1. Empty where families are weighted or
  // learned: their masses follow from how good the blocks are.
  std::vector<std::vector<std::vector<double>>> selections;
};

Weights make_weights(const Layout& layout, std::span<const double> omega, std::span<const double> cs,
                     Families families);

// Proportional to exp(2 sqrt(n) Omega), summing to 1 (spec, section 5).
std::vector<double> family_masses(std::span<const double> qualities, size_t queries);

}  // namespace tunemix::mixing
