#include "learners/gradient_trees/trainer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "learners/gradient_trees/grower.h"
#include "learners/gradient_trees/model.h"
#include "learners/gradient_trees/objective.h"
#include "learners/gradient_trees/row_sampler.h"
#include "learners/gradient_trees/scorer.h"
#include "learners/gradient_trees/tree_io.h"
#include "tunemix/core/timer.h"
#include "tunemix/metric/selection.h"

namespace tunemix::trees {
namespace {

constexpr double kUnits = 1 << 30;  // all gradients, and all hessians, of a tree together
constexpr size_t kBlock = 4096;     // documents that are summed at a time

GradientGrowth growth_options(const TreeKind& kind, const TreeOptions& options, size_t features) {
  GradientGrowth growth;
  growth.leaves = options.leaves;
  growth.depth = options.depth;
  growth.min_documents = options.min_documents;
  growth.min_hessian = options.min_hessian;
  growth.l2 = options.l2;
  growth.node_features = kind.average ? options.feature_fraction : 1;
  growth.random_cuts = kind.random_cuts;
  growth.monotone = directions(options.monotone, features);
  return growth;
}

void check_data(const TrainingData& data, const Dataset* valid) {
  if (data.documents().empty() || data.all().features() == 0)
    throw InputError("trees need at least one training document and one feature");
  if (data.all().documents() >= size_t{1} << 30)
    throw_input("{} documents are more than trees take (2^30)", data.all().documents());
  for (const Dataset* set : {&data.all(), valid})
    if (set != nullptr && set->max_label() >= data.label_count())
      throw_input("the data has label {}; there are {} labels (0 to {})", set->max_label(),
                  data.label_count(), data.label_count() - 1);
  if (valid != nullptr && valid->features() != data.all().features())
    throw_input("the validation data has {} features; the training data has {}", valid->features(),
                data.all().features());
}

class TreeTrainer final : public Trainer {
 public:
  TreeTrainer(const TreeRun& run, const TrainingRequest& request, BinaryReader* state, const Context& context)
      : kind_(run.kind),
        options_(run.options),
        data_(request.data),
        lengths_(request.lengths),
        valid_(options_.patience > 0 ? request.valid : nullptr),
        context_(context),
        random_(context.seed(), "gradient_trees"),
        sampler_(options_, request.data) {
    check_data(data_, valid_);
    for (const uint32_t i : data_.documents())
      if (data_.weight(i) > 0) counted_.push_back(i);
    if (counted_.size() == data_.documents().size()) counted_.clear();
    if (lengths_.empty()) lengths_ = default_lengths(options_.iterations);
    const auto max_bins = static_cast<size_t>(options_.max_bins);
    const bool drawn = options_.bandit != BanditKind::kNone;
    const Bins bins = data_.cache().bins(max_bins, drawn ? BinLayout::kColumns : BinLayout::kPanels, context);
    cuts_ = bins.cuts;
    bins_ = bins.data;
    objective_ = run.objective(request, context);
    if (drawn)
      bandit_ = make_bandit({options_.bandit, options_.exploration, options_.bandit_rate,
                             options_.bandit_power, options_.bandit_confidence, options_.bandit_horizon},
                            data_.all().features());
    grower_ = std::make_unique<TreeGrower>(
        *bins_, *cuts_, growth_options(kind_, options_, data_.all().features()), bandit_.get(),
        static_cast<size_t>(options_.arms_per_pull), histogram_bytes(), context);
    if (state != nullptr) load_state(*state);
  }

  bool step(double seconds) override {
    const Timer timer;
    const auto target = static_cast<uint64_t>(lengths_.back());
    while (rounds() < target && !finished_) {
      context_.check_stop();
      add_round();
      context_.progress(rounds(), target, history_.empty() ? last_gain_ : history_.back());
      if (seconds > 0 && timer.seconds() >= seconds) break;
    }
    return finished_ || rounds() >= target;
  }

  std::unique_ptr<Model> model() const override {
    TreeModelParts parts;
    parts.columns = objective_->columns();
    parts.average = kind_.average;
    parts.start = objective_->start();
    for (const int64_t length : lengths_) parts.points.push_back({length, rounds_of(length)});
    parts.cuts = *cuts_;
    parts.trees = trees_;
    parts.gains = gains_;
    parts.attention = attention_;
    parts.monotone = directions(options_.monotone, data_.all().features());
    return std::make_unique<TreeModel>(std::move(parts));
  }

  void save_state(BinaryWriter& out) const override {
    write_trees(out, trees_, gains_);
    out.put(random_.state());
    out.put<uint8_t>(finished_ ? 1 : 0);
    out.put(history_);
    out.put<uint64_t>(attention_.size());
    for (const FeatureShares& shares : attention_) {
      out.put(shares.round);
      out.put(shares.shares);
    }
    if (bandit_) {
      grower_->reward_scale().save(out);
      bandit_->save(out);
    }
  }

