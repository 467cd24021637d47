#include "trees/bandit.h"

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

// One of the arms that are not among `drawn`, each as likely.
uint32_t any_other(size_t arms, const std::vector<uint32_t>& drawn, Random& random) {
  auto arm = static_cast<uint32_t>(random.below(arms));
  while (contains(drawn, arm)) arm = static_cast<uint32_t>(random.below(arms));
  return arm;
}

class RandomBandit final : public Bandit {
 public:
  explicit RandomBandit(size_t arms) : Bandit(arms) {}
  std::vector<uint32_t> draw(size_t count, Random& random) override {
    if (count >= arms_) return all_arms(arms_);
    std::vector<uint32_t> drawn;
    while (drawn.size() < count) drawn.push_back(any_other(arms_, drawn, random));
    return drawn;
  }
  void reward(std::span<const uint32_t>, std::span<const double>, double) override {}
  std::vector<double> probabilities() const override {
    return std::vector<double>(arms_, 1.0 / static_cast<double>(arms_));
  }
  void save(BinaryWriter&) const override {}
  void load(BinaryReader&) override {}
};

// Arms drawn by p = (1-g) w / sum w + g/A, several at a time without replacement: each draw is from the arms
// that are left. Kept as ln w; the weights themselves are relative to the largest and live in a prefix tree.
// The rules below differ in what a reward does to ln w.
class SoftmaxBandit : public Bandit {
 public:
  std::vector<uint32_t> draw(size_t count, Random& random) override {
    if (count >= arms_) return all_arms(arms_);
    std::vector<uint32_t> drawn = drawn_first(count);
    std::vector<double> weights;  // of the arms drawn so far, which weigh nothing until the draw is complete
    const auto set_aside = [&](uint32_t arm) {
      weights.push_back(tree_[arm]);
      tree_.set(arm, 0);
    };
    for (const uint32_t arm : drawn) set_aside(arm);
    while (drawn.size() < count) {
      const double rest = tree_.total();
      uint32_t arm = 0;
      if (random.uniform() < exploration() || rest <= kNothing) {
        arm = any_other(arms_, drawn, random);
      } else {
        arm = static_cast<uint32_t>(tree_.find(random.uniform() * rest));
        if (contains(drawn, arm)) arm = any_other(arms_, drawn, random);  // rounding alone leads here
      }
      drawn.push_back(arm);
      set_aside(arm);
    }
    for (size_t k = 0; k < drawn.size(); ++k) tree_.set(drawn[k], weights[k]);
    return drawn;
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

 protected:
  SoftmaxBandit(size_t arms, double exploration, double start)
      : Bandit(arms), exploration_(exploration), log_(arms, start) {
    SoftmaxBandit::settle();
  }

  // Arms that are due before any is drawn by chance, at most `count`.
  virtual std::vector<uint32_t> drawn_first(size_t) { return {}; }
  // The share of uniform draws.
  virtual double exploration() const { return exploration_; }

  // As many equally likely arms as the weights are worth (1 over the sum of squares of w / sum w), as a share
  // of all: 1 where all weigh the same.
  double share_of_good_arms() const {
    double squares = 0;
    for (size_t j = 0; j < arms_; ++j) squares += tree_[j] * tree_[j];
    return total_ * total_ / (squares * static_cast<double>(arms_));
  }

  // How far apart the rules let ln w be: the best arm weighs at most A times as much as the worst, and so
  // does not take over from all the others together.
  double widest() const { return std::log(static_cast<double>(arms_)); }

  double log_weight(size_t arm) const { return log_[arm]; }
  void set_log_weight(size_t arm, double value) {
    log_[arm] = value;
    if (value > reference_ + kHeadroom) return settle();
    tree_.set(arm, std::exp(value - reference_));
    total_ = tree_.total();
  }

  double probability(size_t arm) const {
    const double g = exploration();
    return (1 - g) * (tree_[arm] / total_) + g / static_cast<double>(arms_);
  }

  // By what the value of each drawn arm is multiplied so that the products are right on average over draws (0
  // for the arms not drawn). With one arm that is 1/p. The s-th of k draws alone, given the s-1 before, has
  // the unbiased estimate: the arms before as they are, its own arm over its chance then (Des Raj 1956); the
  // factor is the mean over the k draws. It needs no chance of being among the k, which has no closed form.
  std::vector<double> estimate_factors(std::span<const uint32_t> drawn) const {
    const size_t count = drawn.size();
    std::vector<double> factors(count, 1.0);
    if (count == arms_) return factors;
    const double g = exploration();
    double rest = total_;
    for (size_t s = 0; s < count; ++s) {
      const double weight = tree_[drawn[s]];
      const double left = static_cast<double>(arms_ - s);
      const double chance = rest <= kNothing ? 1 / left : g / left + (1 - g) * std::min(1.0, weight / rest);
      factors[s] = (1 / chance + static_cast<double>(count - 1 - s)) / static_cast<double>(count);
      rest -= weight;
    }
    return factors;
  }

 private:
  static constexpr double kHeadroom = 8;     // of ln w over the reference before the weights are renewed
  static constexpr double kNothing = 1e-12;  // the heaviest arm weighs about 1

  double exploration_;
  std::vector<double> log_;
  double reference_ = 0;
  PrefixTree tree_;
  double total_ = 0;
};

// What an arm has earned is forgotten at this share with each of its pulls.
constexpr double kForget = 0.01;

// Exp3 and Exp3.P (Auer et al. 2002), but for the forgetting.
class Exp3Bandit final : public SoftmaxBandit {
 public:
  Exp3Bandit(const BanditOptions& options, size_t arms)
      : SoftmaxBandit(arms, options.exploration, 0), options_(options) {}

