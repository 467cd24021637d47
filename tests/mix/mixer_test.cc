#include "tunemix/mix/mixer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "tests/mix/slow_mixture.h"

namespace tunemix {
namespace {

using namespace mixing_test;

const Variant kAll{"ALL+EXP", "", std::nullopt, false};
const std::vector<FamilyRow> kRows = {{"boosting", "AB"}, {"svm", "SVM"}};

Ensemble make_ensemble(uint64_t seed = 1, size_t documents = 1500) {
  Ensemble e;
  e.data = test::make_up({.documents = documents, .seed = seed});
  for (const int64_t checkpoint : {10, 20, 50})
    for (int bag = 0; bag < 2; ++bag) {
      const double noise = checkpoint == 20 ? 2 : 4;
      e.add({"boosting", CalibrationKind::kCpc, checkpoint, fmt::format("tree8 {}", bag), "cpc.ls"}, noise,
            seed);
      e.add({"boosting", CalibrationKind::kRbc, checkpoint, fmt::format("tree8 {}", bag), "rbc.linear.raw"},
            noise, seed);
    }
  e.add({"svm", CalibrationKind::kCpc, 0, "C=1", "cpc.ls"}, 3, seed);
  e.add({"svm", CalibrationKind::kRbc, 0, "C=1", "rbc.poly2.ndcg"}, 3.5, seed);
  return e;
}

MixResult mix_all(const Ensemble& e, const MixOptions& options, const Variant& variant = kAll,
                  int threads = 1) {
  return std::move(mix(e.members, e.source(), e.validation(), {&variant, 1}, options, Context(threads))[0]);
}

// Every point of the grid, the choice, and the weights of the mixture.
void expect_slow_grid(const Ensemble& e, const MixOptions& options, const Variant& variant,
                      const std::vector<int64_t>& lengths) {
  const MixResult result = mix_all(e, options, variant);
  // Masses are learned for all members together only.
  MixOptions slow_options = options;
  const bool takes_all = std::all_of(e.members.begin(), e.members.end(),
                                     [&](const Member& member) { return variant.takes(member); });
  if (options.families == Families::kLearned && !takes_all) slow_options.families = Families::kWeighted;
  std::vector<GridPoint> expected;
  const auto steps = static_cast<size_t>((options.c_to - options.c_from) / options.c_step) + 1;
  for (const int64_t length : lengths)
    for (size_t j = 0; j < steps; ++j)
      expected.push_back({options.c_from + static_cast<double>(j) * options.c_step, length, 0});
  ASSERT_EQ(result.grid.size(), expected.size());
  GridPoint best;
  best.quality = -1;
  for (size_t p = 0; p < expected.size(); ++p) {
    const GridPoint& point = result.grid[p];
    EXPECT_NEAR(point.c, expected[p].c, 1e-9);
    EXPECT_EQ(point.checkpoint, expected[p].checkpoint);
    const std::vector<size_t> chosen = slow_chosen(e, variant, point.checkpoint, options);
    const SlowMixture slow(e, chosen, point.c, slow_options);
    EXPECT_NEAR(point.quality, slow.quality, 1e-9) << point.c << " " << point.checkpoint;
    if (point.quality > best.quality ||
        (point.quality == best.quality &&
         (point.c < best.c || (point.c == best.c && point.checkpoint < best.checkpoint))))
      best = point;
  }
  EXPECT_EQ(result.mixture.c(), best.c);
  EXPECT_EQ(result.mixture.checkpoint(), best.checkpoint);
  EXPECT_EQ(result.chosen_by, best.quality);
  const std::vector<size_t> chosen = slow_chosen(e, variant, best.checkpoint, options);
  const SlowMixture slow(e, chosen, best.c, slow_options);
  EXPECT_EQ(result.left_out, slow_standing(e, variant, best.checkpoint, options).size() - chosen.size());
  std::vector<double> weights = slow.weights;
  if (options.families == Families::kLearned) {
    for (double& weight : weights) weight = weight < 0.005 ? 0 : weight;
    const double rest = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& weight : weights) weight /= rest;
    if (slow.quality_of(weights) < slow.quality_of(slow.weights)) weights = slow.weights;
  }
  std::vector<size_t> expected_sources;
  for (size_t m = 0; m < chosen.size(); ++m)
    if (weights[m] > 0) expected_sources.push_back(chosen[m]);
  ASSERT_EQ(result.sources, expected_sources);
  double total = 0;
  for (size_t m = 0, kept = 0; m < chosen.size(); ++m) {
    if (weights[m] > 0) {
      EXPECT_NEAR(result.mixture.weights()[kept++], weights[m], 1e-12);
    }
    total += weights[m];
  }
  EXPECT_NEAR(total, 1, 1e-12);
  double masses = 0;
  for (const FamilyMass& family : result.mixture.families()) masses += family.mass;
  EXPECT_NEAR(masses, 1, 1e-12);
}

TEST(Mixer, GridEqualsTheSlowVersion) {
  const Ensemble e = make_ensemble();
  const Context context;
  const SelectionMetric metric(e.data.queries, e.data.labels, e.data.grades);
  const auto omega = member_quality(e.members, e.source(), e.validation(), "ndcg@10", context);
  for (size_t m = 0; m < e.members.size(); ++m) EXPECT_EQ(omega[m], metric(e.scores[m]));
  for (const Families families :
       {Families::kLearned, Families::kWeighted, Families::kEqual, Families::kPooled})
    for (const Normalize normalize : {Normalize::kQuery, Normalize::kNone})
      for (const Checkpoints checkpoints : {Checkpoints::kChosen, Checkpoints::kAll}) {
        MixOptions options;
        options.families = families;
        options.normalize = normalize;
        options.checkpoints = checkpoints;
        options.c_step = 40;
        const std::vector<int64_t> lengths =
            checkpoints == Checkpoints::kAll ? std::vector<int64_t>{0} : std::vector<int64_t>{10, 20, 50};
        for (const int parts : {1, 3}) {
          options.parts = parts;
          expect_slow_grid(e, options, kAll, lengths);
        }
      }
}

TEST(Mixer, WithWeightsOfQueriesEqualsTheSlowVersion) {
  Ensemble e = make_ensemble(2);
  for (size_t q = 0; q < e.data.queries.size(); ++q) e.weights.push_back(0.25 * static_cast<double>(q % 5));
  for (const Families families :
       {Families::kLearned, Families::kWeighted, Families::kEqual, Families::kPooled})
    for (const int parts : {1, 4}) {
      MixOptions options;
      options.families = families;
      options.parts = parts;
      options.c_step = 100;
      expect_slow_grid(e, options, kAll, {10, 20, 50});
      expect_slow_grid(e, options, {"AB", "boosting", std::nullopt, false}, {10, 20, 50});
      // The weights are no ornament.
      Ensemble plain = e;
      plain.weights.clear();
      EXPECT_GT(std::abs(mix_all(plain, options).chosen_by - mix_all(e, options).chosen_by), 1e-6);
    }
}

TEST(Mixer, ModelsOfTheOnlyFamilyHaveLearnedMasses) {
  Ensemble e;
  e.data = test::make_up({.documents = 2500, .seed = 5});
  for (const std::string model : {"a", "b", "c"})
    for (const int64_t length : {10, 20})
      for (const CalibrationKind kind : {CalibrationKind::kCpc, CalibrationKind::kRbc})
        e.add({"boosting", kind, length, model, std::string(to_string(kind))}, model == "a" ? 6 : 3, 5);
  MixOptions options;
  options.c_step = 100;
  options.parts = 3;
  for (const Families families : {Families::kLearned, Families::kWeighted}) {
    options.families = families;
    expect_slow_grid(e, options, kAll, {10, 20});
  }
}

// Runs of other lengths, lengths that one run alone has, and a learner without any.
Ensemble make_lengths(uint64_t seed) {
  Ensemble e;
  e.data = test::make_up({.documents = 900, .seed = seed});
  const auto run = [&](const std::string& family, const std::string& model,
                       const std::vector<int64_t>& lengths) {
    for (const int64_t length : lengths)
      for (const CalibrationKind kind : {CalibrationKind::kCpc, CalibrationKind::kRbc})
        e.add({family, kind, length, model, std::string(to_string(kind))},
              2 + 10.0 / static_cast<double>(length), seed);
  };
  run("boosting", "a0", {10, 20, 50});
  run("boosting", "a1", {10, 35});
  run("boosting", "b", {100});
  run("gradient", "g", {7, 20, 60});
  run("gradient", "h", {20});
  e.add({"svm", CalibrationKind::kCpc, 0, "C=1", "cpc"}, 3, seed);
  return e;
}

TEST(Mixer, RunsOfDifferentLengthsEqualTheSlowVersion) {
  const Ensemble e = make_lengths(2);
  MixOptions options;
  options.c_step = 100;
  options.parts = 3;
  const std::vector<int64_t> all = {7, 10, 20, 35, 50, 60, 100};
  for (const Families families :
       {Families::kLearned, Families::kWeighted, Families::kEqual, Families::kPooled}) {
    options.families = families;
    expect_slow_grid(e, options, kAll, all);
  }
  expect_slow_grid(e, options, {"G", "gradient", std::nullopt, false}, {7, 20, 60});
  expect_slow_grid(e, options, {"AB.RBC", "boosting", CalibrationKind::kRbc, false}, {10, 20, 35, 50, 100});
  // No run drops out, however short or long it is.
  options.choice = MixChoice::kFixed;
  options.fixed_checkpoint = 7;
  EXPECT_EQ(mix_all(e, options).mixture.members().size(), 11u);
  options.fixed_checkpoint = 0;
  const MixResult longest = mix_all(e, options);
  EXPECT_EQ(longest.mixture.checkpoint(), 100);
  std::vector<int64_t> lengths;
  for (const Member& member : longest.mixture.members())
    if (member.kind == CalibrationKind::kCpc) lengths.push_back(member.checkpoint);
  EXPECT_EQ(lengths, (std::vector<int64_t>{35, 50, 100, 20, 60, 0}));
}

TEST(Mixer, CopiesAreLeftOutOfTheMixturesThatHaveTheOriginal) {
  Ensemble e = make_lengths(3);
  const auto find = [&](const Member& member) {
    const auto at = std::find(e.members.begin(), e.members.end(), member);
    EXPECT_NE(at, e.members.end()) << member.name();
    return static_cast<size_t>(at - e.members.begin());
  };
  const auto copy = [&](const Member& from, const Member& to, bool of_order) {
    std::vector<float> scores = e.scores[find(from)];
    // The same order of other scores, ties included.
    if (of_order)
      for (float& score : scores) score = std::tanh(0.1f * score) * 8;
    e.scores[find(to)] = scores;
  };
  // Some ties to keep, coarse enough that the copies have them too.
  for (auto& scores : e.scores)
    for (float& score : scores) score = std::round(score * 2) / 2;
  const auto cpc = CalibrationKind::kCpc, rbc = CalibrationKind::kRbc;
  copy({"boosting", cpc, 20, "a0", "cpc"}, {"boosting", rbc, 20, "a0", "rbc"}, true);   // another kind
  copy({"boosting", cpc, 20, "a0", "cpc"}, {"boosting", cpc, 50, "a0", "cpc"}, false);  // another length
  copy({"boosting", cpc, 35, "a1", "cpc"}, {"gradient", cpc, 20, "h", "cpc"}, true);    // another family
  copy({"boosting", cpc, 35, "a1", "cpc"}, {"svm", cpc, 0, "C=1", "cpc"}, true);        // a whole family
  MixOptions options;
  options.c_step = 100;
  options.parts = 2;
  const std::vector<int64_t> all = {7, 10, 20, 35, 50, 60, 100};
  for (const Families families :
       {Families::kLearned, Families::kWeighted, Families::kEqual, Families::kPooled}) {
    options.families = families;
    expect_slow_grid(e, options, kAll, all);
  }
  expect_slow_grid(e, options, {"AB", "boosting", std::nullopt, false}, {10, 20, 35, 50, 100});
  expect_slow_grid(e, options, {"AB.RBC", "boosting", rbc, false}, {10, 20, 35, 50, 100});
  options.checkpoints = Checkpoints::kAll;
  expect_slow_grid(e, options, kAll, {0});

  options = {};
  options.choice = MixChoice::kFixed;
  const auto left_out = [&](int64_t length, const Variant& variant) {
    options.fixed_checkpoint = length;
    return mix_all(e, options, variant).left_out;
  };
  EXPECT_EQ(left_out(20, kAll), 2u);  // one by another kind; of two copies without their original the second
  EXPECT_EQ(left_out(50, kAll), 2u);
  EXPECT_EQ(left_out(20, {"AB.RBC", "boosting", rbc, false}), 0u);
  options.checkpoints = Checkpoints::kAll;
  EXPECT_EQ(mix_all(e, options).left_out, 4u);
  // The order must be the same, not nearly so: one tie less, and it is no copy.
  const size_t svm = find({"svm", cpc, 0, "C=1", "cpc"});
  for (size_t q = 0, changed = 0; q < e.data.queries.size() && changed == 0; ++q)
    for (size_t i = e.data.queries.begin(q) + 1; i < e.data.queries.end(q) && changed == 0; ++i)
      if (e.scores[svm][i] == e.scores[svm][i - 1]) {
        e.scores[svm][i] = std::nextafter(e.scores[svm][i], 1000.0f);
        changed = 1;
      }
  EXPECT_EQ(mix_all(e, options).left_out, 3u);
}

// A family that knows the first half's labels and is the worse one on the second: the first half must be
// judged with the second's masses, which prefer the other family, and that one has the first half upside
// down.
TEST(Mixer, MassesOfAPartComeFromTheOtherParts) {
  Ensemble e;
  e.data = test::make_up({.documents = 3000, .seed = 8});
  const size_t half = e.data.queries.begin(e.data.queries.size() / 2);
  e.add({"reversed", CalibrationKind::kCpc, 0, "m", "c"}, 2, 1);
  e.add({"knowing", CalibrationKind::kCpc, 0, "m", "c"}, 4, 1);
  for (size_t i = 0; i < half; ++i) {
    e.scores[0][i] = static_cast<float>(-e.data.labels[i]);
    e.scores[1][i] = static_cast<float>(e.data.labels[i]);
  }
  MixOptions options;
  options.parts = 2;
  options.c_to = options.c_step;
  expect_slow_grid(e, options, kAll, {0});
  const double cross = mix_all(e, options).chosen_by;
  options.parts = 1;
  EXPECT_GT(mix_all(e, options).chosen_by, cross + 0.1);
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
                                     [](const auto& x, const auto& y) { return x.quality < y.quality; });
  EXPECT_EQ(best->weight, 1.0);
  EXPECT_NEAR(sharp.validation, best->quality, 1e-12);
  options.families = Families::kEqual;
  options.fixed_c = 0;
  const MixResult equal = mix_all(e, options);
  for (size_t m = 0; m < 6; ++m)
    EXPECT_NEAR(equal.mixture.weights()[m], equal.mixture.members()[m].family == "svm" ? 0.25 : 0.125, 1e-15);
}

