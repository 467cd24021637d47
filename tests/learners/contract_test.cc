// What every learner of the registry must keep, whatever it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "tests/data/with_missing.h"
#include "tests/learners/train_by_name.h"
#include "tests/support.h"
#include "tunemix/data/standardize.h"
#include "tunemix/data/synthetic.h"

namespace tunemix {
namespace {

Dataset small_data(uint64_t seed, int labels = 5, size_t queries = 40) {
  return make_synthetic(
      {.queries = queries, .features = 7, .labels = labels, .mean_length = 12, .seed = seed}, Context());
}

// A run that is short enough for a test.
struct ShortRun {
  const LearnerEntry* learner;
  Settings settings;
  std::vector<int64_t> lengths;
};

ShortRun short_run(const std::string& type) {
  const LearnerEntry& learner = registry().expect(type);
  ShortRun run{&learner, learner.complete({}), {}};
  if (const OptionInfo* length = learner.length_option()) {
    run.lengths = {3, 6};
    for (auto& [key, value] : run.settings)
      if (key == length->name) value = "6";
  }
  return run;
}

std::unique_ptr<Model> train(const ShortRun& run, const TrainingData& data, const Context& context,
                             const Dataset* valid = nullptr) {
  const TrainingRequest request{data, run.settings, run.lengths, valid};
  const std::unique_ptr<Trainer> trainer = run.learner->start(request, context);
  while (!trainer->step(0)) {
  }
  return trainer->model();
}

std::vector<ScoreMatrix> scores_of_points(const Model& model, const Dataset& data,
                                          const Context& context = Context()) {
  std::vector<size_t> points(model.points().size());
  std::iota(points.begin(), points.end(), size_t{0});
  return model.score(data, points, context);
}

// The same bytes: 0 is not -0.
void expect_same_scores(const ScoreMatrix& a, const ScoreMatrix& b) {
  ASSERT_EQ(a.values().size(), b.values().size());
  EXPECT_EQ(a.columns(), b.columns());
  EXPECT_EQ(std::memcmp(a.values().data(), b.values().data(), a.values().size_bytes()), 0);
}

void expect_comes_back(const LearnedModel& learned, const Dataset& data) {
  const std::vector<uint8_t> bytes = test::bytes_of(learned);
  const LearnedModel loaded = test::load_model(bytes);
  EXPECT_EQ(test::bytes_of(loaded), bytes);
  EXPECT_EQ(loaded.model->points(), learned.model->points());
  const std::vector<ScoreMatrix> before = scores_of_points(*learned.model, data);
  const std::vector<ScoreMatrix> after = scores_of_points(*loaded.model, data);
  for (size_t p = 0; p < before.size(); ++p) expect_same_scores(after[p], before[p]);
  for (size_t p = 0; p < before.size(); ++p) EXPECT_EQ(loaded.model->range(p), learned.model->range(p));
}

class Contract : public testing::TestWithParam<std::string> {
 protected:
  ShortRun run_ = short_run(GetParam());
  Dataset data_ = small_data(1);
  Dataset valid_ = small_data(2);
  BinCache cache_{data_};
};

// Learners whose training can be taken up again.
class ContractOfStates : public Contract {};

std::vector<std::string> resumable_types() {
  std::vector<std::string> types;
  for (const std::string& type : test::trained_types())
    if (registry().expect(type).resumable) types.push_back(type);
  return types;
}

TEST_P(Contract, SaysWhatItIs) {
  EXPECT_FALSE(run_.learner->family.empty());
  EXPECT_FALSE(run_.learner->row.empty());
  EXPECT_FALSE(run_.learner->doc.empty());
  EXPECT_FALSE(run_.learner->citation.empty());
  for (const OptionInfo& option : run_.learner->options) {
    EXPECT_FALSE(option.doc.empty()) << option.name;
    EXPECT_EQ(run_.learner->canonical(option.name, option.default_value), option.default_value)
        << option.name;
  }
}

TEST_P(Contract, GivesThePointsThatWerePlannedWithFiniteScores) {
  const TrainingData training(cache_);
  const std::unique_ptr<Model> model = train(run_, training, Context(1, 3), &valid_);
  EXPECT_EQ(model->points(), run_.learner->points(run_.settings, run_.lengths));
  EXPECT_EQ(model->features(), data_.features());
  EXPECT_EQ(model->columns(), run_.learner->one_column ? 1U : 5U);
  for (const ScoreMatrix& scores : scores_of_points(*model, valid_)) {
    EXPECT_EQ(scores.documents(), valid_.documents());
    EXPECT_EQ(scores.columns(), model->columns());
    for (const float score : scores.values()) ASSERT_TRUE(std::isfinite(score));
  }
  EXPECT_THROW(scores_of_points(*model, make_synthetic({.queries = 3, .features = 8}, Context())),
               InputError);
}

TEST_P(Contract, IsTheSameBytesOnAnyNumberOfThreads) {
  const TrainingData training(cache_);
  const std::vector<uint8_t> one = test::bytes_of(*train(run_, training, Context(1, 3), &valid_));
  for (const int threads : {2, 4})
    EXPECT_EQ(test::bytes_of(*train(run_, training, Context(threads, 3), &valid_)), one) << threads;
}

TEST_P(Contract, ScoresTheSameBytesOnAnyNumberOfThreads) {
  const std::unique_ptr<Model> model = train(run_, TrainingData(cache_), Context(1, 3));
  const Dataset many = small_data(4, 5, 400);
  const std::vector<ScoreMatrix> one = scores_of_points(*model, many);
  for (const int threads : {2, 4}) {
    const std::vector<ScoreMatrix> several = scores_of_points(*model, many, Context(threads, 3));
    ASSERT_EQ(several.size(), one.size());
    for (size_t p = 0; p < one.size(); ++p) expect_same_scores(several[p], one[p]);
  }
}

TEST_P(Contract, ComesBackFromItsBytes) {
  const TrainingData training(cache_);
  expect_comes_back({run_.learner, train(run_, training, Context(2, 3))}, valid_);
}

TEST_P(Contract, DamagedBytesAreRefusedOrHarmless) {
  const TrainingData training(cache_);
  const std::vector<uint8_t> bytes =
      test::bytes_of(LearnedModel{run_.learner, train(run_, training, Context(2, 3))});
  for (size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 60)
    EXPECT_THROW(test::load_model(std::span(bytes).first(size)), InputError)
        << size << " of " << bytes.size();
  for (size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 150) {
    std::vector<uint8_t> damaged = bytes;
    damaged[at] ^= 0xffU;
    try {
      const LearnedModel learned = test::load_model(damaged);
      if (learned.model->features() == valid_.features()) scores_of_points(*learned.model, valid_);
    } catch (const InputError&) {  // as good
    }
  }
}

TEST_P(Contract, KeepsWhatSomePointsNeed) {
  const TrainingData training(cache_);
  const std::unique_ptr<Model> model = train(run_, training, Context(2, 3));
  const std::vector<ScoreMatrix> all = scores_of_points(*model, valid_);
  for (size_t p = 0; p < model->points().size(); ++p) {
    const std::unique_ptr<Model> kept = model->keep(std::span(&p, 1));
    EXPECT_THAT(kept->points(), testing::ElementsAre(model->points()[p]));
    expect_same_scores(scores_of_points(*kept, valid_)[0], all[p]);
    EXPECT_EQ(kept->range(0), model->range(p));
    EXPECT_LE(test::bytes_of(*kept).size(), test::bytes_of(*model).size());
  }
  // Its bytes do not depend on the points left out.
  if (run_.lengths.empty()) return;
  ShortRun shorter = run_;
  shorter.lengths = {run_.lengths[0]};
  const size_t first = 0;
  EXPECT_EQ(test::bytes_of(*model->keep(std::span(&first, 1))),
            test::bytes_of(*train(shorter, training, Context(2, 3))));
}

TEST_P(ContractOfStates, GoesOnWhereItStopped) {
  const TrainingData training(cache_);
  const Context context(2, 3);
  const std::vector<uint8_t> whole = test::bytes_of(*train(run_, training, context, &valid_));
  // A shorter run first, whose state a longer one takes up.
  ShortRun shorter = run_;
  shorter.lengths = {3};
  const TrainingRequest first{training, shorter.settings, shorter.lengths, &valid_};
  const std::unique_ptr<Trainer> begun = run_.learner->start(first, context);
  while (!begun->step(0)) {
  }
  BinaryWriter state;
  begun->save_state(state);
  BinaryReader in(state.bytes(), "the state");
  const TrainingRequest request{training, run_.settings, run_.lengths, &valid_};
  // The rounds that it reports begin after those of the state: it does not start again.
  Context watched(2, 3);
  std::vector<uint64_t> reported;
  watched.on_progress = [&](const Progress& progress) { reported.push_back(progress.done); };
  const std::unique_ptr<Trainer> resumed = run_.learner->resume(request, in, watched);
  in.expect_end();
  while (!resumed->step(0)) {
  }
  EXPECT_EQ(test::bytes_of(*resumed->model()), whole);
  ASSERT_FALSE(reported.empty());
  EXPECT_GT(reported.front(), 3U);
  // And a state of more rounds gives the model of fewer.
  BinaryWriter longer;
  resumed->save_state(longer);
  BinaryReader again(longer.bytes(), "the state");
  const std::unique_ptr<Trainer> back = run_.learner->resume(first, again, context);
  while (!back->step(0)) {
  }
  EXPECT_EQ(test::bytes_of(*back->model()), test::bytes_of(*begun->model()));
}

TEST_P(ContractOfStates, GoesOnAfterAStopInMidRun) {
  const TrainingData training(cache_);
  const TrainingRequest request{training, run_.settings, run_.lengths, &valid_};
  const std::vector<uint8_t> whole = test::bytes_of(*train(run_, training, Context(2, 3), &valid_));
  Context watched(2, 3);
  size_t round = 0;
  watched.on_progress = [&](const Progress& progress) {
    EXPECT_EQ(progress.done, round + 1);  // none is trained twice
    round = progress.done;
  };
  std::unique_ptr<Trainer> trainer = run_.learner->start(request, watched);
  size_t stops = 0;
  while (!trainer->step(1e-9)) {  // as short as can be
    ++stops;
    BinaryWriter state;
    trainer->save_state(state);
    BinaryReader in(state.bytes(), "the state");
    trainer = run_.learner->resume(request, in, watched);
    in.expect_end();
  }
  EXPECT_GE(stops, 2U);
  EXPECT_EQ(round, 6U);
  EXPECT_EQ(test::bytes_of(*trainer->model()), whole);
}

TEST_P(ContractOfStates, DamagedStatesAreRefusedOrHarmless) {
  const TrainingData training(cache_);
  const TrainingRequest request{training, run_.settings, run_.lengths, &valid_};
  const std::unique_ptr<Trainer> begun = run_.learner->start(request, Context(1, 3));
  begun->step(1e-9);
  BinaryWriter out;
  begun->save_state(out);
  const std::vector<uint8_t> bytes(out.bytes().begin(), out.bytes().end());
  const Context context(1, 3);
  const auto resume = [&](std::span<const uint8_t> state) {
    BinaryReader in(state, "the state");
    const std::unique_ptr<Trainer> trainer = run_.learner->resume(request, in, context);
    in.expect_end();
    trainer->step(1e-9);
  };
  resume(bytes);
  for (size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 40)
    EXPECT_THROW(resume(std::span(bytes).first(size)), InputError) << size << " of " << bytes.size();
  std::vector<uint8_t> longer = bytes;
  longer.push_back(0);
  EXPECT_THROW(resume(longer), InputError);
  for (size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 60) {
    std::vector<uint8_t> damaged = bytes;
    damaged[at] ^= 0xffU;
    try {
      resume(damaged);
    } catch (const InputError&) {  // as good
    }
  }
}

TEST_P(Contract, TakesSomeQueriesOneQueryAndConstantFeatures) {
  const TrainingData some(cache_, {0, 2, 3, 7, 11, 12, 20}, 5, {0, 1, 3, 7, 15});
  EXPECT_EQ(train(run_, some, Context(2, 3))->points().size(),
            run_.learner->points(run_.settings, run_.lengths).size());
  const TrainingData one(cache_, {4}, 5, {0, 1, 3, 7, 15});
  for (const ScoreMatrix& scores : scores_of_points(*train(run_, one, Context()), valid_))
    for (const float score : scores.values()) ASSERT_TRUE(std::isfinite(score));
  const Dataset constant(FloatBuffer(std::vector<float>(12 * 3, 2.5F)), 3,
                         {{0, 1, 2, 0, 1, 0, 2, 0, 0, 1, 0, 1}, QueryIndex({0, 5, 6, 12}, {"a", "b", "c"})});
  BinCache constant_bins(constant);
  for (const ScoreMatrix& scores :
       scores_of_points(*train(run_, TrainingData(constant_bins), Context()), constant))
    for (const float score : scores.values()) ASSERT_TRUE(std::isfinite(score));
}

TEST_P(Contract, TakesTwoLabels) {
  const Dataset two = small_data(3, 2);
  BinCache bins(two);
  const std::unique_ptr<Model> model = train(run_, TrainingData(bins), Context(2, 1));
  EXPECT_EQ(model->columns(), run_.learner->one_column ? 1U : 2U);
  for (const ScoreMatrix& scores : scores_of_points(*model, two))
    for (const float score : scores.values()) ASSERT_TRUE(std::isfinite(score));
}

TEST_P(Contract, FeaturesOfAViewAreAsGoodAsOthers) {
  const Context context(2, 1);
  const auto view_of = [&](const Dataset& data) { return standardize(data, Standardize::kContext, context); };
  const Dataset view = view_of(data_);
  const Dataset valid = view_of(valid_);
  const auto in_memory = [&](const Dataset& data) {
    return data.with_features(FloatBuffer(view_of(data).values()), view.features());
  };
  const Dataset plain = in_memory(data_);
  const Dataset plain_valid = in_memory(valid_);
  BinCache of_view(view);
  BinCache of_plain(plain);
  const std::unique_ptr<Model> by_view = train(run_, TrainingData(of_view), context, &valid);
  const std::unique_ptr<Model> by_plain = train(run_, TrainingData(of_plain), context, &plain_valid);
  const std::vector<ScoreMatrix> scores = scores_of_points(*by_view, valid);
  const std::vector<ScoreMatrix> expected = scores_of_points(*by_plain, plain_valid);
  ASSERT_EQ(scores.size(), expected.size());
  for (size_t p = 0; p < scores.size(); ++p) expect_same_scores(scores[p], expected[p]);
  EXPECT_FALSE(run_.learner->reads_columns && (view.made() || valid.made()));
}

void expect_shares(const std::vector<double>& shares, size_t features) {
  if (shares.empty()) return;
  EXPECT_EQ(shares.size(), features);
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-6);
  for (const double share : shares) EXPECT_GE(share, 0);
}

TEST_P(Contract, ImportanceIsAShareOfEachFeature) {
  expect_shares(train(run_, TrainingData(cache_), Context())->importance(), data_.features());
}

// Of data with missing values.
class ContractOfMissing : public Contract {
 protected:
  Dataset missing_ = test::with_missing(data_, 0.2, 1);
  Dataset missing_valid_ = test::with_missing(valid_, 0.2, 2);
  BinCache missing_cache_{missing_};
};

void expect_finite_scores(const Model& model, const Dataset& data) {
  for (const ScoreMatrix& scores : scores_of_points(model, data))
    for (const float score : scores.values()) ASSERT_TRUE(std::isfinite(score));
}

TEST_P(ContractOfMissing, IsTheSameBytesOnAnyNumberOfThreads) {
  const TrainingData training(missing_cache_);
  const std::unique_ptr<Model> one = train(run_, training, Context(1, 3), &missing_valid_);
  EXPECT_EQ(test::bytes_of(*train(run_, training, Context(3, 3), &missing_valid_)), test::bytes_of(*one));
  const auto scores = scores_of_points(*one, missing_valid_);
  const auto several = scores_of_points(*one, missing_valid_, Context(3, 3));
  for (size_t p = 0; p < scores.size(); ++p) expect_same_scores(several[p], scores[p]);
  expect_finite_scores(*one, missing_valid_);
}

TEST_P(ContractOfMissing, ComesBackAndIsKeptAndSaysWhatItIs) {
  std::unique_ptr<Model> model = train(run_, TrainingData(missing_cache_), Context(2, 3));
  EXPECT_EQ(model->features(), missing_.features());
  EXPECT_EQ(model->points(), run_.learner->points(run_.settings, run_.lengths));
  expect_shares(model->importance(), missing_.features());
  const std::vector<ScoreMatrix> all = scores_of_points(*model, missing_valid_);
  for (size_t p = 0; p < all.size(); ++p)
    expect_same_scores(scores_of_points(*model->keep(std::span(&p, 1)), missing_valid_)[0], all[p]);
  expect_comes_back({run_.learner, std::move(model)}, missing_valid_);
}

TEST_P(ContractOfMissing, GoesOnFromAState) {
  if (!run_.learner->resumable) return;
  const TrainingData training(missing_cache_);
  const TrainingRequest request{training, run_.settings, run_.lengths, &missing_valid_};
  const std::unique_ptr<Trainer> begun = run_.learner->start(request, Context(1, 3));
  begun->step(1e-9);
  BinaryWriter state;
  begun->save_state(state);
  BinaryReader in(state.bytes(), "the state");
  const std::unique_ptr<Trainer> resumed = run_.learner->resume(request, in, Context(1, 3));
  in.expect_end();
  while (!begun->step(0)) {
  }
  while (!resumed->step(0)) {
  }
  EXPECT_EQ(test::bytes_of(*resumed->model()), test::bytes_of(*begun->model()));
}

// Values that training always had, two labels, nothing but missing values, one document.
TEST_P(ContractOfMissing, TakesWhatIsOdd) {
  expect_finite_scores(*train(run_, TrainingData(cache_), Context(1, 3), &missing_valid_), missing_valid_);
  const Dataset two = test::with_missing(small_data(3, 2), 0.5, 3);
  BinCache two_bins(two);
  expect_finite_scores(*train(run_, TrainingData(two_bins), Context(2, 3), &two), two);
  const Dataset nothing = test::with_missing(data_, 2, 4);
  BinCache nothing_bins(nothing);
  const std::unique_ptr<Model> model = train(run_, TrainingData(nothing_bins), Context(2, 3), &nothing);
  expect_finite_scores(*model, nothing);
  expect_finite_scores(*model, valid_);
  const Dataset one(FloatBuffer(std::vector<float>{kMissing, 1}), 2,
                    {.labels = {1}, .queries = QueryIndex({0, 1}, {"q"})});
  BinCache one_bins(one);
  expect_finite_scores(*train(run_, TrainingData(one_bins), Context(1, 3), &one), one);
}

// Medians and indicators by hand.
class FilledByHand {
 public:
  explicit FilledByHand(const Dataset& data) {
    for (size_t j = 0; j < data.features(); ++j) {
      std::vector<float> values;
      for (size_t i = 0; i < data.documents(); ++i)
        if (!std::isnan(data.row(i)[j])) values.push_back(data.row(i)[j]);
      std::sort(values.begin(), values.end());
      medians_.push_back(values[(values.size() - 1) / 2]);
    }
  }
  Dataset operator()(const Dataset& data) const {
    const size_t d = medians_.size();
    FloatBuffer values(data.documents() * 2 * d);
    for (size_t i = 0; i < data.documents(); ++i)
      for (size_t j = 0; j < d; ++j) {
        const float x = data.row(i)[j];
        values.data()[i * 2 * d + j] = std::isnan(x) ? medians_[j] : x;
        values.data()[i * 2 * d + d + j] = std::isnan(x) ? 1 : 0;
      }
    return data.with_features(std::move(values), 2 * d);
  }

