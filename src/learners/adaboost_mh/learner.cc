#include "learners/adaboost_mh/learner.h"

#include <algorithm>

#include "learners/adaboost_mh/run.h"
#include "trees/block_scorer.h"
#include "tunemix/core/timer.h"
#include "tunemix/learners/adaboost_mh.h"

namespace tunemix {
namespace {

class LearnedAdaBoost final : public Model {
 public:
  LearnedAdaBoost(AdaBoostModel model, std::vector<int64_t> lengths)
      : model_(std::move(model)), lengths_(std::move(lengths)) {}
  explicit LearnedAdaBoost(BinaryReader& in) : model_(AdaBoostModel::load(in)) {
    lengths_ = in.get_vector<int64_t>();
    for (size_t p = 0; p < lengths_.size(); ++p)
      if (lengths_[p] < 1 || (p > 0 && lengths_[p] <= lengths_[p - 1])) in.fail("its points do not ascend");
  }

  size_t features() const override { return model_.features(); }
  size_t columns() const override { return model_.labels(); }
  std::vector<Point> points() const override {
    std::vector<Point> points;
    for (const int64_t length : lengths_) points.push_back({length, ""});
    return points;
  }

  std::vector<ScoreMatrix> score(const Dataset& data, std::span<const size_t> points,
                                 const Context& context) const override {
    // A model that ended early has the same scores at all later points.
    std::vector<int> rounds;
    for (const size_t point : points) rounds.push_back(rounds_of(point));
    std::vector<int> distinct = rounds;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    trees::expect_features(data, features());
    std::vector<ScoreMatrix> scores(
        distinct.size(), ScoreMatrix(data.documents(), columns(), data.fingerprint(), model_.id()));
    const trees::BlockScorer& scorer = scorer_.get([&] {
      trees::BlockScorer made(model_.cuts(), model_.all_rounds());
      made.keep_tables(model_.options().shrinkage, model_.labels());
      return made;
    });
    trees::add_scores(scorer, model_.options().shrinkage, data, nullptr, distinct, scores, context);
    if (distinct == rounds) return scores;
    std::vector<ScoreMatrix> result;
    for (const int count : rounds)
      result.push_back(scores[static_cast<size_t>(std::lower_bound(distinct.begin(), distinct.end(), count) -
                                                  distinct.begin())]);
    return result;
  }

  double range(size_t point) const override { return model_.alpha_sum(rounds_of(point)); }

  std::unique_ptr<Model> keep(std::span<const size_t> points) const override {
    std::vector<int64_t> lengths;
    int rounds = 0;
    for (const size_t point : points) {
      lengths.push_back(lengths_.at(point));
      rounds = std::max(rounds, rounds_of(point));
    }
    return std::make_unique<LearnedAdaBoost>(model_.first_rounds(rounds), std::move(lengths));
  }

  Facts facts() const override {
    Facts facts = {{"id", model_.id()}};
    for (const auto& entry : adaboost_option_table().entries())
      facts.push_back({"options." + entry.name, entry.get(model_.options())});
    facts.push_back({"labels", static_cast<int64_t>(model_.labels())});
    facts.push_back({"seed", static_cast<int64_t>(model_.seed())});
    facts.push_back({"trained_on", model_.trained_on().hex()});
    facts.push_back({"rounds", static_cast<int64_t>(model_.rounds())});
    facts.push_back({"finished_early", model_.finished_early() ? "true" : "false"});
    facts.push_back({"error_bound", model_.error_bound(model_.rounds())});
    facts.push_back({"alpha_sum", model_.alpha_sum(model_.rounds())});
    std::vector<double> edges;
    std::vector<double> alphas;
    std::vector<double> normalizers;
    std::vector<double> leaves;
    for (int t = 0; t < model_.rounds(); ++t) {
      edges.push_back(model_.round(t).edge);
      alphas.push_back(model_.round(t).alpha);
      normalizers.push_back(model_.round(t).normalizer);
      leaves.push_back(static_cast<double>(model_.round(t).leaves()));
    }
    facts.push_back({"edges", edges});
    facts.push_back({"alphas", alphas});
    facts.push_back({"normalizers", normalizers});
    facts.push_back({"leaves", leaves});
    return facts;
  }

  std::vector<double> importance() const override {
    const std::vector<size_t> cuts = model_.feature_use();
    double total = 0;
    for (const size_t count : cuts) total += static_cast<double>(count);
    std::vector<double> shares;
    for (const size_t count : cuts) shares.push_back(total > 0 ? static_cast<double>(count) / total : 0);
    return shares;
  }

