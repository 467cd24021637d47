// YetiRank (Gulin, Kuralenok, Pavlov 2011): the logistic loss of neighbours in randomly perturbed orders,
// those higher up weighing more.
#include <algorithm>

#include "core/portable_math.h"
#include "learners/gradient_trees/learners.h"
#include "learners/gradient_trees/query_blocks.h"
#include "learners/gradient_trees/rank_order.h"
#include "tunemix/core/random.h"

namespace tunemix::trees {
namespace {

struct YetiRankOptions : TreeOptions {
  double sigma = 1;
  int permutations = 10;
  double decay = 0.85;

  static void describe(OptionTable<YetiRankOptions>& table) {
    table.number("sigma", &YetiRankOptions::sigma, 1e-6, 1e6, "steepness of the logistic loss of a pair")
        .number("permutations", &YetiRankOptions::permutations, 1, 1000,
                "perturbed orders of each query a round")
        .number("decay", &YetiRankOptions::decay, 1e-6, 1.0,
                "weight of a place in the order beside the one before it");
  }
};

class YetiRank final : public Objective {
 public:
  YetiRank(const YetiRankOptions& options, const TrainingRequest& request, const Context& context)
      : options_(options),
        data_(request.data),
        context_(context),
        blocks_(request.data),
        seed_(derive_seed(context.seed(), "yetirank")),
        scratch_(static_cast<size_t>(context.threads())) {}

  void gradients(uint64_t round, size_t, std::span<const std::vector<float>> scores,
                 uint64_t* words) override {
    blocks_.run(context_, [&](size_t q, size_t first, size_t count, int thread) {
      one_query(round, q, first, count, scores[0].data(), scratch_[static_cast<size_t>(thread)], words);
    });
  }

 private:
  struct Scratch {
    RankOrder order;
    std::vector<float> perturbed;
    std::vector<double> gradient;
    std::vector<double> hessian;
  };

  void one_query(uint64_t round, size_t q, size_t first, size_t count, const float* scores, Scratch& own,
                 uint64_t* words) {
    const std::span<const int32_t> labels = data_.all().labels().subspan(first, count);
    own.gradient.assign(count, 0);
    own.hessian.assign(count, 0);
    own.perturbed.resize(count);
    // A stream of its own for each query and round, so that threads do not matter.
    Random random(seed_ ^ (round * 0x9e3779b97f4a7c15ULL + q) * 0xd1342543de82ef95ULL);
    const bool mixed = std::any_of(labels.begin(), labels.end(), [&](int32_t l) { return l != labels[0]; });
    for (int p = 0; mixed && p < options_.permutations; ++p) {
      for (size_t i = 0; i < count; ++i) {
        const double u = std::clamp(random.uniform(), 1e-12, 1 - 1e-12);
        own.perturbed[i] = static_cast<float>(scores[first + i] + portable_log(u / (1 - u)));
      }
      const std::span<const uint32_t> order = own.order.order(own.perturbed);
      double place = 1.0 / options_.permutations;
      for (size_t r = 0; r + 1 < count; ++r, place *= options_.decay) {
        size_t high = order[r];
        size_t low = order[r + 1];
        if (labels[high] == labels[low]) continue;
        if (labels[high] < labels[low]) std::swap(high, low);
        const double weight = place * (data_.grades()[labels[high]] - data_.grades()[labels[low]]);
        const double apart = options_.sigma * (scores[first + high] - scores[first + low]);
        const double wrong = 1 / (1 + portable_exp(apart));  // chance of the wrong order
        const double lambda = options_.sigma * weight * wrong;
        const double curvature = options_.sigma * lambda * (1 - wrong);
        own.gradient[high] -= lambda;
        own.gradient[low] += lambda;
        own.hessian[high] += curvature;
        own.hessian[low] += curvature;
      }
    }
    for (size_t i = 0; i < count; ++i)
      words[first + i] = raw_word(static_cast<float>(own.gradient[i]), static_cast<float>(own.hessian[i]));
  }

  YetiRankOptions options_;
  const TrainingData& data_;
  const Context& context_;
  QueryBlocks blocks_;
  uint64_t seed_;
  std::vector<Scratch> scratch_;
};

}  // namespace

TreeLearner yetirank() {
  LearnerEntry entry;
  entry.type = "yetirank";
  entry.row = "YR";
  entry.doc = "boosted trees on neighbours in randomly perturbed orders";
  entry.citation =
      "Gulin, Kuralenok, Pavlov, Winning the transfer learning track of Yahoo!'s LTR challenge with "
      "YetiRank, "
      "2011";
  entry.version = 7;
  entry.weights = WeightUse::kQuery;
  return tree_learner<YetiRank, YetiRankOptions>(std::move(entry), {.draws = true});
}

}  // namespace tunemix::trees
