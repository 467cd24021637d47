// Made-up members, and mixtures computed as the spec says them, for the fast ones to be held against.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/calibrate/made_up.h"
#include "tunemix/core/random.h"
#include "tunemix/mix/mixer.h"

namespace tunemix::mixing_test {

using test::MadeUp;

// Members whose scores are the grades plus noise of their own, on scales of their own.
struct Ensemble {
  MadeUp data;
  std::vector<Member> members;
  std::vector<std::vector<float>> scores;
  std::vector<double> weights;  // of queries; empty: 1

  MemberSource source() const {
    return [this](size_t member) { return std::span(scores[member]); };
  }
  ValidationData validation() const { return {data.queries, data.labels, data.grades, weights}; }
  void add(Member member, double noise, uint64_t seed) {
    Random random(seed, member.name());
    std::vector<float> s;
    const double scale = std::exp(random.normal());
    for (const int32_t label : data.labels)
      s.push_back(static_cast<float>(scale * (data.grades[label] + noise * random.normal())));
    members.push_back(std::move(member));
    scores.push_back(std::move(s));
  }
};

inline std::vector<double> slow_prepared(const Ensemble& e, size_t member, Normalize normalize) {
  std::vector<double> out(e.scores[member].begin(), e.scores[member].end());
  if (normalize == Normalize::kNone) return out;
  for (size_t q = 0; q < e.data.queries.size(); ++q) {
    const size_t begin = e.data.queries.begin(q), end = e.data.queries.end(q);
    const double n = static_cast<double>(end - begin);
    double mean = 0, squares = 0;
    for (size_t i = begin; i < end; ++i) mean += out[i] / n;
    for (size_t i = begin; i < end; ++i) squares += (out[i] - mean) * (out[i] - mean) / n;
    const bool level = std::all_of(&e.scores[member][begin], &e.scores[member][begin] + (end - begin),
                                   [&](float s) { return s == e.scores[member][begin]; });
    for (size_t i = begin; i < end; ++i) out[i] = level ? 0 : (out[i] - mean) / std::sqrt(squares);
  }
  return out;
}

// The members that a variant has at length T, copies included, in the canonical order.
inline std::vector<size_t> slow_standing(const Ensemble& e, const Variant& variant, int64_t length,
                                         const MixOptions& options) {
  std::vector<size_t> standing;
  for (size_t m = 0; m < e.members.size(); ++m) {
    const Member& member = e.members[m];
    int64_t best = 0;  // of the run: the largest length up to T
    int64_t smallest = member.checkpoint;
    for (const Member& other : e.members)
      if (other.family == member.family && other.model == member.model && other.checkpoint > 0) {
        if (other.checkpoint <= length) best = std::max(best, other.checkpoint);
        smallest = std::min(smallest, other.checkpoint);
      }
    const bool stands = options.checkpoints == Checkpoints::kAll || member.checkpoint == 0 ||
                        member.checkpoint == (best > 0 ? best : smallest);
    if (variant.takes(member) && stands) standing.push_back(m);
  }
  std::sort(standing.begin(), standing.end(),
            [&](size_t a, size_t b) { return e.members[a] < e.members[b]; });
  return standing;
}

inline bool slow_alike(const Ensemble& e, size_t a, size_t b) {
  const auto compare = [&](size_t m, size_t i, size_t j) {
    return e.scores[m][i] < e.scores[m][j] ? -1 : e.scores[m][i] > e.scores[m][j] ? 1 : 0;
  };
  for (size_t q = 0; q < e.data.queries.size(); ++q)
    for (size_t i = e.data.queries.begin(q); i < e.data.queries.end(q); ++i)
      for (size_t j = e.data.queries.begin(q); j < i; ++j)
        if (compare(a, i, j) != compare(b, i, j)) return false;
  return true;
}

// The same without members that rank like an earlier one.
inline std::vector<size_t> slow_chosen(const Ensemble& e, const Variant& variant, int64_t length,
                                       const MixOptions& options) {
  std::vector<size_t> chosen;
  for (const size_t m : slow_standing(e, variant, length, options))
    if (std::none_of(chosen.begin(), chosen.end(), [&](size_t earlier) { return slow_alike(e, earlier, m); }))
      chosen.push_back(m);
  return chosen;
}

// One point of the grid: the quality that it is chosen by, and the weights of its final mixture before light
// members are left out.
class SlowMixture {
 public:
  SlowMixture(const Ensemble& e, const std::vector<size_t>& chosen, double c, const MixOptions& options)
      : e_(e), chosen_(chosen), options_(options) {
    queries_ = e.data.queries.size();
    parts_ = std::min<size_t>(static_cast<size_t>(options.parts), queries_);
    for (size_t q = 0; q < queries_; ++q) counts_.push_back(e.weights.empty() ? 1 : e.weights[q]);
    const SelectionMetric metric(e.data.queries, e.data.labels, e.data.grades);
    per_query_.assign(e.members.size(), std::vector<double>(queries_));
    for (const size_t m : chosen) {
      prepared_[m] = slow_prepared(e, m, options.normalize);
      metric.per_query(e.scores[m], per_query_[m]);
    }
    for (const size_t m : chosen) {
      of_family_[family_of(m)].push_back(m);
      of_model_[model_of(m)].push_back(m);
    }
    std::vector<std::vector<double>> learned(parts_ + 1);
    if (options.families == Families::kLearned && of_model_.size() > 1) learned = learn();
    const auto judged_alone = alone(c);
    const auto weigh_both = [&](const std::vector<bool>& in, const std::vector<double>& of_units) {
      const std::vector<std::vector<double>> units = units_of(in, c, judged_alone);
      if (of_units.empty()) return units[0];
      std::vector<double> both(chosen_.size());
      for (size_t m = 0; m < both.size(); ++m) {
        both[m] = (1 - share()) * units[0][m];
        for (size_t u = 0; u < units.size(); ++u) both[m] += share() * of_units[u] * units[u][m];
      }
      return both;
    };
    std::vector<double> judged(queries_);
    for (size_t p = 0; p < parts_; ++p) judge(weigh_both(outside(p), learned[p]), p, judged);
    const std::vector<bool> all(queries_, true);
    quality = mean(judged, all);
    weights = weigh_both(all, learned[parts_]);
  }

