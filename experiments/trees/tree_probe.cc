// Trains one learner and prints a line: milliseconds a round, and NDCG@10 (ties averaged) on validation and
// test data for every point.
// usage: tree_probe LEARNER THREADS TRAIN[,TRAIN...] VALID TEST [key=value ...]; VALID or TEST may be -
#include <fmt/format.h>

#include <cstdio>

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
  for (int a = 6; a < argc; ++a) {
    const std::string text = argv[a];
    given.emplace_back(text.substr(0, text.find('=')), text.substr(text.find('=') + 1));
  }
  BinCache cache(train);
  const TrainingData data(cache);
  const Settings settings = learner.complete(given);
  const OptionInfo* length = learner.length_option();
  const int64_t rounds = std::stoll(setting(settings, length->name));
  TrainingRequest request{data, settings, default_lengths(rounds), others.empty() ? nullptr : &others[0]};
  Timer timer;
  const auto trainer = learner.start(request, context);
  const double bins = timer.seconds();
  timer.restart();
  while (!trainer->step(0)) {
  }
  const double fit = timer.seconds();
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
  fmt::print("{} documents {} queries: start {:.2f} s, {:.2f} ms a round;{}\n", train.documents(),
             train.queries().size(), bins, fit * 1000 / static_cast<double>(std::max<int64_t>(1, made)),
             facts);
  const std::vector<Point> points = model->points();
  std::vector<size_t> all(points.size());
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
  for (size_t p = 0; p < points.size(); ++p) {
    fmt::print("{}", points[p].name());
    for (const auto& values : ndcg) fmt::print(" {:.4f}", values[p]);
    fmt::print("\n");
  }
  return 0;
}
