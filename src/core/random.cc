#include "tunemix/core/random.h"

#include <bit>
#include <cmath>

#include "tunemix/core/error.h"
#include "tunemix/core/hash.h"

namespace tunemix {
namespace {

uint64_t split_mix(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(uint64_t seed) {
  for (uint64_t& word : s_) word = split_mix(seed);
}

Random::Random(uint64_t seed, std::string_view name) : Random(derive_seed(seed, name)) {}

uint64_t Random::next() {
  const uint64_t result = std::rotl(s_[1] * 5, 7) * 9;
  const uint64_t t = s_[1] << 17;
  s_[2] ^= s_[0];
  s_[3] ^= s_[1];
  s_[1] ^= s_[2];
  s_[0] ^= s_[3];
  s_[2] ^= t;
  s_[3] = std::rotl(s_[3], 45);
  return result;
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

uint64_t Random::below(uint64_t n) {
  require(n > 0, "Random::below needs n > 0");
  // Lemire 2019: multiply, and reject the few low words that would favour small results.
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(next()) * n;
  auto low = static_cast<uint64_t>(product);
  if (low < n) {
    const uint64_t threshold = (0 - n) % n;
    while (low < threshold) {
      product = static_cast<Wide>(next()) * n;
      low = static_cast<uint64_t>(product);
    }
  }
  return static_cast<uint64_t>(product >> 64);
}

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  double u = 0;
  double v = 0;
  double s = 0;
  do {
    u = 2 * uniform() - 1;
    v = 2 * uniform() - 1;
    s = u * u + v * v;
  } while (s >= 1 || s == 0);
  const double factor = std::sqrt(-2 * std::log(s) / s);
  spare_ = v * factor;
  has_spare_ = true;
  return u * factor;
}

std::vector<uint64_t> Random::state() const {
  return {s_[0], s_[1], s_[2], s_[3], std::bit_cast<uint64_t>(spare_), has_spare_ ? 1ULL : 0ULL};
}

Random Random::from_state(std::span<const uint64_t> state) {
  if (state.size() != 6) throw InputError("random state: expected 6 words");
  Random random;
  for (int i = 0; i < 4; ++i) random.s_[i] = state[i];
  random.spare_ = std::bit_cast<double>(state[4]);
  random.has_spare_ = state[5] != 0;
  return random;
}

uint64_t derive_seed(uint64_t seed, std::string_view name) {
  return Hasher().number(seed).text(name).digest().low;
}

}  // namespace tunemix
