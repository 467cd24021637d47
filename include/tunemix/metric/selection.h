// The NDCG that choices are made by: tied documents share their mean gain, so file order cannot help (spec,
// section 5).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tunemix/data/query_index.h"
#include "tunemix/metric/policy.h"

namespace tunemix {

// Mean NDCG@k over queries under the conventions of the Yahoo preset (a query without relevant documents
// counts 1), averaged over the orders of tied documents. Keeps what does not depend on the scores. Safe to
// share between threads.
class SelectionMetric {
 public:
  SelectionMetric(const QueryIndex& queries, std::span<const int32_t> labels, std::span<const double> grades,
                  size_t k = 10);

  double operator()(std::span<const float> scores) const;
  void per_query(std::span<const float> scores, std::span<double> out) const;
  size_t queries() const { return offsets_.size() - 1; }

 private:
  double of_query(size_t query, const float* scores, std::vector<uint32_t>& order) const;

  std::vector<size_t> offsets_;
  std::vector<double> gains_;      // of each document
  std::vector<double> ideal_;      // DCG@k of each query's best order; 0 where nothing is relevant
  std::vector<double> discounts_;  // cumulated: discounts_[i] is the sum of the first i discounts up to k
  size_t k_;
};

}  // namespace tunemix
