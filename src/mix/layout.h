// Which members stand in which mixture of the grid: for every variant and length T, without copies.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tunemix/mix/mixer.h"

namespace tunemix::mixing {

// Members that are always summed together: of one family, kind and checkpoint, where models have masses of
// one model, and in the same mixtures.
// Every mixture of the grid is a sum of cells, so the cells are summed once for each c.
struct Cell {
  size_t family;                // number
  std::vector<size_t> members;  // numbers in the input, in the canonical order
};

// What one family, or one model, gives to a mixture.
using Block = std::vector<size_t>;  // cells, ascending

// The members of a mixture; c is still open.
struct Selection {
  int64_t checkpoint;          // T; 0: nothing to choose from
  std::vector<size_t> cells;   // ascending
  std::vector<size_t> blocks;  // the same cells, by family
  std::vector<size_t> models;  // the same cells, by model; empty where no masses of models are learned
  size_t left_out = 0;         // members that rank as an earlier one of the mixture does
};

struct Layout {
  size_t families = 0;
  std::vector<Cell> cells;
  std::vector<Block> blocks;                       // each once, whatever mixtures have it
  std::vector<std::vector<Selection>> selections;  // by variant, for each T; none for one-best
};

// The members' numbers in their own order. Throws InputError where one occurs twice.
std::vector<size_t> canonical_order(std::span<const Member> members);

// `first_alike` names for each member the first that ranks as it does.
Layout make_layout(std::span<const Member> members, std::span<const size_t> order,
                   std::span<const size_t> first_alike, std::span<const Variant> variants,
                   const MixOptions& options);

}  // namespace tunemix::mixing
