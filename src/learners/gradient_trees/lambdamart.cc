// LambdaMART (Burges 2010): the logistic loss of pairs of documents, each weighted by how much NDCG@k changes
// when the two swap places.
#include <algorithm>

#include "learners/gradient_trees/lambda_kernel.h"
#include "learners/gradient_trees/objectives.h"
#include "learners/gradient_trees/portable_math.h"
#include "learners/gradient_trees/query_blocks.h"
#include "learners/gradient_trees/rank_order.h"
#include "tunemix/core/aligned.h"

namespace tunemix::trees {
namespace {

class LambdaMart final : public Objective {
 public:
  LambdaMart(const TreeOptions& options, const TrainingData& data, const Context& context)
      : options_(options),
        data_(data),
        context_(context),
        blocks_(data),
        scratch_(static_cast<size_t>(context.threads())) {
    const std::span<const int32_t> labels = data.all().labels();
    size_t longest = 0;
    for (size_t q = 0; q < data.queries().size(); ++q) longest = std::max(longest, data.queries().length(q));
    for (size_t r = 0; r < longest + kPairLanes; ++r)
      discounts_.push_back(static_cast<float>(1 / portable_log2(static_cast<double>(r) + 2)));
    // 1 / the best DCG@k there can be, 0 where nothing is relevant.
    for (size_t q = 0; q < data.queries().size(); ++q) {
      std::vector<double> gains;
      for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i)
        gains.push_back(data.grades()[labels[data.documents()[i]]]);
      std::sort(gains.begin(), gains.end(), std::greater<>());
      double ideal = 0;
      for (size_t r = 0; r < std::min(gains.size(), static_cast<size_t>(options.truncation)); ++r)
        ideal += gains[r] / portable_log2(static_cast<double>(r) + 2);
      shares_.push_back(ideal > 0 ? static_cast<float>(1 / ideal) : 0.0F);
    }
  }

  void gradients(uint64_t, size_t, std::span<const std::vector<float>> scores, uint64_t* words) override {
    blocks_.run(context_, [&](size_t q, size_t first, size_t count, int thread) {
      one_query(q, first, count, scores[0].data(), scratch_[static_cast<size_t>(thread)], words);
    });
  }

 private:
  struct Scratch {
    RankOrder order;
    AlignedVector<float> score;
    AlignedVector<float> gain;
    AlignedVector<float> share;
    AlignedVector<float> gradient;
    AlignedVector<float> hessian;
  };

  void one_query(size_t q, size_t first, size_t count, const float* scores, Scratch& own, uint64_t* words) {
    if (shares_[q] == 0 || count < 2) {
      std::fill_n(words + first, count, raw_word(0, 0));
      return;
    }
    const std::span<const int32_t> labels = data_.all().labels();
    const std::span<const uint32_t> order = own.order.sort({scores + first, count});
    const size_t padded = (count + kPairLanes - 1) / kPairLanes * kPairLanes;
    own.score.assign(padded, scores[first + order.back()]);
    own.gain.assign(padded, 0.0F);
    own.share.assign(padded, 0.0F);
    own.gradient.assign(padded, 0.0F);
    own.hessian.assign(padded, 0.0F);
    for (size_t r = 0; r < count; ++r) {
      own.score[r] = scores[first + order[r]];
      own.gain[r] = static_cast<float>(data_.grades()[labels[first + order[r]]]);
      own.share[r] = shares_[q];
    }
    LambdaQuery query;
    query.documents = count;
    query.truncation = static_cast<size_t>(options_.truncation);
    query.sigma = static_cast<float>(options_.sigma);
    query.by_distance = options_.normalize && own.score[0] != own.score[count - 1];
    query.score = own.score.data();
    query.gain = own.gain.data();
    query.discount = discounts_.data();
    query.share = own.share.data();
    const double sum = 2 * static_cast<double>(add_lambdas(query, own.gradient.data(), own.hessian.data()));
    float factor = 1;
    if (options_.normalize && sum > 0) factor = static_cast<float>(portable_log2(1 + sum) / sum);
    for (size_t r = 0; r < count; ++r)
      words[first + order[r]] = raw_word(own.gradient[r] * factor, own.hessian[r] * factor);
  }

  const TreeOptions& options_;
  const TrainingData& data_;
  const Context& context_;
  QueryBlocks blocks_;
  std::vector<float> discounts_;  // by rank
  std::vector<float> shares_;     // of each query
  std::vector<Scratch> scratch_;
};

}  // namespace

std::unique_ptr<Objective> make_lambdamart(const TreeOptions& options, const TrainingData& data,
                                           const Context& context) {
  return std::make_unique<LambdaMart>(options, data, context);
}

}  // namespace tunemix::trees