  void reward(std::span<const uint32_t> arms, std::span<const double> rewards, double) override {
    const double a = static_cast<double>(arms_);
    const std::vector<double> factors = estimate_factors(arms);
    const bool sure = options_.kind == BanditKind::kExp3P;
    const double rate = options_.exploration / (sure ? 3 * a : a);
    std::vector<double> logs;
    for (size_t k = 0; k < arms.size(); ++k)
      logs.push_back((1 - kForget) * log_weight(arms[k]) + rate * rewards[k] * factors[k]);
    if (sure) add_bonus(rate * options_.confidence / std::sqrt(a * options_.horizon), arms, logs);
    for (size_t k = 0; k < arms.size(); ++k) set_log_weight(arms[k], logs[k]);
  }

 private:
  // What every arm gets for being unsure: bonus / p.
  void add_bonus(double bonus, std::span<const uint32_t> arms, std::vector<double>& logs) {
    std::vector<double> p(arms_);
    for (size_t j = 0; j < arms_; ++j) p[j] = probability(j);
    for (size_t k = 0; k < arms.size(); ++k) logs[k] += bonus / p[arms[k]];
    for (size_t j = 0; j < arms_; ++j) set_log_weight(j, log_weight(j) + bonus / p[j]);
  }

  BanditOptions options_;
};

// Exp3.G as MultiBoost has it, but that ln w is forgotten and bounded: one pull of every arm first, then ln w
// += eta reward, and p in proportion to (1-g) softmax + g/t, t the number of pulls.
class AuthorsBandit final : public SoftmaxBandit {
 public:
  AuthorsBandit(const BanditOptions& options, size_t arms)
      : SoftmaxBandit(arms, options.exploration, 0), g_(options.exploration), rate_(options.rate) {}

  void reward(std::span<const uint32_t> arms, std::span<const double> rewards, double) override {
    for (size_t k = 0; k < arms.size(); ++k)
      set_log_weight(arms[k],
                     std::min(widest(), (1 - kForgetEarned) * log_weight(arms[k]) + rate_ * rewards[k]));
    pulls_ += static_cast<double>(arms.size());
  }
  void save(BinaryWriter& out) const override {
    SoftmaxBandit::save(out);
    out.put(pulls_);
  }
  void load(BinaryReader& in) override {
    SoftmaxBandit::load(in);
    pulls_ = in.get<double>();
    if (!(pulls_ >= 0)) in.fail("the bandit's pulls are wrong");
  }

