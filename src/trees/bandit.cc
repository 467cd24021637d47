#include "tunemix/trees/bandit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tunemix {
namespace {

// Sums over prefixes of non-negative weights, for draws in O(log n).
class PrefixTree {
 public:
  void assign(std::span<const double> weights) {
    weights_.assign(weights.begin(), weights.end());
    top_ = 1;
    while (top_ * 2 <= weights_.size()) top_ *= 2;
    sums_.assign(weights_.size() + 1, 0.0);
    for (size_t i = 1; i <= weights_.size(); ++i) {
      sums_[i] += weights_[i - 1];
      const size_t parent = i + (i & (~i + 1));
      if (parent <= weights_.size()) sums_[parent] += sums_[i];
    }
  }
  void set(size_t i, double weight) {
    const double change = weight - weights_[i];
    weights_[i] = weight;
    for (size_t k = i + 1; k < sums_.size(); k += k & (~k + 1)) sums_[k] += change;
  }
  double operator[](size_t i) const { return weights_[i]; }
  double total() const {
    double sum = 0;
    for (size_t k = weights_.size(); k > 0; k &= k - 1) sum += sums_[k];
    return sum;
  }
  // The first i whose prefix sum exceeds `target`.
  size_t find(double target) const {
    size_t at = 0;
    for (size_t step = top_; step > 0; step /= 2)
      if (at + step < sums_.size() && sums_[at + step] <= target) {
        at += step;
        target -= sums_[at];
      }
    return std::min(at, weights_.size() - 1);
  }

 private:
  std::vector<double> weights_;
  std::vector<double> sums_;  // a Fenwick tree
  size_t top_ = 1;
};

std::vector<uint32_t> all_arms(size_t arms) {
  std::vector<uint32_t> result(arms);
  std::iota(result.begin(), result.end(), 0U);
  return result;
}

bool contains(const std::vector<uint32_t>& drawn, size_t arm) {
  return std::find(drawn.begin(), drawn.end(), arm) != drawn.end();
}

// Draws arms one by one from `one_arm` until there are `count` different ones.
template <typename OneArm>
std::vector<uint32_t> draw_distinct(size_t arms, size_t count, OneArm one_arm) {
  if (count >= arms) return all_arms(arms);
  std::vector<uint32_t> drawn;
  while (drawn.size() < count) {
    const size_t arm = one_arm(drawn);
    if (!contains(drawn, arm)) drawn.push_back(static_cast<uint32_t>(arm));
  }
  return drawn;
}

class RandomBandit final : public Bandit {
 public:
  explicit RandomBandit(size_t arms) : Bandit(arms) {}
  std::vector<uint32_t> draw(size_t count, Random& random) override {
    return draw_distinct(arms_, count, [&](const auto&) { return random.below(arms_); });
  }
  void reward(std::span<const uint32_t>, std::span<const double>) override {}
  std::vector<double> probabilities() const override {
    return std::vector<double>(arms_, 1.0 / static_cast<double>(arms_));
  }
  void save(BinaryWriter&) const override {}
  void load(BinaryReader&) override {}
};

// The Exp3 family (Auer et al. 2002): p = (1-g) w / sum w + g/A. Kept as ln w; the weights themselves are
// relative to the largest and live in a prefix tree.
class Exp3Bandit final : public Bandit {
 public:
  Exp3Bandit(const BanditOptions& options, size_t arms) : Bandit(arms), options_(options), log_(arms, 0.0) {
    const double a = static_cast<double>(arms);
    if (options.kind == BanditKind::kExp3P)
      std::fill(log_.begin(), log_.end(),
                options.confidence * options.exploration / 3 * std::sqrt(options.horizon / a));
    settle();
  }

  std::vector<uint32_t> draw(size_t count, Random& random) override {
    std::vector<double> weights;  // of the arms drawn so far, which weigh nothing until the draw is complete
    std::vector<uint32_t> drawn = draw_distinct(arms_, count, [&](const std::vector<uint32_t>& before) {
      if (!before.empty() && weights.size() < before.size()) {
        weights.push_back(tree_[before.back()]);
        tree_.set(before.back(), 0);
      }
      const double rest = tree_.total();
      if (random.uniform() < options_.exploration || rest <= kNothing) return random.below(arms_);
      return static_cast<uint64_t>(tree_.find(random.uniform() * rest));
    });
    for (size_t k = 0; k < weights.size(); ++k) tree_.set(drawn[k], weights[k]);
    return drawn;
  }

  void reward(std::span<const uint32_t> arms, std::span<const double> rewards) override {
    const double a = static_cast<double>(arms_);
    std::vector<double> estimates(arms.size());
    for (size_t k = 0; k < arms.size(); ++k) estimates[k] = rewards[k] / chance(arms[k], arms.size());
    if (options_.kind == BanditKind::kExp3P) {
      const double bonus = options_.confidence / std::sqrt(a * options_.horizon);
      const double rate = options_.exploration / (3 * a);
      for (size_t j = 0; j < arms_; ++j) log_[j] += rate * bonus / probability(j);
      for (size_t k = 0; k < arms.size(); ++k) log_[arms[k]] += rate * estimates[k];
      settle();
      return;
    }
    const double rate = options_.kind == BanditKind::kExp3 ? options_.exploration / a : options_.rate;
    for (size_t k = 0; k < arms.size(); ++k) {
      log_[arms[k]] += rate * estimates[k];
      if (log_[arms[k]] > reference_ + kHeadroom) {
        settle();
        continue;
      }
      tree_.set(arms[k], std::exp(log_[arms[k]] - reference_));
    }
    total_ = tree_.total();
  }

