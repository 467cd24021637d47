#include "tunemix/metric/evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <numeric>

#include "tests/metric/slow_measures.h"
#include "tunemix/core/error.h"
#include "tunemix/core/random.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

using test::Labels;

struct Query {
  std::vector<int32_t> labels;
  std::vector<double> scores;
  std::vector<std::string> names;
};

// Several queries as the evaluator wants them.
struct Input {
  explicit Input(const std::vector<Query>& list) {
    std::vector<size_t> offsets = {0};
    std::vector<std::string> ids;
    for (const Query& query : list) {
      labels.insert(labels.end(), query.labels.begin(), query.labels.end());
      scores.insert(scores.end(), query.scores.begin(), query.scores.end());
      for (const std::string& name : query.names) names.add(name);
      offsets.push_back(labels.size());
      ids.push_back(std::to_string(ids.size() + 1));
    }
    queries = QueryIndex(offsets, ids);
  }
  Evaluation evaluate(const MetricPolicy& policy, size_t k = 10, int threads = 1) const {
    ThreadPool pool(threads);
    return Evaluator(queries, labels, names, {policy}, k)(scores, pool, true).front();
  }
  QueryIndex queries;
  std::vector<int32_t> labels;
  std::vector<double> scores;
  NameTable names;
};

Evaluation evaluate_one(const MetricPolicy& policy, const std::vector<int32_t>& labels,
                        const std::vector<double>& scores, size_t k = 10) {
  return Input({{labels, scores, {}}}).evaluate(policy, k);
}

MetricPolicy averaged(std::string_view name) {
  MetricPolicy policy = preset(name);
  policy.ties = Ties::kAverage;
  return policy;
}

