// Every learner, calibration and mixture of the library in one small run; also what the sanitizers look at.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/learners/train_by_name.h"
#include "tests/support.h"
#include "tunemix/core/binary.h"
#include "tunemix/data/synthetic.h"
#include "tunemix/export/bundle.h"
#include "tunemix/mix/mixer.h"

namespace tunemix {
namespace {

struct Run {
  std::string type;
  Settings settings;
  std::vector<int64_t> lengths;
};

std::vector<Run> two_classifiers() {
  std::vector<Run> runs;
  for (const auto& [base, bandit] : {std::pair{"stump", "none"}, std::pair{"tree", "none"},
                                     std::pair{"tree", "exp3g"}, std::pair{"product", "ucbv"}})
    runs.push_back(
        {"adaboost_mh", {{"base", base}, {"bandit", bandit}, {"leaves", "4"}, {"terms", "2"}}, {8}});
  runs.push_back({"svm", {{"C", "[0.01, 1]"}}, {}});
  return runs;
}

std::vector<Run> every_learner() {
  std::vector<Run> runs;
  for (const std::string& type : test::trained_types()) {
    Run& run = runs.emplace_back(Run{type, {}, {}});
    if (registry().expect(type).length_option() != nullptr) run.lengths = {3};
  }
  return runs;
}

class SmallEnsemble {
 public:
  explicit SmallEnsemble(int threads, const std::vector<Run>& runs = two_classifiers())
      : context_(threads, 5) {
    for (const Run& run : runs) add(run.type, run.settings, run.lengths);
    MixOptions options;
    options.c_step = 50;
    const Variant all{"ALL+EXP", "", std::nullopt, false};
    const MemberSource source = [&](size_t member) { return std::span(scores_[member]); };
    MixResult result = std::move(mix(members_, source, {valid_.queries(), valid_.labels(), grades_},
                                     std::span(&all, 1), options, context_)[0]);
    valid_scores_.resize(valid_.documents());
    result.mixture.apply([&](size_t m) { return source(result.sources[m]); }, valid_.queries(), valid_scores_,
                         context_);
    std::vector<BundleMember> chosen;
    for (const size_t m : result.sources) chosen.push_back(bundle_members_[m]);
    BundleInfo info{"small", all.name, 1, "key", train_.features(), 3};
    bundle_ =
        std::make_unique<Bundle>(info, std::move(models_), std::move(chosen), std::move(result.mixture));
  }

  const Dataset& valid() const { return valid_; }
  const std::vector<float>& valid_scores() const { return valid_scores_; }  // as the run mixed them
  const Bundle& bundle() const { return *bundle_; }
  const Context& context() const { return context_; }

 private:
  Dataset made(uint64_t seed) const {
    return make_synthetic({.queries = 12, .features = 9, .labels = 3, .mean_length = 10, .seed = seed},
                          context_);
  }

  void add(const std::string& type, const Settings& settings, std::vector<int64_t> lengths) {
    const LearnedModel learned = test::train_by_name(train_, type, settings, std::move(lengths), context_);
    const Model& model = *learned.model;
    for (size_t p = 0; p < model.points().size(); ++p) {
      const Point point = model.points()[p];
      const ScoreMatrix train_scores = model.score(train_, std::span(&p, 1), context_)[0];
      const ScoreMatrix valid_scores = model.score(valid_, std::span(&p, 1), context_)[0];
      CalibrationOptions options;
      options.max_steps = 50;
      const CalibrationInput input{train_scores, train_.labels(), train_.queries(), grades_, model.range(p)};
      for (Calibrator& calibrator :
           fit_calibrators(all_calibrations(train_scores.columns()), input, options, 1, context_)) {
        members_.push_back({learned.learner->family, calibrator.spec().kind, point.length,
                            fmt::format("{} {}", models_.size(), point.label), calibrator.spec().name()});
        scores_.emplace_back(valid_.documents());
        calibrator.apply(valid_scores, scores_.back(), context_);
        bundle_members_.push_back(
            {{static_cast<uint32_t>(models_.size())}, static_cast<uint32_t>(p), std::move(calibrator)});
      }
    }
    models_.push_back({test::copy_of(learned), Standardize::kNone});
  }

