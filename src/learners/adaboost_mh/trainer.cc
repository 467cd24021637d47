#include "learners/adaboost_mh/trainer.h"

#include <algorithm>
#include <cmath>

#include "trees/used_cuts.h"
#include "tunemix/core/timer.h"

namespace tunemix {
namespace {

constexpr double kLeastEdge = 1e-8;     // nothing but rounding is left below it
constexpr double kMostEdge = 1 - 1e-6;  // keeps the alpha of a perfect learner finite

size_t count_labels(const TrainingData& training, int wanted) {
  const Dataset& data = training.all();
  const size_t present = static_cast<size_t>(data.max_label()) + 1;
  const size_t labels = wanted > 0 ? static_cast<size_t>(wanted) : present;
  if (present > labels) throw_input("the data has label {}; labels is {}", data.max_label(), labels);
  if (labels < 2)
    throw InputError("all documents have label 0: boosting needs two labels or more (or set labels)");
  if (labels > trees::kMostLabels)
    throw_input("the data has {} labels; boosting takes at most {}", labels, trees::kMostLabels);
  return labels;
}

void check_size(const TrainingData& training, size_t labels) {
  const Dataset& data = training.all();
  if (training.documents().empty() || data.features() == 0)
    throw InputError("boosting needs at least one document and one feature");
  // Sums of fixed-point weights must fit into 31 bits even where every pair is rounded up.
  if (data.documents() > (size_t{1} << 30) / labels)
    throw_input("{} documents with {} labels are more than boosting takes (2^30 pairs)", data.documents(),
                labels);
}

std::string run_id(AdaBoostOptions options, size_t labels, const Hash128& data, uint64_t seed) {
  options.iterations = 1;
  BinaryWriter out;
  write_options(out, options);
  Hasher hasher;
  hasher.text("adaboost_mh")
      .values(out.bytes())
      .number(labels)
      .number(data.high)
      .number(data.low)
      .number(seed);
  return hasher.digest().hex();
}

}  // namespace

AdaBoostTrainer::AdaBoostTrainer(const TrainingData& data, const AdaBoostOptions& options,
                                 std::vector<int64_t> lengths, BinaryReader* state, const Context& context)
    : training_(data),
      data_(data.all()),
      options_(options),
      lengths_(std::move(lengths)),
      context_(context),
      labels_(count_labels(data, options.labels)),
      seed_(context.seed()),
      random_(seed_, "adaboost_mh"),
      leaf_(data_.documents()) {
  if (state != nullptr) {
    load_state(*state);
  } else {
    id_ = run_id(options_, labels_, data.fingerprint(), seed_);
    make_learner();
  }
}

void AdaBoostTrainer::make_learner() {
  check_size(training_, labels_);
  const Timer timer;
  const bool drawn = options_.bandit != BanditKind::kNone;
  const Bins shared = training_.cache().bins(static_cast<size_t>(options_.max_bins),
                                             drawn ? BinLayout::kColumns : BinLayout::kPanels, context_);
  cuts_ = shared.cuts;
  bins_ = shared.data;
  seconds_binning_ = timer.seconds();
  weights_ = std::make_unique<trees::WeightTable>(
      data_.labels(), training_.is_all() ? std::span<const uint32_t>() : training_.documents(), labels_,
      options_.weights, context_, data_.weights());
  if (drawn)
    bandit_ = make_bandit({options_.bandit, options_.exploration, options_.bandit_rate, options_.bandit_power,
                           options_.bandit_confidence, options_.bandit_horizon},
                          data_.features());
  const bool tree = options_.base == BaseLearner::kTree;
  // The papers' bandits are paid as in T&M's figure 6; what a term adds tells the others more.
  const bool pays_gain = tree || learns_from_differences(options_.bandit);
  sums_ = std::make_unique<trees::ClassWeights>(*weights_, trees::rows_needed(options_),
                                                pays_gain ? trees::Pay::kGain : trees::Pay::kEdge);
  search_ = std::make_unique<trees::ClassSearch>(*sums_, *bins_, *cuts_, bandit_.get(),
                                                 static_cast<size_t>(options_.arms_per_pull), context_);
  const int terms = options_.base == BaseLearner::kStump ? 1 : options_.terms;
  learner_ = tree ? trees::make_tree_learner(options_, *sums_, *search_, histogram_bytes())
                  : trees::make_product_learner(terms, options_.passes, *sums_, *search_);
}

// Bins, weights and histograms together may take 1.2 bytes a (document, feature) and 52 a document.
size_t AdaBoostTrainer::histogram_bytes() const {
  const size_t n = bins_->documents();
  const size_t limit = n * bins_->features() * 6 / 5 + n * 52;
  const size_t taken = bins_->bytes() + weights_->values().size_bytes();
  return limit - std::min(limit, taken);
}

void AdaBoostTrainer::load_state(BinaryReader& in) {
  AdaBoostRounds made = AdaBoostRounds::load(in);
  if (training_.fingerprint() != made.trained_on)
    throw InputError("the model was trained on other data: only the same data can extend it");
  options_ = made.options;
  labels_ = made.labels;
  seed_ = made.seed;
  id_ = made.id;
  make_learner();
  // The model numbers only the thresholds that it uses.
  for (Tree& tree : made.trees)
    for (Cut& cut : tree.cuts) {
      const std::span<const float> all = cuts_->thresholds(cut.feature);
      const float threshold = made.cuts.thresholds(cut.feature)[cut.bin];
      const auto at = std::lower_bound(all.begin(), all.end(), threshold);
      if (at == all.end() || *at != threshold)
        throw InputError("the model's thresholds are not those of this data: it cannot be extended");
      cut.bin = static_cast<uint8_t>(at - all.begin());
    }
  trees_ = std::move(made.trees);
  finished_ = made.finished;
  samples_ = std::move(made.bandit_samples);
  const auto random = in.get_vector<uint64_t>();
  if (random.size() != random_.state().size()) in.fail("the state of the random numbers is damaged");
  random_ = Random::from_state(random);
  if (bandit_) {
    bandit_->load(in);
    search_->reward_scale().load(in);
  }
  replayed_ = trees_.empty();
}

void AdaBoostTrainer::save_state(BinaryWriter& out) const {
  rounds().save(out);
  out.put(random_.state());
  if (bandit_) {
    bandit_->save(out);
    search_->reward_scale().save(out);
  }
}

bool AdaBoostTrainer::add_round() {
  if (finished_) return false;
  replay();
  if (bandit_) bandit_->settle();
  const double floor = std::max(options_.edge_floor, kLeastEdge);
  Tree tree = learner_->fit(false, leaf_, random_);
  // The drawn features may all be useless; only the best of all tells that nothing is left.
  if (bandit_ && tree.edge <= floor) tree = learner_->fit(true, leaf_, random_);
  if (tree.edge <= floor) {
    finished_ = true;
    return false;
  }
  const double edge = std::min(tree.edge, kMostEdge);
  tree.alpha = tree.values.empty() ? 0.5 * std::log((1 + edge) / (1 - edge)) : 1;
  weights_->update(tree, options_.shrinkage, leaf_, context_);
  trees_.push_back(std::move(tree));
  const auto count = static_cast<int64_t>(trees_.size());
  if (bandit_ && is_sampled_round(count)) {
    const std::vector<double> p = bandit_->probabilities();
    samples_.push_back({count, std::vector<float>(p.begin(), p.end())});
  }
  return true;
}

// The weights after the trees, by the very operations that training made; when they are first needed.
void AdaBoostTrainer::replay() {
  if (replayed_) return;
  replayed_ = true;
  constexpr size_t kChunk = 16;  // trees whose factors are held at a time
  for (size_t first = 0; first < trees_.size(); first += kChunk) {
    const std::span<const Tree> chunk(trees_.data() + first, std::min(kChunk, trees_.size() - first));
    std::vector<std::vector<float>> factors;
    for (const Tree& tree : chunk) {
      factors.push_back(weights_->factors(tree, options_.shrinkage, weights_->sum()));
      weights_->set_sum(tree.normalizer);
    }
    const trees::BlockScorer scorer(*cuts_, chunk);
    parallel_blocks(context_.pool(), data_.documents(), trees::BlockScorer::kBlock,
                    [&](size_t begin, size_t end) {
                      AlignedVector<int8_t> columns(scorer.columns_size(), 0);
                      alignas(64) uint8_t block_leaf[trees::BlockScorer::kBlock];
                      const bool missing = scorer.fill(*bins_, begin, end - begin, columns.data());
                      for (size_t t = 0; t < chunk.size(); ++t) {
                        scorer.leaves(t, columns.data(), missing, block_leaf);
                        weights_->apply(factors[t], block_leaf, begin, end - begin);
                      }
                    });
  }
}

std::span<const float> AdaBoostTrainer::weights() {
  replay();
  return weights_->values();
}

double AdaBoostTrainer::weight_sum() {
  replay();
  return weights_->sum();
}

bool AdaBoostTrainer::step(double seconds) {
  const Timer timer;
  const auto target = static_cast<size_t>(lengths_.back());
  while (trees_.size() < target && !finished_) {
    context_.check_stop();
    if (!add_round()) break;
    context_.progress(trees_.size(), target, trees_.back().edge);
    if (seconds > 0 && timer.seconds() >= seconds) break;
  }
  return finished_ || trees_.size() >= target;
}

AdaBoostRounds AdaBoostTrainer::rounds() const {
  AdaBoostRounds result;
  result.options = options_;
  result.options.iterations = std::max(1, static_cast<int>(trees_.size()));
  result.labels = labels_;
  result.trees = trees_;
  result.cuts = trees::keep_used_cuts(*cuts_, result.trees);
  result.finished = finished_;
  result.bandit_samples = samples_;
  result.seed = seed_;
  result.trained_on = training_.fingerprint();
  result.id = id_;
  return result;
}

std::unique_ptr<Model> AdaBoostTrainer::model() const {
  AdaBoostRounds made = rounds();
  const auto wanted = static_cast<int>(lengths_.back());
  // A state may hold more rounds than are asked for now.
  if (made.count() > wanted) made = made.first(wanted);
  made.options.iterations = wanted;
  return std::make_unique<AdaBoostModel>(std::move(made), lengths_);
}

Facts AdaBoostTrainer::facts() const {
  const AdaBoostModel model(rounds(), {std::max<int64_t>(1, static_cast<int64_t>(trees_.size()))});
  const Dataset documents = training_.select();
  const size_t last[] = {0};
  const ScoreMatrix scores = std::move(model.score(documents, last, context_)[0]);
  return {{"seconds.bin", seconds_binning_},
          {"rounds", static_cast<int64_t>(trees_.size())},
          {"hamming_error", hamming_error(scores, documents.labels(), options_.weights, documents.weights())},
          {"error_bound", model.rounds().error_bound()}};
}

double hamming_error(const ScoreMatrix& scores, std::span<const int32_t> labels, InitialWeights kind,
                     std::span<const float> weights) {
  const std::vector<double> share = trees::document_weights(labels, scores.columns(), kind, weights);
  double error = 0;
  for (size_t i = 0; i < labels.size(); ++i)
    for (size_t l = 0; l < scores.columns(); ++l) {
      const bool own = static_cast<size_t>(labels[i]) == l;
      const bool wrong = own ? scores.row(i)[l] <= 0 : scores.row(i)[l] >= 0;
      const double weight = weights.empty() ? 1.0 : static_cast<double>(weights[i]);
      if (wrong)
        error += weight * share[labels[i]] *
                 trees::pair_share(static_cast<size_t>(labels[i]), l, scores.columns(), kind);
    }
  return error;
}

}  // namespace tunemix