  double quality = 0;
  std::vector<double> weights;  // of the chosen members

  // Of the mixture with such weights of the chosen members, on all queries.
  double quality_of(const std::vector<double>& weighted) const {
    std::vector<double> values(queries_);
    for (size_t p = 0; p < parts_; ++p) judge(weighted, p, values);
    return mean(values, std::vector<bool>(queries_, true));
  }

 private:
  using Masses = std::map<std::string, double>;

  std::string family_of(size_t m) const {
    return options_.families == Families::kPooled ? "" : e_.members[m].family;
  }
  std::string model_of(size_t m) const { return e_.members[m].family + "/" + e_.members[m].model; }

  size_t part_begin(size_t p) const { return p * queries_ / parts_; }

  std::vector<bool> outside(size_t p) const {
    std::vector<bool> in(queries_, true);
    if (parts_ > 1) std::fill(in.begin() + part_begin(p), in.begin() + part_begin(p + 1), false);
    return in;
  }
  double mean(const std::vector<double>& values, const std::vector<bool>& in) const {
    double sum = 0, count = 0;
    for (size_t q = 0; q < values.size(); ++q)
      if (in[q]) {
        sum += counts_[q] * values[q];
        count += counts_[q];
      }
    return sum / count;
  }
  // Of queries that all count the same and tell as much.
  double effective_queries() const {
    double sum = 0, squares = 0;
    for (const double count : counts_) {
      sum += count;
      squares += count * count;
    }
    return sum * sum / squares;
  }
  double share() const {
    const double n = effective_queries();
    return n * n / (n * n + 120 * 120);
  }
  Masses masses(const std::map<std::string, std::vector<double>>& alone, const std::vector<bool>& in) const {
    Masses result;
    double sum = 0;
    const bool by_quality =
        options_.families == Families::kWeighted || options_.families == Families::kLearned;
    for (const auto& [family, values] : alone) {
      const double rate = 2 * std::sqrt(static_cast<double>(queries_));
      result[family] = by_quality ? std::exp(rate * mean(values, in)) : 1;
      sum += result[family];
    }
    for (auto& [family, mass] : result) mass /= sum;
    return result;
  }
  // The quality of each query by each family alone: every part with weights by the queries outside it.
  std::map<std::string, std::vector<double>> alone(double c) const {
    std::map<std::string, std::vector<double>> result;
    for (const auto& [family, members] : of_family_) {
      result[family].resize(queries_);
      for (size_t p = 0; p < parts_; ++p) judge(weigh(outside(p), c, members), p, result[family]);
    }
    return result;
  }
  // Weights of the mixture of families, of each family and of each model that is not the whole of one.
  std::vector<std::vector<double>> units_of(
      const std::vector<bool>& in, double c,
      const std::map<std::string, std::vector<double>>& judged_alone) const {
    std::vector<std::vector<double>> units(1, std::vector<double>(chosen_.size()));
    const Masses mass = masses(judged_alone, in);
    for (const auto& [family, members] : of_family_) {
      units.push_back(weigh(in, c, members));
      for (size_t m = 0; m < chosen_.size(); ++m) units[0][m] += mass.at(family) * units.back()[m];
    }
    for (const auto& [model, members] : of_model_)
      if (of_family_.at(family_of(members[0])).size() > members.size())
        units.push_back(weigh(in, c, members));
    return units;
  }
  // Masses of units, by part and then by all: the mean, over samples of the queries outside it, of the best
  // of all mixtures of one unit or two with equal masses.
  std::vector<std::vector<double>> learn() const {
    const auto steps = static_cast<size_t>((options_.c_to - options_.c_from) / options_.c_step) + 1;
    const double c = options_.c_from + static_cast<double>(steps / 2) * options_.c_step;
    const auto judged_alone = alone(c);
    const size_t units = units_of(outside(0), c, judged_alone).size();
    std::vector<std::pair<size_t, size_t>> candidates;
    std::vector<std::vector<double>> values;  // of each candidate, by query
    for (size_t first = 0; first < units; ++first)
      for (size_t second = 0; second <= first; ++second) {
        candidates.emplace_back(first, second);
        values.emplace_back(queries_);
        for (size_t p = 0; p < parts_; ++p) {
          const std::vector<std::vector<double>> of_units = units_of(outside(p), c, judged_alone);
          std::vector<double> half;
          for (size_t m = 0; m < chosen_.size(); ++m)
            half.push_back(0.5 * of_units[first][m] + 0.5 * of_units[second][m]);
          judge(half, p, values.back());
        }
      }
    std::vector<std::vector<double>> result(parts_ + 1, std::vector<double>(units));
    for (size_t sample = 0; sample < 300; ++sample) {
      Random random(sample, "queries that masses are learned from");
      std::vector<double> drawn(queries_);
      for (size_t i = 0; i < queries_; ++i) ++drawn[random.below(queries_)];
      for (size_t p = 0; p <= parts_; ++p) {
        const std::vector<bool> in = p < parts_ ? outside(p) : std::vector<bool>(queries_, true);
        std::vector<double> sums;
        for (const std::vector<double>& of_queries : values) {
          sums.push_back(0);
          for (size_t q = 0; q < queries_; ++q)
            if (in[q]) sums.back() += drawn[q] * counts_[q] * of_queries[q];
        }
        const double highest = *std::max_element(sums.begin(), sums.end()) - 1e-9;
        const auto best = std::count_if(sums.begin(), sums.end(), [&](double sum) { return sum >= highest; });
        for (size_t k = 0; k < sums.size(); ++k)
          if (sums[k] >= highest)
            for (const size_t unit : {candidates[k].first, candidates[k].second})
              result[p][unit] += 0.5 / static_cast<double>(300 * best);
      }
    }
    return result;
  }
  // Weights of all chosen members: of these by their quality on some queries, summing to 1; the others have
  // none.
  std::vector<double> weigh(const std::vector<bool>& in, double c, const std::vector<size_t>& members) const {
    double sum = 0;
    for (const size_t m : members) sum += std::exp(c * mean(per_query_[m], in));
    std::vector<double> result;
    for (const size_t m : chosen_)
      result.push_back(std::find(members.begin(), members.end(), m) == members.end()
                           ? 0
                           : std::exp(c * mean(per_query_[m], in)) / sum);
    return result;
  }
  // The quality of part p's queries by a mixture with these weights.
  void judge(const std::vector<double>& weighted, size_t p, std::vector<double>& out) const {
    std::vector<double> sum(e_.data.labels.size());
    for (size_t j = 0; j < chosen_.size(); ++j)
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += weighted[j] * prepared_.at(chosen_[j])[i];
    // Sums that cancel are ties.
    if (options_.normalize == Normalize::kQuery)
      for (double& x : sum) x = std::round(x * 0x1p36) * 0x1p-36;
    const std::vector<float> mixed(sum.begin(), sum.end());
    std::vector<double> values(queries_);
    SelectionMetric(e_.data.queries, e_.data.labels, e_.data.grades).per_query(mixed, values);
    std::copy(values.begin() + part_begin(p), values.begin() + part_begin(p + 1),
              out.begin() + part_begin(p));
  }

  const Ensemble& e_;
  const std::vector<size_t>& chosen_;
  const MixOptions& options_;
  size_t queries_ = 0;
  size_t parts_ = 1;
  std::map<size_t, std::vector<double>> prepared_;
  std::vector<std::vector<double>> per_query_;
  std::vector<double> counts_;  // what each query counts
  std::map<std::string, std::vector<size_t>> of_family_, of_model_;
};

}  // namespace tunemix::mixing_test
