// The best single feature, and coordinate ascent: weights chosen by the measure itself.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "learners/linear/learners.h"
#include "learners/linear/problem.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

using namespace linear;

constexpr size_t kRank = 10;  // of the NDCG that is climbed

// The tie-averaged NDCG of the training queries in which anything can be won, by scores in their order.
class Judge {
 public:
  explicit Judge(const TrainingData& data)
      : data_(data.all()),
        queries_(data),
        metric_(QueryIndex(queries_.offsets, std::vector<std::string>(queries_.size())), queries_.labels,
                data.grades(), kRank, queries_.weights) {}

  size_t documents() const { return queries_.documents(); }
  // One feature of the documents, scaled.
  void column(size_t feature, const Scaling& scaling, std::vector<float>& out) const {
    out.resize(documents());
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<float>(
          (static_cast<double>(data_.row(queries_.rows[i])[feature]) - scaling.shift[feature]) *
          scaling.factor[feature]);
  }
  double operator()(std::span<const float> scores) const {
    return queries_.size() == 0 ? 0 : metric_(scores);
  }

 private:
  const Dataset& data_;
  RankedQueries queries_;
  SelectionMetric metric_;
};

LinearModel train_best_feature(const TrainingData& data, const Context& context) {
  const Judge judge(data);
  Scaling scaling = fit_scaling(data, context);
  const size_t d = data.all().features();
  std::vector<double> values(2 * d);
  context.pool().run(d, [&](size_t j) {
    context.check_stop();
    std::vector<float> scores;
    judge.column(j, scaling, scores);
    values[2 * j] = judge(scores);
    for (float& s : scores) s = -s;
    values[2 * j + 1] = judge(scores);
  });
  // The first of the best, upwards before downwards.
  const auto best = static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
  std::vector<double> parameters(Shape{d, 0}.size(), 0.0);
  if (d > 0) parameters[best / 2] = best % 2 == 0 ? 1 : -1;
  return LinearModel("best_feature", {d, 0}, std::move(scaling), {{Point{}, std::move(parameters)}});
}

struct AscentOptions {
  int r = 5;
  int i = 12;
  double tolerance = 0.001;
};

const OptionTable<AscentOptions>& ascent_options() {
  static const OptionTable<AscentOptions> table = [] {
    OptionTable<AscentOptions> t;
    t.number("r", &AscentOptions::r, 1, 10000, "restarts, of which the best by training NDCG@10 is taken")
        .number("i", &AscentOptions::i, 1, 50,
                "steps to try in each direction of a weight, each twice the last")
        .number("tolerance", &AscentOptions::tolerance, 0.0, 1.0,
                "a pass over all weights that gains less NDCG@10 is the last");
    return t;
  }();
  return table;
}

// One climb. Scores are kept, so that a trial costs one multiplication and one look at the measure.
class Climb {
 public:
  Climb(const Judge& judge, const Scaling& scaling, const AscentOptions& options, const Context& context)
      : judge_(judge),
        scaling_(scaling),
        options_(options),
        context_(context),
        trials_(static_cast<size_t>(context.threads())) {}

  // Raises `weights`; returns the NDCG that they reach.
  double operator()(std::vector<double>& weights, Random& random) {
    start(weights);
    std::vector<size_t> order(weights.size());
    std::iota(order.begin(), order.end(), size_t{0});
    for (;;) {
      const double before = value_;
      random.shuffle(std::span<size_t>(order));
      for (const size_t j : order)
        if (scaling_.factor[j] != 0) raise(weights, j);
      normalise(weights);
      if (value_ - before <= options_.tolerance) return value_;
    }
  }

 private:
  void start(const std::vector<double>& weights) {
    scores_.assign(judge_.documents(), 0.0);
    for (size_t j = 0; j < weights.size(); ++j) {
      if (weights[j] == 0) continue;
      judge_.column(j, scaling_, column_);
      for (size_t i = 0; i < scores_.size(); ++i) scores_[i] += weights[j] * static_cast<double>(column_[i]);
    }
    value_ = judged(0, 0.0);
  }

