// A bundle scores as its parts do, survives the file, and says so when the file or the data is not right.
#include "tunemix/export/bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

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
    AdaBoostOptions boosting;
    boosting.iterations = 12;
    const Dataset data = standardize(make_data(1), Standardize::kAppend, context_);
    AdaBoostTrainer trainer(data, boosting, context_);
    trainer.step(12);
    models_.emplace_back(trainer.model());
    SvmOptions svm;
    svm.C = 0.1;
    models_.emplace_back(train_svm(data, svm, context_));
    const std::vector<double> grades = {0, 1, 3, 7, 15};
    std::vector<Member> members;
    for (const auto& [model, rounds] : std::vector<std::pair<uint32_t, int>>{{0, 5}, {0, 12}, {1, 0}})
      for (const char* spec : {"cpc.ls", "rbc.poly2.raw"}) {
        const ScoreMatrix scores = score(models_[model], data, rounds);
        members_.push_back(
            {model, rounds,
             Calibrator::fit(CalibrationSpec::parse(spec), {scores, data.labels(), data.queries(), grades},
                             {}, 1, context_)});
        Member member;
        member.family = model == 0 ? "boosting" : "svm";
        member.kind = members_.back().calibrator.spec().kind;
        member.checkpoint = rounds;
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

  ScoreMatrix score(const BundleModel& model, const Dataset& data, int rounds) const {
    if (const auto* boosted = std::get_if<AdaBoostModel>(&model))
      return boosted->score(data, rounds, context_);
    return std::get<SvmModel>(model).score(data, context_);
  }
  Bundle bundle() const {
    return Bundle({"mine", "ALL+EXP", 2, "key", 8, 5, Standardize::kAppend}, models_, members_, mixture_);
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
    member.calibrator.apply(score(models_[member.model], data, member.rounds), scores.back(), context_);
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
  const Bundle loaded = Bundle::load(file);
  const Dataset data = make_data(2);
  EXPECT_EQ(loaded.predict(data, context_), bundle().predict(data, context_));
  for (const BundleInfo& info : {loaded.info(), read_bundle_info(file)}) {
    EXPECT_EQ(info.name, "mine");
    EXPECT_EQ(info.row, "ALL+EXP");
    EXPECT_EQ(info.fold, 2U);
    EXPECT_EQ(info.key, "key");
    EXPECT_EQ(info.features, 8U);
    EXPECT_EQ(info.labels, 5U);
    EXPECT_EQ(info.standardize, Standardize::kAppend);
  }
  loaded.save(scratch_ / "again.tmx");
  EXPECT_EQ(read_text_file(scratch_ / "again.tmx"), read_text_file(file));
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
      Bundle::load(file);
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
    EXPECT_THROW(Bundle::load(file), InputError);
    payload = artifact.payload;
    for (int n = 0; n < 4; ++n)
      payload[random.below(payload.size())] = static_cast<uint8_t>(random.below(256));
    write_artifact(file, Bundle::kKind, Bundle::kVersion, payload);
    try {
      Bundle::load(file);
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0U);
  write_artifact(file, Bundle::kKind, Bundle::kVersion + 1, artifact.payload);
  EXPECT_THROW(Bundle::load(file), InputError);
  write_artifact(file, "adaboost_mh", 1, artifact.payload);
  EXPECT_THROW(Bundle::load(file), InputError);
}

TEST_F(BundleTest, TheFirstRoundsOfAModelScoreAsTheWholeAndHaveTheirOwnBytes) {
  const Dataset data = standardize(make_data(1), Standardize::kAppend, context_);
  AdaBoostOptions options;
  options.bandit = BanditKind::kExp3G;
  AdaBoostTrainer trainer(data, options, context_);
  trainer.step(7);
  const AdaBoostModel seven = trainer.model().first_rounds(7);
  trainer.step(20);
  const AdaBoostModel of_many = trainer.model().first_rounds(7);
  seven.save(scratch_ / "a");
  of_many.save(scratch_ / "b");
  EXPECT_EQ(read_text_file(scratch_ / "a"), read_text_file(scratch_ / "b"));
  const auto scores = trainer.model().score(data, 7, context_);
  const auto prefix = AdaBoostModel::load(scratch_ / "a").score(data, 7, context_);
  EXPECT_TRUE(std::equal(scores.values().begin(), scores.values().end(), prefix.values().begin()));
  EXPECT_EQ(of_many.rounds(), 7);
  EXPECT_EQ(of_many.bandit_samples().size(), seven.bandit_samples().size());
}

}  // namespace
}  // namespace tunemix
