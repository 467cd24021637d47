// Speed of boosting: histograms, whole rounds, and scoring, on random data of the shape of a web collection.
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

#include "experiments/bench/peak_memory.h"
#include "learners/adaboost_mh/trainer.h"

namespace tunemix {
namespace {

// Labels 0..4 that depend on a few features; a third of the features take few values.
Dataset web_like(size_t n, size_t d) {
  Random random(1);
  std::vector<float> features(n * d);
  std::vector<int32_t> labels(n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < d; ++j) {
      const double u = random.uniform();
      features[i * d + j] = static_cast<float>(j % 3 == 2 ? std::floor(u * u * 20) : u);
    }
    const float* x = &features[i * d];
    const double signal = x[0] + 0.7 * x[1 % d] * x[3 % d] + 0.4 * random.normal();
    labels[i] = static_cast<int32_t>(std::min(4.0, std::max(0.0, std::floor(signal * 2.5))));
  }
  return Dataset(std::move(features), d, {std::move(labels), QueryIndex({0, n}, {"1"})});
}

AdaBoostOptions with(BaseLearner base, int leaves, BanditKind bandit) {
  AdaBoostOptions options;
  options.base = base;
  options.leaves = leaves;
  options.bandit = bandit;
  return options;
}

// Arguments: threads, documents, features, leaves (0: a product of 3 terms), 1 for exp3g.
void round_of(benchmark::State& state) {
  const Context context(static_cast<int>(state.range(0)));
  const Dataset data = web_like(static_cast<size_t>(state.range(1)), static_cast<size_t>(state.range(2)));
  const auto leaves = static_cast<int>(state.range(3));
  BinCache cache(data);
  const TrainingData training(cache);
  AdaBoostTrainer trainer(training,
                          with(leaves == 0 ? BaseLearner::kProduct : BaseLearner::kTree, std::max(2, leaves),
                               state.range(4) != 0 ? BanditKind::kExp3G : BanditKind::kNone),
                          {1}, nullptr, context);
  for (int t = 0; t < 2; ++t) trainer.add_round();
  for (auto _ : state) trainer.add_round();
  state.counters["ns/(doc,feature)"] =
      benchmark::Counter(static_cast<double>(data.documents() * data.features()) * 1e-9,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(round_of)
    ->ArgNames({"threads", "docs", "features", "leaves", "bandit"})
    ->Args({2, 243000, 136, 64, 0})
    ->Args({2, 243000, 136, 8, 0})
    ->Args({2, 243000, 136, 64, 1})
    ->Args({2, 243000, 136, 0, 0})
    ->Args({2, 243000, 136, 0, 1})
    // Growth in documents.
    ->Args({2, 10000, 136, 64, 0})
    ->Args({2, 10000, 136, 64, 1})
    ->Args({2, 100000, 136, 64, 0})
    ->Args({2, 100000, 136, 64, 1})
    ->Args({2, 1000000, 136, 64, 0})
    ->Args({2, 1000000, 136, 64, 1})
    // Growth in features.
    ->Args({2, 20000, 100, 64, 0})
    ->Args({2, 20000, 100, 64, 1})
    ->Args({2, 20000, 1000, 64, 0})
    ->Args({2, 20000, 1000, 64, 1})
    ->Args({2, 20000, 10000, 64, 0})
    ->Args({2, 20000, 10000, 64, 1})
    ->Unit(benchmark::kMillisecond)
    ->MinTime(0.3)
    ->UseRealTime();

// Peak memory of binning and training beyond the data; `share` is that of 1.2 bytes a (document, feature) and
// 70 a document. Arguments: documents, features, leaves, 1 for exp3g.
void training_memory(benchmark::State& state) {
  const Context context(2);
  const Dataset data = web_like(static_cast<size_t>(state.range(0)), static_cast<size_t>(state.range(1)));
  double used = 0;
  for (auto _ : state) {
    const PeakMemory memory;
    BinCache cache(data);
    const TrainingData training(cache);
    AdaBoostTrainer trainer(training,
                            with(BaseLearner::kTree, static_cast<int>(state.range(2)),
                                 state.range(3) != 0 ? BanditKind::kExp3G : BanditKind::kNone),
                            {5}, nullptr, context);
    trainer.step(0);
    used = memory.bytes();
  }
  const auto n = static_cast<double>(data.documents());
  state.counters["MB"] = used / 1e6;
  state.counters["share"] = used / (1.2 * n * static_cast<double>(data.features()) + 70 * n);
}
BENCHMARK(training_memory)
    ->ArgNames({"docs", "features", "leaves", "bandit"})
    ->Args({243000, 136, 64, 0})
    ->Args({243000, 136, 64, 1})
    ->Args({1000000, 136, 64, 0})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

// One thread, all documents: ns per (document, feature). Argument: 0 signed rows, 1 split rows.
void histogram(benchmark::State& state) {
  const Context context(1);
  const Dataset data = web_like(100000, 136);
  const BinCuts cuts = find_cuts(data, 255, context);
  const BinnedDataset bins(data, cuts, BinLayout::kPanels, context);
  const trees::WeightTable weights(data.labels(), {}, 5, InitialWeights::kExponential, context);
  const auto kind = state.range(0) == 0 ? trees::RowKind::kSigned : trees::RowKind::kSplit;
  trees::ClassWeights sums(weights, kind, trees::Pay::kGain);
  sums.set_criterion(state.range(0) == 0 ? trees::CriterionKind::kEdge : trees::CriterionKind::kEnergy,
                     false);
  trees::NodeSearch search(sums, bins, cuts, nullptr, 0, context);
  for (auto _ : state) search.search(sums.root(), sums.criterion(), nullptr);
  state.counters["ns/(doc,feature)"] =
      benchmark::Counter(static_cast<double>(data.documents() * data.features()) * 1e-9,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(histogram)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->MinTime(0.3);

// 1000 trees of 64 leaves, one thread: us per document.
void scoring(benchmark::State& state) {
  const Context context(1);
  const Dataset data = web_like(20000, 136);
  AdaBoostOptions options = with(BaseLearner::kTree, 64, BanditKind::kExp3G);
  const Context training_context(2);
  BinCache cache(data);
  const TrainingData training(cache);
  AdaBoostTrainer trainer(training, options, {1000}, nullptr, training_context);
  trainer.step(0);
  const std::unique_ptr<Model> model = trainer.model();
  const size_t only[] = {0};
  for (auto _ : state) benchmark::DoNotOptimize(model->score(data, only, context));
  state.counters["us/document"] =
      benchmark::Counter(static_cast<double>(data.documents()) * 1e-6,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(scoring)->Unit(benchmark::kMillisecond)->MinTime(0.3);

// Bytes a second that one pass over the bins can be read with: what the histograms are measured against.
void memory_bandwidth(benchmark::State& state) {
  const Context context(static_cast<int>(state.range(0)));
  std::vector<uint64_t> values(size_t{32} << 20, 1);
  std::vector<uint64_t> sums(static_cast<size_t>(context.threads()));
  for (auto _ : state) {
    context.pool().run(sums.size(), [&](size_t t) {
      const size_t share = values.size() / sums.size();
      uint64_t sum = 0;
      for (size_t i = t * share; i < (t + 1) * share; ++i) sum += values[i];
      sums[t] = sum;
    });
    benchmark::DoNotOptimize(sums.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * values.size() * sizeof(uint64_t)));
}
BENCHMARK(memory_bandwidth)->Arg(1)->Arg(2)->MinTime(0.3)->UseRealTime();

}  // namespace
}  // namespace tunemix

BENCHMARK_MAIN();
