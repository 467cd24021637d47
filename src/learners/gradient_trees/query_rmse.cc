// QueryRMSE: half the squared differences of scores and grades, less their mean in each query, so that trees
// need not explain what all documents of a query have in common. The targets may be other numbers.
#include "learners/gradient_trees/learners.h"
#include "learners/gradient_trees/query_blocks.h"

namespace tunemix::trees {
namespace {

struct QueryRmseOptions : TreeOptions {};

class QueryRmse final : public Objective {
 public:
  QueryRmse(const QueryRmseOptions& /*options*/, const TrainingRequest& request, const Context& context)
      : data_(request.data),
        blocks_(request.data),
        targets_(request.targets.begin(), request.targets.end()),
        context_(context) {
    if (targets_.empty())
      for (const int32_t label : data_.all().labels())
        targets_.push_back(static_cast<float>(data_.grades()[label]));
    require(targets_.size() == data_.all().documents(), "there is not one target for each document");
  }

  // The hessian's diagonal is 1 - 1/n; 1 is as good.
  void gradients(uint64_t, size_t, std::span<const std::vector<float>> scores, uint64_t* words) override {
    blocks_.run(context_, [&](size_t, size_t first, size_t count, int) {
      double sum = 0;
      for (size_t i = first; i < first + count; ++i) sum += scores[0][i] - targets_[i];
      const auto mean = static_cast<float>(sum / static_cast<double>(count));
      for (size_t i = first; i < first + count; ++i)
        words[i] = raw_word(scores[0][i] - targets_[i] - mean, 1);
    });
  }

 private:
  const TrainingData& data_;
  QueryBlocks blocks_;
  std::vector<float> targets_;
  const Context& context_;
};

}  // namespace

TreeLearner query_rmse() {
  LearnerEntry entry;
  entry.type = "query_rmse";
  entry.row = "QR";
  entry.doc = "boosted regression trees on the grade, up to a constant of each query";
  entry.citation = "Prokhorenkova et al., CatBoost: unbiased boosting with categorical features, 2018";
  entry.weights = WeightUse::kQuery;
  entry.takes_targets = true;
  entry.version = 2;
  return tree_learner<QueryRmse, QueryRmseOptions>(std::move(entry));
}

}  // namespace tunemix::trees
