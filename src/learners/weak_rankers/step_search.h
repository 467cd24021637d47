// The best step at a threshold of a feature, from the bins of the training documents.
#pragma once

#include <memory>
#include <optional>

#include "learners/ranking_data.h"
#include "learners/weak_rankers/model.h"

namespace tunemix::weak {

class StepSearch {
 public:
  StepSearch(const TrainingData& data, const RankedQueries& queries, size_t max_bins, const Context& context);

  struct Step {
    WeakRanker ranker;  // weight 1
    double gain = 0;    // r: the sum of the potentials of the documents at or above the threshold
  };
  // The step with the largest |r|; the potentials are of the queries' documents. No step where no feature
  // has two bins.
  std::optional<Step> best(std::span<const double> potentials) const;
  // For each of the queries' documents whether it is at or above the step's threshold.
  void apply(const WeakRanker& step, std::span<uint8_t> out) const;

 private:
  const Dataset& data_;
  const RankedQueries& queries_;
  const Context& context_;
  Bins shared_;
};

}  // namespace tunemix::weak
