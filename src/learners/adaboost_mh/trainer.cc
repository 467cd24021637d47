#include <algorithm>
#include <array>
#include <cmath>

#include "learners/adaboost_mh/round_learner.h"
#include "learners/adaboost_mh/run.h"
#include "trees/block_scorer.h"
#include "tunemix/core/aligned.h"
#include "tunemix/core/timer.h"
#include "tunemix/learners/adaboost_mh.h"

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

// 1, 2, 5, 10, 20, 50, ...
bool is_sampled(int round) {
  while (round % 10 == 0) round /= 10;
  return round == 1 || round == 2 || round == 5;
}

std::string run_id(AdaBoostOptions options, size_t labels, const Hash128& data, uint64_t seed) {
  options.iterations = 1;
  BinaryWriter out;
  trees::write_options(out, options);
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

struct AdaBoostTrainer::Impl {
  Impl(const TrainingData& train, const AdaBoostOptions& given, uint64_t run_seed, const Context& ctx)
      : data(train.all()),
        options(given),
        context(ctx),
        labels(count_labels(train, given.labels)),
        seed(run_seed),
        trained_on(train.fingerprint()),
        id(run_id(given, labels, trained_on, run_seed)),
        random(run_seed, "adaboost_mh") {
    check_size(train, labels);
    Timer timer;
    const auto max_bins = static_cast<size_t>(options.max_bins);
    const BinLayout layout = options.bandit == BanditKind::kNone ? BinLayout::kPanels : BinLayout::kColumns;
    const Bins shared = train.cache().bins(max_bins, layout, ctx);
    shared_cuts = shared.cuts;
    bins = shared.data;
    seconds_binning = timer.seconds();
    weights = std::make_unique<trees::WeightTable>(
        data.labels(), train.is_all() ? std::span<const uint32_t>() : train.documents(), labels,
        options.weights, ctx, data.weights());
    if (options.bandit != BanditKind::kNone)
      bandit = make_bandit(trees::bandit_options(options), data.features());
    const bool tree = options.base == BaseLearner::kTree;
    // The papers' bandits are paid as in T&M's figure 6; what a term adds tells the others more.
    const bool pays_gain = tree || learns_from_differences(options.bandit);
    sums = std::make_unique<trees::ClassWeights>(*weights, trees::rows_needed(options),
                                                 pays_gain ? trees::Pay::kGain : trees::Pay::kEdge);
    search = std::make_unique<trees::ClassSearch>(*sums, *bins, cuts(), bandit.get(),
                                                  static_cast<size_t>(options.arms_per_pull), ctx);
    const int terms = options.base == BaseLearner::kStump ? 1 : options.terms;
    learner = tree ? trees::make_tree_learner(options, *sums, *search, histogram_bytes())
                   : trees::make_product_learner(terms, options.passes, *sums, *search);
    leaf.resize(data.documents());
  }

  const BinCuts& cuts() const { return *shared_cuts; }

  // Bins, weights and histograms together may take 1.2 bytes a (document, feature) and 52 a document.
  size_t histogram_bytes() const {
    const size_t n = bins->documents();
    const size_t limit = n * bins->features() * 6 / 5 + n * 52;
    const size_t taken = bins->bytes() + weights->values().size_bytes();
    return limit - std::min(limit, taken);
  }

  bool add_round() {
    replay();
    if (bandit) bandit->settle();
    const double floor = std::max(options.edge_floor, kLeastEdge);
    BoostRound round = learner->fit(false, leaf, random);
    // The drawn features may all be useless; only the best of all tells that nothing is left.
    if (bandit && round.edge <= floor) round = learner->fit(true, leaf, random);
    if (round.edge <= floor) {
      finished = true;
      return false;
    }
    const double edge = std::min(round.edge, kMostEdge);
    round.alpha = round.values.empty() ? 0.5 * std::log((1 + edge) / (1 - edge)) : 1;
    weights->update(round, options.shrinkage, leaf, context);
    rounds.push_back(std::move(round));
    const int count = static_cast<int>(rounds.size());
    if (bandit && is_sampled(count)) {
      const std::vector<double> p = bandit->probabilities();
      samples.push_back({count, std::vector<float>(p.begin(), p.end())});
    }
    return true;
  }

  // The weights after `rounds`, by the very operations that training made; when they are first needed.
  void replay() {
    if (replayed) return;
    replayed = true;
    constexpr size_t kChunk = 16;  // rounds whose factors are held at a time
    for (size_t first = 0; first < rounds.size(); first += kChunk) {
      const std::span<const BoostRound> chunk(rounds.data() + first, std::min(kChunk, rounds.size() - first));
      std::vector<std::vector<float>> factors;
      for (const BoostRound& round : chunk) {
        factors.push_back(weights->factors(round, options.shrinkage, weights->sum()));
        weights->set_sum(round.normalizer);
      }
      const trees::BlockScorer scorer(cuts(), chunk);
      parallel_blocks(context.pool(), data.documents(), trees::BlockScorer::kBlock,
                      [&](size_t begin, size_t end) {
                        AlignedVector<int8_t> columns(scorer.columns_size(), 0);
                        alignas(64) uint8_t block_leaf[trees::BlockScorer::kBlock];
                        scorer.fill(*bins, begin, end - begin, columns.data());
                        for (size_t t = 0; t < chunk.size(); ++t) {
                          scorer.leaves(t, columns.data(), block_leaf);
                          weights->apply(factors[t], block_leaf, begin, end - begin);
                        }
                      });
    }
  }

  struct Followed {
    const Dataset* data;
    ScoreMatrix scores;
    size_t applied = 0;
  };

  const Dataset& data;
  AdaBoostOptions options;
  const Context& context;
  size_t labels;
  uint64_t seed;
  Hash128 trained_on;
  std::string id;
  std::shared_ptr<const BinCuts> shared_cuts;
  std::shared_ptr<const BinnedDataset> bins;
  double seconds_binning = 0;
  std::unique_ptr<trees::WeightTable> weights;
  std::unique_ptr<Bandit> bandit;
  Random random;
  std::unique_ptr<trees::ClassWeights> sums;
  std::unique_ptr<trees::ClassSearch> search;
  std::unique_ptr<trees::RoundLearner> learner;
  std::vector<uint8_t> leaf;
  std::vector<BoostRound> rounds;
  bool replayed = true;  // the weights are those after `rounds`
  bool finished = false;
  std::vector<BanditSample> samples;
  std::vector<Followed> followed;
};

// All of a data set, with bins of its own.
struct AdaBoostTrainer::WholeData {
  explicit WholeData(const Dataset& data) : cache(data), all(cache) {}
  BinCache cache;
  TrainingData all;
};

AdaBoostTrainer::AdaBoostTrainer(const TrainingData& data, const AdaBoostOptions& options,
                                 const Context& context)
    : impl_(std::make_unique<Impl>(data, options, context.seed(), context)) {}

AdaBoostTrainer::AdaBoostTrainer(const Dataset& train, const AdaBoostOptions& options, const Context& context)
    : whole_(std::make_unique<WholeData>(train)),
      impl_(std::make_unique<Impl>(whole_->all, options, context.seed(), context)) {}

AdaBoostTrainer::AdaBoostTrainer(const Dataset& train, BinaryReader& state, const Context& context)
    : whole_(std::make_unique<WholeData>(train)) {
  resume(whole_->all, state, context);
}

AdaBoostTrainer::AdaBoostTrainer(const TrainingData& data, BinaryReader& state, const Context& context) {
  resume(data, state, context);
}

void AdaBoostTrainer::resume(const TrainingData& train, BinaryReader& state, const Context& context) {
  const AdaBoostModel model = AdaBoostModel::load(state);
  if (train.fingerprint() != model.trained_on_)
    throw InputError("the model was trained on other data: only the same data can extend it");
  impl_ = std::make_unique<Impl>(train, model.options_, model.seed_, context);
  impl_->rounds = model.rounds_;
  // The model numbers only the thresholds that it uses.
  for (BoostRound& round : impl_->rounds)
    for (Cut& cut : round.cuts) {
      const std::span<const float> all = impl_->cuts().thresholds(cut.feature);
      const float threshold = model.threshold(cut);
      const auto at = std::lower_bound(all.begin(), all.end(), threshold);
      if (at == all.end() || *at != threshold)
        throw InputError("the model's thresholds are not those of this data: it cannot be extended");
      cut.bin = static_cast<uint8_t>(at - all.begin());
    }
  impl_->finished = model.finished_;
  impl_->samples = model.bandit_samples_;
  const auto random = state.get_vector<uint64_t>();
  if (random.size() != impl_->random.state().size()) state.fail("the state of the random numbers is damaged");
  impl_->random = Random::from_state(random);
  if (impl_->bandit) {
    impl_->bandit->load(state);
    impl_->search->reward_scale().load(state);
  }
  impl_->replayed = impl_->rounds.empty();
}

void AdaBoostTrainer::save_state(BinaryWriter& out) const {
  model().save(out);
  out.put(impl_->random.state());
  if (impl_->bandit) {
    impl_->bandit->save(out);
    impl_->search->reward_scale().save(out);
  }
}

AdaBoostTrainer::~AdaBoostTrainer() = default;

int AdaBoostTrainer::step(int rounds, double seconds) {
  const Timer timer;
  int made = 0;
  while (made < rounds && !impl_->finished) {
    impl_->context.check_stop();
    if (!impl_->add_round()) break;
    ++made;
    impl_->context.progress(
        impl_->rounds.size(),
        std::max<size_t>(impl_->rounds.size(), static_cast<size_t>(impl_->options.iterations)),
        impl_->rounds.back().edge);
    if (seconds > 0 && timer.seconds() >= seconds) break;
  }
  return made;
}

int AdaBoostTrainer::rounds() const { return static_cast<int>(impl_->rounds.size()); }
bool AdaBoostTrainer::finished() const { return impl_->finished; }
std::span<const float> AdaBoostTrainer::weights() const {
  impl_->replay();
  return impl_->weights->values();
}
size_t AdaBoostTrainer::labels() const { return impl_->labels; }
double AdaBoostTrainer::weight_sum() const {
  impl_->replay();
  return impl_->weights->sum();
}
double AdaBoostTrainer::seconds_binning() const { return impl_->seconds_binning; }

AdaBoostModel AdaBoostTrainer::model(int iterations) const {
  AdaBoostModel model;
  model.options_ = impl_->options;
  model.options_.iterations = iterations > 0 ? iterations : std::max(1, rounds());
  model.labels_ = impl_->labels;
  model.rounds_ = impl_->rounds;
  model.finished_ = impl_->finished;
  model.bandit_samples_ = impl_->samples;
  model.seed_ = impl_->seed;
  model.trained_on_ = impl_->trained_on;
  model.id_ = impl_->id;

  // Keep and number only the thresholds in use.
  std::vector<std::array<bool, 256>> used(impl_->cuts().features(), std::array<bool, 256>{});
  for (const BoostRound& round : impl_->rounds)
    for (const Cut& cut : round.cuts) used[cut.feature][cut.bin] = true;
  std::vector<std::vector<float>> thresholds(used.size());
  std::vector<std::array<uint8_t, 256>> number(used.size());
  for (size_t j = 0; j < used.size(); ++j)
    for (size_t b = 0; b < impl_->cuts().thresholds(j).size(); ++b)
      if (used[j][b]) {
        number[j][b] = static_cast<uint8_t>(thresholds[j].size());
        thresholds[j].push_back(impl_->cuts().thresholds(j)[b]);
      }
  for (BoostRound& round : model.rounds_)
    for (Cut& cut : round.cuts) cut.bin = number[cut.feature][cut.bin];
  model.cuts_ = BinCuts(thresholds);
  return model;
}

size_t AdaBoostTrainer::follow(const Dataset& data) {
  trees::expect_features(data, impl_->data.features());
  impl_->followed.push_back(
      {&data, ScoreMatrix(data.documents(), impl_->labels, data.fingerprint(), impl_->id)});
  return impl_->followed.size() - 1;
}

const ScoreMatrix& AdaBoostTrainer::scores(size_t followed) {
  Impl::Followed& set = impl_->followed.at(followed);
  const std::span<const BoostRound> due(impl_->rounds.data() + set.applied,
                                        impl_->rounds.size() - set.applied);
  const int checkpoints[1] = {static_cast<int>(due.size())};
  trees::add_scores(impl_->cuts(), due, impl_->options.shrinkage, *set.data, &set.scores, checkpoints,
                    std::span(&set.scores, 1), impl_->context);
  set.applied = impl_->rounds.size();
  return set.scores;
}

BoostResult train_adaboost(const Dataset& train, const AdaBoostOptions& options,
                           std::span<const Dataset* const> score_on, std::span<const int> checkpoints,
                           const Context& context) {
  AdaBoostTrainer trainer(train, options, context);
  for (const Dataset* data : score_on) trainer.follow(*data);
  std::vector<std::vector<ScoreMatrix>> scores(score_on.size());
  for (const int checkpoint : checkpoints) {
    if (checkpoint < trainer.rounds() && !trainer.finished())
      throw_input("checkpoint {} comes after {}; they must ascend", checkpoint, trainer.rounds());
    if (checkpoint > options.iterations)
      throw_input("checkpoint {} is beyond the {} iterations", checkpoint, options.iterations);
    trainer.step(checkpoint - trainer.rounds());
    for (size_t s = 0; s < scores.size(); ++s) scores[s].push_back(trainer.scores(s));
  }
  trainer.step(options.iterations - trainer.rounds());
  return {trainer.model(options.iterations), std::move(scores)};
}

AdaBoostModel train_adaboost(const Dataset& train, const AdaBoostOptions& options, const Context& context) {
  return train_adaboost(train, options, {}, {}, context).model;
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
