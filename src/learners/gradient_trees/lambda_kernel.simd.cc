#include "learners/gradient_trees/lambda_kernel.h"

#include <utility>

namespace tunemix::trees::TUNEMIX_SET {
namespace {

// kPairLanes pairs are worked on at a time whatever the width of vectors, so that sums have one order.
constexpr size_t kWidth = kVectorBytes / 4;
constexpr size_t kParts = kPairLanes / kWidth;
typedef float Floats __attribute__((vector_size(kVectorBytes), aligned(4), may_alias));
typedef int32_t Ints __attribute__((vector_size(kVectorBytes), aligned(4), may_alias));

alignas(64) constexpr int32_t kLaneNumber[kPairLanes] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                         8, 9, 10, 11, 12, 13, 14, 15};

[[gnu::always_inline]] inline Floats floats_at(const float* p, size_t part) {
  return *reinterpret_cast<const Floats*>(p + part * kWidth);
}
[[gnu::always_inline]] inline Ints lane_numbers(size_t part) {
  return *reinterpret_cast<const Ints*>(kLaneNumber + part * kWidth);
}

[[gnu::always_inline]] inline Floats absolute(Floats x) {
  return reinterpret_cast<Floats>(reinterpret_cast<Ints>(x) & 0x7fffffff);
}

// 2^x for x <= 126, not below 2^-126. A polynomial of degree 5 for the fraction; the relative error
// is 2e-7 near 0 and grows with |x| to 1e-5.
[[gnu::always_inline]] inline Floats exp2_of(Floats x) {
  const Floats lowest = Floats{} - 126.0F;
  x = x > lowest ? x : lowest;
  const Floats shift = Floats{} + 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
  const Floats whole = (x + shift) - shift;
  const Floats f = x - whole;
  Floats p = Floats{} + 0.0013400433F;
  p = p * f + 0.0096760374F;
  p = p * f + 0.055503272F;
  p = p * f + 0.24022107F;
  p = p * f + 0.69314718F;
  p = p * f + 1.0000001F;
  const Ints power = (__builtin_convertvector(whole, Ints) + 127) << 23;
  return p * reinterpret_cast<Floats>(power);
}

// Lane k gets that of lane k + kStep added to it, from the half of all lanes down to one: lane 0 has the sum,
// in an order that does not depend on the width of vectors.
template <size_t kStep, size_t... kLane>
[[gnu::always_inline]] inline Floats add_lanes(Floats x, std::index_sequence<kLane...> lanes) {
  x += __builtin_shufflevector(x, x, ((kLane + kStep) % kWidth)...);
  if constexpr (kStep > 1)
    return add_lanes<kStep / 2>(x, lanes);
  else
    return x;
}

struct Lanes {
  Floats part[kParts] = {};

  [[gnu::always_inline]] float sum() {
    for (size_t step = kParts / 2; step > 0; step /= 2)
      for (size_t v = 0; v < step; ++v) part[v] += part[v + step];
    return add_lanes<kWidth / 2>(part[0], std::make_index_sequence<kWidth>())[0];
  }
};

void make_odds(const float* scores, size_t count, float middle, float sigma, float* odds) {
  const float steepness = 1.44269504F * sigma;
  for (size_t i = 0; i < count; i += kWidth)
    *reinterpret_cast<Floats*>(odds + i) = exp2_of(steepness * (floats_at(scores + i, 0) - middle));
}

template <bool kByDistance, bool kWide>
LambdaSums add(const LambdaPairs& pairs, const RankedDocuments& others, size_t first) {
  const Floats score = Floats{} + pairs.score;
  const Floats gain = Floats{} + pairs.gain;
  const Floats discount = Floats{} + pairs.discount;
  const Floats inverse_odds = Floats{} + pairs.inverse_odds;
  const Floats steepness = Floats{} - 1.44269504F * pairs.sigma;
  Lanes own_gradient;
  Lanes own_hessian;
  Lanes size;
  const size_t first_block = first / kPairLanes * kPairLanes;
  for (size_t j = first_block; j < others.count; j += kPairLanes)
    for (size_t v = 0; v < kParts; ++v) {
      const Floats distance = score - floats_at(others.score + j, v);
      Floats e;  // e^-(sigma distance)
      if constexpr (kWide)
        e = exp2_of(steepness * distance);
      else
        e = inverse_odds * floats_at(others.odds + j, v);
      // Above 0 where the document is more relevant than the other.
      Floats delta = (gain - floats_at(others.gain + j, v)) * (discount - floats_at(others.discount + j, v));
      const Floats one_e = e + 1.0F;
      Floats logistic;  // 1 / (1 + e)
      if constexpr (kByDistance) {
        const Floats apart = distance + 0.01F;
        const Floats both = 1.0F / (one_e * apart);  // one division for two
        logistic = apart * both;
        delta *= one_e * both;
      } else {
        logistic = 1.0F / one_e;
      }
      const Floats other = e * logistic;
      Floats push = (delta > 0.0F ? other : logistic) * delta;  // on the document itself, upwards
      Floats curvature = absolute(other * (logistic * delta));
      if (j == first_block || j + kPairLanes > others.count) {
        // Lanes without a document may hold anything.
        const Ints number = lane_numbers(v) + static_cast<int32_t>(j);
        const Ints counts =
            (number >= static_cast<int32_t>(first)) & (number < static_cast<int32_t>(others.count));
        push = counts ? push : Floats{};
        curvature = counts ? curvature : Floats{};
      }
      own_gradient.part[v] -= push;
      own_hessian.part[v] += curvature;
      size.part[v] += absolute(push);
      auto* other_gradient = reinterpret_cast<Floats*>(others.gradient + j + v * kWidth);
      auto* other_hessian = reinterpret_cast<Floats*>(others.hessian + j + v * kWidth);
      *other_gradient += push;
      *other_hessian += curvature;
    }
  return {own_gradient.sum(), own_hessian.sum(), size.sum()};
}

LambdaSums add_lambdas(const LambdaPairs& pairs, const RankedDocuments& others, size_t first) {
  if (pairs.wide)
    return pairs.by_distance ? add<true, true>(pairs, others, first) : add<false, true>(pairs, others, first);
  return pairs.by_distance ? add<true, false>(pairs, others, first) : add<false, false>(pairs, others, first);
}

void count_ranks(const float* scores, size_t count, int32_t* rank) {
  for (size_t i = 0; i < count; i += kWidth) {
    const Floats own = floats_at(scores + i, 0);
    Ints above = {};
    for (size_t j = 0; j < i; ++j) above -= scores[j] >= own;
    const size_t end = i + kWidth < count ? i + kWidth : count;
    for (size_t j = i; j < end; ++j)
      above -= (scores[j] > own) | ((scores[j] == own) & (lane_numbers(0) > static_cast<int32_t>(j - i)));
    for (size_t j = end; j < count; ++j) above -= scores[j] > own;
    *reinterpret_cast<Ints*>(rank + i) = above;
  }
}

}  // namespace

const LambdaKernels lambda_kernels_table = {make_odds, add_lambdas, count_ranks};

}  // namespace tunemix::trees::TUNEMIX_SET
