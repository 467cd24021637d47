// A bundle scores as its parts do, survives the file, and says so when the file or the data is not right.
#include "tunemix/export/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/learners/train_by_name.h"
#include "tests/support.h"
#include "tunemix/core/binary.h"
#include "tunemix/core/random.h"
#include "tunemix/data/synthetic.h"

namespace tunemix {
namespace {

using testing::HasSubstr;

Dataset make_data(uint64_t seed, size_t features = 8) {
  SyntheticOptions options;
  options.queries = 30;
  options.features = features;
  options.mean_length = 8;
  options.seed = seed;
  return make_synthetic(options, Context());
}

// Two lengths of a boosted model and an SVM, each with two calibrations.
class BundleTest : public testing::Test {
 protected:
  BundleTest() {
    const Dataset data = standardize(make_data(1), Standardize::kAppend, context_);
    models_.push_back(
        {test::train_by_name(data, "adaboost_mh", {}, {5, 12}, context_), Standardize::kAppend});
    models_.push_back({test::train_by_name(data, "svm", {{"C", "0.1"}}, {}, context_), Standardize::kAppend});
    const std::vector<double> grades = {0, 1, 3, 7, 15};
    std::vector<Member> members;
    for (const auto& [model, point] : std::vector<std::pair<uint32_t, uint32_t>>{{0, 0}, {0, 1}, {1, 0}})
      for (const char* spec : {"cpc.ls", "rbc.poly2.raw"}) {
        const ScoreMatrix scores = score(models_[model], data, point);
        members_.push_back(
            {{model},
             point,
             Calibrator::fit(CalibrationSpec::parse(spec), {scores, data.labels(), data.queries(), grades},
                             {}, 1, context_)});
        Member member;
        member.family = model == 0 ? "boosting" : "svm";
        member.kind = members_.back().calibrator.spec().kind;
        member.checkpoint = models_[model].learned.model->points()[point].length;
        member.calibration = spec;
        members.push_back(member);
      }
    std::vector<size_t> order(members.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return members[a] < members[b]; });
    std::vector<BundleMember> sorted;
    std::vector<Member> names;
    for (const size_t i : order) {
      sorted.push_back(members_[i]);
      names.push_back(members[i]);
    }
    members_ = sorted;
    mixture_ = Mixture(names, {0.1, 0.2, 0.3, 0.1, 0.2, 0.1}, Normalize::kQuery, 50, 0);
  }

  ScoreMatrix score(const BundleModel& model, const Dataset& data, size_t point) const {
    return std::move(model.learned.model->score(data, std::span(&point, 1), context_)[0]);
  }
  Bundle bundle() const { return bundle_of({"mine", "ALL+EXP", 2, "key", 8, 5}); }
  Bundle bundle_of(BundleInfo info) const {
    std::vector<BundleModel> models;
    for (const BundleModel& model : models_)
      models.push_back({test::copy_of(model.learned), model.standardize});
    return Bundle(std::move(info), std::move(models), members_, mixture_);
  }

