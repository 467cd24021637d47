// Error bound and validation NDCG@10 over rounds and training seconds: full search, random features, bandits.
// Prints CSV.
#include <algorithm>
#include <ctime>
#include <iostream>
#include <map>

#include "learners/adaboost_mh/trainer.h"
#include "tunemix/core/text.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/data/synthetic.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The expected grade under the `shift` calibration: p = (1 + f/R) / sum.
std::vector<float> expected_grades(const ScoreMatrix& scores, double alpha_sum,
                                   std::span<const double> grades) {
  std::vector<float> result(scores.documents());
  for (size_t i = 0; i < result.size(); ++i) {
    double total = 0;
    double expected = 0;
    for (size_t l = 0; l < grades.size(); ++l) {
      const double p = 1 + scores.row(i)[l] / alpha_sum;
      total += p;
      expected += grades[l] * p;
    }
    result[i] = static_cast<float>(total > 0 ? expected / total : 0);
  }
  return result;
}

struct Problem {
  Dataset train;
  Dataset valid;
};

// The seed's own data; the validation part is half as large.
Problem make_problem(SyntheticOptions options, uint64_t seed, const Context& context) {
  options.seed = 2 * seed - 1;
  Dataset train = make_synthetic(options, context);
  options.queries /= 2;
  options.seed = 2 * seed;
  return {std::move(train), make_synthetic(options, context)};
}

// useful: 1000 features of which 30 matter; mslr10k, mslr10k-large: 300 or 2000 queries of the preset; a
// directory with S1..S5, whose fold `seed` is taken, or with train.txt and perhaps vali.txt, where every
// fifth query validates, for each seed from 1 to 5 others.
Problem load(const std::string& name, uint64_t seed, const Context& context) {
  SyntheticOptions synthetic = synthetic_preset("mslr10k");
  synthetic.queries = 300;
  if (name == "mslr10k") return make_problem(synthetic, seed, context);
  if (name == "mslr10k-large") {
    synthetic.queries = 2000;
    return make_problem(synthetic, seed, context);
  }
  if (name == "useful") {
    synthetic.queries = 150;
    synthetic.features = 1000;
    synthetic.useful = 30;
    return make_problem(synthetic, seed, context);
  }
  const std::filesystem::path root = name;
  LetorOptions reading;
  if (std::filesystem::exists(root / "S1.txt")) {
    const auto part = [&](uint64_t k) { return root / fmt::format("S{}.txt", (seed - 1 + k) % 5 + 1); };
    const std::vector<std::filesystem::path> parts = {part(0), part(1), part(2)};
    Dataset train = read_letor(parts, reading, context);
    reading.num_features = train.features();
    return {std::move(train), read_letor(part(3), reading, context)};
  }
  std::vector<std::filesystem::path> files = {root / "train.txt"};
  if (std::filesystem::exists(root / "vali.txt")) files.push_back(root / "vali.txt");
  const Dataset all = read_letor(files, reading, context);
  std::vector<size_t> train;
  std::vector<size_t> valid;
  for (size_t q = 0; q < all.queries().size(); ++q) (q % 5 == seed % 5 ? valid : train).push_back(q);
  return {all.select_queries(train), all.select_queries(valid)};
}

// 10, 20, 50, 100, ... up to `rounds`.
std::vector<int> points(int rounds) {
  std::vector<int> result;
  for (int decade = 10; decade <= rounds; decade *= 10)
    for (const int t : {decade, 2 * decade, 5 * decade})
      if (t <= rounds) result.push_back(t);
  return result;
}

void run(const Problem& problem, const std::map<std::string, std::string>& settings, int iterations,
         uint64_t seed, const std::string& label) {
  const Context context(1, seed);
  AdaBoostOptions options;
  for (const auto& [key, value] : settings) adaboost_option_table().set(options, key, value);
  const std::vector<double> grades = exponential_grades(problem.train.max_label() + 1);
  const SelectionMetric ndcg(problem.valid.queries(), problem.valid.labels(), grades, 10);
  BinCache cache(problem.train);
  const TrainingData training(cache);
  AdaBoostTrainer trainer(training, options, {iterations}, nullptr, context);
  int rounds = 0;
  double seconds = 0;
  for (const int checkpoint : points(iterations)) {
    const double start = cpu_seconds();
    while (rounds < checkpoint && trainer.add_round()) ++rounds;
    seconds += cpu_seconds() - start;
    const AdaBoostRounds made = trainer.rounds();
    const size_t only[] = {0};
    const ScoreMatrix scores = AdaBoostModel(made, {checkpoint}).score(problem.valid, only, context)[0];
    double largest = 0;  // probability of an arm, over the samples so far
    for (const FeatureShares& sample : made.bandit_samples)
      largest = std::max<double>(largest, *std::ranges::max_element(sample.shares));
    fmt::print("{},{},{},{:.4f},{:.5f},{:.5f},{:.4f}\n", label, seed, rounds, seconds, made.error_bound(),
               ndcg(expected_grades(scores, made.alpha_sum(rounds), grades)), largest);
  }
  std::cout.flush();
}

}  // namespace
}  // namespace tunemix

int main(int argc, char** argv) {
  using namespace tunemix;
  if (argc < 4) {
    std::cerr << "usage: bandit_curve useful|mslr10k|mslr10k-large|DIRECTORY ROUNDS SEEDS [KEY=VALUE ...]\n"
                 "a VALUE may be a list a,b,c; all combinations are run; each seed has data of its own\n";
    return 2;
  }
  const std::string name = argv[1];
  const int rounds = std::stoi(argv[2]);
  const uint64_t seeds = std::stoull(argv[3]);
  std::vector<std::map<std::string, std::string>> all = {{{"shrinkage", "0.1"}}};
  for (int a = 4; a < argc; ++a) {
    const std::string text = argv[a];
    const size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    std::vector<std::map<std::string, std::string>> more;
    for (const auto& settings : all)
      for (size_t from = equals + 1; from <= text.size();) {
        const size_t to = std::min(text.find(',', from), text.size());
        more.push_back(settings);
        more.back()[key] = text.substr(from, to - from);
        from = to + 1;
      }
    all = std::move(more);
  }
  std::cout << "data,settings,seed,rounds,cpu_seconds,bound,ndcg10,largest_p\n";
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    const Problem problem = load(name, seed, Context(2));
    for (const auto& settings : all) {
      std::string label = std::filesystem::path(name).filename().string() + ",";
      for (const auto& [key, value] : settings) label += key + "=" + value + " ";
      label.pop_back();
      run(problem, settings, rounds, seed, label);
    }
  }
  return 0;
}
