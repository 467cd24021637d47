// The labels of one query in ranked order, and the measures that only need them; where documents are tied,
// each measure is its mean over the tied orders, in closed form (McSherry and Najork 2008 for most).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tunemix {

struct RankedLabels {
  std::span<const int32_t> labels;       // from rank 1 down
  std::span<const uint32_t> group_ends;  // where each group of tied documents ends; empty: no ties
  size_t size() const { return labels.size(); }
};

// The gain at each rank; tied documents share their mean.
void gains_by_rank(const RankedLabels& ranked, std::span<const double> gains, std::vector<double>& out);

// out[i]: the number of relevant documents in ranks 1..i+1, for the first out.size() ranks.
void relevant_by_rank(const RankedLabels& ranked, int relevant_from, std::span<double> out);

// all_relevant: how many relevant documents there are, ranked or not; `empty` where there is none.
double average_precision(const RankedLabels& ranked, int relevant_from, size_t all_relevant, double empty);

// The first `cut` ranks only.
double reciprocal_rank(const RankedLabels& ranked, int relevant_from, size_t cut);
double expected_reciprocal_rank(const RankedLabels& ranked, std::span<const double> stops, size_t cut,
                                std::vector<double>& scratch);

}  // namespace tunemix
