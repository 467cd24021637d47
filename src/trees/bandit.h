// Multi-armed bandits that choose which features a stump search looks at; they know nothing of features.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tunemix/core/binary.h"
#include "tunemix/core/random.h"

namespace tunemix {

enum class BanditKind { kNone, kExp3A, kValue, kExp3G, kExp3, kExp3P, kUcb1, kUcbV, kRandom };
// The name of each, as options have it.
std::vector<std::pair<std::string, BanditKind>> bandit_words();

struct BanditOptions {
  BanditKind kind = BanditKind::kValue;
  // g: the share of uniform draws, of value the least (not ucb1, ucbv, random); 0: the rule's own
  double exploration = 0;
  double rate = 0;          // eta of exp3g, A eta of exp3a, the step of value; 0: the rule's own
  double power = 4;         // of value: arms are drawn by value^power
  double confidence = 2.0;  // a of exp3p
  double horizon = 100000;  // T of exp3p: the pulls it is tuned for
};

class Bandit {
 public:
  virtual ~Bandit() = default;

  size_t arms() const { return arms_; }
  // `count` different arms (all of them when there are no more, or when the rule has to see all of them
  // first), to be rewarded before the next draw.
  virtual std::vector<uint32_t> draw(size_t count, Random& random) = 0;
  // Pays the arms of the last draw, in its order; `rewards` in [0, 1]. `weight` is how much they tell: the
  // share of the documents that were looked at.
  virtual void reward(std::span<const uint32_t> arms, std::span<const double> rewards, double weight) = 0;
  // Whether rewards are to be relative to what an arm that tells nothing would be paid.
  virtual bool compares_with_chance() const { return false; }
  // Of being drawn next; for the ucb family, whose choice is not random, the share of past pulls (each arm
  // counted once more). Positive, and summing to 1.
  virtual std::vector<double> probabilities() const = 0;
  // Forgets what rounding has left behind, so that a bandit loaded here goes on exactly as this one.
  virtual void settle() {}
  virtual void save(BinaryWriter& out) const = 0;
  virtual void load(BinaryReader& in) = 0;

 protected:
  explicit Bandit(size_t arms) : arms_(arms) {}
  size_t arms_;
};

// The options with the rule's own exploration and rate in place of zeros.
BanditOptions with_defaults(BanditOptions options);

// Rounds after which a model keeps what the bandit makes of the features: 1, 2, 5, 10, 20, 50, ...
constexpr bool is_sampled_round(int64_t round) {
  while (round % 10 == 0) round /= 10;
  return round == 1 || round == 2 || round == 5;
}

// Throws InputError for kNone.
std::unique_ptr<Bandit> make_bandit(const BanditOptions& options, size_t arms);

// Whether the size of rewards does not matter to the rule, only their differences.
bool learns_from_differences(BanditKind kind);

// -ln sqrt(1 - edge^2), at most 1 (T&M figure 6).
double bandit_reward(double edge);

}  // namespace tunemix
