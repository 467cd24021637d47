// Prints a hash of what all learners, calibrations and mixtures compute on small data: it must be the same
// with every instruction set. `digest sets` lists those that there are.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tunemix/calibrate/calibrator.h"
#include "tunemix/core/hash.h"
#include "tunemix/core/instructions.h"
#include "tunemix/data/synthetic.h"
#include "tunemix/learners/registry.h"
#include "tunemix/mix/mixer.h"

using namespace tunemix;

namespace {

class Digest {
 public:
  explicit Digest(int labels) : labels_(labels), train_(made(1)), valid_(made(2)) {
    for (int l = 0; l < labels; ++l) grades_.push_back((1 << l) - 1);
  }

  void boosting(const std::string& base, const std::string& growth, const std::string& votes,
                const std::string& bandit) {
    calibrated("boosting", "adaboost_mh",
               {{"base", base}, {"growth", growth}, {"votes", votes}, {"bandit", bandit}, {"leaves", "10"}},
               {12});
  }

  void svm() { calibrated("svm", "svm", {{"C", "[0.01, 1]"}}, {}); }

  // Every learner of the registry, a few rounds long.
  void registered() {
    BinCache cache(train_);
    const TrainingData data(cache);
    for (const auto& learner : registry().entries()) {
      if (learner->external) continue;
      std::vector<int64_t> lengths;
      if (learner->length_option() != nullptr) lengths = {12};
      const auto trainer = learner->start({data, learner->complete({}), lengths, nullptr}, context_);
      while (!trainer->step(0)) continue;
      const std::unique_ptr<Model> model = trainer->model();
      const size_t last[] = {model->points().size() - 1};
      const ScoreMatrix scores = model->score(valid_, last, context_)[0];
      hasher_.values(scores.values());
    }
  }

  std::string hex() {
    const std::vector<Variant> variants =
        standard_variants(members_, std::vector<FamilyRow>{{"boosting", "AB"}, {"svm", "SVM"}});
    for (const MixResult& result : mix(
             members_, [&](size_t m) { return std::span<const float>(scores_[m]); },
             {valid_.queries(), valid_.labels(), grades_}, variants, {}, context_)) {
      hasher_.values(std::span<const double>(result.mixture.weights()));
      hasher_.values(std::span<const float>(result.scores));
    }
    return hasher_.digest().hex();
  }

 private:
  Dataset made(uint64_t seed) const {
    return make_synthetic({.queries = 40, .features = 21, .labels = std::min(labels_, 5), .seed = seed},
                          context_);
  }

  // The points of a learner with labels_ labels, in every calibration.
  void calibrated(const std::string& family, const std::string& type, const Settings& settings,
                  const std::vector<int64_t>& lengths) {
    BinCache cache(train_);
    std::vector<size_t> queries(train_.queries().size());
    std::iota(queries.begin(), queries.end(), size_t{0});
    const TrainingData data(cache, queries, labels_, grades_);
    const LearnerEntry& learner = registry().expect(type);
    const auto trainer = learner.start({data, learner.complete(settings), lengths, nullptr}, context_);
    while (!trainer->step(0)) continue;
    const std::unique_ptr<Model> model = trainer->model();
    for (size_t p = 0; p < model->points().size(); ++p) {
      const size_t point[] = {p};
      members(family, static_cast<int>(model->points()[p].length), model->range(p),
              model->score(train_, point, context_)[0], model->score(valid_, point, context_)[0]);
    }
  }

  void members(const std::string& family, int rounds, double range, const ScoreMatrix& train_scores,
               const ScoreMatrix& valid_scores) {
    const std::string model = fmt::format("{}", models_++);
    hasher_.values(train_scores.values());
    const CalibrationInput input{train_scores, train_.labels(), train_.queries(), grades_, range};
    CalibrationOptions options;
    options.max_steps = 50;
    for (const Calibrator& calibrator :
         fit_calibrators(all_calibrations(train_scores.columns()), input, options, 1, context_)) {
      members_.push_back({family, calibrator.spec().kind, rounds, model, calibrator.spec().name()});
      calibrator.apply(valid_scores, scores_.emplace_back(valid_.documents()), context_);
      hasher_.values(std::span<const float>(scores_.back()));
    }
  }

  Context context_{2, 7};
  int labels_;
  Dataset train_;
  Dataset valid_;
  std::vector<double> grades_;
  std::vector<Member> members_;
  std::vector<std::vector<float>> scores_;  // of the validation data, by member
  int models_ = 0;
  Hasher hasher_;
};

int run() {
  // Rows of histograms differ by the number of labels; those beyond 5 have no documents.
  for (const int labels : {2, 3, 5, 7, 10, 20}) {
    Digest digest(labels);
    digest.boosting("stump", "edge", "leaf", "none");
    digest.boosting("tree", "energy", "leaf", "none");
    digest.boosting("tree", "edge", "shared", "none");
    digest.boosting("tree", "energy", "real", "exp3g");
    digest.boosting("product", "edge", "leaf", "exp3g");
    if (labels <= 5) digest.svm();
    if (labels <= 5) digest.registered();
    fmt::print("{} labels: {}\n", labels, digest.hex());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "sets") {
    for (const Instructions set : available_instructions()) fmt::print("{}\n", instructions_name(set));
    return 0;
  }
  try {
    return run();
  } catch (const InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
