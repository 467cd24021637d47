// Prints a hash of what all learners, calibrations and mixtures compute on small data: it must be the same
// with every instruction set. `digest sets` lists those that there are.
#include <fmt/format.h>

#include <algorithm>

#include "tunemix/calibrate/calibrator.h"
#include "tunemix/core/hash.h"
#include "tunemix/core/instructions.h"
#include "tunemix/data/synthetic.h"
#include "tunemix/learners/adaboost_mh.h"
#include "tunemix/learners/registry.h"
#include "tunemix/learners/svm.h"
#include "tunemix/mix/mixer.h"

using namespace tunemix;

namespace {

class Digest {
 public:
  explicit Digest(int labels) : labels_(labels), train_(made(1)), valid_(made(2)) {
    for (int l = 0; l < labels; ++l) grades_.push_back((1 << l) - 1);
  }

  void boosting(BaseLearner base, Growth growth, Votes votes, BanditKind bandit) {
    AdaBoostOptions options;
    options.base = base;
    options.growth = growth;
    options.votes = votes;
    options.bandit = bandit;
    options.labels = labels_;
    options.leaves = 10;
    options.iterations = 12;
    const AdaBoostModel model = train_adaboost(train_, options, context_);
    members("boosting", fmt::format("{}", models_++), model.rounds(), model.alpha_sum(model.rounds()),
            model.score(train_, model.rounds(), context_), model.score(valid_, model.rounds(), context_));
  }

  void svm() {
    for (const SvmModel& model : train_svm_path(train_, {}, std::vector<double>{0.01, 1}, context_))
      members("svm", fmt::format("{}", models_++), 0, 0, model.score(train_, context_),
              model.score(valid_, context_));
  }

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

  void members(const std::string& family, const std::string& model, int rounds, double range,
               const ScoreMatrix& train_scores, const ScoreMatrix& valid_scores) {
    hasher_.values(train_scores.values());
    const CalibrationInput input{train_scores, train_.labels(), train_.queries(), grades_, range};
    CalibrationOptions options;
    options.max_steps = 50;
    for (const Calibrator& calibrator :
         fit_calibrators(all_calibrations(train_scores.columns()), input, options, 1, context_)) {
      members_.push_back({family, calibrator.spec().kind, rounds, model, 0, calibrator.spec().name()});
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
    digest.boosting(BaseLearner::kStump, Growth::kEdge, Votes::kLeaf, BanditKind::kNone);
    digest.boosting(BaseLearner::kTree, Growth::kEnergy, Votes::kLeaf, BanditKind::kNone);
    digest.boosting(BaseLearner::kTree, Growth::kEdge, Votes::kShared, BanditKind::kNone);
    digest.boosting(BaseLearner::kTree, Growth::kEnergy, Votes::kReal, BanditKind::kExp3G);
    digest.boosting(BaseLearner::kProduct, Growth::kEdge, Votes::kLeaf, BanditKind::kExp3G);
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
