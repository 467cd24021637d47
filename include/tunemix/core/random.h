// Seeded random numbers that are the same on every machine; `std::` distributions are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace tunemix {

// xoshiro256** (Blackman and Vigna 2018), seeded through SplitMix64.
class Random {
 public:
  explicit Random(uint64_t seed);
  // The stream of `name` under `seed`: streams of different names are independent.
  Random(uint64_t seed, std::string_view name);

  uint64_t next();
  double uniform();            // in [0, 1)
  uint64_t below(uint64_t n);  // in [0, n), without bias; n > 0
  double normal();             // standard Gaussian (polar method)

  template <typename T>
  void shuffle(std::span<T> values) {
    for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

  // The whole state as words, for models that are extended later.
  std::vector<uint64_t> state() const;
  static Random from_state(std::span<const uint64_t> state);

 private:
  Random() = default;
  uint64_t s_[4] = {};
  double spare_ = 0;
  bool has_spare_ = false;
};

// A seed for a named sub-task, so that its results do not depend on what else is run.
uint64_t derive_seed(uint64_t seed, std::string_view name);

}  // namespace tunemix