  Context context_;
  std::vector<BundleModel> models_;
  std::vector<BundleMember> members_;
  Mixture mixture_;
  test::ScratchDirectory scratch_;
};

TEST_F(BundleTest, ScoresAsItsPartsDoOneByOne) {
  const Dataset raw = make_data(2);
  const Dataset data = standardize(make_data(2), Standardize::kAppend, context_);
  std::vector<std::vector<float>> scores;
  for (const BundleMember& member : members_) {
    scores.emplace_back(data.documents());
    member.calibrator.apply(score(models_[member.models[0]], data, member.point), scores.back(), context_);
  }
  std::vector<float> expected(data.documents());
  mixture_.apply([&](size_t member) { return std::span(scores[member]); }, data.queries(), expected,
                 context_);
  EXPECT_EQ(bundle().predict(raw, context_), expected);
  EXPECT_EQ(bundle().predict(raw, Context(4)), expected);
}

TEST_F(BundleTest, AQueryScoresTheSameAloneAndAmongOthers) {
  const Dataset data = make_data(3);
  const Bundle mine = bundle();
  const std::vector<float> all = mine.predict(data, context_);
  std::vector<float> one_by_one;
  for (size_t q = 0; q < data.queries().size(); ++q) {
    const std::vector<size_t> query = {q};
    const std::vector<float> scores = mine.predict(data.select_queries(query), context_);
    one_by_one.insert(one_by_one.end(), scores.begin(), scores.end());
  }
  EXPECT_EQ(one_by_one, all);
}

TEST_F(BundleTest, ComesBackFromItsFileTheSame) {
  const std::filesystem::path file = scratch_ / "bundle.tmx";
  bundle().save(file);
  const Bundle loaded = Bundle::load(file, registry());
  const Dataset data = make_data(2);
  EXPECT_EQ(loaded.predict(data, context_), bundle().predict(data, context_));
  for (const BundleInfo& info : {loaded.info(), read_bundle_info(file)}) {
    EXPECT_EQ(info.name, "mine");
    EXPECT_EQ(info.row, "ALL+EXP");
    EXPECT_EQ(info.fold, 2U);
    EXPECT_EQ(info.key, "key");
    EXPECT_EQ(info.features, 8U);
    EXPECT_EQ(info.labels, 5U);
  }
  loaded.save(scratch_ / "again.tmx");
  EXPECT_EQ(read_text_file(scratch_ / "again.tmx"), read_text_file(file));
}

TEST_F(BundleTest, TellsNamesAndWhatItWasTrainedOn) {
  BundleInfo info = bundle().info();
  info.feature_names.set(0, "bm25");
  info.feature_names.set(7, "page rank");
  info.trained_on = {"a.txt", "b.txt"};
  info.queries = 30;
  info.documents = 250;
  info.expected = {"yahoo NDCG@10", "the test data of fold 2", 0.75, 0.01};
  const std::filesystem::path file = scratch_ / "bundle.tmx";
  bundle_of(info).save(file);
  EXPECT_EQ(read_bundle_info(file), info);
  EXPECT_EQ(Bundle::load(file, registry()).info(), info);

  // Data that has the names must have them where the ensemble has them.
  FeatureNames same;
  same.set(7, "page rank");
  same.set(1, "length");
  FeatureNames other;
  other.set(7, "bm25");
  const Bundle named = bundle_of(info);
  EXPECT_EQ(named.predict(make_data(2).named(same), context_), bundle().predict(make_data(2), context_));
  try {
    named.predict(make_data(2).named(other), context_);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "the data calls feature 8 'bm25'; the ensemble 'mine' was trained on data that calls it "
                 "'page rank'");
  }
}

TEST_F(BundleTest, CalibratesTheMeanOfItsBags) {
  // The boosted members have two bags, the second trained on other data.
  models_.push_back({test::train_by_name(standardize(make_data(7), Standardize::kAppend, context_),
                                         "adaboost_mh", {}, {5, 12}, context_),
                     Standardize::kAppend});
  for (BundleMember& member : members_)
    if (member.models[0] == 0) member.models = {0, 2};
  const Dataset raw = make_data(2);
  const Dataset data = standardize(make_data(2), Standardize::kAppend, context_);
  std::vector<std::vector<float>> scores;
  for (const BundleMember& member : members_) {
    ScoreMatrix mean = score(models_[member.models[0]], data, member.point);
    if (member.models.size() == 2) {
      const ScoreMatrix other = score(models_[2], data, member.point);
      for (size_t i = 0; i < data.documents(); ++i)
        for (size_t k = 0; k < mean.columns(); ++k) mean.row(i)[k] = (mean.row(i)[k] + other.row(i)[k]) / 2;
    }
    scores.emplace_back(data.documents());
    member.calibrator.apply(mean, scores.back(), context_);
  }
  std::vector<float> expected(data.documents());
  mixture_.apply([&](size_t member) { return std::span(scores[member]); }, data.queries(), expected,
                 context_);
  EXPECT_EQ(bundle().predict(raw, context_), expected);
  bundle().save(scratch_ / "bags.tmx");
  EXPECT_EQ(Bundle::load(scratch_ / "bags.tmx", registry()).predict(raw, Context(3)), expected);
}

TEST_F(BundleTest, RefusesOtherFeaturesInOneSentence) {
  try {
    bundle().predict(make_data(2, 9), context_);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "the data has 9 features; the ensemble 'mine' was trained on 8");
  }
}

TEST_F(BundleTest, ADamagedFileIsNamed) {
  const std::filesystem::path file = scratch_ / "bundle.tmx";
  bundle().save(file);
  const std::string whole = read_text_file(file);
  const auto expect_refused = [&](const std::string& bytes, const std::string& what) {
    std::ofstream(file, std::ios::binary) << bytes;
    try {
      Bundle::load(file, registry());
      FAIL() << what;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(file.string())) << what;
    }
  };
  Random random(1, "damage");
  for (size_t i = 0; i < 200; ++i) {
    const size_t at = i < 48 ? i : random.below(whole.size());
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(1U << random.below(8)));
    expect_refused(bytes, "bit flipped at " + std::to_string(at));
    expect_refused(whole.substr(0, random.below(whole.size())), "truncated");
  }
  expect_refused(whole + "x", "longer");
  expect_refused("", "empty");
}

