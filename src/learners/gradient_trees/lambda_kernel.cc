#include "learners/gradient_trees/lambda_kernel.h"

#include <cstdint>
#include <cstring>

#include "core/simd.h"

namespace tunemix::trees {
namespace {

// kPairLanes pairs are worked on at a time whatever the width of vectors, so that sums have one order.
constexpr size_t kWidth = kVectorBytes / 4;
constexpr size_t kParts = kPairLanes / kWidth;
typedef float Floats __attribute__((vector_size(kVectorBytes), aligned(4), may_alias));
typedef int32_t Ints __attribute__((vector_size(kVectorBytes), aligned(4), may_alias));

[[gnu::always_inline]] inline const Floats& part_of(const float* p, size_t part) {
  return *reinterpret_cast<const Floats*>(p + part * kWidth);
}

// e^x for x <= 0; relative error below 2e-7, and 0 < e^x <= 1 also for x far below -87.
[[gnu::always_inline]] inline Floats exp_of(Floats x) {
  const Floats lowest = Floats{} - 87.0F;
  x = x > lowest ? x : lowest;
  const Floats shift = Floats{} + 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
  const Floats shifted = x * 1.44269504F + shift;
  const Floats whole = shifted - shift;
  const Floats r = x - whole * 0.693359375F - whole * -2.12194440e-4F;
  Floats p = Floats{} + 1.0F / 720;
  p = p * r + 1.0F / 120;
  p = p * r + 1.0F / 24;
  p = p * r + 1.0F / 6;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const Ints power = (__builtin_convertvector(whole, Ints) + 127) << 23;
  return p * reinterpret_cast<Floats>(power);
}

struct Lanes {
  Floats part[kParts] = {};

  // In a fixed order.
  [[gnu::always_inline]] float sum() const {
    float lane[kPairLanes];
    std::memcpy(lane, part, sizeof lane);
    for (size_t step = kPairLanes / 2; step > 0; step /= 2)
      for (size_t k = 0; k < step; ++k) lane[k] += lane[k + step];
    return lane[0];
  }
};

template <bool kByDistance>
float add(const LambdaQuery& q, float* gradient, float* hessian) {
  alignas(64) int32_t lane_number[kPairLanes];
  for (size_t k = 0; k < kPairLanes; ++k) lane_number[k] = static_cast<int32_t>(k);
  const size_t top = q.documents < q.truncation ? q.documents : q.truncation;
  const Floats sigma = Floats{} + q.sigma;
  Lanes total;
  for (size_t i = 0; i < top && i + 1 < q.documents; ++i) {
    const Floats score = Floats{} + q.score[i];
    const Floats gain = Floats{} + q.gain[i];
    const Floats discount = Floats{} + q.discount[i];
    Lanes own_gradient;
    Lanes own_hessian;
    const size_t first = (i + 1) / kPairLanes * kPairLanes;
    for (size_t j = first; j < q.documents; j += kPairLanes)
      for (size_t v = 0; v < kParts; ++v) {
        const Floats distance = score - part_of(q.score + j, v);
        const Floats more = gain - part_of(q.gain + j, v);
        const Ints is_higher = more > 0.0F;  // document i is the more relevant one
        Floats delta =
            (is_higher ? more : -more) * (discount - part_of(q.discount + j, v)) * part_of(q.share + j, v);
        if (j == first) {
          const Ints rank = reinterpret_cast<const Ints*>(lane_number)[v] + static_cast<int32_t>(j);
          delta = rank > static_cast<int32_t>(i) ? delta : Floats{};
        }
        const Floats e = exp_of(-sigma * distance);
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
        delta *= sigma;
        const Floats other = e * logistic;
        const Floats lambda = (is_higher ? other : logistic) * delta;
        const Floats curvature = sigma * other * logistic * delta;
        const Floats pull = is_higher ? -lambda : lambda;  // on document i
        own_gradient.part[v] += pull;
        own_hessian.part[v] += curvature;
        total.part[v] += lambda;
        auto* other_gradient = reinterpret_cast<Floats*>(gradient + j + v * kWidth);
        auto* other_hessian = reinterpret_cast<Floats*>(hessian + j + v * kWidth);
        *other_gradient -= pull;
        *other_hessian += curvature;
      }
    gradient[i] += own_gradient.sum();
    hessian[i] += own_hessian.sum();
  }
  return total.sum();
}

}  // namespace

float add_lambdas(const LambdaQuery& query, float* gradient, float* hessian) {
  return query.by_distance ? add<true>(query, gradient, hessian) : add<false>(query, gradient, hessian);
}

}  // namespace tunemix::trees
