// Lambda gradients of one query, its documents in the order of their scores, and that order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/simd.h"

namespace tunemix::trees {

constexpr size_t kPairLanes = 16;  // arrays below have room for a multiple of it

// Documents by rank, or some of them.
struct RankedDocuments {
  size_t count = 0;
  const float* score = nullptr;     // descending
  const float* odds = nullptr;      // e^(sigma (score - some score)); not read where pairs.wide
  const float* gain = nullptr;      // times sigma / ideal DCG
  const float* discount = nullptr;  // not ascending
  float* gradient = nullptr;        // added to; begins at a cache line, as the hessian
  float* hessian = nullptr;         // divided by sigma
};

// The pairs of one document with numbers first, first + 1, ... of `others`, all ranked below it.
struct LambdaPairs {
  float score = 0;
  float gain = 0;
  float discount = 0;
  float inverse_odds = 1;   // 1 / odds of the document
  float sigma = 1;          // read where wide
  bool wide = false;        // scores are too far apart for odds
  bool by_distance = true;  // divide a pair's weight by .01 + its distance in score
};
struct LambdaSums {
  float gradient = 0;  // of the document
  float hessian = 0;   // divided by sigma, as those of the others
  float size = 0;      // sum of |lambda| of the pairs
};

struct LambdaKernels {
  // odds[i] = e^(sigma (scores[i] - middle)), in whole multiples of kPairLanes; the exponent is at most 80.
  void (*make_odds)(const float* scores, size_t count, float middle, float sigma, float* odds);
  LambdaSums (*add_lambdas)(const LambdaPairs& pairs, const RankedDocuments& others, size_t first);
  // rank[i]: how many scores are above score i, or equal and before it. Reads and writes whole multiples of
  // kPairLanes. Quadratic, and still the fastest way for some hundred documents.
  void (*count_ranks)(const float* scores, size_t count, int32_t* rank);
};
TUNEMIX_KERNELS(LambdaKernels, lambda_kernels)

}  // namespace tunemix::trees