// The checksum is right and the content is not: what a program of another version might have written.
TEST_F(BundleTest, NonsenseUnderARightChecksumIsRefused) {
  const std::filesystem::path file = scratch_ / "bundle.tmx";
  bundle().save(file);
  const Artifact artifact = read_artifact(file);
  Random random(2, "nonsense");
  size_t refused = 0;
  for (size_t i = 0; i < 40; ++i) {
    std::vector<uint8_t> payload = artifact.payload;
    payload.resize(random.below(payload.size()));
    write_artifact(file, Bundle::kKind, Bundle::kVersion, payload);
    EXPECT_THROW(Bundle::load(file, registry()), InputError);
    payload = artifact.payload;
    for (int n = 0; n < 4; ++n)
      payload[random.below(payload.size())] = static_cast<uint8_t>(random.below(256));
    write_artifact(file, Bundle::kKind, Bundle::kVersion, payload);
    try {
      Bundle::load(file, registry());
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0U);
  write_artifact(file, Bundle::kKind, Bundle::kVersion + 1, artifact.payload);
  EXPECT_THROW(Bundle::load(file, registry()), InputError);
  write_artifact(file, LearnedModel::kKind, 1, artifact.payload);
  EXPECT_THROW(Bundle::load(file, registry()), InputError);
}

TEST_F(BundleTest, AsksForScoresFromElsewhere) {
  const LearnerEntry& scores = registry().expect("scores");
  const Dataset data = make_data(2);
  ScoreMatrix given(data.documents(), 1, "bm25");
  for (size_t i = 0; i < data.documents(); ++i) given.row(i)[0] = data.row(i)[0];
  const std::vector<double> grades = {0, 1, 3, 7, 15};
  std::vector<BundleModel> models;
  models.push_back({{&scores, scores.external("bm25", 1)}, Standardize::kNone});
  const Calibrator linear = Calibrator::fit(CalibrationSpec::parse("rbc.linear.raw"),
                                            {given, data.labels(), data.queries(), grades}, {}, 1, context_);
  Member member;
  member.family = "bm25";
  member.kind = CalibrationKind::kRbc;
  const Bundle mixed({"mine", "bm25+EXP", 1, "key", 8, 5}, std::move(models), {{{0}, 0, linear}},
                     Mixture({member}, {1.0}, Normalize::kQuery, 0, 0));
  mixed.save(scratch_ / "b.tmx");
  const Bundle loaded = Bundle::load(scratch_ / "b.tmx", registry());
  EXPECT_THAT(loaded.external_scores(), testing::ElementsAre(testing::Pair("bm25", 1)));
  try {
    loaded.predict(data, context_);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'bm25', which have to be given"));
  }
  // Linear in the given scores, so it ranks as they do.
  const std::vector<float> predicted = loaded.predict(data, context_, {{"bm25", given}});
  const double slope = predicted[1] - predicted[0] == 0
                           ? 1
                           : (predicted[1] - predicted[0]) / (given.row(1)[0] - given.row(0)[0]);
  for (size_t q = 0; q < data.queries().size(); ++q)
    for (size_t i = data.queries().begin(q) + 1; i < data.queries().end(q); ++i)
      EXPECT_GE((predicted[i] - predicted[i - 1]) * (given.row(i)[0] - given.row(i - 1)[0]) * slope, 0) << i;
  EXPECT_THROW(loaded.predict(make_data(3), context_, {{"bm25", given}}), InputError);
}

TEST_F(BundleTest, AKeptModelScoresAsTheWholeAndHasItsOwnBytes) {
  const Dataset data = standardize(make_data(1), Standardize::kAppend, context_);
  const Settings settings = {{"bandit", "exp3g"}};
  const LearnedModel few = test::train_by_name(data, "adaboost_mh", settings, {7}, context_);
  const LearnedModel many = test::train_by_name(data, "adaboost_mh", settings, {7, 27}, context_);
  const size_t first[] = {0};
  const std::unique_ptr<Model> kept = many.model->keep(first);
  BinaryWriter a;
  BinaryWriter b;
  few.model->keep(first)->save(a);
  kept->save(b);
  EXPECT_TRUE(std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end()));
  EXPECT_THAT(kept->points(), testing::ElementsAre(Point{7, ""}));
  const ScoreMatrix whole = many.model->score(data, first, context_)[0];
  const ScoreMatrix prefix = kept->score(data, first, context_)[0];
  EXPECT_TRUE(std::equal(whole.values().begin(), whole.values().end(), prefix.values().begin()));
}

}  // namespace
}  // namespace tunemix
