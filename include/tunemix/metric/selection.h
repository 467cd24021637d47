// The NDCG that choices are made by: tied documents share their mean gain, so file order cannot help (spec,
// section 5).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tunemix/core/parallel.h"
#include "tunemix/data/query_index.h"
#include "tunemix/metric/policy.h"

namespace tunemix {

// Mean NDCG@k over queries under the conventions of the Yahoo preset (a query without relevant documents
// counts 1), averaged over the orders of tied documents. Keeps what does not depend on the scores. Safe to
// share between threads. Scores must not be NaN.
class SelectionMetric {
 public:
  SelectionMetric(const QueryIndex& queries, std::span<const int32_t> labels, std::span<const double> grades,
                  size_t k = 10);

  double operator()(std::span<const float> scores) const;
  // The same number, the queries spread over the pool's threads.
  double operator()(std::span<const float> scores, ThreadPool& pool) const;
  void per_query(std::span<const float> scores, std::span<double> out) const;
  size_t queries() const { return offsets_.size() - 1; }

 private:
  struct Scored {
    float score;
    uint32_t document;  // within its query
  };
  double of_query(size_t query, const float* scores, std::vector<Scored>& top) const;
  double of_short_query(size_t query, const float* scores) const;
  void of_queries(size_t first, size_t last, std::span<const float> scores, double* out) const;

  std::vector<size_t> offsets_;
  std::vector<double> gains_;       // of each document
  std::vector<double> ideal_;       // DCG@k of each query's best order; 0 where nothing is relevant
  std::vector<double> discounts_;   // cumulated: discounts_[i] is the sum of the first i discounts, i in 0..k
  std::vector<uint32_t> relevant_;  // documents with a gain
  std::vector<size_t> relevant_end_;  // of each query: where the next one's begin
  size_t k_;
};

}  // namespace tunemix
