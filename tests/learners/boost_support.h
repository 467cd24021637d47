// Data and a plain second implementation for the tests of boosting.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "learners/adaboost_mh/trainer.h"

namespace tunemix::test {

inline Dataset make_dataset(std::vector<float> features, size_t width, std::vector<int32_t> labels) {
  const size_t n = labels.size();
  return Dataset(std::move(features), width, {std::move(labels), QueryIndex({0, n}, {"1"})});
}

// Labels that depend on the first features, with noise; some features take few values.
inline Dataset random_dataset(size_t n, size_t d, int labels, uint64_t seed) {
  Random random(seed);
  std::vector<float> features(n * d);
  std::vector<int32_t> label(n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < d; ++j)
      features[i * d + j] =
          j % 3 == 2 ? static_cast<float>(random.below(4)) : static_cast<float>(random.uniform());
    const double signal = features[i * d] + 0.5 * features[i * d + 1 % d] + 0.3 * random.normal();
    label[i] = std::clamp(static_cast<int>(signal / 1.5 * labels), 0, labels - 1);
  }
  label[0] = labels - 1;
  return make_dataset(std::move(features), d, std::move(label));
}

// The same in which some values are missing: in every third feature none, in the next any, in the next more
// the higher the label.
inline Dataset with_missing(const Dataset& data, uint64_t seed) {
  Random random(seed);
  std::vector<float> features(data.values().begin(), data.values().end());
  for (size_t k = 0; k < features.size(); ++k) {
    const size_t j = k % data.features();
    const double share = j % 3 == 0 ? 0 : j % 3 == 1 ? 0.3 : 0.2 * data.labels()[k / data.features()];
    if (random.uniform() < share) features[k] = std::numeric_limits<float>::quiet_NaN();
  }
  return make_dataset(std::move(features), data.features(), {data.labels().begin(), data.labels().end()});
}

// The learners once more, by exhaustive loops over documents, from the same fixed-point weights.
class PlainLearner {
 public:
  using Set = std::vector<size_t>;
  struct PlainCut {
    size_t feature = 0;
    float threshold = 0;
    bool missing_above = false;
    bool operator==(const PlainCut&) const = default;
  };

  PlainLearner(const Dataset& data, AdaBoostTrainer& trainer, size_t labels, const Context& context)
      : data_(data), labels_(labels), cuts_(find_cuts(data, 255, context)) {
    const auto scale = static_cast<float>(trees::kOne / trainer.weight_sum());
    for (size_t i = 0; i < data.documents(); ++i)
      for (size_t l = 0; l < labels; ++l)
        weight_.push_back(trees::fixed_point(trainer.weights()[i * trainer.labels() + l], scale,
                                             trees::rounding_offset(i)));
  }

  Set everything() const {
    Set all(data_.documents());
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
  }
  int y(size_t i, size_t l) const { return static_cast<size_t>(data_.labels()[i]) == l ? 1 : -1; }
  int64_t weight(size_t i, size_t l) const { return weight_[i * labels_ + l]; }
  bool passes(size_t i, const PlainCut& cut) const {
    const float x = data_.row(i)[cut.feature];
    return std::isnan(x) ? cut.missing_above : x >= cut.threshold;
  }
  // The sides that a missing value may take: both where some document of the set has one; else that of the
  // larger child, which is set afterwards.
  std::vector<bool> sides(const Set& set, size_t feature) const {
    const bool missing =
        std::any_of(set.begin(), set.end(), [&](size_t i) { return std::isnan(data_.row(i)[feature]); });
    return missing ? std::vector<bool>{false, true} : std::vector<bool>{false};
  }
  void set_side(const Set& set, PlainCut& cut) const {
    if (sides(set, cut.feature).size() > 1) return;
    const auto passing = std::count_if(set.begin(), set.end(), [&](size_t i) { return passes(i, cut); });
    cut.missing_above = 2 * static_cast<size_t>(passing) > set.size();
  }

