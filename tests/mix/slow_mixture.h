// Made-up members, and mixtures computed as the spec says them, for the fast ones to be held against.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/calibrate/made_up.h"
#include "tunemix/mix/mixer.h"

namespace tunemix::mixing_test {

using test::MadeUp;

// Members whose scores are the grades plus noise of their own, on scales of their own.
struct Ensemble {
  MadeUp data;
  std::vector<Member> members;
  std::vector<std::vector<float>> scores;

  MemberSource source() const {
    return [this](size_t member) { return std::span(scores[member]); };
  }
  ValidationData validation() const { return {data.queries, data.labels, data.grades}; }
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

// One point of the grid: the quality that it is chosen by, and the weights of its final mixture.
class SlowMixture {
 public:
  SlowMixture(const Ensemble& e, const std::vector<size_t>& chosen, double c, const MixOptions& options)
      : e_(e), chosen_(chosen), c_(c), options_(options) {
    queries_ = e.data.queries.size();
    parts_ = std::min<size_t>(static_cast<size_t>(options.parts), queries_);
    const SelectionMetric metric(e.data.queries, e.data.labels, e.data.grades);
    per_query_.assign(e.members.size(), std::vector<double>(queries_));
    for (const size_t m : chosen) {
      prepared_[m] = slow_prepared(e, m, options.normalize);
      metric.per_query(e.scores[m], per_query_[m]);
    }
    std::set<std::string> families;
    for (const size_t m : chosen) families.insert(family_of(m));
    // Each family alone: every part with weights by the queries outside it.
    std::map<std::string, std::vector<double>> alone;
    for (const std::string& family : families) {
      alone[family].resize(queries_);
      for (size_t p = 0; p < parts_; ++p) judge(weigh(outside(p), {{family, 1}}), p, alone[family]);
    }
    std::vector<double> judged(queries_);
    for (size_t p = 0; p < parts_; ++p) judge(weigh(outside(p), masses(alone, outside(p))), p, judged);
    for (const double value : judged) quality += value / static_cast<double>(queries_);
    const std::vector<bool> all(queries_, true);
    weights = weigh(all, masses(alone, all));
  }

  double quality = 0;
  std::vector<double> weights;  // of the chosen members

 private:
  std::string family_of(size_t m) const {
    return options_.families == Families::kPooled ? "" : e_.members[m].family;
  }
  size_t part_begin(size_t p) const { return p * queries_ / parts_; }

  std::vector<bool> outside(size_t p) const {
    std::vector<bool> in(queries_, true);
    if (parts_ > 1) std::fill(in.begin() + part_begin(p), in.begin() + part_begin(p + 1), false);
    return in;
  }
  static double mean(const std::vector<double>& values, const std::vector<bool>& in) {
    double sum = 0, count = 0;
    for (size_t q = 0; q < values.size(); ++q)
      if (in[q]) {
        sum += values[q];
        ++count;
      }
    return sum / count;
  }
  std::map<std::string, double> masses(const std::map<std::string, std::vector<double>>& alone,
                                       const std::vector<bool>& in) const {
    std::map<std::string, double> result;
    double sum = 0;
    for (const auto& [family, values] : alone) {
      const double rate = 2 * std::sqrt(static_cast<double>(queries_));
      result[family] = options_.families == Families::kWeighted ? std::exp(rate * mean(values, in)) : 1;
      sum += result[family];
    }
    for (auto& [family, mass] : result) mass /= sum;
    return result;
  }
  // Weights by the quality on some queries; families without a mass have none.
  std::vector<double> weigh(const std::vector<bool>& in, const std::map<std::string, double>& mass) const {
    std::map<std::string, double> sums;
    for (const size_t m : chosen_) sums[family_of(m)] += std::exp(c_ * mean(per_query_[m], in));
    std::vector<double> result;
    for (const size_t m : chosen_) {
      const auto found = mass.find(family_of(m));
      result.push_back(found == mass.end()
                           ? 0
                           : found->second * std::exp(c_ * mean(per_query_[m], in)) / sums[family_of(m)]);
    }
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
  double c_;
  const MixOptions& options_;
  size_t queries_ = 0;
  size_t parts_ = 1;
  std::map<size_t, std::vector<double>> prepared_;
  std::vector<std::vector<double>> per_query_;
};

}  // namespace tunemix::mixing_test
