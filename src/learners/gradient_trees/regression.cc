// Squared error of the grade: MART (Friedman 2001) and the averaged trees.
#include "learners/gradient_trees/learners.h"

namespace tunemix::trees {
namespace {

class GradeRegression final : public Objective {
 public:
  GradeRegression(const TreeOptions& /*options*/, const TrainingRequest& request, const Context& context)
      : data_(request.data), context_(context) {
    double sum = 0;
    double count = 0;
    for (const uint32_t i : data_.documents()) {
      sum += data_.weight(i) * grade(i);
      count += data_.weight(i);
    }
    if (count > 0) mean_ = static_cast<float>(sum / count);
  }

  float start() const override { return mean_; }
  void gradients(uint64_t, size_t, std::span<const std::vector<float>> scores, uint64_t* words) override {
    const std::span<const uint32_t> documents = data_.documents();
    parallel_blocks(context_.pool(), documents.size(), 4096, [&](size_t begin, size_t end) {
      for (size_t k = begin; k < end; ++k) {
        const uint32_t i = documents[k];
        words[i] = raw_word(scores[0][i] - static_cast<float>(grade(i)), 1);
      }
    });
  }

 private:
  double grade(uint32_t document) const { return data_.grades()[data_.all().labels()[document]]; }

  const TrainingData& data_;
  const Context& context_;
  float mean_ = 0;
};

struct MartOptions : TreeOptions {};

struct ForestOptions : TreeOptions {
  ForestOptions() {
    leaves = 64;
    feature_fraction = 1.0 / 3;
    sample = RowSample::kDocument;
    iterations = 300;
    min_hessian = 0;
  }
};

struct RandomForestOptions : ForestOptions {
  RandomForestOptions() {
    min_documents = 5;
    bootstrap = true;
  }
};

struct ExtraTreesOptions : ForestOptions {
  ExtraTreesOptions() { min_documents = 3; }
};

}  // namespace

TreeLearner mart() {
  LearnerEntry entry;
  entry.type = "mart";
  entry.row = "MART";
  entry.doc = "boosted regression trees on the grade";
  entry.citation = "Friedman, Greedy function approximation: a gradient boosting machine, 2001";
  entry.version = 7;
  return tree_learner<GradeRegression, MartOptions>(std::move(entry));
}

TreeLearner random_forest() {
  LearnerEntry entry;
  entry.type = "random_forest";
  entry.row = "RF";
  entry.doc = "average of regression trees on the grade, each grown on a bootstrap sample";
  entry.citation = "Breiman, Random forests, 2001";
  entry.version = 2;
  return tree_learner<GradeRegression, RandomForestOptions>(std::move(entry), {.average = true});
}

TreeLearner extra_trees() {
  LearnerEntry entry;
  entry.type = "extra_trees";
  entry.row = "ET";
  entry.doc = "average of regression trees on the grade with random cuts";
  entry.citation = "Geurts, Ernst, Wehenkel, Extremely randomized trees, 2006";
  entry.version = 2;
  return tree_learner<GradeRegression, ExtraTreesOptions>(std::move(entry),
                                                          {.average = true, .random_cuts = true});
}

}  // namespace tunemix::trees
