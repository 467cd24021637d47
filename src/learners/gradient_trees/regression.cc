// Squared error of the grade: MART (Friedman 2001) and the averaged trees; or of real targets within queries.
#include "learners/gradient_trees/objectives.h"

namespace tunemix::trees {
namespace {

class GradeRegression final : public Objective {
 public:
  GradeRegression(const TrainingData& data, const Context& context) : data_(data), context_(context) {
    double sum = 0;
    double count = 0;
    for (const uint32_t i : data.documents()) {
      sum += data.weight(i) * data.grades()[data.all().labels()[i]];
      count += data.weight(i);
    }
    if (count > 0) mean_ = static_cast<float>(sum / count);
  }

  float start() const override { return mean_; }
  void gradients(uint64_t, size_t, std::span<const std::vector<float>> scores, uint64_t* words) override {
    const std::span<const uint32_t> documents = data_.documents();
    parallel_blocks(context_.pool(), documents.size(), 4096, [&](size_t begin, size_t end) {
      for (size_t k = begin; k < end; ++k) {
        const uint32_t i = documents[k];
        words[i] = raw_word(scores[0][i] - static_cast<float>(data_.grades()[data_.all().labels()[i]]), 1);
      }
    });
  }

 private:
  const TrainingData& data_;
  const Context& context_;
  float mean_ = 0;
};

// Half the squared differences of scores and targets, less their mean in each query, so that trees need not
// explain what all documents of a query have in common. The hessian's diagonal is 1 - 1/n; 1 is as good.
class TargetRegression final : public Objective {
 public:
  TargetRegression(const TrainingData& data, std::span<const float> targets, const Context& context)
      : data_(data), targets_(targets.begin(), targets.end()), context_(context) {
    require(targets_.size() == data.all().documents(), "there is not one target for each document");
  }

  void gradients(uint64_t, size_t, std::span<const std::vector<float>> scores, uint64_t* words) override {
    const std::span<const uint32_t> documents = data_.documents();
    const QueryIndex& queries = data_.queries();
    parallel_blocks(context_.pool(), queries.size(), 64, [&](size_t begin, size_t end) {
      for (size_t q = begin; q < end; ++q) {
        double sum = 0;
        for (size_t k = queries.begin(q); k < queries.end(q); ++k)
          sum += scores[0][documents[k]] - targets_[documents[k]];
        const auto mean = static_cast<float>(sum / static_cast<double>(queries.length(q)));
        for (size_t k = queries.begin(q); k < queries.end(q); ++k) {
          const uint32_t i = documents[k];
          words[i] = raw_word(scores[0][i] - targets_[i] - mean, 1);
        }
      }
    });
  }

 private:
  const TrainingData& data_;
  std::vector<float> targets_;
  const Context& context_;
};

}  // namespace

std::unique_ptr<Objective> make_target_regression(const TrainingData& data, std::span<const float> targets,
                                                  const Context& context) {
  return std::make_unique<TargetRegression>(data, targets, context);
}

std::unique_ptr<Objective> make_grade_regression(const TrainingData& data, const Context& context) {
  return std::make_unique<GradeRegression>(data, context);
}

}  // namespace tunemix::trees