  // The NDCG when the weight of column_ changes by so much.
  double judged(size_t thread, double change) {
    std::vector<float>& trial = trials_[thread];
    trial.resize(scores_.size());
    for (size_t i = 0; i < trial.size(); ++i)
      trial[i] = static_cast<float>(scores_[i] + change * static_cast<double>(column_[i]));
    return judge_(trial);
  }

  // Changes one weight where that gains anything: steps up, steps down, or no weight at all.
  void raise(std::vector<double>& weights, size_t j) {
    context_.check_stop();
    double sum = 0;
    for (const double w : weights) sum += std::abs(w);
    const double unit = 0.05 * std::max(std::abs(weights[j]), sum / static_cast<double>(weights.size()));
    std::vector<double> changes = {-weights[j]};
    double step = unit;
    for (int k = 0; k < options_.i; ++k, step *= 2) {
      changes.push_back(step);
      changes.push_back(-step);
    }
    judge_.column(j, scaling_, column_);
    std::vector<double> values(changes.size());
    context_.pool().run_with_thread(changes.size(), [&](size_t k, int thread) {
      values[k] = judged(static_cast<size_t>(thread), changes[k]);
    });
    const auto best = static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
    if (values[best] <= value_) return;
    value_ = values[best];
    weights[j] += changes[best];
    for (size_t i = 0; i < scores_.size(); ++i) scores_[i] += changes[best] * static_cast<double>(column_[i]);
  }

  // Only ratios matter; so that steps stay in proportion and nothing overflows.
  void normalise(std::vector<double>& weights) {
    double sum = 0;
    for (const double w : weights) sum += std::abs(w);
    if (!(sum > 0)) return;
    for (double& w : weights) w /= sum;
    for (double& s : scores_) s /= sum;
  }

  const Judge& judge_;
  const Scaling& scaling_;
  const AscentOptions& options_;
  const Context& context_;
  std::vector<double> scores_;
  std::vector<float> column_;
  std::vector<std::vector<float>> trials_;  // of each thread
  double value_ = 0;
};

LinearModel train_ascent(const TrainingData& data, const AscentOptions& options, const Context& context) {
  const Judge judge(data);
  Scaling scaling = fit_scaling(data, context);
  const size_t d = data.all().features();
  Climb climb(judge, scaling, options, context);
  Random random = context.stream("coordinate_ascent");
  std::vector<double> best;
  double best_value = -1;
  for (int restart = 0; restart < options.r; ++restart) {
    // All features alike, climbed in another order each time.
    std::vector<double> weights(d, 1 / static_cast<double>(std::max<size_t>(1, d)));
    const double value = climb(weights, random);
    context.progress(static_cast<size_t>(restart) + 1, static_cast<size_t>(options.r), value);
    if (value <= best_value) continue;
    best_value = value;
    best = weights;
  }
  best.push_back(0.0);
  return LinearModel("coordinate_ascent", {d, 0}, std::move(scaling), {{Point{}, std::move(best)}});
}

}  // namespace

LearnerEntry best_feature_learner() {
  LearnerEntry entry = linear_entry(
      {"best_feature", "BF", "The single feature, upwards or downwards, with the best training NDCG@10.",
       "the simplest baseline of Chapelle and Chang, Yahoo! learning to rank challenge overview, JMLR 2011"},
      [](const TrainingRequest& request, const Context& context) {
        return train_best_feature(request.data, context);
      });
  entry.canonical = [](const std::string& key, const std::string&) -> std::string {
    throw_input("best_feature has no option '{}'; expected none", key);
  };
  return entry;
}

LearnerEntry coordinate_ascent_learner() {
  LearnerEntry entry = linear_entry(
      {"coordinate_ascent", "CA",
       "A linear ranker whose weights are raised one by one to the best training NDCG@10.",
       "Metzler and Croft, Linear feature-based models for information retrieval, Information Retrieval "
       "2007"},
      [](const TrainingRequest& request, const Context& context) {
        return train_ascent(request.data, parse_settings(ascent_options(), request.settings), context);
      });
  describe_options(entry, ascent_options());
  return entry;
}

}  // namespace tunemix