  double edge(const Set& set) const {
    double total = 0;
    for (size_t l = 0; l < labels_; ++l) {
      int64_t sum = 0;
      for (const size_t i : set) sum += weight(i, l) * y(i, l);
      total += static_cast<double>(std::abs(sum));
    }
    return total;
  }
  double energy(const Set& set) const {
    double total = 0;
    for (size_t l = 0; l < labels_; ++l) {
      double side[2] = {0, 0};
      for (const size_t i : set) side[y(i, l) > 0 ? 1 : 0] += static_cast<double>(weight(i, l));
      total += std::sqrt(side[0] * side[1]);
    }
    return total;
  }

  // The cut with the largest value(below, above); the first of equals.
  std::pair<double, PlainCut> best_cut(const Set& set,
                                       const std::function<double(const Set&, const Set&)>& value) const {
    std::pair<double, PlainCut> best = {-HUGE_VAL, {}};
    for (size_t j = 0; j < data_.features(); ++j)
      for (const bool side : sides(set, j))
        for (const float threshold : cuts_.thresholds(j)) {
          const auto [below, above] = divide(set, {j, threshold, side});
          if (below.empty() || above.empty()) continue;
          const double v = value(below, above);
          if (v > best.first) best = {v, {j, threshold, side}};
        }
    set_side(set, best.second);
    return best;
  }
  std::pair<Set, Set> divide(const Set& set, const PlainCut& cut) const {
    std::pair<Set, Set> parts;
    for (const size_t i : set) (passes(i, cut) ? parts.second : parts.first).push_back(i);
    return parts;
  }

  // Best-first growth; cuts and the leaves that they split.
  struct Tree {
    std::vector<PlainCut> cuts;
    std::vector<size_t> split_leaf;
    std::vector<Set> leaves;
  };
  Tree tree(size_t most_leaves, bool by_energy) const {
    const auto worth = [&](const Set& set) { return by_energy ? -energy(set) : edge(set); };
    Tree result;
    result.leaves = {everything()};
    while (result.leaves.size() < most_leaves) {
      double most = 0;
      size_t widest = 0;
      PlainCut cut;
      for (size_t k = 0; k < result.leaves.size(); ++k) {
        const auto found =
            best_cut(result.leaves[k], [&](const Set& a, const Set& b) { return worth(a) + worth(b); });
        const double gain = found.first - worth(result.leaves[k]);
        if (gain > 1e-6 * std::abs(worth(result.leaves[k])) && gain > most) {
          most = gain;
          widest = k;
          cut = found.second;
        }
      }
      if (most == 0) break;
      const auto [below, above] = divide(result.leaves[widest], cut);
      result.cuts.push_back(cut);
      result.split_leaf.push_back(widest);
      result.leaves[widest] = below;
      result.leaves.push_back(above);
    }
    return result;
  }

  // Coordinate ascent with every term's votes kept, against the virtual labels y * (the other terms).
  struct Term {
    std::optional<PlainCut> cut;
    std::vector<int> votes;
  };
  int term_value(const Term& term, size_t i, size_t l) const {
    return term.cut ? term.votes[l] * (passes(i, *term.cut) ? 1 : -1) : term.votes[l];
  }
  std::pair<double, std::vector<Term>> product(size_t count, size_t passes_over) const {
    std::vector<Term> terms(count, Term{std::nullopt, std::vector<int>(labels_, 1)});
    double best = 0;
    for (size_t l = 0; l < labels_; ++l) {
      int64_t sum = 0;
      for (size_t i = 0; i < data_.documents(); ++i) sum += weight(i, l) * y(i, l);
      terms[0].votes[l] = sum > 0 ? 1 : -1;
      best += static_cast<double>(std::abs(sum));
    }
    size_t without_growth = 0;
    for (size_t attempt = 0; attempt < count * passes_over; ++attempt) {
      const size_t now = attempt % count;
      const auto label_edges = [&](const PlainCut& cut) {
        std::vector<double> edges(labels_, 0.0);
        for (size_t i = 0; i < data_.documents(); ++i)
          for (size_t l = 0; l < labels_; ++l) {
            int virtual_label = y(i, l);
            for (size_t k = 0; k < count; ++k)
              if (k != now) virtual_label *= term_value(terms[k], i, l);
            edges[l] += static_cast<double>(weight(i, l)) * virtual_label * (passes(i, cut) ? 1 : -1);
          }
        return edges;
      };
      std::pair<double, PlainCut> found = {-1, {}};
      for (size_t j = 0; j < data_.features(); ++j)
        for (const bool side : sides(everything(), j))
          for (const float threshold : cuts_.thresholds(j)) {
            double total = 0;
            for (const double e : label_edges({j, threshold, side})) total += std::abs(e);
            if (total > found.first) found = {total, {j, threshold, side}};
          }
      set_side(everything(), found.second);
      if (found.first > best) {
        best = found.first;
        terms[now].cut = found.second;
        const std::vector<double> edges = label_edges(found.second);
        for (size_t l = 0; l < labels_; ++l) terms[now].votes[l] = edges[l] > 0 ? 1 : -1;
        without_growth = 0;
      } else {
        ++without_growth;
      }
      if (without_growth + 1 >= count) break;
    }
    return {best, terms};
  }