  std::vector<double> probabilities() const override {
    std::vector<double> p(arms_);
    for (size_t j = 0; j < arms_; ++j) p[j] = probability(j);
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& value : p) value /= sum;
    return p;
  }

  void settle() override {
    reference_ = *std::max_element(log_.begin(), log_.end());
    std::vector<double> weights(arms_);
    for (size_t j = 0; j < arms_; ++j) weights[j] = std::exp(log_[j] - reference_);
    tree_.assign(weights);
    total_ = tree_.total();
  }

  void save(BinaryWriter& out) const override { out.put(log_); }
  void load(BinaryReader& in) override {
    log_ = in.get_vector<double>();
    if (log_.size() != arms_ ||
        !std::all_of(log_.begin(), log_.end(), [](double x) { return std::isfinite(x); }))
      in.fail("the bandit's weights are wrong");
    settle();
  }

 private:
  static constexpr double kHeadroom = 8;     // of ln w over the reference before the weights are renewed
  static constexpr double kNothing = 1e-12;  // the heaviest arm weighs about 1

  double probability(size_t arm) const {
    return (1 - options_.exploration) * (tree_[arm] / total_) +
           options_.exploration / static_cast<double>(arms_);
  }

  // Of being among `count` arms that are drawn at once: what a reward is divided by, so that its estimate is
  // right on average.
  double chance(size_t arm, size_t count) const {
    const double p = probability(arm);
    return count == 1 ? p : -std::expm1(static_cast<double>(count) * std::log1p(-p));
  }

  BanditOptions options_;
  std::vector<double> log_;
  double reference_ = 0;
  PrefixTree tree_;
  double total_ = 0;
};

// UCB1 (Auer et al. 2002) and UCB-V (Audibert et al. 2009): the arms with the largest upper bounds.
class UcbBandit final : public Bandit {
 public:
  UcbBandit(bool variance, size_t arms)
      : Bandit(arms), variance_(variance), pulls_(arms, 0.0), sum_(arms, 0.0), squares_(arms, 0.0) {}

  std::vector<uint32_t> draw(size_t count, Random&) override {
    if (count >= arms_) return all_arms(arms_);
    std::vector<double> bounds(arms_);
    const double log_t = std::log(std::max(1.0, total_));
    for (size_t j = 0; j < arms_; ++j) bounds[j] = bound(j, log_t);
    std::vector<uint32_t> order = all_arms(arms_);
    std::partial_sort(
        order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
        [&](uint32_t a, uint32_t b) { return bounds[a] > bounds[b] || (bounds[a] == bounds[b] && a < b); });
    order.resize(count);
    return order;
  }

  void reward(std::span<const uint32_t> arms, std::span<const double> rewards) override {
    for (size_t k = 0; k < arms.size(); ++k) {
      pulls_[arms[k]] += 1;
      sum_[arms[k]] += rewards[k];
      squares_[arms[k]] += rewards[k] * rewards[k];
      total_ += 1;
    }
  }

  std::vector<double> probabilities() const override {
    std::vector<double> p(arms_);
    for (size_t j = 0; j < arms_; ++j) p[j] = (pulls_[j] + 1) / (total_ + static_cast<double>(arms_));
    return p;
  }

  void save(BinaryWriter& out) const override {
    out.put(pulls_);
    out.put(sum_);
    out.put(squares_);
  }
  void load(BinaryReader& in) override {
    pulls_ = in.get_vector<double>();
    sum_ = in.get_vector<double>();
    squares_ = in.get_vector<double>();
    if (pulls_.size() != arms_ || sum_.size() != arms_ || squares_.size() != arms_)
      in.fail("the bandit's statistics are wrong");
    total_ = std::accumulate(pulls_.begin(), pulls_.end(), 0.0);
  }

 private:
  double bound(size_t j, double log_t) const {
    if (pulls_[j] == 0) return HUGE_VAL;
    const double mean = sum_[j] / pulls_[j];
    if (!variance_) return mean + std::sqrt(2 * log_t / pulls_[j]);
    const double variance = std::max(0.0, squares_[j] / pulls_[j] - mean * mean);
    const double e = kZeta * log_t;
    return mean + std::sqrt(2 * variance * e / pulls_[j]) + 3 * e / pulls_[j];
  }

  static constexpr double kZeta = 1.2;
  bool variance_;
  std::vector<double> pulls_;
  std::vector<double> sum_;
  std::vector<double> squares_;
  double total_ = 0;
};

}  // namespace

std::unique_ptr<Bandit> make_bandit(const BanditOptions& options, size_t arms) {
  if (arms == 0) throw InputError("a bandit needs at least one arm");
  switch (options.kind) {
    case BanditKind::kExp3G:
    case BanditKind::kExp3:
    case BanditKind::kExp3P:
      return std::make_unique<Exp3Bandit>(options, arms);
    case BanditKind::kUcb1:
    case BanditKind::kUcbV:
      return std::make_unique<UcbBandit>(options.kind == BanditKind::kUcbV, arms);
    case BanditKind::kRandom:
      return std::make_unique<RandomBandit>(arms);
    case BanditKind::kNone:
      break;
  }
  throw InputError("no bandit was chosen");
}

double bandit_reward(double edge) {
  const double rest = 1 - edge * edge;
  return rest <= std::exp(-2.0) ? 1.0 : std::max(0.0, -0.5 * std::log(rest));
}

}  // namespace tunemix
