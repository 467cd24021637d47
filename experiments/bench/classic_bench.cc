// The classic rankers by themselves.
//   classic_bench folds DIR none|append|replace LEARNER [key=value ...]: test NDCG@10 over five LETOR folds,
//   the
//     point and the settings chosen by each fold's validation split; a value a|b|c is a grid
//   classic_bench growth QUERIES LEARNER [key=value ...]: training seconds on made-up data of 136 features
#include <algorithm>
#include <cmath>
#include <iostream>

#include "tunemix/core/text.h"
#include "tunemix/core/timer.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/data/standardize.h"
#include "tunemix/data/synthetic.h"
#include "tunemix/learners/registry.h"
#include "tunemix/metric/evaluator.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

// Every combination of the values of a grid.
std::vector<Settings> grid(const LearnerEntry& learner, std::span<const std::string> arguments) {
  std::vector<Settings> result = {{}};
  for (const std::string& argument : arguments) {
    const size_t equals = argument.find('=');
    std::vector<Settings> next;
    for (const Settings& settings : result)
      for (const std::string& value : split(argument.substr(equals + 1), '|')) {
        next.push_back(settings);
        next.back().emplace_back(argument.substr(0, equals), value);
      }
    result = std::move(next);
  }
  for (Settings& settings : result) settings = learner.complete(settings);
  return result;
}

std::unique_ptr<Model> train(const LearnerEntry& learner, const Settings& settings, const TrainingData& data,
                             const Context& context) {
  std::vector<int64_t> lengths;
  if (const OptionInfo* length = learner.length_option()) {
    lengths = {1, 2, 5};
    const int64_t last = std::stoll(setting(settings, length->name));
    for (const int64_t l : default_lengths(last)) lengths.push_back(l);
    std::erase_if(lengths, [&](int64_t l) { return l > last; });
  }
  const auto trainer = learner.start({data, settings, lengths, nullptr}, context);
  while (!trainer->step(0)) continue;
  return trainer->model();
}

struct Choice {
  double valid = -1;
  std::vector<double> test;  // by query
  std::string name;
};

double ndcg(const Dataset& data, const ScoreMatrix& scores, const Context& context,
            std::vector<double>* each) {
  const std::vector<double> values(scores.values().begin(), scores.values().end());
  const Evaluator evaluator(data, {preset("yahoo")});
  const Evaluation e = evaluator(values, context.pool(), true)[0];
  if (each != nullptr)
    for (size_t q = 0; q < e.queries; ++q)
      each->push_back(e.per_query[q * e.measures.columns() + e.measures.ndcg(10)]);
  return e.ndcg(10);
}

int folds(std::span<const std::string> arguments) {
  const Context context(1, 1);
  const Standardize mode = parse_standardize(arguments[1]);
  const LearnerEntry& learner = registry().expect(arguments[2]);
  std::vector<double> all;
  double valid_sum = 0;
  double seconds = 0;
  for (int fold = 0; fold < 5; ++fold) {
    const auto part = [&](int k) {
      return std::filesystem::path(arguments[0]) / fmt::format("S{}.txt", (fold + k) % 5 + 1);
    };
    const std::vector<std::filesystem::path> training = {part(0), part(1), part(2)};
    const Dataset train_set = standardize(read_letor(training, {}, context), mode, context);
    const Dataset valid = standardize(read_letor(part(3), {}, context), mode, context);
    const Dataset test = standardize(read_letor(part(4), {}, context), mode, context);
    for (const Dataset* set : {&train_set, &valid, &test}) set->make(context.pool());
    const std::vector<double> grades = exponential_grades(train_set.max_label() + 1);
    const SelectionMetric metric(valid.queries(), valid.labels(), grades);
    Choice best;
    for (const Settings& settings : grid(learner, arguments.subspan(3))) {
      const Timer timer;
      BinCache cache(train_set);
      const TrainingData data(cache);
      const auto model = train(learner, settings, data, context);
      seconds = std::max(seconds, timer.seconds());
      for (size_t p = 0; p < model->points().size(); ++p) {
        const size_t points[] = {p};
        const double value = metric(model->score(valid, points, context)[0].values());
        if (value <= best.valid) continue;
        best = {value, {}, learner.title ? learner.title(settings) + " " + model->points()[p].name() : ""};
        ndcg(test, model->score(test, points, context)[0], context, &best.test);
      }
    }
    double sum = 0;
    for (const double v : best.test) sum += v;
    std::cerr << fmt::format("  fold {}: valid {:.4f} test {:.4f} by {}\n", fold + 1, best.valid,
                             sum / static_cast<double>(best.test.size()), best.name);
    valid_sum += best.valid;
    all.insert(all.end(), best.test.begin(), best.test.end());
  }
  double mean = 0;
  for (const double v : all) mean += v / static_cast<double>(all.size());
  double squares = 0;
  for (const double v : all) squares += (v - mean) * (v - mean);
  const auto n = static_cast<double>(all.size());
  std::cout << fmt::format("{} {} {}: test {:.4f} +- {:.4f}, validation {:.4f}, longest training {:.2f} s\n",
                           arguments[0], arguments[1], arguments[2], mean, std::sqrt(squares / n / n),
                           valid_sum / 5, seconds);
  return 0;
}

int growth(std::span<const std::string> arguments) {
  const Context context(1, 1);
  SyntheticOptions options = synthetic_preset("mslr10k");
  options.queries = std::stoul(arguments[0]);
  const Dataset data = make_synthetic(options, context);
  const LearnerEntry& learner = registry().expect(arguments[1]);
  const Settings settings = grid(learner, arguments.subspan(2)).front();
  const Timer timer;
  BinCache cache(data);
  const auto model = train(learner, settings, TrainingData(cache), context);
  const double seconds = timer.seconds();
  options.queries = 200;
  options.seed += 1;
  const Dataset other = make_synthetic(options, context);
  const size_t last[] = {model->points().size() - 1};
  std::cout << fmt::format(
      "{} documents, {}: {:.2f} s, {:.2f} us a document, NDCG@10 {:.4f}, {:.0f} MB\n", data.documents(),
      arguments[1], seconds, 1e6 * seconds / static_cast<double>(data.documents()),
      ndcg(other, model->score(other, last, context)[0], context, nullptr), peak_rss_mb());
  return 0;
}

}  // namespace
}  // namespace tunemix

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.size() >= 4 && arguments[0] == "folds")
      return tunemix::folds(std::span(arguments).subspan(1));
    if (arguments.size() >= 3 && arguments[0] == "growth")
      return tunemix::growth(std::span(arguments).subspan(1));
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
  std::cerr << "usage: classic_bench folds DIR MODE LEARNER [key=value ...] | growth QUERIES LEARNER [...]\n";
  return 2;
}
