// Work on documents in runs of whole queries, and members standardised within them.
#pragma once

#include <vector>

#include "tunemix/mix/mixture.h"

namespace tunemix::mixing {

struct Chunk {
  size_t first_query, last_query;  // [first, last)
  size_t begin, end;               // documents
  size_t documents() const { return end - begin; }
};

// Runs of queries with at least `documents` documents each, but for the last and those that end at one of
// `bounds` (query numbers): the same for any number of threads.
std::vector<Chunk> make_chunks(const QueryIndex& queries, size_t documents,
                               std::span<const size_t> bounds = {});

// The scores of one member on the chunk as they enter the sum, out of those on all documents.
void prepare_scores(std::span<const float> scores, const QueryIndex& queries, const Chunk& chunk,
                    Normalize normalize, double* out);

// A sum as the ensemble's score. Standardised members are of order 1, and in a short query they can cancel
// exactly: that is a tie, not the sign of a rounding error.
inline float finish_score(double sum, Normalize normalize) {
  constexpr double kGrid = 1.5 * (1 << 16);  // adding it rounds to multiples of 2^-36
  return static_cast<float>(normalize == Normalize::kQuery ? (sum + kGrid) - kGrid : sum);
}

}  // namespace tunemix::mixing
