// What several rankers make of their training data: the scale of features, and the queries that teach.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tunemix/learn/training_data.h"

namespace tunemix {

// A raw feature enters as (x - shift) * factor; factor 0 for a feature without spread.
struct Scaling {
  std::vector<double> shift;
  std::vector<double> factor;
};
// Standard score over the documents to be trained on.
Scaling fit_scaling(const TrainingData& data, const Context& context);

// Where the documents of one query end that have the same label, the best label first.
std::vector<uint32_t> group_ends(std::span<const int32_t> descending_labels);

// The queries in which documents differ in their labels, the best documents of each first. The others, and
// those without weight, teach a ranker nothing.
struct RankedQueries {
  explicit RankedQueries(const TrainingData& data);

  size_t size() const { return offsets.size() - 1; }
  size_t documents() const { return rows.size(); }

  std::vector<size_t> offsets = {0};
  std::vector<uint32_t> rows;  // in TrainingData::all()
  std::vector<int32_t> labels;
  std::vector<double> weights;  // of each query
  std::vector<double> pairs;    // of each query: pairs of documents with different labels
};

}  // namespace tunemix