 private:
  std::vector<float> medians_;
};

TEST_P(ContractOfMissing, IsTrainedOnMediansAndIndicators) {
  if (run_.learner->takes_missing) GTEST_SKIP() << "sees missing values itself";
  const FilledByHand fill(missing_);
  const Dataset filled = fill(missing_);
  const Dataset filled_valid = fill(missing_valid_);
  BinCache filled_cache(filled);
  const std::vector<size_t> queries = {0, 1, 2, 3, 5, 8, 13, 21, 22, 23, 34};
  const std::vector<double> grades = {0, 1, 3, 7, 15};
  const auto expected =
      train(run_, TrainingData(filled_cache, queries, 5, grades), Context(1, 3), &filled_valid);
  const auto model =
      train(run_, TrainingData(missing_cache_, queries, 5, grades), Context(1, 3), &missing_valid_);
  const std::vector<ScoreMatrix> by_hand = scores_of_points(*expected, filled_valid);
  const std::vector<ScoreMatrix> scores = scores_of_points(*model, missing_valid_);
  ASSERT_EQ(scores.size(), by_hand.size());
  for (size_t p = 0; p < scores.size(); ++p) expect_same_scores(scores[p], by_hand[p]);
}

INSTANTIATE_TEST_SUITE_P(Registry, Contract, testing::ValuesIn(test::trained_types()),
                         [](const auto& tested) { return tested.param; });
INSTANTIATE_TEST_SUITE_P(Registry, ContractOfMissing, testing::ValuesIn(test::trained_types()),
                         [](const auto& tested) { return tested.param; });
INSTANTIATE_TEST_SUITE_P(Registry, ContractOfStates, testing::ValuesIn(resumable_types()),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace tunemix