 private:
  std::vector<uint32_t> drawn_first(size_t count) override {
    std::vector<uint32_t> due;
    for (double arm = pulls_; due.size() < count && arm < static_cast<double>(arms_); ++arm)
      due.push_back(static_cast<uint32_t>(arm));
    return due;
  }
  double exploration() const override {
    const double a = static_cast<double>(arms_);
    const double uniform = g_ * a / std::max(pulls_, a);
    return uniform / (1 - g_ + uniform);
  }

  static constexpr double kForgetEarned = 0.05;  // of ln w, with each pull of the arm
  double g_;
  double rate_;
  double pulls_ = 0;
};

// Exp3 on the advantage: ln w += eta * (how much better than the running mean of rewards, in units of twice
// their running deviation, cut to +-1) / chance. Rewards of all arms are nearly equal, and only differences
// carry news.
class AdvantageBandit final : public SoftmaxBandit {
 public:
  AdvantageBandit(const BanditOptions& options, size_t arms)
      : SoftmaxBandit(arms, options.exploration, 0), rate_(options.rate / static_cast<double>(arms)) {}

  void reward(std::span<const uint32_t> arms, std::span<const double> rewards, double) override {
    const std::vector<double> factors = estimate_factors(arms);
    std::vector<double> logs;
    for (size_t k = 0; k < arms.size(); ++k) {
      const double excess = rewards[k] - mean_;
      const double advantage = deviation_ > 0 ? std::clamp(excess / (2 * deviation_), -1.0, 1.0) : 0;
      const double step = std::clamp(rate_ * advantage * factors[k], -kMostStep, kMostStep);
      const double log = (1 - kForgetLearned) * log_weight(arms[k]) + step;
      logs.push_back(std::clamp(log, -widest() / 2, widest() / 2));
    }
    for (size_t k = 0; k < arms.size(); ++k) set_log_weight(arms[k], logs[k]);
    for (const double value : rewards) {
      count_ = std::min(count_ + 1, kMemory);
      deviation_ += (std::abs(value - mean_) - deviation_) / count_;
      mean_ += (value - mean_) / count_;
    }
  }
  void save(BinaryWriter& out) const override {
    SoftmaxBandit::save(out);
    for (const double value : {mean_, deviation_, count_}) out.put(value);
  }
  void load(BinaryReader& in) override {
    SoftmaxBandit::load(in);
    mean_ = in.get<double>();
    deviation_ = in.get<double>();
    count_ = in.get<double>();
    if (!std::isfinite(mean_) || !std::isfinite(deviation_) || !(count_ >= 0))
      in.fail("the bandit's mean is wrong");
  }

 private:
  static constexpr double kForgetLearned = 0.05;  // of ln w, with each pull of the arm
  static constexpr double kMemory = 100;          // rewards that the mean and the deviation are over
  static constexpr double kMostStep = 2;          // of ln w: one lucky reward of a rare arm must not decide
  double rate_;
  double mean_ = 0;
  double deviation_ = 0;
  double count_ = 0;
};

// A discounted value of each arm: what it is paid, which is 1 where that is surely more than chance. All arms
// are drawn first, so that each has a value; then v += rate * weight * (reward - v): in small leaves chance
// decides what a feature gains, and they change little. w = v^power, but at least 1/A: the good arms are as
// likely as each other, and so are all where none is better than chance. The more good arms there are among
// the others of a draw anyhow, the more draws are uniform: to prefer the best of them would be to fit noise.
class ValueBandit final : public SoftmaxBandit {
 public:
  ValueBandit(const BanditOptions& options, size_t arms)
      : SoftmaxBandit(arms, options.exploration, 0),
        rate_(options.rate),
        power_(options.power),
        uniform_(options.exploration) {}

  std::vector<uint32_t> draw(size_t count, Random& random) override {
    if (values_.empty()) return all_arms(arms_);
    const double others = static_cast<double>(count) - 1;
    uniform_ = std::clamp(others * share_of_good_arms(), SoftmaxBandit::exploration(), 1.0);
    return SoftmaxBandit::draw(count, random);
  }

  bool compares_with_chance() const override { return true; }

