#include <gtest/gtest.h>

#include "pipeline/learners/learner.h"
#include "tests/support.h"
#include "tunemix/data/synthetic.h"
#include "tunemix/learners/svm.h"

namespace tunemix {
namespace {

TEST(SvmLearner, TrainsScoresAndTellsWhatItReached) {
  const Context context;
  SyntheticOptions synthetic;
  synthetic.queries = 20;
  const Dataset data = make_synthetic(synthetic, context);
  const test::ScratchDirectory scratch;
  const LearnerPlugin plugin = svm_plugin();
  const auto figures = plugin.train({data, {{"C", "10"}, {"gap", "0.001"}}, scratch / "m.tmx", {}}, context);
  EXPECT_LE(figures["dual"].get<double>(), figures["primal"].get<double>());
  EXPECT_LE(figures["relative_gap"].get<double>(), 0.001);
  const LoadedModel loaded = plugin.load(scratch / "m.tmx");
  EXPECT_EQ(loaded.features, data.features());
  const ScoreMatrix scores = loaded.score(data, 0, context);
  EXPECT_EQ(scores.documents(), data.documents());
  EXPECT_EQ(scores.columns(), 5u);
  EXPECT_EQ(loaded.description["C"], 10.0);
  EXPECT_THROW(plugin.train({data, {{"Cee", "1"}}, {}, {}}, context), InputError);
  EXPECT_THROW(plugin.train({data, {}, {}, scratch / "m.tmx"}, context), InputError);
}

}  // namespace
}  // namespace tunemix
