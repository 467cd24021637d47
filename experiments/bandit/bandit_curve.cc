// Validation NDCG@10 over training seconds, full search against bandits, on a LETOR fold. Prints CSV.
#include <ctime>
#include <iostream>

#include "tunemix/data/letor_reader.h"
#include "tunemix/learners/adaboost_mh.h"
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

void run(const Dataset& train, const Dataset& valid, const std::string& base, const std::string& bandit,
         int iterations, uint64_t seed) {
  const Context context(1, seed);
  AdaBoostOptions options;
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"base", base}, {"bandit", bandit}, {"shrinkage", "0.1"}})
    adaboost_option_table().set(options, key, value);
  const std::vector<double> grades = exponential_grades(train.max_label() + 1);
  const SelectionMetric ndcg(valid.queries(), valid.labels(), grades, 10);
  AdaBoostTrainer trainer(train, options, context);
  const size_t followed = trainer.follow(valid);
  double seconds = 0;
  for (const int checkpoint : default_checkpoints(iterations)) {
    const double start = cpu_seconds();
    trainer.step(checkpoint - trainer.rounds());
    seconds += cpu_seconds() - start;
    const ScoreMatrix& scores = trainer.scores(followed);
    const double alpha_sum = trainer.model().alpha_sum(trainer.rounds());
    std::cout << base << ',' << bandit << ',' << seed << ',' << trainer.rounds() << ',' << seconds << ','
              << ndcg(expected_grades(scores, alpha_sum, grades)) << '\n';
  }
}

}  // namespace
}  // namespace tunemix

int main(int argc, char** argv) {
  using namespace tunemix;
  if (argc != 2) {
    std::cerr << "usage: bandit_curve DIRECTORY-OF-S1..S5\n";
    return 2;
  }
  const std::filesystem::path root = argv[1];
  const Context context;
  const std::vector<std::filesystem::path> parts = {root / "S1.txt", root / "S2.txt", root / "S3.txt"};
  LetorOptions reading;
  const Dataset train = read_letor(parts, reading, context);
  reading.num_features = train.features();
  const Dataset valid = read_letor(root / "S4.txt", reading, context);
  std::cout << "base,bandit,seed,rounds,cpu_seconds,ndcg10\n";
  for (const char* base : {"stump", "tree", "product"}) {
    run(train, valid, base, "none", 500, 1);
    for (const uint64_t seed : {1, 2, 3}) run(train, valid, base, "exp3g", 500, seed);
    run(train, valid, base, "random", 500, 1);
  }
  return 0;
}
