// RankBoost and FRank: pairs that the sum ranks badly have weight; the next weak ranker is a step that puts
// most of that weight right.
#include <algorithm>
#include <cmath>

#include "core/portable_math.h"
#include "learners/pair_sums.h"
#include "learners/ranker_kernels.h"
#include "learners/ranking_data.h"
#include "learners/weak_rankers/boosting.h"
#include "learners/weak_rankers/learners.h"
#include "learners/weak_rankers/step_search.h"

namespace tunemix {
namespace {

using weak::StepSearch;
using weak::WeakRanker;

constexpr size_t kLanes = RankerKernels::kLanes;
constexpr size_t kQueries = 16;  // of one task

struct PairOptions {
  int round = 300;
  int tc = 255;
};

const OptionTable<PairOptions>& pair_options() {
  static const OptionTable<PairOptions> table = [] {
    OptionTable<PairOptions> t;
    t.number("round", &PairOptions::round, 1, 1000000, "weak rankers to add")
        .number("tc", &PairOptions::tc, 2, 255, "bins of a feature; thresholds are between them");
    return t;
  }();
  return table;
}

// Steps chosen by the potential of documents: the weight of the pairs that gain from ranking a document
// higher, less that of the pairs that lose.
class PairMethod : public weak::Method {
 public:
  PairMethod(const TrainingData& data, size_t max_bins, const Context& context)
      : context_(context),
        queries_(data),
        search_(data, queries_, max_bins, context),
        scores_(queries_.documents(), 0.0),
        potentials_(queries_.documents()),
        above_(queries_.documents()) {}

  void add(const WeakRanker& ranker) override {
    search_.apply(ranker, above_);
    for (size_t i = 0; i < scores_.size(); ++i) scores_[i] += above_[i] != 0 ? ranker.weight : 0.0;
  }

 protected:
  // The sum of value(query) in the order of queries.
  template <typename Value>
  double sum_over_queries(const Value& value) const {
    std::vector<double> values(queries_.size());
    parallel_blocks(context_.pool(), values.size(), kQueries, [&](size_t begin, size_t end) {
      for (size_t q = begin; q < end; ++q) values[q] = value(q);
    });
    double sum = 0;
    for (const double v : values) sum += v;
    return sum;
  }
  std::span<const int32_t> labels(size_t q) const {
    return std::span(queries_.labels)
        .subspan(queries_.offsets[q], queries_.offsets[q + 1] - queries_.offsets[q]);
  }

  const Context& context_;
  const RankedQueries queries_;
  const StepSearch search_;
  std::vector<double> scores_;
  std::vector<double> potentials_;
  std::vector<uint8_t> above_;
};

// A pair (i, j), i better, weighs exp(f_j - f_i), a product: so the potential of a document needs only sums
// over the labels of its query, as in the paper's bipartite case.
class RankBoost : public PairMethod {
 public:
  using PairMethod::PairMethod;

  std::optional<WeakRanker> next() override {
    const double total = sum_over_queries([this](size_t q) { return weigh(q); });
    const std::optional<StepSearch::Step> step = search_.best(potentials_);
    if (!step || !(total > 0) || !std::isfinite(total)) return std::nullopt;
    const double r = std::clamp(step->gain / total, -1 + 1e-6, 1 - 1e-6);
    if (r == 0) return std::nullopt;
    WeakRanker ranker = step->ranker;
    ranker.weight = 0.5 * portable_log((1 + r) / (1 - r));
    return ranker;
  }

 private:
  // Sets the potentials of a query; returns the weight of its pairs.
  double weigh(size_t q) {
    const size_t first = queries_.offsets[q];
    const size_t n = queries_.offsets[q + 1] - first;
    const double* f = scores_.data() + first;
    double* potential = potentials_.data() + first;
    const std::vector<uint32_t> ends = group_ends(labels(q));
    std::vector<double> up(n), down(n);
    for (size_t i = 0; i < n; ++i) {
      up[i] = portable_exp(f[i] - f[0]);
      down[i] = portable_exp(f[0] - f[i]);
    }
    double better = 0;  // sum of exp(-f) over better labels
    size_t begin = 0;
    for (const uint32_t end : ends) {
      for (size_t i = begin; i < end; ++i) potential[i] = -up[i] * better;
      for (; begin < end; ++begin) better += down[begin];
    }
    double worse = 0;  // sum of exp(f) over worse labels
    double total = 0;
    for (size_t g = ends.size(); g-- > 0;) {
      const size_t from = g == 0 ? 0 : ends[g - 1];
      for (size_t i = from; i < ends[g]; ++i) {
        potential[i] += down[i] * worse;
        total += down[i] * worse;
      }
      for (size_t i = from; i < ends[g]; ++i) worse += up[i];
    }
    for (size_t i = 0; i < n; ++i) potential[i] *= queries_.weights[q];
    return queries_.weights[q] * total;
  }
};

// The fidelity loss of a pair is 1 - sqrt(p), p = 1 / (1 + exp(f_j - f_i)); its slope, sqrt(p) (1 - p) / 2,
// is the pair's weight. The pairs of a query share the query's weight.
class FRank : public PairMethod {
 public:
  using PairMethod::PairMethod;