  Context context_;
  std::vector<double> grades_ = {0, 1, 3};
  Dataset train_ = made(1);
  Dataset valid_ = made(2);
  std::vector<BundleModel> models_;
  std::vector<Member> members_;
  std::vector<std::vector<float>> scores_;  // of the validation data, by member
  std::vector<BundleMember> bundle_members_;
  std::vector<float> valid_scores_;
  std::unique_ptr<Bundle> bundle_;
};

TEST(SmallRun, PredictsWhatTheRunMixed) {
  const SmallEnsemble run(1);
  EXPECT_EQ(run.bundle().models().size(), 5U);
  EXPECT_EQ(run.bundle().predict(run.valid(), run.context()), run.valid_scores());
}

TEST(SmallRun, EveryLearnerIsTrainedScoredCalibratedAndMixed) {
  const SmallEnsemble run(2, every_learner());
  EXPECT_EQ(run.bundle().models().size(), test::trained_types().size());
  std::set<std::string> families;
  for (const Member& member : run.bundle().mixture().members()) families.insert(member.family);
  for (const std::string& type : test::trained_types())
    EXPECT_TRUE(families.contains(registry().expect(type).family)) << type;
  for (const float score : run.valid_scores()) ASSERT_TRUE(std::isfinite(score));
  EXPECT_EQ(run.bundle().predict(run.valid(), run.context()), run.valid_scores());
  const test::ScratchDirectory scratch;
  run.bundle().save(scratch / "b.tmx");
  EXPECT_EQ(Bundle::load(scratch / "b.tmx", registry()).predict(run.valid(), run.context()),
            run.valid_scores());
}

TEST(SmallRun, IsTheSameBytesOnAnyNumberOfThreads) {
  const test::ScratchDirectory scratch;
  const SmallEnsemble one(1);
  const SmallEnsemble three(3);
  one.bundle().save(scratch / "one");
  three.bundle().save(scratch / "three");
  EXPECT_EQ(read_text_file(scratch / "one"), read_text_file(scratch / "three"));
  EXPECT_EQ(one.valid_scores(), three.valid_scores());
  EXPECT_EQ(one.bundle().predict(one.valid(), three.context()), one.valid_scores());
}

TEST(SmallRun, RoundTrips) {
  const test::ScratchDirectory scratch;
  const SmallEnsemble run(2);
  run.bundle().save(scratch / "b.tmx");
  const Bundle loaded = Bundle::load(scratch / "b.tmx", registry());
  EXPECT_EQ(loaded.info().row, "ALL+EXP");
  EXPECT_EQ(loaded.mixture().weights(), run.bundle().mixture().weights());
  EXPECT_EQ(loaded.predict(run.valid(), run.context()), run.valid_scores());
  EXPECT_EQ(read_bundle_info(scratch / "b.tmx").key, "key");
  loaded.save(scratch / "again.tmx");
  EXPECT_EQ(read_text_file(scratch / "again.tmx"), read_text_file(scratch / "b.tmx"));
}

// Beneath the checksum every part guards itself: a payload that is cut off anywhere is refused, and one with
// a changed byte is refused or read, but nothing worse.
TEST(SmallRun, DamagedPayloadsAreRefused) {
  const test::ScratchDirectory scratch;
  SmallEnsemble(1).bundle().save(scratch / "b.tmx");
  const Artifact whole = read_artifact(scratch / "b.tmx");
  const auto load = [&](std::span<const uint8_t> payload) {
    write_artifact(scratch / "damaged.tmx", Bundle::kKind, Bundle::kVersion, payload, Compression::kNone);
    Bundle::load(scratch / "damaged.tmx", registry());
  };
  load(whole.payload);
  const size_t size = whole.payload.size();
  for (size_t i = 0; i < 50; ++i)
    EXPECT_THROW(load(std::span(whole.payload).first(i * size / 50)), InputError) << i;
  for (size_t i = 0; i < 100; ++i) {
    std::vector<uint8_t> changed = whole.payload;
    changed[i * size / 100] ^= 0xffU;
    try {
      load(changed);
    } catch (const InputError&) {  // as good
    }
  }
}

TEST(SmallRun, RefusesDataOfAnotherWidth) {
  const SmallEnsemble run(1);
  const Dataset other = make_synthetic({.queries = 3, .features = 8, .labels = 3}, run.context());
  EXPECT_THROW(run.bundle().predict(other, run.context()), InputError);
}

}  // namespace
}  // namespace tunemix
