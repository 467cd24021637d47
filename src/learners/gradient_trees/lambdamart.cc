// LambdaMART (Burges 2010): the logistic loss of pairs of documents, each weighted by how much NDCG@k changes
// when the two swap places.
#include <algorithm>

#include "core/portable_math.h"
#include "learners/gradient_trees/lambda_kernel.h"
#include "learners/gradient_trees/learners.h"
#include "learners/gradient_trees/query_blocks.h"
#include "learners/gradient_trees/rank_order.h"
#include "tunemix/core/aligned.h"

namespace tunemix::trees {
namespace {

struct LambdaMartOptions : TreeOptions {
  double sigma = 1;
  int truncation = 30;
  bool normalize = true;

  static void describe(OptionTable<LambdaMartOptions>& table) {
    table.number("sigma", &LambdaMartOptions::sigma, 1e-6, 1e6, "steepness of the logistic loss of a pair")
        .number("truncation", &LambdaMartOptions::truncation, 1, 1000000000,
                "k of the NDCG@k that is optimised: pairs have a document in the first k")
        .flag("normalize", &LambdaMartOptions::normalize,
              "divide pairs by their distance in score, and scale the gradients of each query by their sum");
  }
};

class LambdaMart final : public Objective {
 public:
  LambdaMart(const LambdaMartOptions& options, const TrainingRequest& request, const Context& context)
      : options_(options),
        data_(request.data),
        context_(context),
        blocks_(request.data),
        scratch_(static_cast<size_t>(context.threads())) {
    const TrainingData& data = data_;
    const std::span<const int32_t> labels = data.all().labels();
    for (const double grade : data.grades()) grades_.push_back(static_cast<float>(grade));
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
  // By rank; those above the lowest gain once more, one after the other. Vectors reach beyond the last
  // document, where finite numbers of other queries may stand.
  struct Columns {
    AlignedVector<float> score;
    AlignedVector<float> odds;
    AlignedVector<float> gain;
    AlignedVector<float> discount;
    AlignedVector<float> gradient;
    AlignedVector<float> hessian;

    void clear(size_t padded) {
      for (AlignedVector<float>* column : {&score, &odds, &gain, &discount, &gradient, &hessian})
        if (column->size() < padded) column->resize(padded);
      std::fill_n(gradient.begin(), padded, 0.0F);
      std::fill_n(hessian.begin(), padded, 0.0F);
    }
    RankedDocuments documents(size_t count, const float* discounts) {
      return {count, score.data(), odds.data(), gain.data(), discounts, gradient.data(), hessian.data()};
    }
  };
  struct Scratch {
    RankOrder order;
    Columns all;
    Columns relevant;
    std::vector<uint32_t> relevant_rank;
  };

  void one_query(size_t q, size_t first, size_t count, const float* scores, Scratch& own, uint64_t* words) {
    if (shares_[q] == 0 || count < 2) {
      std::fill_n(words + first, count, raw_word(0, 0));
      return;
    }
    const int32_t* labels = data_.all().labels().data() + first;
    const std::span<const int32_t> rank = own.order.ranks({scores + first, count});
    const size_t padded = (count + kPairLanes - 1) / kPairLanes * kPairLanes;
    own.all.clear(padded);
    const float factor_of_gain = static_cast<float>(options_.sigma) * shares_[q];
    float lowest = factor_of_gain * grades_[labels[0]];
    for (size_t i = 0; i < count; ++i) {
      const float gain = factor_of_gain * grades_[labels[i]];
      own.all.score[rank[i]] = scores[first + i];
      own.all.gain[rank[i]] = gain;
      lowest = std::min(lowest, gain);
    }
    LambdaPairs pairs;
    pairs.sigma = static_cast<float>(options_.sigma);
    const float highest_score = own.all.score[0];
    const float lowest_score = own.all.score[count - 1];
    pairs.wide = pairs.sigma * (highest_score - lowest_score) > kWidest;
    if (!pairs.wide)
      kernels_.make_odds(own.all.score.data(), count, 0.5F * (highest_score + lowest_score), pairs.sigma,
                         own.all.odds.data());
    // Documents of the lowest gain, mostly the greater part, have no pairs among themselves.
    own.relevant.clear(padded);
    own.relevant_rank.clear();
    for (size_t r = 0; r < count; ++r) {
      if (own.all.gain[r] == lowest) continue;
      const size_t k = own.relevant_rank.size();
      own.relevant.score[k] = own.all.score[r];
      own.relevant.odds[k] = own.all.odds[r];
      own.relevant.gain[k] = own.all.gain[r];
      own.relevant.discount[k] = discounts_[r];
      own.relevant_rank.push_back(static_cast<uint32_t>(r));
    }
    const RankedDocuments all = own.all.documents(count, discounts_.data());
    const RankedDocuments relevant =
        own.relevant.documents(own.relevant_rank.size(), own.relevant.discount.data());
    pairs.by_distance = options_.normalize && highest_score != lowest_score;
    double size = 0;
    const size_t top = std::min(count - 1, static_cast<size_t>(options_.truncation));
    for (size_t r = 0, relevant_above = 0; r < top; ++r) {
      pairs.score = all.score[r];
      pairs.gain = all.gain[r];
      pairs.discount = discounts_[r];
      pairs.inverse_odds = pairs.wide ? 0 : 1 / all.odds[r];
      const bool is_lowest = all.gain[r] == lowest;
      const LambdaSums sums = is_lowest ? kernels_.add_lambdas(pairs, relevant, relevant_above)
                                        : kernels_.add_lambdas(pairs, all, r + 1);
      if (!is_lowest) ++relevant_above;
      all.gradient[r] += sums.gradient;
      all.hessian[r] += sums.hessian;
      size += sums.size;
    }
    for (size_t k = 0; k < own.relevant_rank.size(); ++k) {
      all.gradient[own.relevant_rank[k]] += relevant.gradient[k];
      all.hessian[own.relevant_rank[k]] += relevant.hessian[k];
    }
    float factor = 1;
    if (options_.normalize && size > 0) factor = static_cast<float>(portable_log2(1 + 2 * size) / (2 * size));
    for (size_t i = 0; i < count; ++i)
      words[first + i] =
          raw_word(all.gradient[rank[i]] * factor, all.hessian[rank[i]] * (factor * pairs.sigma));
  }

  // Of sigma times the span of scores: e^60 and e^-60 are far from the ends of a float.
  static constexpr float kWidest = 120;

  const LambdaKernels& kernels_ = lambda_kernels();
  LambdaMartOptions options_;
  const TrainingData& data_;
  const Context& context_;
  QueryBlocks blocks_;
  std::vector<float> grades_;     // of each label
  std::vector<float> discounts_;  // by rank
  std::vector<float> shares_;     // of each query
  std::vector<Scratch> scratch_;
};

}  // namespace

TreeLearner lambdamart() {
  LearnerEntry entry;
  entry.type = "lambdamart";
  entry.row = "LM";
  entry.doc = "boosted trees on pairs of documents weighted by the change of NDCG@k";
  entry.citation = "Burges, From RankNet to LambdaRank to LambdaMART, 2010";
  entry.version = 7;
  entry.weights = WeightUse::kQuery;
  return tree_learner<LambdaMart, LambdaMartOptions>(std::move(entry));
}

}  // namespace tunemix::trees