  std::optional<WeakRanker> next() override {
    const double total = sum_over_queries([this](size_t q) { return weigh(q); });
    const std::optional<StepSearch::Step> step = search_.best(potentials_);
    if (!step || !(total > 0) || step->gain == 0) return std::nullopt;
    // W+ is the weight of pairs that the step puts right, W- of those it puts wrong; W+ - W- is the gain.
    search_.apply(step->ranker, above_);
    const double both = sum_over_queries([this](size_t q) { return weight_above(q); });
    double right = 0;
    for (size_t i = 0; i < above_.size(); ++i) right += above_[i] != 0 ? better_of_[i] : 0.0;
    right -= both;
    const double wrong = right - step->gain;
    const double smoothing = kSmoothing * total;
    WeakRanker ranker = step->ranker;
    ranker.weight =
        0.5 * portable_log((std::max(0.0, right) + smoothing) / (std::max(0.0, wrong) + smoothing));
    return ranker;
  }

 private:
  static constexpr double kSmoothing = 1e-4;  // keeps the weight of a step finite that puts nothing wrong

  static double fidelity_slope(double x) {
    return std::sqrt(1 / (1 + portable_exp(-x))) / (1 + portable_exp(x));
  }

  // For scores whose labels descend: the weights of pairs summed by their better and by their worse document.
  static void add_pairs(std::span<const double> scores, std::span<const int32_t> labels,
                        std::vector<double>& better, std::vector<double>& worse) {
    const size_t n = scores.size();
    if (n > kManyDocuments) {
      static const CellFunction slope(fidelity_slope, 0, 0);
      better = sums_over_worse(slope, scores, labels);
      worse = sums_over_better(slope, scores, labels);
      return;
    }
    const size_t padded = n + 2 * kLanes;
    std::vector<double> e(padded, 0.0);  // padding has p = 1, hence no weight
    better.assign(padded, 0.0);
    worse.assign(padded, 0.0);
    if (n == 0) return;
    const double top = *std::max_element(scores.begin(), scores.end());
    for (size_t i = 0; i < n; ++i) e[i] = portable_exp(std::max(-600.0, scores[i] - top));
    size_t end = 0;
    for (size_t i = 0; i < n; ++i) {
      if (i == end)
        while (end < n && labels[end] == labels[i]) ++end;
      if (end == n) break;
      const size_t count = (n - end + kLanes - 1) / kLanes * kLanes;
      better[i] = ranker_kernels().fidelity_pairs(e[i], e.data() + end, count, worse.data() + end);
    }
  }

  // Sets the potentials of a query; returns the weight of its pairs.
  double weigh(size_t q) {
    const size_t first = queries_.offsets[q];
    const std::span<const int32_t> of_query = labels(q);
    std::vector<double> better, worse;
    add_pairs(std::span(scores_).subspan(first, of_query.size()), of_query, better, worse);
    double total = 0;
    for (size_t i = 0; i < of_query.size(); ++i) {
      better_of_[first + i] = better[i] * queries_.weights[q] / queries_.pairs[q];
      potentials_[first + i] = (better[i] - worse[i]) * queries_.weights[q] / queries_.pairs[q];
      total += better_of_[first + i];
    }
    return total;
  }

  // The weight of the query's pairs with both documents above the step.
  double weight_above(size_t q) const {
    std::vector<double> scores;
    std::vector<int32_t> their_labels;
    for (size_t i = queries_.offsets[q]; i < queries_.offsets[q + 1]; ++i) {
      if (above_[i] == 0) continue;
      scores.push_back(scores_[i]);
      their_labels.push_back(queries_.labels[i]);
    }
    std::vector<double> better, worse;
    add_pairs(scores, their_labels, better, worse);
    double sum = 0;
    for (const double w : better) sum += w * queries_.weights[q] / queries_.pairs[q];
    return sum;
  }

  std::vector<double> better_of_ = std::vector<double>(queries_.documents());  // weight as better of a pair
};

template <typename PairRanker>
LearnerEntry pair_learner(const std::string& type) {
  LearnerEntry entry;
  entry.type = entry.family = type;
  entry.version = 2;
  describe_options(entry, pair_options(), {{"round", OptionRole::kLength}});
  weak::complete_entry(entry, [](const TrainingRequest& request, const Context& context) {
    const PairOptions options = parse_settings(pair_options(), request.settings);
    return std::make_unique<PairRanker>(request.data, static_cast<size_t>(options.tc), context);
  });
  return entry;
}

}  // namespace

LearnerEntry rankboost_learner() {
  LearnerEntry entry = pair_learner<RankBoost>("rankboost");
  entry.row = "RB";
  entry.doc = "Thresholds of features, boosted by the exponential loss over pairs.";
  entry.citation =
      "Freund, Iyer, Schapire and Singer, An efficient boosting algorithm for combining "
      "preferences, JMLR 2003";
  return entry;
}

LearnerEntry frank_learner() {
  LearnerEntry entry = pair_learner<FRank>("frank");
  entry.version = 3;
  entry.row = "FR";
  entry.doc = "Thresholds of features, boosted by the fidelity loss over pairs.";
  entry.citation = "Tsai et al., FRank: a ranking method with fidelity loss, SIGIR 2007";
  return entry;
}

}  // namespace tunemix
