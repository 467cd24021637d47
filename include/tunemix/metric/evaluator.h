// NDCG, DCG, precision, MAP, ERR and MRR of one ranking under any number of policies at once.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tunemix/core/parallel.h"
#include "tunemix/data/dataset.h"
#include "tunemix/metric/policy.h"

namespace tunemix {

// Which measures there are up to rank k, and the column of each in a row of values.
class MeasureTable {
 public:
  explicit MeasureTable(size_t k) : k_(k) {}
  size_t k() const { return k_; }
  size_t columns() const { return 3 * k_ + 4; }
  size_t ndcg(size_t rank) const { return rank - 1; }
  size_t dcg(size_t rank) const { return k_ + rank - 1; }
  size_t precision(size_t rank) const { return 2 * k_ + rank - 1; }
  size_t mean_ndcg() const { return 3 * k_; }  // over the ranks 1..n of a query
  size_t map() const { return 3 * k_ + 1; }
  size_t err() const { return 3 * k_ + 2; }
  size_t mrr() const { return 3 * k_ + 3; }
  // ndcg@10, dcg@10, p@10, mean_ndcg, map, err, mrr; throws InputError for another name or a rank above k.
  size_t column(std::string_view name) const;
  std::string name(size_t column) const;
  std::string trec_name(size_t column) const;  // as trec_eval writes it: ndcg_cut_10, P_10, recip_rank

 private:
  size_t k_;
};

struct Evaluation {
  MetricPolicy policy;
  MeasureTable measures{10};
  size_t queries = 0;
  size_t empty_queries = 0;  // in which no document has a gain
  size_t short_queries = 0;  // with fewer than k documents
  std::vector<double> mean;  // by column, over queries by weight; ERR: NaN if a label exceeds err_max
  std::vector<double> standard_error;  // of those means; NaN for a single query
  std::vector<double> per_query;       // queries x columns, when asked for

  double ndcg(size_t rank) const { return mean[measures.ndcg(rank)]; }
};

// The score of a document that a system leaves out of its ranking. It gives nothing at any rank, and counts
// where the measure knows all relevant documents: in the ideal order of NDCG and in MAP.
constexpr double kNotRanked = -std::numeric_limits<double>::infinity();

// Keeps views of the queries, labels and names, which must outlive it. Safe to share between threads.
class Evaluator {
 public:
  // names may be empty; documents without a name are tied in file order under Ties::kName. `weights`: of the
  // documents; a query counts their mean. Throws InputError when a label has no gain under a policy, or when
  // every query has weight 0.
  Evaluator(const QueryIndex& queries, std::span<const int32_t> labels, const NameTable& names,
            std::vector<MetricPolicy> policies, size_t k = 10, std::span<const float> weights = {});
  Evaluator(const Dataset& data, std::vector<MetricPolicy> policies, size_t k = 10)
      : Evaluator(data.queries(), data.labels(), data.names(), std::move(policies), k, data.weights()) {}

  // One score a document, finite or kNotRanked, in the data's order; one evaluation a policy, the same on any
  // number of threads.
  std::vector<Evaluation> operator()(std::span<const double> scores, ThreadPool& pool,
                                     bool keep_per_query = false) const;

 private:
  struct Compiled {
    MetricPolicy policy;
    std::vector<double> gains;      // by label
    std::vector<double> stops;      // by label; empty: no ERR
    std::vector<double> discounts;  // by rank from 0
    size_t ranking;                 // which of rankings_ it sees
  };
  // Policies that agree on these see the same order of documents.
  struct RankingRule {
    Ties ties;
    bool float_scores;
    bool operator==(const RankingRule&) const = default;
  };
  struct Scratch;

  void rank_query(size_t query, std::span<const double> scores, Scratch& scratch) const;
  void evaluate_query(size_t query, const Compiled& compiled, Scratch& scratch, double* row) const;

  const QueryIndex& queries_;
  std::span<const int32_t> labels_;
  const NameTable& names_;
  std::vector<double> weights_;  // of each query; empty: 1
  MeasureTable measures_;
  std::vector<Compiled> policies_;
  std::vector<RankingRule> rankings_;
  int max_label_ = 0;
};

}  // namespace tunemix
