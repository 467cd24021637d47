// AdaRank: queries that the sum ranks badly gain weight; the next weak ranker is the feature that ranks
// those best.
#include <algorithm>
#include <cmath>

#include "core/portable_math.h"
#include "learners/ranking_data.h"
#include "learners/weak_rankers/boosting.h"
#include "learners/weak_rankers/learners.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

using weak::WeakRanker;

constexpr size_t kRank = 10;  // of the NDCG that is boosted

struct AdaRankOptions {
  int round = 500;
  int max = 2;
};

const OptionTable<AdaRankOptions>& adarank_options() {
  static const OptionTable<AdaRankOptions> table = [] {
    OptionTable<AdaRankOptions> t;
    t.number("round", &AdaRankOptions::round, 1, 1000000, "weak rankers to add")
        .number("max", &AdaRankOptions::max, 1, 1000000,
                "a feature chosen so many times in a row is put aside until all others have been");
    return t;
  }();
  return table;
}

class AdaRank : public weak::Method {
 public:
  AdaRank(const TrainingData& data, const AdaRankOptions& options, const Context& context)
      : data_(data.all()),
        options_(options),
        context_(context),
        queries_(data),
        metric_(QueryIndex(queries_.offsets, std::vector<std::string>(queries_.size())), queries_.labels,
                data.grades(), kRank, queries_.weights),
        scaling_(fit_scaling(data, context)),
        scores_(queries_.documents(), 0.0),
        weights_(queries_.weights),
        values_(2 * data_.features() * queries_.size()) {
    // How well each feature ranks each query never changes: upwards, then downwards.
    context.pool().run(data_.features(), [&](size_t j) {
      std::vector<float> column(queries_.documents());
      for (size_t i = 0; i < column.size(); ++i) column[i] = data_.row(queries_.rows[i])[j];
      metric_.per_query(column, values(2 * j));
      for (float& x : column) x = -x;
      metric_.per_query(column, values(2 * j + 1));
    });
  }

  std::optional<WeakRanker> next() override {
    double sum = 0;
    for (const double w : weights_) sum += w;
    std::vector<double> phi(2 * data_.features(), 0.0);
    context_.pool().run(phi.size(), [&](size_t k) {
      const std::span<const double> value = values(k);
      for (size_t q = 0; q < value.size(); ++q) phi[k] += weights_[q] / sum * value[q];
    });
    std::optional<size_t> best;
    for (size_t k = 0; k < phi.size(); ++k) {
      const bool usable = scaling_.factor[k / 2] > 0 && !aside_[k / 2];
      if (usable && (!best || phi[k] > phi[*best])) best = k;
    }
    if (!best || queries_.size() == 0) return std::nullopt;
    // A feature that is right about every query would have no end of weight.
    const double value = std::min(phi[*best], 1 - 1e-6);
    WeakRanker ranker;
    ranker.feature = static_cast<uint32_t>(*best / 2);
    ranker.scale = (*best % 2 == 0 ? 1 : -1) * scaling_.factor[*best / 2];
    ranker.weight = 0.5 * portable_log((1 + value) / (1 - value));
    return ranker;
  }

  void add(const WeakRanker& ranker) override {
    in_row_ = ranker.feature == last_ ? in_row_ + 1 : 1;
    last_ = ranker.feature;
    if (in_row_ >= options_.max) put_aside(last_);
    for (size_t i = 0; i < scores_.size(); ++i)
      scores_[i] += ranker(data_.row(queries_.rows[i])[ranker.feature]);
    const std::vector<float> scores(scores_.begin(), scores_.end());
    metric_.per_query(scores, weights_);
    for (size_t q = 0; q < weights_.size(); ++q)
      weights_[q] = queries_.weights[q] * portable_exp(-weights_[q]);
  }

 private:
  // The best feature alone would be chosen for ever, as the weights of queries differ little.
  void put_aside(size_t feature) {
    aside_[feature] = true;
    bool any_left = false;
    for (size_t j = 0; j < aside_.size(); ++j) any_left |= !aside_[j] && scaling_.factor[j] > 0;
    if (!any_left) aside_.assign(aside_.size(), false);
    in_row_ = 0;
  }
  std::span<double> values(size_t k) { return {values_.data() + k * queries_.size(), queries_.size()}; }

  const Dataset& data_;
  AdaRankOptions options_;
  const Context& context_;
  RankedQueries queries_;
  SelectionMetric metric_;
  Scaling scaling_;
  std::vector<double> scores_;
  std::vector<double> weights_;  // of queries: exp(-NDCG by the sum so far), times their own
  std::vector<double> values_;   // NDCG of each query by each feature
  size_t last_ = SIZE_MAX;       // feature chosen last
  int in_row_ = 0;
  std::vector<bool> aside_ = std::vector<bool>(data_.features(), false);
};

}  // namespace

LearnerEntry adarank_learner() {
  LearnerEntry entry;
  entry.type = entry.family = "adarank";
  entry.version = 2;
  entry.row = "AR";
  entry.doc = "Features, boosted by the NDCG@10 of queries.";
  entry.citation = "Xu and Li, AdaRank: a boosting algorithm for information retrieval, SIGIR 2007";
  describe_options(entry, adarank_options(), {{"round", OptionRole::kLength}});
  weak::complete_entry(entry, [](const TrainingRequest& request, const Context& context) {
    return std::make_unique<AdaRank>(request.data, parse_settings(adarank_options(), request.settings),
                                     context);
  });
  return entry;
}

}  // namespace tunemix