  Facts facts() const override {
    Facts facts = {{"rounds", static_cast<int64_t>(rounds())}};
    if (!history_.empty()) {
      const auto best = std::max_element(history_.begin(), history_.end());
      facts.push_back({"best round", static_cast<int64_t>(best - history_.begin()) + 1});
      facts.push_back({"validation NDCG@10", *best});
    }
    return facts;
  }

 private:
  uint64_t rounds() const { return trees_.size() / objective_->columns(); }

  // The rounds that a point stands for: with early stopping, the best so far.
  uint64_t rounds_of(int64_t length) const {
    const uint64_t made = std::min<uint64_t>(static_cast<uint64_t>(length), rounds());
    if (history_.empty() || made == 0) return made;
    const auto end = history_.begin() + static_cast<std::ptrdiff_t>(made);
    return static_cast<uint64_t>(std::max_element(history_.begin(), end) - history_.begin()) + 1;
  }

  // Bins, gradients and histograms together may take 1.2 bytes a (document, feature) and 40 a document.
  size_t histogram_bytes() const {
    const size_t n = bins_->documents();
    const size_t limit = n * bins_->features() * 6 / 5 + n * 40;
    const size_t taken = bins_->bytes() + n * (8 + 4 * objective_->columns() + 9);
    return limit - std::min(limit, taken);
  }

  void load_state(BinaryReader& in) {
    std::tie(trees_, gains_) = read_trees(in, *cuts_);
    if (trees_.size() % objective_->columns() != 0) in.fail("a round is not complete");
    const auto words = in.get_vector<uint64_t>();
    if (words.size() != random_.state().size()) in.fail("the random state is damaged");
    random_ = Random::from_state(words);
    finished_ = in.get<uint8_t>() != 0;
    history_ = in.get_vector<double>();
    if (!history_.empty() && history_.size() != rounds()) in.fail("the validation figures are damaged");
    const size_t samples = in.get_count(1);
    for (size_t s = 0; s < samples; ++s) {
      FeatureShares shares;
      shares.round = in.get<int64_t>();
      shares.shares = in.get_vector<float>();
      attention_.push_back(std::move(shares));
    }
    if (bandit_) {
      grower_->reward_scale().load(in);
      bandit_->load(in);
    }
  }

  // Scores are needed only if training continues.
  void make_scores() {
    if (!scores_.empty()) return;
    scores_.assign(objective_->columns(), std::vector<float>(data_.all().documents(), objective_->start()));
    words_.assign(data_.all().documents(), 0);
    if (kind_.average) return;
    add_trees(*cuts_, trees_, *bins_, scores_, context_);
    if (valid_ == nullptr) return;
    // There may be missing values where training has none.
    valid_bins_ =
        std::make_unique<BinnedDataset>(*valid_, cuts_->with_missing(), BinLayout::kColumns, context_);
    metric_ =
        std::make_unique<SelectionMetric>(valid_->queries(), valid_->labels(), data_.grades(), size_t{10},
                                          query_weights(valid_->queries(), valid_->weights()));
    valid_scores_.assign(objective_->columns(), std::vector<float>(valid_->documents(), objective_->start()));
    add_trees(*cuts_, trees_, *valid_bins_, valid_scores_, context_);
  }

  std::vector<uint8_t> draw_features() {
    if (kind_.average || options_.feature_fraction >= 1) return {};
    const size_t d = data_.all().features();
    const double wanted = std::round(options_.feature_fraction * static_cast<double>(d));
    auto needed = static_cast<uint64_t>(std::max(1.0, wanted));
    std::vector<uint8_t> features(d, 0);
    for (size_t j = 0; j < d && needed > 0; ++j)
      if (random_.below(d - j) < needed) {
        features[j] = 1;
        --needed;
      }
    return features;
  }

  void weigh_words() {
    parallel_blocks(context_.pool(), data_.documents().size(), kBlock, [&](size_t begin, size_t end) {
      for (size_t k = begin; k < end; ++k) {
        uint64_t& word = words_[data_.documents()[k]];
        const auto weight = static_cast<float>(data_.weight(data_.documents()[k]));
        word = raw_word(raw_gradient(word) * weight, raw_hessian(word) * weight);
      }
    });
  }

  // Turns the raw words into packed ones.
  WordScale pack() {
    const size_t n = words_.size();
    struct Sums {
      double gradient = 0;
      double hessian = 0;
    };
    std::vector<Sums> sums((n + kBlock - 1) / kBlock);
    parallel_blocks(context_.pool(), n, kBlock, [&](size_t begin, size_t end) {
      Sums sum;
      for (size_t i = begin; i < end; ++i) {
        sum.gradient += std::abs(raw_gradient(words_[i]));
        sum.hessian += raw_hessian(words_[i]);
      }
      sums[begin / kBlock] = sum;
    });
    Sums total;
    for (const Sums& sum : sums) {
      total.gradient += sum.gradient;
      total.hessian += sum.hessian;
    }
    const auto scale = [](double sum) {
      return sum > 0 ? static_cast<float>(std::min(kUnits / sum, 1e30)) : 1.0F;
    };
    const WordScale result = {scale(total.gradient), scale(total.hessian)};
    parallel_blocks(context_.pool(), n, kBlock, [&](size_t begin, size_t end) {
      gradient_kernels().pack_words(words_.data(), begin, end - begin, result.gradient, result.hessian);
    });
    return result;
  }

