#include "tunemix/mix/mixer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "tests/calibrate/made_up.h"

namespace tunemix {
namespace {

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

Ensemble make_ensemble(uint64_t seed = 1, size_t documents = 1500) {
  Ensemble e;
  e.data = test::make_up({.documents = documents, .seed = seed});
  for (const int64_t checkpoint : {10, 20, 50})
    for (int bag = 0; bag < 2; ++bag) {
      const double noise = checkpoint == 20 ? 2 : 4;
      e.add({"boosting", CalibrationKind::kCpc, checkpoint, "tree8", bag, "cpc.ls"}, noise, seed);
      e.add({"boosting", CalibrationKind::kRbc, checkpoint, "tree8", bag, "rbc.linear.raw"}, noise, seed);
    }
  e.add({"svm", CalibrationKind::kCpc, 0, "C=1", 0, "cpc.ls"}, 3, seed);
  e.add({"svm", CalibrationKind::kRbc, 0, "C=1", 0, "rbc.poly2.ndcg"}, 3.5, seed);
  return e;
}

const Variant kAll{"ALL+EXP", "", std::nullopt, false};

MixResult mix_all(const Ensemble& e, const MixOptions& options, const Variant& variant = kAll,
                  int threads = 1) {
  return std::move(mix(e.members, e.source(), e.validation(), {&variant, 1}, options, Context(threads))[0]);
}

// --- the obvious version

std::vector<double> slow_prepared(const Ensemble& e, size_t member, Normalize normalize) {
  std::vector<double> out(e.scores[member].begin(), e.scores[member].end());
  if (normalize == Normalize::kNone) return out;
  for (size_t q = 0; q < e.data.queries.size(); ++q) {
    const size_t begin = e.data.queries.begin(q), end = e.data.queries.end(q);
    const double n = static_cast<double>(end - begin);
    double mean = 0, squares = 0;
    for (size_t i = begin; i < end; ++i) mean += out[i] / n;
    for (size_t i = begin; i < end; ++i) squares += (out[i] - mean) * (out[i] - mean) / n;
    for (size_t i = begin; i < end; ++i)
      out[i] = n > 1 && squares > 0 ? (out[i] - mean) / std::sqrt(squares) : 0;
  }
  return out;
}

std::vector<double> slow_weights(const Ensemble& e, const std::vector<double>& omega,
                                 const std::vector<size_t>& chosen, double c, Families families) {
  std::map<std::string, double> mass;
  const auto group = [&](size_t m) { return families == Families::kEqual ? e.members[m].family : ""; };
  for (const size_t m : chosen) mass[group(m)] += std::exp(c * omega[m]);
  std::vector<double> weights;
  for (const size_t m : chosen)
    weights.push_back(std::exp(c * omega[m]) / mass[group(m)] / static_cast<double>(mass.size()));
  return weights;
}

// NDCG of each query by a mixture of the chosen members with these qualities.
std::vector<double> slow_mixture(const Ensemble& e, const std::vector<double>& omega,
                                 const std::vector<size_t>& chosen, double c, const MixOptions& options) {
  const auto weights = slow_weights(e, omega, chosen, c, options.families);
  std::vector<double> sum(e.data.labels.size());
  for (size_t j = 0; j < chosen.size(); ++j) {
    const auto scores = slow_prepared(e, chosen[j], options.normalize);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += weights[j] * scores[i];
  }
  // Sums that cancel are ties.
  if (options.normalize == Normalize::kQuery)
    for (double& x : sum) x = std::round(x * 0x1p36) * 0x1p-36;
  const std::vector<float> mixed(sum.begin(), sum.end());
  std::vector<double> ndcg(e.data.queries.size());
  SelectionMetric(e.data.queries, e.data.labels, e.data.grades).per_query(mixed, ndcg);
  return ndcg;
}

// Each part of the queries is judged with qualities from the queries outside it.
double slow_cross_validation(const Ensemble& e, const std::vector<size_t>& chosen, double c,
                             const MixOptions& options) {
  const SelectionMetric metric(e.data.queries, e.data.labels, e.data.grades);
  const size_t queries = e.data.queries.size();
  const auto parts = static_cast<size_t>(options.parts);
  double total = 0;
  for (size_t part = 0; part < parts; ++part) {
    const size_t first = part * queries / parts, last = (part + 1) * queries / parts;
    std::vector<double> omega;
    for (const auto& scores : e.scores) {
      std::vector<double> ndcg(queries);
      metric.per_query(scores, ndcg);
      double sum = 0;
      size_t count = 0;
      for (size_t q = 0; q < queries; ++q)
        if (parts == 1 || q < first || q >= last) {
          sum += ndcg[q];
          ++count;
        }
      omega.push_back(sum / static_cast<double>(count));
    }
    const std::vector<double> ndcg = slow_mixture(e, omega, chosen, c, options);
    for (size_t q = first; q < last; ++q) total += ndcg[q];
  }
  return total / static_cast<double>(queries);
}

void expect_slow_grid(const Ensemble& e, const MixOptions& options) {
  const MixResult result = mix_all(e, options);
  const bool all = options.checkpoints == Checkpoints::kAll;
  ASSERT_EQ(result.grid.size(), 11u * (all ? 1 : 3));
  GridPoint best;
  best.ndcg = -1;
  for (const GridPoint& point : result.grid) {
    std::vector<size_t> chosen;
    for (size_t m = 0; m < e.members.size(); ++m)
      if (all || e.members[m].checkpoint == 0 || e.members[m].checkpoint == point.checkpoint)
        chosen.push_back(m);
    EXPECT_NEAR(point.ndcg, slow_cross_validation(e, chosen, point.c, options), 1e-9)
        << point.c << " " << point.checkpoint;
    if (point.ndcg > best.ndcg ||
        (point.ndcg == best.ndcg &&
         (point.c < best.c || (point.c == best.c && point.checkpoint < best.checkpoint))))
      best = point;
  }
  EXPECT_EQ(result.mixture.c(), best.c);
  EXPECT_EQ(result.mixture.checkpoint(), best.checkpoint);
  EXPECT_EQ(result.chosen_by, best.ndcg);
  if (options.parts == 1) {
    EXPECT_NEAR(result.validation, best.ndcg, 1e-9);
  }
  double total = 0;
  for (const double weight : result.mixture.weights()) total += weight;
  EXPECT_NEAR(total, 1, 1e-12);
}

TEST(Mixer, GridEqualsTheSlowVersion) {
  const Ensemble e = make_ensemble();
  const Context context;
  const SelectionMetric metric(e.data.queries, e.data.labels, e.data.grades);
  const auto omega = member_quality(e.members, e.source(), e.validation(), 10, context);
  for (size_t m = 0; m < e.members.size(); ++m) EXPECT_EQ(omega[m], metric(e.scores[m]));
  for (const Families families : {Families::kEqual, Families::kPooled})
    for (const Normalize normalize : {Normalize::kQuery, Normalize::kNone})
      for (const Checkpoints checkpoints : {Checkpoints::kChosen, Checkpoints::kAll}) {
        MixOptions options;
        options.families = families;
        options.normalize = normalize;
        options.checkpoints = checkpoints;
        options.c_step = 20;
        for (const int parts : {1, 3}) {
          options.parts = parts;
          expect_slow_grid(e, options);
        }
      }
}

// A member that knows the labels of the first half of the queries and is noise on the second looks best on
// all, but not where its weight comes from other queries.
TEST(Mixer, PartsDoNotFallForAMemberThatFitsSomeQueries) {
  Ensemble e = make_ensemble();
  MixOptions options;
  options.parts = 2;
  options.c_from = options.c_step = 50;
  options.checkpoints = Checkpoints::kAll;
  const size_t half = e.data.queries.begin(e.data.queries.size() / 2);
  Random random(7);
  for (size_t i = 0; i < e.data.labels.size(); ++i)
    e.scores[0][i] = i < half ? static_cast<float>(e.data.labels[i]) : static_cast<float>(random.normal());
  const double cross = mix_all(e, options).chosen_by;
  options.parts = 1;
  EXPECT_LT(cross, mix_all(e, options).chosen_by - 0.01);
}

TEST(Mixer, ChoosesTheBetterCheckpoint) {
  const MixResult result = mix_all(make_ensemble(), {});
  EXPECT_EQ(result.mixture.checkpoint(), 20);
  for (const Member& member : result.mixture.members())
    EXPECT_TRUE(member.checkpoint == 20 || member.family == "svm") << member.name();
}

TEST(Mixer, UniformAtZeroAndTheBestMemberAtLargeC) {
  const Ensemble e = make_ensemble();
  MixOptions options;
  options.choice = MixChoice::kFixed;
  options.families = Families::kPooled;
  options.fixed_checkpoint = 10;
  options.fixed_c = 0;
  const MixResult uniform = mix_all(e, options);
  EXPECT_EQ(uniform.mixture.weights().size(), 6u);
  for (const double weight : uniform.mixture.weights()) EXPECT_NEAR(weight, 1.0 / 6, 1e-15);
  options.fixed_c = 1e6;
  const MixResult sharp = mix_all(e, options);
  const auto best = std::max_element(sharp.diagnostics.begin(), sharp.diagnostics.end(),
                                     [](const auto& x, const auto& y) { return x.ndcg < y.ndcg; });
  EXPECT_EQ(best->weight, 1.0);
  EXPECT_NEAR(sharp.validation, best->ndcg, 1e-12);
  options.families = Families::kEqual;
  options.fixed_c = 0;
  const MixResult equal = mix_all(e, options);
  for (size_t m = 0; m < 6; ++m)
    EXPECT_NEAR(equal.mixture.weights()[m], equal.mixture.members()[m].family == "svm" ? 0.25 : 0.125, 1e-15);
}

TEST(Mixer, NeverDependsOnTheOrderOfTheMembersOrOnThreads) {
  const Ensemble e = make_ensemble(3);
  const auto variants = standard_variants(e.members);
  const auto run = [&](const Ensemble& x, int threads) {
    std::vector<uint8_t> all;
    for (const MixResult& r : mix(x.members, x.source(), x.validation(), variants, {}, Context(threads))) {
      BinaryWriter out;
      r.mixture.save(out);
      out.put(r.validation);
      for (const auto& point : r.grid) out.put(point.ndcg);
      for (const auto& d : r.diagnostics) out.put(d.variance_share);
      std::vector<float> scores(x.data.labels.size());
      r.mixture.apply([&](size_t m) { return x.source()(r.sources[m]); }, x.data.queries, scores,
                      Context(threads));
      out.put(scores);
      all.insert(all.end(), out.bytes().begin(), out.bytes().end());
    }
    return all;
  };
  const auto expected = run(e, 1);
  Random random(1);
  for (int trial = 0; trial < 4; ++trial) {
    Ensemble shuffled = e;
    std::vector<size_t> order(e.members.size());
    std::iota(order.begin(), order.end(), size_t{0});
    random.shuffle(std::span<size_t>(order));
    for (size_t i = 0; i < order.size(); ++i) {
      shuffled.members[i] = e.members[order[i]];
      shuffled.scores[i] = e.scores[order[i]];
    }
    EXPECT_EQ(run(shuffled, 1 + trial), expected);
  }
}

TEST(Mixer, AMemberWithAllEqualScoresDoesNoHarm) {
  Ensemble e = make_ensemble(4);
  const Variant svm{"SVM+EXP", "svm", std::nullopt, false};
  const MixResult without = mix_all(e, {}, svm);
  e.members.push_back({"svm", CalibrationKind::kCpc, 0, "C=0", 0, "cpc.ls"});
  e.scores.emplace_back(e.data.labels.size(), 0.1f);
  const MixResult with = mix_all(e, {}, svm);
  const MemberSource source = e.source();
  std::vector<float> a(e.data.labels.size()), b(a.size());
  MixOptions fixed;
  fixed.choice = MixChoice::kFixed;
  EXPECT_NEAR(mix_all(e, fixed, svm).validation, with.validation, 0.02);
  EXPECT_NEAR(with.validation, without.validation, 1e-9);
  for (size_t m = 0; m < with.mixture.members().size(); ++m)
    if (with.mixture.members()[m].model == "C=0") {
      EXPECT_EQ(with.diagnostics[m].variance_share, 0);
    }
}

TEST(Mixer, RowsOfTheTables) {
  const Ensemble e = make_ensemble();
  std::vector<std::string> names;
  const auto variants = standard_variants(e.members);
  for (const Variant& v : variants) names.push_back(v.name);
  EXPECT_EQ(names, (std::vector<std::string>{"AB+EXP", "AB+EXP.CPC", "AB+EXP.RBC", "AB+OneBest", "SVM+EXP",
                                             "SVM+EXP.CPC", "SVM+EXP.RBC", "SVM+OneBest", "ALL+EXP",
                                             "ALL+OneBest"}));
  const auto results = mix(e.members, e.source(), e.validation(), variants, {}, Context(2));
  for (size_t v = 0; v < variants.size(); ++v) {
    EXPECT_EQ(results[v].variant.name, names[v]);
    for (const Member& member : results[v].mixture.members()) EXPECT_TRUE(variants[v].takes(member));
    for (size_t m = 0; m < results[v].sources.size(); ++m)
      EXPECT_EQ(e.members[results[v].sources[m]], results[v].mixture.members()[m]);
    // One at a time gives the same as all in one pass.
    const MixResult alone = mix_all(e, {}, variants[v]);
    EXPECT_EQ(alone.mixture.weights(), results[v].mixture.weights());
    EXPECT_EQ(alone.validation, results[v].validation);
  }
}

TEST(Mixer, OneBestIsTheBestMemberAlone) {
  const Ensemble e = make_ensemble(5);
  const auto omega = member_quality(e.members, e.source(), e.validation(), 10, Context());
  const size_t best = std::max_element(omega.begin(), omega.end()) - omega.begin();
  const MixResult result = mix_all(e, {}, {"ALL+OneBest", "", std::nullopt, true});
  ASSERT_EQ(result.sources, std::vector<size_t>{best});
  EXPECT_EQ(result.mixture.weights(), std::vector<double>{1.0});
  EXPECT_EQ(result.validation, omega[best]);
  EXPECT_EQ(result.mixture.checkpoint(), e.members[best].checkpoint);
}

TEST(Mixer, SharesOfVarianceSumToOne) {
  for (const Normalize normalize : {Normalize::kQuery, Normalize::kNone}) {
    MixOptions options;
    options.normalize = normalize;
    const MixResult result = mix_all(make_ensemble(6), options);
    double sum = 0;
    for (const MemberDiagnostics& d : result.diagnostics) sum += d.variance_share;
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST(Mixer, TiesGoToTheSmallerCThenTheSmallerT) {
  // All members rank alike, so every point of the grid is the same.
  Ensemble e = make_ensemble();
  for (auto& scores : e.scores) scores = e.scores[0];
  const MixResult result = mix_all(e, {});
  EXPECT_EQ(result.mixture.c(), 0);
  EXPECT_EQ(result.mixture.checkpoint(), 10);
}

TEST(Mixer, SavesAndLoads) {
  const MixResult result = mix_all(make_ensemble(), {});
  BinaryWriter out;
  result.mixture.save(out);
  BinaryReader in(out.bytes(), "memory");
  const Mixture loaded = Mixture::load(in);
  in.expect_end();
  EXPECT_EQ(loaded.members(), result.mixture.members());
  EXPECT_EQ(loaded.weights(), result.mixture.weights());
  EXPECT_EQ(loaded.c(), result.mixture.c());
  EXPECT_EQ(loaded.checkpoint(), result.mixture.checkpoint());
  EXPECT_EQ(loaded.normalize(), result.mixture.normalize());
  for (size_t size = 0; size < out.bytes().size(); size += 5) {
    BinaryReader cut(out.bytes().first(size), "memory");
    EXPECT_THROW(Mixture::load(cut), InputError);
  }
}

std::string error_of(const Ensemble& e, const MixOptions& options, const Variant& variant = kAll) {
  try {
    mix_all(e, options, variant);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Mixer, RefusesWhatItCannotUse) {
  Ensemble e = make_ensemble();
  MixOptions options;
  options.choice = MixChoice::kFixed;
  options.fixed_checkpoint = 30;
  EXPECT_NE(error_of(e, options).find("expected one of: 10, 20, 50"), std::string::npos);
  options = {};
  options.c_to = -1;
  EXPECT_NE(error_of(e, options).find("the grid of c"), std::string::npos);
  EXPECT_NE(error_of(e, {}, {"X", "forest", std::nullopt, false}).find("no members"), std::string::npos);
  e.scores[2][5] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(error_of(e, {}).find(e.members[2].name()), std::string::npos) << error_of(e, {});
  e = make_ensemble();
  e.members[1] = e.members[0];
  EXPECT_NE(error_of(e, {}).find("occurs twice"), std::string::npos);
  e.members.clear();
  EXPECT_NE(error_of(e, {}).find("nothing to mix"), std::string::npos);
}

TEST(Mixer, SingleQueryAndQueriesWithoutRelevantDocuments) {
  Ensemble e = make_ensemble(7, 40);
  e.data.queries = QueryIndex({0, 40}, {"q"});
  EXPECT_GT(mix_all(e, {}).validation, 0.3);
  for (int32_t& label : e.data.labels) label = 0;
  const MixResult result = mix_all(e, {});
  EXPECT_EQ(result.validation, 1);
  EXPECT_EQ(result.mixture.c(), 0);
}

}  // namespace
}  // namespace tunemix
