// The losses that linear rankers minimise: of one query's scores, with their gradient.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tunemix::linear {

struct LossScratch {
  std::vector<double> exps;
  std::vector<double> padded_gradient;
  std::vector<std::pair<double, uint32_t>> sorted;
};

// Labels descend within the query. `gradient` is set. Losses are sums: over the pairs (i, j) with label_i >
// label_j, or over the documents.
using Loss = double (*)(std::span<const double> scores, std::span<const int32_t> labels,
                        std::span<double> gradient, LossScratch& scratch);

// max(0, 1 - (s_i - s_j))^2 over pairs, in n log n steps (Joachims 2002, squared as in Chapelle and Keerthi
// 2010).
double squared_hinge_loss(std::span<const double> scores, std::span<const int32_t> labels,
                          std::span<double> gradient, LossScratch& scratch);
// ln(1 + exp(-(s_i - s_j))) over pairs (Burges et al. 2005).
double pair_logistic_loss(std::span<const double> scores, std::span<const int32_t> labels,
                          std::span<double> gradient, LossScratch& scratch);
// Cross-entropy of the chances to be first, by the labels and by the scores (Cao et al. 2007).
double list_entropy_loss(std::span<const double> scores, std::span<const int32_t> labels,
                         std::span<double> gradient, LossScratch& scratch);

}  // namespace tunemix::linear