double at(const Evaluation& evaluation, std::string_view measure) {
  return evaluation.mean[evaluation.measures.column(measure)];
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

// Labels 2 0 1 from rank 1: gains 3 0 1.
TEST(Evaluator, YahooByHand) {
  const Evaluation e = evaluate_one(preset("yahoo"), {0, 1, 2}, {0.2, 0.1, 0.9}, 4);
  const double log2_3 = std::log2(3.0);
  EXPECT_DOUBLE_EQ(at(e, "dcg@1"), 3);
  EXPECT_DOUBLE_EQ(at(e, "dcg@3"), 3.5);
  EXPECT_DOUBLE_EQ(at(e, "ndcg@1"), 1);
  EXPECT_DOUBLE_EQ(at(e, "ndcg@2"), 3 / (3 + 1 / log2_3));
  EXPECT_DOUBLE_EQ(at(e, "ndcg@3"), 3.5 / (3 + 1 / log2_3));
  EXPECT_DOUBLE_EQ(at(e, "ndcg@4"), at(e, "ndcg@3"));
  EXPECT_DOUBLE_EQ(at(e, "mean_ndcg"), (at(e, "ndcg@1") + at(e, "ndcg@2") + at(e, "ndcg@3")) / 3);
  EXPECT_DOUBLE_EQ(at(e, "map"), (1 + 2.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(at(e, "p@2"), 0.5);
  EXPECT_DOUBLE_EQ(at(e, "p@4"), 0.5);
  EXPECT_DOUBLE_EQ(at(e, "mrr"), 1);
  EXPECT_DOUBLE_EQ(at(e, "err"), 3.0 / 16 + 13.0 / 16 * (1.0 / 16) / 3);
  EXPECT_EQ(e.short_queries, 1U);
  EXPECT_EQ(e.empty_queries, 0U);
}

TEST(Evaluator, LetorDiscountIsOneAtRanksOneAndTwo) {
  const Evaluation e = evaluate_one(preset("letor4"), {0, 1, 2, 1}, {4, 3, 2, 1});
  EXPECT_DOUBLE_EQ(at(e, "ndcg@2"), 1.0 / 4);
  EXPECT_DOUBLE_EQ(at(e, "ndcg@3"), (1 + 3 / std::log2(3.0)) / (4 + 1 / std::log2(3.0)));
}

TEST(Evaluator, ToolsDifferOnShortQueries) {
  const std::vector<int32_t> labels = {2, 1};
  const std::vector<double> scores = {1, 2};
  const auto run = [&](std::string_view name) { return evaluate_one(preset(name), labels, scores, 4); };
  EXPECT_GT(at(run("yahoo"), "ndcg@4"), 0.5);
  EXPECT_DOUBLE_EQ(at(run("ranklib"), "ndcg@4"), at(run("yahoo"), "ndcg@4"));
  for (const char* name : {"letor3", "letor4", "mslr"}) {
    EXPECT_EQ(at(run(name), "ndcg@3"), 0) << name;
    EXPECT_EQ(at(run(name), "dcg@3"), 0) << name;
    EXPECT_DOUBLE_EQ(at(run(name), "ndcg@2"), 1) << name;
    EXPECT_DOUBLE_EQ(at(run(name), "mean_ndcg"), (1.0 / 3 + 1) / 2) << name;
  }
  EXPECT_DOUBLE_EQ(at(run("letor3"), "p@2"), 1);
  EXPECT_EQ(at(run("letor3"), "p@4"), 0);
  EXPECT_DOUBLE_EQ(at(run("letor4"), "p@4"), 0.5);
  EXPECT_DOUBLE_EQ(at(run("trec"), "p@4"), 0.5);
  EXPECT_DOUBLE_EQ(at(run("ranklib"), "p@4"), 1);
  EXPECT_DOUBLE_EQ(at(run("mslr"), "p@1"), 0);  // label 1 is not relevant there
  EXPECT_DOUBLE_EQ(at(run("mslr"), "map"), 0.5);
}

TEST(Evaluator, ToolsDifferOnEmptyQueries) {
  for (const std::string& name : preset_names()) {
    const Evaluation e = evaluate_one(preset(name), {0, 0}, {1, 2}, 2);
    const bool one = name == "yahoo" || name == "lightgbm" || name == "xgboost";
    EXPECT_EQ(at(e, "ndcg@2"), one ? 1 : 0) << name;
    EXPECT_EQ(at(e, "mean_ndcg"), one ? 1 : 0) << name;
    EXPECT_EQ(at(e, "map"), name == "lightgbm" || name == "xgboost" ? 1 : 0) << name;
    EXPECT_EQ(at(e, "err"), 0) << name;
    EXPECT_EQ(e.empty_queries, 1U) << name;
  }
}

TEST(Evaluator, RankLibCutsErrAndMrrAtK) {
  const std::vector<int32_t> labels = {0, 0, 2};
  EXPECT_EQ(at(evaluate_one(preset("ranklib"), labels, {3, 2, 1}, 2), "err"), 0);
  EXPECT_EQ(at(evaluate_one(preset("ranklib"), labels, {3, 2, 1}, 2), "mrr"), 0);
  EXPECT_DOUBLE_EQ(at(evaluate_one(preset("yahoo"), labels, {3, 2, 1}, 2), "err"), 3.0 / 16 / 3);
  EXPECT_DOUBLE_EQ(at(evaluate_one(preset("yahoo"), labels, {3, 2, 1}, 2), "mrr"), 1.0 / 3);
}

TEST(Evaluator, TiesByRule) {
  const Query query{{0, 1, 2}, {5, 5, 5}, {"b", "a", "c"}};
  const auto first_gain = [&](Ties ties) {
    MetricPolicy policy = preset("yahoo");
    policy.ties = ties;
    return at(Input({query}).evaluate(policy), "dcg@1");
  };
  EXPECT_DOUBLE_EQ(first_gain(Ties::kFile), 0);
  EXPECT_DOUBLE_EQ(first_gain(Ties::kName), 3);
  EXPECT_DOUBLE_EQ(first_gain(Ties::kAverage), 4.0 / 3);
}

TEST(Evaluator, NamesAreComparedAsBytesAndLackingOnesKeepFileOrder) {
  const auto first_gain = [](std::vector<std::string> names) {
    return at(Input({{{0, 1, 2}, {1, 1, 1}, std::move(names)}}).evaluate(preset("trec")), "dcg@1");
  };
  EXPECT_DOUBLE_EQ(first_gain({"D9", "D10", "D100"}), 0);
  EXPECT_DOUBLE_EQ(first_gain({"a", "\xc3\xa9", "z"}), 1);
  EXPECT_DOUBLE_EQ(first_gain({"", "", ""}), 0);
  EXPECT_DOUBLE_EQ(first_gain({}), 0);
}

// trec_eval keeps scores as float, the others as double.
TEST(Evaluator, TrecRoundsScoresToSinglePrecision) {
  const Query query{{0, 2}, {1.0, 1.0 + 1e-12}, {"z", "a"}};
  EXPECT_DOUBLE_EQ(at(Input({query}).evaluate(preset("yahoo")), "ndcg@1"), 1);
  EXPECT_DOUBLE_EQ(at(Input({query}).evaluate(preset("trec")), "ndcg@1"), 0);
  const Query huge{{0, 2}, {1e300, 1e200}, {"a", "z"}};  // both beyond float
  EXPECT_DOUBLE_EQ(at(Input({huge}).evaluate(preset("yahoo")), "ndcg@1"), 0);
  EXPECT_DOUBLE_EQ(at(Input({huge}).evaluate(preset("trec")), "ndcg@1"), 1);
}

TEST(Evaluator, NegativeZeroIsZero) {
  EXPECT_DOUBLE_EQ(at(evaluate_one(preset("yahoo"), {2, 0}, {-0.0, 0.0}), "ndcg@1"), 1);
  EXPECT_DOUBLE_EQ(at(evaluate_one(preset("yahoo"), {2, 0}, {0.0, -0.0}), "ndcg@1"), 1);
}

TEST(Evaluator, RefusesLabelsThatAToolDoesNotKnow) {
  for (const char* name : {"letor3", "letor4"})
    EXPECT_THAT(message_of([&] {
                  evaluate_one(preset(name), {3, 0}, {1, 2});
                }),
                testing::HasSubstr(fmt::format("label 3, but {} knows labels 0 to 2", name)));
  EXPECT_THAT(message_of([&] {
                evaluate_one(preset("mslr"), {5, 0}, {1, 2});
              }),
              testing::HasSubstr("label 5, but mslr knows labels 0 to 4"));
  MetricPolicy mixed = preset("letor4");
  policy_options().set(mixed, "gain", "exponential");
  EXPECT_DOUBLE_EQ(at(evaluate_one(mixed, {3, 0}, {2, 1}), "dcg@1"), 7);
}

TEST(Evaluator, ErrIsUndefinedWhereALabelExceedsItsMaximum) {
  EXPECT_TRUE(std::isnan(at(evaluate_one(preset("yahoo"), {5, 0}, {2, 1}), "err")));
  MetricPolicy automatic = preset("yahoo");
  policy_options().set(automatic, "err-max", "auto");
  EXPECT_DOUBLE_EQ(at(evaluate_one(automatic, {5, 0}, {2, 1}), "err"), 31.0 / 32);
  EXPECT_DOUBLE_EQ(at(evaluate_one(automatic, {2, 0}, {2, 1}), "err"), 3.0 / 4);
}

TEST(Evaluator, StandardErrorOfTheMean) {
  // DCG@1 of three queries: 1, 3, 0.
  const Input input({{{1}, {0}, {}}, {{2}, {0}, {}}, {{0}, {0}, {}}});
  const Evaluation e = input.evaluate(preset("yahoo"));
  const size_t column = e.measures.dcg(1);
  EXPECT_DOUBLE_EQ(e.mean[column], 4.0 / 3);
  EXPECT_NEAR(e.standard_error[column], std::sqrt((1.0 / 9 + 25.0 / 9 + 16.0 / 9) / 2 / 3), 1e-15);
  EXPECT_TRUE(std::isnan(evaluate_one(preset("yahoo"), {1}, {0}).standard_error[column]));
}

TEST(MeasureTable, NamesRoundTrip) {
  const MeasureTable table(7);
  for (size_t c = 0; c < table.columns(); ++c) EXPECT_EQ(table.column(table.name(c)), c);
  EXPECT_EQ(table.trec_name(table.ndcg(5)), "ndcg_cut_5");
  EXPECT_EQ(table.trec_name(table.precision(5)), "P_5");
  EXPECT_EQ(table.trec_name(table.mrr()), "recip_rank");
  for (const char* bad : {"ndcg@8", "ndcg@0", "ndcg@", "ndcg@3x", "P@3", ""})
    EXPECT_THAT(message_of([&] { table.column(bad); }), testing::HasSubstr("unknown measure")) << bad;
}

TEST(Policy, UnknownPresetsAndValuesAreExplained) {
  EXPECT_THAT(message_of([] { preset("letor5"); }), testing::HasSubstr("did you mean 'letor"));
  MetricPolicy policy;
  const auto set = [&](const char* name, const char* value) {
    return message_of([&] { policy_options().set(policy, name, value); });
  };
  for (const char* bad : {"3,1", "-1,2", "0,x", "", "0,,1", "inf"})
    EXPECT_THAT(set("gain", bad), testing::HasSubstr("expected exponential, linear, or a list")) << bad;
  for (const char* bad : {"0", "-1", "x", "nan", "0.5"})
    EXPECT_THAT(set("err-max", bad), testing::HasSubstr("expected auto")) << bad;
  EXPECT_THAT(set("ties", "names"), testing::HasSubstr("did you mean 'name'"));
}

TEST(Policy, OptionsReadBackWhatTheyWrite) {
  for (const std::string& name : preset_names()) {
    const MetricPolicy original = preset(name);
    MetricPolicy copy;
    for (const auto& entry : policy_options().entries()) entry.set(copy, entry.get(original));
    for (const auto& entry : policy_options().entries())
      EXPECT_EQ(entry.get(copy), entry.get(original)) << name << " " << entry.name;
  }
}

// --- properties ---

Query any_query(int max_label, int score_levels) {
  const auto n = *rc::gen::inRange<size_t>(1, 16);
  Query query;
  for (size_t i = 0; i < n; ++i) {
    query.labels.push_back(*rc::gen::inRange(0, max_label + 1));
    query.scores.push_back(0.25 * *rc::gen::inRange(-score_levels, score_levels + 1));
    query.names.push_back(std::to_string(*rc::gen::inRange(0, 1000)));
  }
  return query;
}

std::vector<Query> any_queries(int max_label, int score_levels) {
  std::vector<Query> queries;
  for (size_t i = *rc::gen::inRange<size_t>(1, 6); i > 0; --i)
    queries.push_back(any_query(max_label, score_levels));
  return queries;
}

// Document numbers in ranked order, by a sort that is plainly the rule's.
std::vector<size_t> slow_order(const Query& query, Ties ties, bool to_float) {
  std::vector<size_t> order(query.labels.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto score = [&](size_t i) {
    return to_float ? static_cast<double>(static_cast<float>(query.scores[i])) : query.scores[i];
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (score(a) != score(b)) return score(a) > score(b);
    return ties == Ties::kName && query.names[a] > query.names[b];
  });
  return order;
}

// Every measure of one ranked list, by definition.
std::map<std::string, double> slow_measures(const Labels& ranked, const MetricPolicy& p, size_t k) {
  const auto gain = [&](int label) {
    if (p.gain == Gain::kLinear) return static_cast<double>(label);
    return std::exp2(label) - 1;
  };
  const auto discount = [&](size_t rank) {
    const auto i = static_cast<double>(rank);
    if (p.discount == Discount::kLog2) return std::log(2.0) / std::log(i + 1);
    return rank < 3 ? 1.0 : std::log(2.0) / std::log(i);
  };
  const size_t n = ranked.size();
  std::map<std::string, double> result;
  for (size_t rank = 1; rank <= k; ++rank) {
    const bool zero = rank > n && p.short_ndcg == ShortNdcg::kZero;
    result[fmt::format("ndcg@{}", rank)] = zero ? 0 : test::slow_ndcg(ranked, rank, gain, discount, p.empty);
    result[fmt::format("dcg@{}", rank)] = zero ? 0 : test::slow_dcg(ranked, rank, gain, discount);
    double precision = test::slow_precision(ranked, rank, p.relevant_from);
    if (rank > n && p.short_precision == ShortPrecision::kZero) precision = 0;
    if (rank > n && p.short_precision == ShortPrecision::kCut)
      precision = test::slow_precision(ranked, n, p.relevant_from);
    result[fmt::format("p@{}", rank)] = precision;
  }
  for (size_t rank = 1; rank <= n; ++rank)
    result["mean_ndcg"] += test::slow_ndcg(ranked, rank, gain, discount, p.empty) / static_cast<double>(n);
  const size_t cut = p.cut_at_k ? k : n;
  result["map"] = test::slow_average_precision(ranked, p.relevant_from, p.empty_map);
  result["mrr"] = test::slow_reciprocal_rank(ranked, p.relevant_from, cut);
  result["err"] = test::slow_err(ranked, p.err_max, cut);
  return result;
}

Labels labels_in(const Query& query, const std::vector<size_t>& order) {
  Labels ranked;
  for (const size_t i : order) ranked.push_back(query.labels[i]);
  return ranked;
}

RC_GTEST_PROP(EvaluatorProperty, EqualsTheDefinitionsUnderEveryPreset, ()) {
  const auto queries = any_queries(2, 6);
  const auto k = *rc::gen::inRange<size_t>(1, 13);
  for (const std::string& name : preset_names()) {
    const MetricPolicy policy = preset(name);
    if (policy.ties == Ties::kAverage) continue;  // has no one order
    const Evaluation e = Input(queries).evaluate(policy, k);
    std::map<std::string, double> mean;
    for (const Query& query : queries) {
      const Labels ranked = labels_in(query, slow_order(query, policy.ties, policy.float_scores));
      for (const auto& [measure, value] : slow_measures(ranked, policy, k))
        mean[measure] += value / static_cast<double>(queries.size());
    }
    RC_ASSERT(mean.size() == e.measures.columns());
    for (const auto& [measure, value] : mean) {
      RC_LOG() << name << " " << measure << " " << at(e, measure) << " " << value << "\n";
      RC_ASSERT(std::abs(at(e, measure) - value) < 1e-12);
    }
  }
}

// Permutations of all documents that keep the scores in falling order are the tied orders, each as often.
RC_GTEST_PROP(EvaluatorProperty, AveragedTiesAreTheMeanOverAllTiedOrders, ()) {
  Query query = any_query(4, 1);
  const auto n = std::min<size_t>(query.labels.size(), 6);
  query.labels.resize(n);
  query.scores.resize(n);
  query.names.resize(n);
  const auto k = *rc::gen::inRange<size_t>(1, 9);
  for (const char* name : {"yahoo", "ranklib", "mslr"}) {
    const MetricPolicy policy = averaged(name);
    std::vector<size_t> order(n);
    std::iota(order.begin(), order.end(), size_t{0});
    std::map<std::string, double> sum;
    double orders = 0;
    do {
      if (!std::is_sorted(order.begin(), order.end(),
                          [&](size_t a, size_t b) { return query.scores[a] > query.scores[b]; }))
        continue;
      ++orders;
      for (const auto& [measure, value] : slow_measures(labels_in(query, order), policy, k))
        sum[measure] += value;
    } while (std::next_permutation(order.begin(), order.end()));
    const Evaluation e = Input({query}).evaluate(policy, k);
    for (const auto& [measure, value] : sum) {
      RC_LOG() << name << " " << measure << " " << at(e, measure) << " " << value / orders << "\n";
      RC_ASSERT(std::abs(at(e, measure) - value / orders) < 1e-12);
    }
  }
}

RC_GTEST_PROP(EvaluatorProperty, EveryMeasureButDcgIsInZeroOne, ()) {
  const Input input(any_queries(2, 4));
  for (const std::string& name : preset_names())
    for (const MetricPolicy& policy : {preset(name), averaged(name)}) {
      const Evaluation e = input.evaluate(policy);
      for (size_t c = 0; c < e.measures.columns(); ++c) {
        if (e.measures.name(c).starts_with("dcg")) continue;
        RC_ASSERT(e.mean[c] >= 0 && e.mean[c] <= 1 + 1e-12);
      }
    }
}

// Maps that are exact in float, so that they are strictly monotone for trec as well.
RC_GTEST_PROP(EvaluatorProperty, StrictlyMonotoneMapsOfTheScoresChangeNothing, ()) {
  auto queries = any_queries(2, 8);
  const Input before(queries);
  const int which = *rc::gen::inRange(0, 3);
  for (Query& query : queries)
    for (double& score : query.scores)
      score = which == 0 ? 4 * score - 7 : which == 1 ? score * score * score : std::exp(score);
  const Input after(queries);
  for (const std::string& name : preset_names())
    for (const MetricPolicy& policy : {preset(name), averaged(name)})
      RC_ASSERT(before.evaluate(policy).per_query == after.evaluate(policy).per_query);
}

RC_GTEST_PROP(EvaluatorProperty, TheOrderOfQueriesChangesNothing, ()) {
  auto queries = any_queries(2, 4);
  const Input before(queries);
  std::rotate(queries.begin(), queries.begin() + *rc::gen::inRange<int>(0, static_cast<int>(queries.size())),
              queries.end());
  const Input after(queries);
  for (const std::string& name : preset_names()) {
    const Evaluation a = before.evaluate(preset(name));
    const Evaluation b = after.evaluate(preset(name));
    RC_ASSERT(a.empty_queries == b.empty_queries && a.short_queries == b.short_queries);
    for (size_t c = 0; c < a.mean.size(); ++c)
      RC_ASSERT(std::abs(a.mean[c] - b.mean[c]) < 1e-14 * (1 + a.mean[c]));
  }
}

RC_GTEST_PROP(EvaluatorProperty, WithoutTiesEveryTieRuleAgrees, ()) {
  Query query = any_query(2, 4);
  for (size_t i = 0; i < query.scores.size(); ++i) query.scores[i] += 0.001 * static_cast<double>(i);
  for (const std::string& name : preset_names()) {
    std::vector<std::vector<double>> rows;
    for (const Ties ties : {Ties::kFile, Ties::kName, Ties::kAverage}) {
      MetricPolicy policy = preset(name);
      policy.ties = ties;
      rows.push_back(Input({query}).evaluate(policy).per_query);
    }
    RC_ASSERT(rows[0] == rows[1]);
    RC_ASSERT(rows[0] == rows[2]);
  }
}

RC_GTEST_PROP(EvaluatorProperty, PoliciesTogetherEqualPoliciesAlone, ()) {
  const Input input(any_queries(2, 3));
  std::vector<MetricPolicy> policies;
  for (const std::string& name : preset_names()) {
    policies.push_back(preset(name));
    policies.push_back(averaged(name));
  }
  ThreadPool pool(1);
  const auto together =
      Evaluator(input.queries, input.labels, input.names, policies, 5)(input.scores, pool, true);
  for (size_t p = 0; p < policies.size(); ++p)
    RC_ASSERT(together[p].per_query == input.evaluate(policies[p], 5).per_query);
}

// --- the metric that choices are made by ---

RC_GTEST_PROP(SelectionProperty, IsTheAveragedYahooNdcg, ()) {
  const auto queries = any_queries(4, *rc::gen::element(1, 4, 1000));
  const Input input(queries);
  const auto k = *rc::gen::inRange<size_t>(1, 20);
  const std::vector<float> scores(input.scores.begin(), input.scores.end());
  const SelectionMetric metric(input.queries, input.labels, exponential_grades(5), k);
  const Evaluation e = input.evaluate(averaged("yahoo"), k);
  std::vector<double> values(queries.size());
  metric.per_query(scores, values);
  for (size_t q = 0; q < queries.size(); ++q)
    RC_ASSERT(std::abs(values[q] - e.per_query[q * e.measures.columns() + e.measures.ndcg(k)]) < 1e-12);
  RC_ASSERT(std::abs(metric(scores) - e.ndcg(k)) < 1e-12);
}

// Under every preset's conventions but for ties, which are averaged.
RC_GTEST_PROP(SelectionProperty, IsTheAveragedMeasureOfEveryPreset, ()) {
  const Input input(any_queries(2, *rc::gen::element(1, 4, 1000)));
  const std::vector<float> scores(input.scores.begin(), input.scores.end());
  const auto preset_name = *rc::gen::elementOf(preset_names());
  const auto k = *rc::gen::inRange<size_t>(1, 20);
  const auto expect = [&](const std::string& name, size_t rank, const std::string& measure) {
    const SelectionMetric metric(input.queries, input.labels, exponential_grades(5),
                                 SelectionName::parse(name));
    const Evaluation e = input.evaluate(averaged(preset_name), rank);
    const size_t column = e.measures.column(measure);
    std::vector<double> values(input.queries.size());
    metric.per_query(scores, values);
    for (size_t q = 0; q < values.size(); ++q)
      RC_ASSERT(std::abs(values[q] - e.per_query[q * e.measures.columns() + column]) < 1e-12);
    RC_ASSERT(std::abs(metric(scores) - e.mean[column]) < 1e-12);
  };
  expect(fmt::format("ndcg@{}:{}", k, preset_name), k, fmt::format("ndcg@{}", k));
  expect("err:" + preset_name, 10, "err");
  expect("map:" + preset_name, 10, "map");
}

TEST(Selection, NamesOfMeasures) {
  const std::vector<std::pair<std::string, std::string>> labels = {{"ndcg@10", "NDCG@10"},
                                                                   {"ndcg@5", "NDCG@5"},
                                                                   {"ndcg@10:letor4", "NDCG@10 (letor4)"},
                                                                   {"err", "ERR"},
                                                                   {"map:mslr", "MAP (mslr)"}};
  for (const auto& [text, label] : labels) {
    EXPECT_EQ(SelectionName::parse(text).text(), text);
    EXPECT_EQ(SelectionName::parse(text).label(), label);
  }
  for (const char* text : {"", "ndcg", "ndcg@", "ndcg@0", "ndcg@1001", "ndcg@5x", "ndcg@-1", "mrr", "err@5",
                           "ndcg@10:", "ndcg@10:leter4", "map:"})
    EXPECT_THROW(SelectionName::parse(text), InputError) << text;
}

// A label that a preset has no value for is the user's to mend.
TEST(Selection, LabelsThatAMeasureDoesNotKnow) {
  const QueryIndex queries({0, 2}, {"q"});
  const std::vector<int32_t> labels = {0, 5};
  for (const char* name : {"ndcg@10:letor4", "err"})
    EXPECT_THROW(SelectionMetric(queries, labels, exponential_grades(6), SelectionName::parse(name)),
                 InputError)
        << name;
  EXPECT_EQ(SelectionMetric(queries, labels, exponential_grades(6),
                            SelectionName::parse("map"))(std::vector<float>{0, 1}),
            1);
}

// Long enough for every path: blocks of scores, few and many ranks, many threads, several blocks of queries.
TEST(Selection, LongQueriesEqualTheEvaluatorOnAnyNumberOfThreads) {
  Random random(7);
  std::vector<Query> queries;
  for (size_t q = 0; q < 300; ++q) {
    Query query;
    const double levels = std::exp2(static_cast<double>(random.below(12)));
    for (size_t n = 1 + random.below(200); n > 0; --n) {
      query.labels.push_back(static_cast<int32_t>(random.below(5)));
      query.scores.push_back(static_cast<float>(std::floor(random.uniform() * levels) / levels - 0.5));
    }
    queries.push_back(std::move(query));
  }
  const Input input(queries);
  const std::vector<float> scores(input.scores.begin(), input.scores.end());
  for (const size_t k : {1, 10, 64, 65, 500}) {
    const SelectionMetric metric(input.queries, input.labels, exponential_grades(5), k);
    const Evaluation e = input.evaluate(averaged("yahoo"), k);
    EXPECT_NEAR(metric(scores), e.ndcg(k), 1e-12) << k;
    ThreadPool pool(3);
    EXPECT_EQ(metric(scores, pool), metric(scores)) << k;
  }
  for (const std::string& name : preset_names()) {
    if (largest_label(preset(name)) < 4) continue;
    const Evaluation one = input.evaluate(preset(name), 10, 1);
    const Evaluation many = input.evaluate(preset(name), 10, 3);
    EXPECT_EQ(one.mean, many.mean) << name;
    EXPECT_EQ(one.standard_error, many.standard_error) << name;
    EXPECT_EQ(one.per_query, many.per_query) << name;
  }
}

TEST(Evaluator, AWeightedQueryCountsAsOftenAsItsDocumentsOnTheAverage) {
  Random random(4, "weighted queries");
  std::vector<Query> once, repeated;
  std::vector<float> weights;
  for (size_t q = 0; q < 30; ++q) {
    Query query;
    const size_t times = random.below(4);
    for (size_t i = 0; i < 2 + random.below(12); ++i) {
      query.labels.push_back(static_cast<int32_t>(random.below(5)));
      query.scores.push_back(random.normal());
      // Only the mean matters.
      weights.push_back(static_cast<float>(times) * (i == 0 ? 0.5F : i == 1 ? 1.5F : 1.0F));
    }
    once.push_back(query);
    for (size_t k = 0; k < times; ++k) repeated.push_back(query);
  }
  const Input weighted(once);
  ThreadPool pool(2);
  const MetricPolicy policy = preset("yahoo");
  const Evaluation e = Evaluator(weighted.queries, weighted.labels, weighted.names, {policy}, 10, weights)(
                           weighted.scores, pool)
                           .front();
  const Evaluation slow = Input(repeated).evaluate(policy);
  for (size_t c = 0; c < e.mean.size(); ++c) EXPECT_NEAR(e.mean[c], slow.mean[c], 1e-12) << c;
  EXPECT_TRUE(e.per_query.empty());

  const std::vector<double> of_queries = query_weights(weighted.queries, weights);
  const std::vector<float> scores(weighted.scores.begin(), weighted.scores.end());
  const std::vector<double> grades = exponential_grades(5);
  const SelectionMetric metric(weighted.queries, weighted.labels, grades, 10, of_queries);
  EXPECT_NEAR(metric(scores), e.ndcg(10), 1e-12);
  EXPECT_NEAR(metric(scores, pool), e.ndcg(10), 1e-12);
}

TEST(Evaluator, EqualWeightsChangeNothing) {
  const Input input({{{2, 0, 1}, {1, 2, 3}, {}}, {{0, 1}, {1, 2}, {}}, {{3, 0, 0}, {1, 3, 2}, {}}});
  ThreadPool pool(1);
  const MetricPolicy policy = preset("yahoo");
  const Evaluation plain = input.evaluate(policy);
  const std::vector<float> weights(input.labels.size(), 3.0F);
  const Evaluation e =
      Evaluator(input.queries, input.labels, input.names, {policy}, 10, weights)(input.scores, pool).front();
  for (size_t c = 0; c < e.mean.size(); ++c) {
    EXPECT_NEAR(e.mean[c], plain.mean[c], 1e-12);
    EXPECT_NEAR(e.standard_error[c], plain.standard_error[c], 1e-12);
  }
  EXPECT_THROW(Evaluator(input.queries, input.labels, input.names, {policy}, 10,
                         std::vector<float>(input.labels.size(), 0.0F)),
               InputError);
}

}  // namespace
}  // namespace tunemix
