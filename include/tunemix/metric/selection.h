// The measure that choices are made by: tied documents share their expected value, so file order cannot help
// (spec, section 5).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tunemix/core/parallel.h"
#include "tunemix/data/query_index.h"
#include "tunemix/metric/policy.h"

namespace tunemix {

// Names a measure: ndcg@K, err or map, and after a colon the preset whose conventions it follows, as in
// ndcg@10:letor4. Without one: yahoo's, and NDCG by the grades that the caller gives.
struct SelectionName {
  enum class Measure : uint8_t { kNdcg, kErr, kMap };
  Measure measure = Measure::kNdcg;
  size_t k = 10;
  std::string preset;

  static SelectionName parse(std::string_view text);  // throws InputError
  std::string text() const;                           // what parse reads
  std::string label() const;                          // for tables: "NDCG@10 (letor4)", "ERR"
};

// Mean of the measure over queries, weighted where they have weights, averaged over the orders of tied
// documents whatever the preset does with ties. Keeps what does not depend on the scores. Safe to share
// between threads. Scores must not be NaN.
class SelectionMetric {
 public:
  // `weights`: of each query; empty: 1. Throws InputError where the preset has no value for a label, or where
  // every query has weight 0.
  SelectionMetric(const QueryIndex& queries, std::span<const int32_t> labels, std::span<const double> grades,
                  const SelectionName& name, std::span<const double> weights = {});
  // NDCG@k; a query without relevant documents counts 1.
  SelectionMetric(const QueryIndex& queries, std::span<const int32_t> labels, std::span<const double> grades,
                  size_t k = 10, std::span<const double> weights = {});

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
  struct Scratch {
    std::vector<Scored> top;
    std::vector<int32_t> labels;       // from rank 1 down
    std::vector<uint32_t> group_ends;  // of tied documents
    std::vector<double> err;
  };
  void prepare_ndcg(const QueryIndex& queries, std::span<const int32_t> labels,
                    std::span<const double> grades, Discount discount, size_t k);
  double of_query(size_t query, const float* scores, Scratch& scratch) const;
  double ndcg(size_t query, const float* scores, std::vector<Scored>& top) const;
  double short_ndcg(size_t query, const float* scores) const;
  double err_or_map(size_t query, const float* scores, Scratch& scratch) const;
  void of_queries(size_t first, size_t last, std::span<const float> scores, double* out) const;

  SelectionName name_;
  std::vector<size_t> offsets_;
  std::vector<double> weights_;  // of each query
  double total_ = 0;             // of the weights

  // NDCG.
  std::vector<double> gains_;       // of each document
  std::vector<double> ideal_;       // DCG@k of each query's best order; 0 where the order does not matter
  std::vector<double> discounts_;   // cumulated: discounts_[i] is the sum of the first i discounts, i in 0..k
  std::vector<uint32_t> relevant_;  // documents with a gain
  std::vector<size_t> relevant_end_;  // of each query: where the next one's begin
  size_t k_ = 0;                      // ranks that any query has
  double empty_ = 1;                  // of a query without relevant documents, by NDCG or MAP
  bool short_is_zero_ = false;        // NDCG@k of a query with fewer than k documents

  // ERR and MAP.
  std::vector<int32_t> labels_;
  std::vector<double> stops_;  // by label
  size_t cut_ = 0;             // ranks that ERR sees
  int relevant_from_ = 1;
};

}  // namespace tunemix