  void draw_rows() {
    sampler_.draw(random_);
    if (sampler_.copies().empty()) return;
    // Documents count as often as they were drawn.
    size_t next = 0;
    for (const uint32_t i : data_.documents()) {
      const bool chosen = next < sampler_.documents().size() && sampler_.documents()[next] == i;
      const float times = chosen ? sampler_.copies()[next++] : 0;
      words_[i] = raw_word(raw_gradient(words_[i]) * times, raw_hessian(words_[i]) * times);
    }
  }

  bool is_random() const {
    return sampler_.draws() || options_.feature_fraction < 1 || bandit_ != nullptr || kind_.draws ||
           kind_.average;
  }

  void add_round() {
    make_scores();
    if (bandit_) bandit_->settle();
    const size_t columns = objective_->columns();
    const uint64_t round = rounds();
    const double rate = kind_.average ? 1 : options_.shrinkage * objective_->step();
    std::vector<Tree> added;
    bool cut = false;
    last_gain_ = 0;
    const size_t gains_before = gains_.size();
    for (size_t column = 0; column < columns; ++column) {
      objective_->gradients(round, column, scores_, words_.data());
      if (data_.weighted()) weigh_words();
      if (sampler_.draws()) draw_rows();
      const WordScale scale = pack();
      const std::span<const uint32_t> documents = sampler_.draws()   ? sampler_.documents()
                                                  : counted_.empty() ? data_.documents()
                                                                     : std::span<const uint32_t>(counted_);
      const bool all = documents.size() == words_.size();
      GrownTree tree =
          grower_->grow(words_.data(), scale, {all ? nullptr : documents.data(), documents.size()},
                        draw_features(), random_);
      cut = cut || !tree.tree.cuts.empty();
      for (float& value : tree.tree.values) value = static_cast<float>(rate * value);
      gains_.insert(gains_.end(), tree.gains.begin(), tree.gains.end());
      last_gain_ = std::accumulate(tree.gains.begin(), tree.gains.end(), last_gain_);
      if (!kind_.average) update_scores(tree.tree, column);
      added.push_back(std::move(tree.tree));
    }
    // Where nothing is random the next round would find as little.
    if (!cut && !is_random()) {
      finished_ = true;
      gains_.resize(gains_before);
      scores_.clear();
      return;
    }
    if (valid_ != nullptr && !kind_.average) {
      add_trees(*cuts_, added, *valid_bins_, valid_scores_, context_);
      history_.push_back((*metric_)(objective_->ranking(valid_scores_), context_.pool()));
    }
    trees_.insert(trees_.end(), added.begin(), added.end());
    if (bandit_ && is_sampled_round(static_cast<int64_t>(rounds()))) {
      const std::vector<double> p = bandit_->probabilities();
      attention_.push_back({static_cast<int64_t>(rounds()), std::vector<float>(p.begin(), p.end())});
    }
    if (!history_.empty()) {
      const auto best = std::max_element(history_.begin(), history_.end());
      if (history_.end() - best > options_.patience) finished_ = true;
    }
  }

  void update_scores(const Tree& tree, size_t column) {
    if (sampler_.draws() || !counted_.empty()) {
      add_trees(*cuts_, std::span(&tree, 1), *bins_, std::span(&scores_[column], 1), context_);
      return;
    }
    float* scores = scores_[column].data();
    grower_->for_leaves([&](size_t leaf, const Documents& documents) {
      const float value = tree.values[leaf];
      for (size_t k = 0; k < documents.count; ++k) scores[documents[k]] += value;
    });
  }

  TreeKind kind_;
  TreeOptions options_;
  const TrainingData& data_;
  std::vector<uint32_t> counted_;  // documents with a weight above 0, where others have none
  std::vector<int64_t> lengths_;
  const Dataset* valid_;
  const Context& context_;
  std::shared_ptr<const BinCuts> cuts_;
  std::shared_ptr<const BinnedDataset> bins_;
  std::unique_ptr<Objective> objective_;
  std::unique_ptr<Bandit> bandit_;
  std::unique_ptr<TreeGrower> grower_;
  Random random_;
  RowSampler sampler_;

  std::vector<Tree> trees_;
  std::vector<float> gains_;
  std::vector<FeatureShares> attention_;
  std::vector<double> history_;  // validation NDCG@10 after each round
  bool finished_ = false;
  double last_gain_ = 0;

  std::vector<std::vector<float>> scores_;  // [column][document of all()]
  AlignedVector<uint64_t> words_;
  std::unique_ptr<BinnedDataset> valid_bins_;
  std::unique_ptr<SelectionMetric> metric_;
  std::vector<std::vector<float>> valid_scores_;
};

}  // namespace

std::unique_ptr<Trainer> make_tree_trainer(const TreeRun& run, const TrainingRequest& request,
                                           BinaryReader* state, const Context& context) {
  return std::make_unique<TreeTrainer>(run, request, state, context);
}

}  // namespace tunemix::trees
