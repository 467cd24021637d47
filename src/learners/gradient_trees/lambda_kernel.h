// Lambda gradients of one query, its documents in the order of their scores.
#pragma once

#include <cstddef>

namespace tunemix::trees {

constexpr size_t kPairLanes = 16;  // arrays below are padded to a multiple of it

struct LambdaQuery {
  size_t documents = 0;
  size_t truncation = 0;  // pairs have at least one document above this rank
  float sigma = 1;
  bool by_distance = true;  // divide a pair's weight by .01 + its distance in score
  // By rank, the padding too (scores: any; share: 0 there).
  const float* score = nullptr;  // descending
  const float* gain = nullptr;
  const float* discount = nullptr;  // not ascending
  const float* share = nullptr;     // 1 / ideal DCG
};

// Adds to gradient[rank] and hessian[rank], padded too; returns the sum of all pairs' |lambda|.
float add_lambdas(const LambdaQuery& query, float* gradient, float* hessian);

}  // namespace tunemix::trees