  std::vector<FeatureShares> attention() const override {
    std::vector<FeatureShares> result;
    for (const BanditSample& sample : model_.bandit_samples())
      result.push_back({sample.round, sample.probabilities});
    return result;
  }

  PlainModel plain(size_t point) const override { return model_.plain(rounds_of(point)); }

  void save(BinaryWriter& out) const override {
    model_.save(out);
    out.put(lengths_);
  }

 private:
  int rounds_of(size_t point) const {
    return static_cast<int>(std::min<int64_t>(lengths_.at(point), model_.rounds()));
  }

  AdaBoostModel model_;
  std::vector<int64_t> lengths_;
  trees::KeptScorer scorer_;
};

class AdaBoostRun final : public Trainer {
 public:
  AdaBoostRun(const TrainingRequest& request, BinaryReader* state, const Context& context)
      : data_(request.data), lengths_(request.lengths), context_(context) {
    options_ = parse_settings(adaboost_option_table(), request.settings);
    options_.labels = request.data.label_count();
    options_.iterations = static_cast<int>(lengths_.back());
    if (state != nullptr)
      trainer_ = std::make_unique<AdaBoostTrainer>(data_, *state, context);
    else
      trainer_ = std::make_unique<AdaBoostTrainer>(data_, options_, context);
  }

  bool step(double seconds) override {
    trainer_->step(options_.iterations - trainer_->rounds(), seconds);
    return trainer_->rounds() >= options_.iterations || trainer_->finished();
  }

  std::unique_ptr<Model> model() const override {
    AdaBoostModel model = trainer_->model(options_.iterations);
    // A state may hold more rounds than are asked for now.
    if (model.rounds() > options_.iterations) model = model.first_rounds(options_.iterations);
    return std::make_unique<LearnedAdaBoost>(std::move(model), lengths_);
  }

  void save_state(BinaryWriter& out) const override { trainer_->save_state(out); }

  Facts facts() const override {
    const AdaBoostModel model = trainer_->model();
    const Dataset documents = data_.select();
    const ScoreMatrix scores = model.score(documents, model.rounds(), context_);
    return {
        {"seconds.bin", trainer_->seconds_binning()},
        {"rounds", static_cast<int64_t>(model.rounds())},
        {"hamming_error", hamming_error(scores, documents.labels(), options_.weights, documents.weights())},
        {"error_bound", model.error_bound(model.rounds())}};
  }

 private:
  const TrainingData& data_;
  std::vector<int64_t> lengths_;
  const Context& context_;
  AdaBoostOptions options_;
  std::unique_ptr<AdaBoostTrainer> trainer_;
};

// The base learner, its size, and what is not default.
std::string title(const std::vector<OptionInfo>& options, const Settings& settings) {
  const std::string& base = setting(settings, "base");
  std::string result = base;
  for (const OptionInfo& option : options) {
    if (option.role != OptionRole::kGrid || option.name == "base") continue;
    const std::string& value = setting(settings, option.name);
    const bool size =
        (base == "tree" && option.name == "leaves") || (base == "product" && option.name == "terms");
    if (size || value != option.default_value) result += fmt::format(" {}={}", option.name, value);
  }
  return result;
}

}  // namespace

LearnerEntry adaboost_mh_learner() {
  LearnerEntry entry;
  entry.type = "adaboost_mh";
  entry.family = "boosting";
  entry.row = "AB";
  entry.version = 5;
  entry.doc = "AdaBoost.MH with trees, stumps or decision products, searched in full or through a bandit.";
  entry.citation = "Schapire and Singer 1999; Kégl and Busa-Fekete 2009; Busa-Fekete and Kégl 2010";
  entry.resumable = true;
  describe_options(entry, adaboost_option_table(), {{"iterations", OptionRole::kLength}}, {"labels"});
  entry.title = [options = entry.options](const Settings& settings) { return title(options, settings); };
  entry.start = [](const TrainingRequest& request, const Context& context) -> std::unique_ptr<Trainer> {
    return std::make_unique<AdaBoostRun>(request, nullptr, context);
  };
  entry.resume = [](const TrainingRequest& request, BinaryReader& state,
                    const Context& context) -> std::unique_ptr<Trainer> {
    return std::make_unique<AdaBoostRun>(request, &state, context);
  };
  entry.load = [](BinaryReader& in) -> std::unique_ptr<Model> {
    return std::make_unique<LearnedAdaBoost>(in);
  };
  return entry;
}

}  // namespace tunemix