  void reward(std::span<const uint32_t> arms, std::span<const double> rewards, double weight) override {
    const double step = values_.empty() ? 1 : std::min(1.0, rate_ * weight);
    values_.resize(arms_);
    for (size_t k = 0; k < arms.size(); ++k) {
      double& value = values_[arms[k]];
      value += step * (rewards[k] - value);
      set_log_weight(arms[k], std::max(power_ * std::log(value), -widest()));
    }
  }
  void save(BinaryWriter& out) const override {
    SoftmaxBandit::save(out);
    out.put(values_);
    out.put(uniform_);
  }
  void load(BinaryReader& in) override {
    SoftmaxBandit::load(in);
    values_ = in.get_vector<double>();
    const bool right = std::all_of(values_.begin(), values_.end(), [](double v) { return v >= 0 && v <= 1; });
    if ((!values_.empty() && values_.size() != arms_) || !right) in.fail("the bandit's values are wrong");
    uniform_ = in.get<double>();
    if (!(uniform_ >= 0 && uniform_ <= 1)) in.fail("the bandit's share of uniform draws is wrong");
  }

 private:
  double exploration() const override { return uniform_; }

  double rate_;
  double power_;
  double uniform_;              // share of the last draw's arms that were drawn uniformly
  std::vector<double> values_;  // empty before the first draw was paid
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

  void settle() override { total_ = std::accumulate(pulls_.begin(), pulls_.end(), 0.0); }

  void reward(std::span<const uint32_t> arms, std::span<const double> rewards, double) override {
    for (size_t k = 0; k < arms.size(); ++k) {
      const size_t j = arms[k];
      total_ += 1 - kForgetPulls * pulls_[j];
      pulls_[j] += 1 - kForgetPulls * pulls_[j];
      sum_[j] += rewards[k] - kForgetPulls * sum_[j];
      squares_[j] += rewards[k] * rewards[k] - kForgetPulls * squares_[j];
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
    settle();
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
  static constexpr double kForgetPulls = 0.001;  // of an arm's past, with each of its pulls
  bool variance_;
  std::vector<double> pulls_;
  std::vector<double> sum_;
  std::vector<double> squares_;
  double total_ = 0;
};

}  // namespace

std::vector<std::pair<std::string, BanditKind>> bandit_words() {
  return {{"none", BanditKind::kNone},   {"exp3a", BanditKind::kExp3A}, {"value", BanditKind::kValue},
          {"exp3g", BanditKind::kExp3G}, {"exp3", BanditKind::kExp3},   {"exp3p", BanditKind::kExp3P},
          {"ucb1", BanditKind::kUcb1},   {"ucbv", BanditKind::kUcbV},   {"random", BanditKind::kRandom}};
}

BanditOptions with_defaults(BanditOptions options) {
  struct Defaults {
    double exploration;
    double rate;
  };
  const Defaults own = options.kind == BanditKind::kExp3G   ? Defaults{0.1, 0.5}
                       : options.kind == BanditKind::kExp3A ? Defaults{0.1, 8}
                       : options.kind == BanditKind::kValue ? Defaults{0.4, 0.5}
                                                            : Defaults{0.05, 1};
  if (options.exploration == 0) options.exploration = own.exploration;
  if (options.rate == 0) options.rate = own.rate;
  return options;
}

std::unique_ptr<Bandit> make_bandit(const BanditOptions& given, size_t arms) {
  if (arms == 0) throw InputError("a bandit needs at least one arm");
  const BanditOptions options = with_defaults(given);
  switch (options.kind) {
    case BanditKind::kExp3A:
      return std::make_unique<AdvantageBandit>(options, arms);
    case BanditKind::kValue:
      return std::make_unique<ValueBandit>(options, arms);
    case BanditKind::kExp3G:
      return std::make_unique<AuthorsBandit>(options, arms);
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

bool learns_from_differences(BanditKind kind) {
  return kind == BanditKind::kExp3A || kind == BanditKind::kValue;
}

double bandit_reward(double edge) {
  const double rest = 1 - edge * edge;
  return rest <= std::exp(-2.0) ? 1.0 : std::max(0.0, -0.5 * std::log(rest));
}

}  // namespace tunemix