TEST(Mixer, NeverDependsOnTheOrderOfTheMembersOrOnThreads) {
  const Ensemble e = make_ensemble(3);
  const auto variants = standard_variants(e.members, kRows);
  const auto run = [&](const Ensemble& x, int threads) {
    std::vector<uint8_t> all;
    for (const MixResult& r : mix(x.members, x.source(), x.validation(), variants, {}, Context(threads))) {
      BinaryWriter out;
      r.mixture.save(out);
      out.put(r.validation);
      for (const auto& point : r.grid) out.put(point.quality);
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
  MixOptions fixed;
  fixed.choice = MixChoice::kFixed;
  const MixResult without = mix_all(e, {}, svm);
  const double fixed_without = mix_all(e, fixed, svm).validation;
  e.members.push_back({"svm", CalibrationKind::kCpc, 0, "C=0", "cpc.ls"});
  e.scores.emplace_back(e.data.labels.size(), 0.1f);
  const MixResult with = mix_all(e, {}, svm);
  EXPECT_NEAR(mix_all(e, fixed, svm).validation, fixed_without, 1e-9);
  EXPECT_NEAR(with.validation, without.validation, 1e-9);
  for (size_t m = 0; m < with.mixture.members().size(); ++m)
    if (with.mixture.members()[m].model == "C=0") {
      EXPECT_EQ(with.diagnostics[m].variance_share, 0);
    }
}

TEST(Mixer, RowsOfTheTables) {
  const Ensemble e = make_ensemble();
  std::vector<std::string> names;
  const auto variants = standard_variants(e.members, kRows);
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

TEST(Mixer, ChoosesByTheMetricThatIsNamed) {
  const Ensemble e = make_ensemble(9);
  std::vector<double> validation;
  for (const char* name : {"ndcg@10", "ndcg@3", "ndcg@10:letor4", "err", "map"}) {
    MixOptions options;
    options.metric = name;
    options.parts = 1;
    const SelectionMetric metric(e.data.queries, e.data.labels, e.data.grades, SelectionName::parse(name));
    const MixResult result = mix_all(e, options);
    EXPECT_EQ(result.validation, metric(result.scores)) << name;
    EXPECT_NEAR(result.chosen_by, result.validation, 1e-9) << name;
    for (size_t m = 0; m < result.sources.size(); ++m)
      EXPECT_EQ(result.diagnostics[m].quality, metric(e.scores[result.sources[m]])) << name;
    validation.push_back(result.validation);
  }
  std::sort(validation.begin(), validation.end());
  EXPECT_EQ(std::unique(validation.begin(), validation.end()), validation.end());
  MixOptions unknown;
  unknown.metric = "ndgc@10";
  EXPECT_THROW(mix_all(e, unknown), InputError);
}

TEST(Mixer, RowsAreNamedAndOrderedByTheCaller) {
  const Ensemble e = make_ensemble();
  const std::vector<FamilyRow> rows = {{"svm", "S"}, {"forest", "RF"}, {"boosting", "B"}};
  std::vector<std::string> names;
  for (const Variant& v : standard_variants(e.members, rows)) names.push_back(v.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"S+EXP", "S+EXP.CPC", "S+EXP.RBC", "S+OneBest", "B+EXP", "B+EXP.CPC",
                                      "B+EXP.RBC", "B+OneBest", "ALL+EXP", "ALL+OneBest"}));
  EXPECT_THROW(standard_variants(e.members, std::vector<FamilyRow>{{"svm", "S"}}), InternalError);
}

TEST(Mixer, OneBestIsTheBestMemberAlone) {
  const Ensemble e = make_ensemble(5);
  const auto omega = member_quality(e.members, e.source(), e.validation(), "ndcg@10", Context());
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

TEST(Mixer, AWeightedQueryCountsAsOften) {
  const Ensemble e = make_ensemble();
  std::vector<double> weights;
  Ensemble copies = e;
  copies.data.labels.clear();
  for (auto& scores : copies.scores) scores.clear();
  std::vector<size_t> offsets = {0};
  std::vector<std::string> ids;
  for (size_t q = 0; q < e.data.queries.size(); ++q) {
    weights.push_back(static_cast<double>(1 + q % 3));
    for (size_t k = 0; k < 1 + q % 3; ++k) {
      for (size_t i = e.data.queries.begin(q); i < e.data.queries.end(q); ++i) {
        copies.data.labels.push_back(e.data.labels[i]);
        for (size_t m = 0; m < e.scores.size(); ++m) copies.scores[m].push_back(e.scores[m][i]);
      }
      offsets.push_back(copies.data.labels.size());
      ids.push_back(std::to_string(ids.size()));
    }
  }
  copies.data.queries = QueryIndex(offsets, ids);
  ValidationData weighted = e.validation();
  weighted.weights = weights;
  const auto a = member_quality(e.members, e.source(), weighted, "ndcg@10", Context());
  const auto b = member_quality(copies.members, copies.source(), copies.validation(), "ndcg@10", Context());
  for (size_t m = 0; m < a.size(); ++m) EXPECT_NEAR(a[m], b[m], 1e-12);
  // Parts of the queries would be others; pooled families have no masses that know how many queries there
  // are.
  MixOptions options;
  options.parts = 1;
  options.families = Families::kPooled;
  const std::vector<Variant> variants = {kAll};
  const MixResult x = mix(e.members, e.source(), weighted, variants, options, Context()).front();
  const MixResult y =
      mix(copies.members, copies.source(), copies.validation(), variants, options, Context()).front();
  EXPECT_NEAR(x.validation, y.validation, 1e-12);
  EXPECT_NEAR(x.chosen_by, y.chosen_by, 1e-12);
  EXPECT_EQ(x.mixture.c(), y.mixture.c());
  // Weights of 1 are none.
  weights.assign(weights.size(), 1.0);
  weighted.weights = weights;
  EXPECT_EQ(mix(e.members, e.source(), weighted, variants, {}, Context()).front().scores,
            mix(e.members, e.source(), e.validation(), variants, {}, Context()).front().scores);
}

}  // namespace
}  // namespace tunemix
