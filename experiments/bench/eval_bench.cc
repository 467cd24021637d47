// How fast rankings are evaluated: all six presets on 10^7 documents in 10^5 queries, and the NDCG that
// choices are made by on data of the size of a validation split.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tunemix/core/random.h"
#include "tunemix/metric/evaluator.h"
#include "tunemix/metric/selection.h"

namespace {

using namespace tunemix;

struct Ranking {
  QueryIndex queries;
  std::vector<int32_t> labels;
  NameTable names;
  std::vector<double> scores;
  std::vector<float> float_scores;
};

// Labels 0..max_label, rarer as they rise; scores that follow them with noise. `levels` > 0 rounds the
// scores, for ties.
Ranking make_ranking(size_t queries, size_t length, int max_label, double levels) {
  Random random(1, "eval_bench");
  std::vector<size_t> offsets(queries + 1);
  std::vector<std::string> ids;
  for (size_t q = 0; q < queries; ++q) {
    offsets[q + 1] = offsets[q] + length;
    ids.push_back(std::to_string(q));
  }
  Ranking result{
      .queries = QueryIndex(offsets, ids), .labels = {}, .names = {}, .scores = {}, .float_scores = {}};
  for (size_t i = 0; i < queries * length; ++i) {
    const double x = random.uniform();
    result.labels.push_back(static_cast<int32_t>(x * x * x * (max_label + 1)));
    double score = x + random.uniform();
    if (levels > 0) score = std::round(score * levels) / levels;
    result.scores.push_back(score);
    result.float_scores.push_back(static_cast<float>(score));
    result.names.add(fmt::format("D{}", random.below(1000000)));
  }
  return result;
}

void count_documents(benchmark::State& state, const Ranking& ranking) {
  state.counters["documents/s"] = benchmark::Counter(static_cast<double>(ranking.labels.size()),
                                                     benchmark::Counter::kIsIterationInvariantRate);
  state.counters["queries/s"] = benchmark::Counter(static_cast<double>(ranking.queries.size()),
                                                   benchmark::Counter::kIsIterationInvariantRate);
}

void evaluate_presets(benchmark::State& state, const std::vector<std::string>& names, double levels) {
  const Ranking ranking = make_ranking(100000, 100, 2, levels);
  std::vector<MetricPolicy> policies;
  for (const std::string& name : names) policies.push_back(preset(name));
  ThreadPool pool(1);
  const Evaluator evaluator(ranking.queries, ranking.labels, ranking.names, policies);
  for (auto _ : state) benchmark::DoNotOptimize(evaluator(ranking.scores, pool));
  count_documents(state, ranking);
}

void BM_AllPresets(benchmark::State& state) { evaluate_presets(state, preset_names(), 0); }
void BM_AllPresetsWithTies(benchmark::State& state) { evaluate_presets(state, preset_names(), 50); }
void BM_Yahoo(benchmark::State& state) { evaluate_presets(state, {"yahoo"}, 0); }
BENCHMARK(BM_AllPresets)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_AllPresetsWithTies)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Yahoo)->Unit(benchmark::kMillisecond);

// Only the sort that any evaluator needs, the floor of the figures above.
void BM_SortOnly(benchmark::State& state) {
  const Ranking ranking = make_ranking(100000, 100, 2, 0);
  std::vector<uint32_t> order(100);
  for (auto _ : state)
    for (size_t q = 0; q < ranking.queries.size(); ++q) {
      const double* scores = ranking.scores.data() + ranking.queries.begin(q);
      std::iota(order.begin(), order.end(), 0U);
      std::stable_sort(order.begin(), order.end(),
                       [&](uint32_t a, uint32_t b) { return scores[a] > scores[b]; });
      benchmark::DoNotOptimize(order.data());
    }
  count_documents(state, ranking);
}
BENCHMARK(BM_SortOnly)->Unit(benchmark::kMillisecond);

void BM_Selection(benchmark::State& state) {
  const Ranking ranking =
      make_ranking(2000, static_cast<size_t>(state.range(0)), 4, static_cast<double>(state.range(1)));
  const SelectionMetric metric(ranking.queries, ranking.labels, exponential_grades(5));
  for (auto _ : state) benchmark::DoNotOptimize(metric(ranking.float_scores));
  count_documents(state, ranking);
}
BENCHMARK(BM_Selection)->ArgsProduct({{20, 120, 1000}, {0, 20}})->ArgNames({"length", "levels"});

}  // namespace

BENCHMARK_MAIN();