 private:
  const Dataset& data_;
  size_t labels_;
  BinCuts cuts_;
  std::vector<int64_t> weight_;
};

// All of a data set, boosted round by round.
class BoostRun : public AdaBoostTrainer {
 public:
  BoostRun(const Dataset& data, const AdaBoostOptions& options, const Context& context)
      : BoostRun(std::make_shared<BinCache>(data), options, nullptr, context) {}
  BoostRun(const Dataset& data, BinaryReader& state, const Context& context)
      : BoostRun(std::make_shared<BinCache>(data), {}, &state, context) {}

 private:
  BoostRun(std::shared_ptr<BinCache> cache, const AdaBoostOptions& options, BinaryReader* state,
           const Context& context)
      : BoostRun(cache, std::make_shared<TrainingData>(*cache), options, state, context) {}
  BoostRun(std::shared_ptr<BinCache> cache, std::shared_ptr<TrainingData> all, const AdaBoostOptions& options,
           BinaryReader* state, const Context& context)
      : AdaBoostTrainer(*all, options, {options.iterations}, state, context), cache_(cache), all_(all) {}

  std::shared_ptr<BinCache> cache_;
  std::shared_ptr<TrainingData> all_;
};

// Returns how many rounds were made.
inline int add_rounds(AdaBoostTrainer& trainer, int rounds) {
  int made = 0;
  while (made < rounds && trainer.add_round()) ++made;
  return made;
}

inline AdaBoostRounds train_adaboost(const Dataset& train, const AdaBoostOptions& options,
                                     const Context& context) {
  BoostRun run(train, options, context);
  add_rounds(run, options.iterations);
  return run.rounds();
}

inline ScoreMatrix scores_after(const AdaBoostRounds& made, int rounds, const Dataset& data,
                                const Context& context) {
  const size_t only[] = {0};
  return std::move(AdaBoostModel(made, {rounds}).score(data, only, context)[0]);
}

inline float threshold(const AdaBoostRounds& made, const Cut& cut) {
  return made.cuts.thresholds(cut.feature)[cut.bin];
}

// f_l of one document by walking the trees as their definition says.
inline std::vector<double> plain_scores(const AdaBoostRounds& made, std::span<const float> x, int rounds) {
  std::vector<double> f(made.labels, 0.0);
  for (int t = 0; t < rounds; ++t) {
    const Tree& tree = made.trees[t];
    size_t leaf = 0;
    for (size_t k = 0; k < tree.cuts.size(); ++k) {
      const float value = x[tree.cuts[k].feature];
      const bool pass =
          std::isnan(value) ? tree.cuts[k].missing_above : value >= threshold(made, tree.cuts[k]);
      if (tree.product)
        leaf ^= pass ? 0 : 1;
      else if (tree.split_leaf[k] == leaf && pass)
        leaf = k + 1;
    }
    for (size_t l = 0; l < made.labels; ++l) {
      const double vote = tree.values.empty() ? ((tree.votes[leaf] >> l & 1) != 0 ? 1.0 : -1.0)
                                              : static_cast<double>(tree.values[leaf * made.labels + l]);
      f[l] += made.options.shrinkage * tree.alpha * vote;
    }
  }
  return f;
}

}  // namespace tunemix::test
