// What is minimised over parameters: the mean loss over training queries, and a penalty on the weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learners/linear/losses.h"
#include "learners/linear/model.h"

namespace tunemix::linear {

// Which share a query has in the mean: as much as any other, or by its pairs.
enum class Share { kQuery, kPair };

class RankingProblem {
 public:
  // `per_pair`: the loss is a sum over pairs, and divided by their number. Keeps a view of the data.
  RankingProblem(const TrainingData& data, Shape shape, Loss loss, bool per_pair, Share share,
                 const Context& context);

  const Shape& shape() const { return shape_; }
  const Scaling& scaling() const { return scaling_; }
  const RankedQueries& queries() const { return queries_; }
  // mean loss + l2 / 2 |parameters|^2, the same on any number of threads.
  double operator()(std::span<const double> parameters, double l2, std::span<double> gradient) const;

 private:
  void add_block(size_t block, const double* unscaled, double* sums, double& loss) const;

  const Dataset& data_;
  const Context& context_;
  Shape shape_;
  Loss loss_;
  Scaling scaling_;
  RankedQueries queries_;
  std::vector<double> weights_;  // of each query's loss
  std::vector<size_t> blocks_;   // first queries of the blocks that are summed on their own
};

}  // namespace tunemix::linear
