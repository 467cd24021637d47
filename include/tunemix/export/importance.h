// How much an ensemble needs each feature: what its NDCG@10 loses when the feature's values are shuffled
// among the documents of each query.
#pragma once

#include <optional>
#include <vector>

#include "tunemix/export/bundle.h"

namespace tunemix {

struct ImportanceOptions {
  size_t repeats = 5;  // shufflings of every feature
  uint64_t seed = 1;
};

struct FeatureImportance {
  size_t feature = 0;           // from 0
  double loss = 0;              // of NDCG@10, the mean over repeats and queries
  std::optional<double> error;  // standard error over queries; none of a single query
};

struct Importance {
  double ndcg = 0;  // of the data as it is; ties averaged, 1 for queries without relevant documents
  std::optional<double> error;
  size_t queries = 0;
  std::vector<FeatureImportance> features;  // in order
};

// Shuffling within queries leaves what a feature says about the query as a whole, which ranks nothing. The
// same on any number of threads. Throws InputError as Bundle::predict does, and where no label is above 0.
Importance permutation_importance(const Bundle& bundle, const Dataset& data, const ImportanceOptions& options,
                                  const Context& context, const GivenScores& given = {});

}  // namespace tunemix
