// What is rerun most: calibrating score matrices and mixing the members. Made-up scores in the sizes of
// MQ2008 (3 labels, 20 documents a query) and MSLR-10K (5 labels, 120 documents a query); 2 threads.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "tunemix/calibrate/calibrator.h"
#include "tunemix/metric/selection.h"
#include "tunemix/mix/mixer.h"

namespace tunemix {
namespace {

constexpr int kThreads = 2;

struct Split {
  std::vector<int32_t> labels;
  std::vector<double> quality;
  QueryIndex queries;
  std::vector<double> grades;
};

Split make_split(size_t documents, size_t num_labels, size_t per_query) {
  Random random(documents, "bench");
  Split split;
  split.grades = exponential_grades(static_cast<int>(num_labels));
  std::vector<size_t> offsets{0};
  std::vector<std::string> ids;
  while (offsets.back() < documents) {
    offsets.push_back(std::min(documents, offsets.back() + 1 + random.below(2 * per_query)));
    ids.push_back(fmt::format("{}", ids.size()));
  }
  split.queries = QueryIndex(std::move(offsets), std::move(ids));
  for (size_t i = 0; i < documents; ++i) {
    const double quality = random.normal();
    int32_t label = 0;
    while (label + 1 < static_cast<int32_t>(num_labels) &&
           random.uniform() < 1 / (1 + std::exp(0.4 - 1.5 * quality)))
      ++label;
    split.labels.push_back(label);
    split.quality.push_back(quality);
  }
  return split;
}

ScoreMatrix make_scores(const Split& split, uint64_t model) {
  const size_t K = split.grades.size();
  Random random(model, "scores");
  ScoreMatrix scores(split.labels.size(), K, "bench");
  for (size_t i = 0; i < split.labels.size(); ++i)
    for (size_t k = 0; k < K; ++k) {
      const double centre = 2.0 * static_cast<double>(k) / static_cast<double>(K - 1) - 1;
      scores.row(i)[k] =
          static_cast<float>(split.quality[i] * centre - 0.7 * static_cast<double>(k) + random.normal());
    }
  return scores;
}

std::vector<ScoreMatrix> make_models(const Split& split, size_t models) {
  std::vector<ScoreMatrix> result;
  for (size_t m = 0; m < models; ++m) result.push_back(make_scores(split, m));
  return result;
}

// Every model with every calibration, models side by side as the pipeline runs them.
void calibrate_all(benchmark::State& state, const Split& split, const Split& validation, size_t models) {
  const std::vector<ScoreMatrix> fit_on = make_models(split, models);
  const std::vector<ScoreMatrix> apply_to = make_models(validation, models);
  const auto specs = all_calibrations(split.grades.size());
  const Context context(kThreads);
  for (auto _ : state) {
    context.pool().run(models, [&](size_t m) {
      const CalibrationInput input{fit_on[m], split.labels, split.queries, split.grades, 0};
      std::vector<float> out(validation.labels.size());
      for (const Calibrator& c : fit_calibrators(specs, input, {}, m, context)) {
        c.apply(apply_to[m], out, context);
        benchmark::DoNotOptimize(out.data());
      }
    });
  }
  state.counters["fits"] = static_cast<double>(models * specs.size());
}

void BM_CalibrateMq2008(benchmark::State& state) {
  calibrate_all(state, make_split(3000, 3, 20), make_split(2700, 3, 20), 100);
}
BENCHMARK(BM_CalibrateMq2008)->Unit(benchmark::kSecond)->UseRealTime();

void BM_CalibrateMslr10k(benchmark::State& state) {
  calibrate_all(state, make_split(145000, 5, 120), make_split(235000, 5, 120), 10);
}
BENCHMARK(BM_CalibrateMslr10k)->Unit(benchmark::kSecond)->UseRealTime()->Iterations(1);

// One calibration alone, on one thread; the argument counts through all_calibrations().
void BM_FitOne(benchmark::State& state) {
  const auto specs = all_calibrations(3);
  const CalibrationSpec spec = specs[static_cast<size_t>(state.range(0))];
  const Split split = state.range(1) == 0 ? make_split(3000, 3, 20) : make_split(145000, 5, 120);
  const ScoreMatrix scores = make_scores(split, 1);
  const Context context(1);
  const CalibrationInput input{scores, split.labels, split.queries, split.grades, 0};
  int evaluations = 0;
  for (auto _ : state) evaluations = Calibrator::fit(spec, input, {}, 1, context).report().evaluations;
  state.SetLabel(spec.name());
  state.counters["evaluations"] = evaluations;
}
BENCHMARK(BM_FitOne)
    ->ArgsProduct({benchmark::CreateDenseRange(0, 17, 1), {0}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_FitOne)
    ->ArgsProduct({benchmark::CreateDenseRange(0, 17, 1), {1}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

// 2 000 members in 10 checkpoints (and 200 of an SVM's), 41 values of c, all rows of the tables.
void BM_MixMq2008(benchmark::State& state) {
  const Split split = make_split(2700, 3, 20);
  std::vector<Member> members;
  std::vector<std::vector<float>> scores;
  for (size_t i = 0; i < 2000; ++i) {
    Random random(i, "member");
    const bool svm = i % 10 == 0;
    const auto kind = i % 10 % 3 == 0 ? CalibrationKind::kCpc : CalibrationKind::kRbc;
    members.push_back({svm ? "svm" : "boosting", kind, svm ? 0 : static_cast<int64_t>(10 * (1 + i / 10 % 10)),
                       fmt::format("m{}", svm ? i : i / 100 * 10 + i % 10), "c"});
    auto& s = scores.emplace_back();
    for (const double quality : split.quality) s.push_back(static_cast<float>(quality + 2 * random.normal()));
  }
  const MemberSource source = [&](size_t member) { return std::span(scores[member]); };
  const Context context(kThreads);
  const auto variants =
      standard_variants(members, std::vector<FamilyRow>{{"boosting", "AB"}, {"svm", "SVM"}});
  for (auto _ : state) {
    const auto results =
        mix(members, source, {split.queries, split.labels, split.grades}, variants, {}, context);
    benchmark::DoNotOptimize(results.data());
  }
}
BENCHMARK(BM_MixMq2008)->Unit(benchmark::kSecond)->UseRealTime();

}  // namespace
}  // namespace tunemix

BENCHMARK_MAIN();
