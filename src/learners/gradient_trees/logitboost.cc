// LogitBoost for K labels (Friedman, Hastie, Tibshirani 2000), with the second-order splits of Li 2010.
#include <algorithm>

#include "core/portable_math.h"
#include "learners/gradient_trees/learners.h"
#include "tunemix/core/aligned.h"

namespace tunemix::trees {
namespace {

// out[l] = e^f_l / sum.
void softmax(std::span<const std::vector<float>> scores, size_t document, double* out) {
  double highest = scores[0][document];
  for (const std::vector<float>& column : scores)
    highest = std::max(highest, static_cast<double>(column[document]));
  double sum = 0;
  for (size_t l = 0; l < scores.size(); ++l) sum += out[l] = portable_exp(scores[l][document] - highest);
  for (size_t l = 0; l < scores.size(); ++l) out[l] /= sum;
}

struct LogitBoostOptions : TreeOptions {
  LogitBoostOptions() { leaves = 8; }
};

class LogitBoost final : public Objective {
 public:
  LogitBoost(const LogitBoostOptions& /*options*/, const TrainingRequest& request, const Context& context)
      : data_(request.data), context_(context), labels_(static_cast<size_t>(data_.label_count())) {}

  size_t columns() const override { return labels_; }
  double step() const override { return static_cast<double>(labels_ - 1) / static_cast<double>(labels_); }

  void gradients(uint64_t, size_t column, std::span<const std::vector<float>> scores,
                 uint64_t* words) override {
    const std::span<const uint32_t> documents = data_.documents();
    // All trees of a round are fitted to the probabilities before it.
    if (column == 0) {
      probabilities_.resize(documents.size() * labels_);
      parallel_blocks(context_.pool(), documents.size(), 4096, [&](size_t begin, size_t end) {
        std::vector<double> p(labels_);
        for (size_t k = begin; k < end; ++k) {
          softmax(scores, documents[k], p.data());
          for (size_t l = 0; l < labels_; ++l) probabilities_[k * labels_ + l] = static_cast<float>(p[l]);
        }
      });
    }
    parallel_blocks(context_.pool(), documents.size(), 4096, [&](size_t begin, size_t end) {
      for (size_t k = begin; k < end; ++k) {
        const uint32_t i = documents[k];
        const float p = probabilities_[k * labels_ + column];
        const bool own = static_cast<size_t>(data_.all().labels()[i]) == column;
        words[i] = raw_word(p - (own ? 1.0F : 0.0F), std::max(p * (1 - p), 1e-12F));
      }
    });
  }

  // The expected grade.
  std::vector<float> ranking(std::span<const std::vector<float>> scores) const override {
    std::vector<float> result(scores[0].size());
    std::vector<double> p(labels_);
    for (size_t i = 0; i < result.size(); ++i) {
      softmax(scores, i, p.data());
      double grade = 0;
      for (size_t l = 0; l < labels_; ++l) grade += p[l] * data_.grades()[l];
      result[i] = static_cast<float>(grade);
    }
    return result;
  }

 private:
  const TrainingData& data_;
  const Context& context_;
  size_t labels_;
  AlignedVector<float> probabilities_;  // training documents x K
};

}  // namespace

TreeLearner logitboost() {
  LearnerEntry entry;
  entry.type = "logitboost";
  entry.row = "LB";
  entry.doc = "boosted trees on the probabilities of the labels, one tree a label and round";
  entry.citation =
      "Friedman, Hastie, Tibshirani, Additive logistic regression, 2000; Li, Robust LogitBoost, 2010";
  entry.version = 7;
  return tree_learner<LogitBoost, LogitBoostOptions>(std::move(entry), {.one_column = false});
}

}  // namespace tunemix::trees
