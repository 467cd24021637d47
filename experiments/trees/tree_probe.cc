// Trains one learner and prints seconds to the end of the first round, milliseconds of every other, the peak
// of memory beyond the data while it trained, and NDCG@10 (ties averaged) on validation and test data for
// every point. usage: tree_probe LEARNER THREADS TRAIN[,TRAIN...] VALID TEST [points=10,20,...] [key=value
// ...]; VALID or TEST may be -
#include <fmt/format.h>

#include <cstdio>

#include "experiments/bench/peak_memory.h"
#include "tunemix/core/text.h"
#include "tunemix/core/timer.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/learners/registry.h"
#include "tunemix/metric/selection.h"

using namespace tunemix;

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  const LearnerEntry& learner = registry().expect(argv[1]);
  const Context context(std::stoi(argv[2]));
  std::vector<std::filesystem::path> files;
  for (const std::string& file : split(argv[3], ',')) files.emplace_back(file);
  const Dataset train = read_letor(files, {}, context);
  LetorOptions reading;
  reading.num_features = train.features();
  std::vector<Dataset> others;
  for (int a = 4; a < 6; ++a)
    if (std::string(argv[a]) != "-") others.push_back(read_letor({argv[a]}, reading, context));
  Settings given;
  std::vector<int64_t> points;
  for (int a = 6; a < argc; ++a) {
    const std::string text = argv[a];
    const std::string key = text.substr(0, text.find('=')), value = text.substr(text.find('=') + 1);
    if (key != "points")
      given.emplace_back(key, value);
    else
      for (const std::string& point : split(value, ',')) points.push_back(std::stoll(point));
  }
  BinCache cache(train);
  const TrainingData data(cache);
  const Settings settings = learner.complete(given);
  const OptionInfo* length = learner.length_option();
  const int64_t rounds = std::stoll(setting(settings, length->name));
  TrainingRequest request{data, settings, points.empty() ? default_lengths(rounds) : points,
                          others.empty() ? nullptr : &others[0]};
  const PeakMemory memory;
  Timer timer;
  const auto trainer = learner.start(request, context);
  const double bins = timer.seconds();
  timer.restart();
  bool done = trainer->step(1e-9);  // one round, which also makes the memory that all use
  const double first = timer.seconds();
  timer.restart();
  while (!done) done = trainer->step(0);
  const double others_seconds = timer.seconds();
  const double beyond = memory.bytes() / static_cast<double>(train.documents());
  const auto model = trainer->model();
  int64_t made = rounds;
  std::string facts;
  for (const Fact& fact : trainer->facts()) {
    if (const auto* value = std::get_if<int64_t>(&fact.value)) {
      if (fact.name == "rounds") made = *value;
      facts += fmt::format(" {}={}", fact.name, *value);
    } else if (const auto* real = std::get_if<double>(&fact.value)) {
      facts += fmt::format(" {}={:.4f}", fact.name, *real);
    }
  }
  fmt::print("{} documents {} queries: first {:.2f} s, {:.2f} ms a round, {:.0f} bytes a document;{}\n",
             train.documents(), train.queries().size(), bins + first,
             others_seconds * 1000 / static_cast<double>(std::max<int64_t>(1, made - 1)), beyond, facts);
  const std::vector<Point> reached = model->points();
  std::vector<size_t> all(reached.size());
  for (size_t p = 0; p < all.size(); ++p) all[p] = p;
  std::vector<std::vector<double>> ndcg;
  for (const Dataset& set : others) {
    timer.restart();
    const std::vector<ScoreMatrix> scores = model->score(set, all, context);
    fmt::print("scored {} documents in {:.3f} s\n", set.documents(), timer.seconds());
    const SelectionMetric metric(set.queries(), set.labels(), data.grades());
    ndcg.emplace_back();
    for (const ScoreMatrix& matrix : scores) {
      std::vector<float> ranking(set.documents());
      // Of several columns: softmax probabilities times grades.
      for (size_t i = 0; i < ranking.size(); ++i) {
        const auto row = matrix.row(i);
        if (row.size() == 1) {
          ranking[i] = row[0];
          continue;
        }
        double sum = 0;
        double grade = 0;
        for (size_t l = 0; l < row.size(); ++l) {
          const double e = std::exp(static_cast<double>(row[l]));
          sum += e;
          grade += e * data.grades()[l];
        }
        ranking[i] = static_cast<float>(grade / sum);
      }
      ndcg.back().push_back(metric(ranking));
    }
  }
  for (size_t p = 0; p < reached.size(); ++p) {
    fmt::print("{}", reached[p].name());
    for (const auto& values : ndcg) fmt::print(" {:.4f}", values[p]);
    fmt::print("\n");
  }
  return 0;
}
