// The SVM as `train`, `score` and `inspect` use it.
#include <gtest/gtest.h>

#include "pipeline/learners/learner.h"
#include "tests/support.h"
#include "tests/svm/support.h"
#include "tunemix/core/error.h"

namespace tunemix {
namespace {

TEST(SvmLearner, TrainsScoresAndInspects) {
  const Context context;
  const Dataset data = test::random_rows(200, 3, 3, 4).dataset();
  const test::ScratchDirectory scratch;
  const LearnerPlugin plugin = svm_plugin();
  const auto told = plugin.train(
      data, {{"C", "10"}, {"bias", "false"}, {"scale", "none"}, {"weights", "uniform"}, {"gap", "0.001"}},
      scratch / "svm.tmx", context);
  for (const char* key : {"primal", "dual", "relative_gap", "epochs", "seconds"})
    EXPECT_TRUE(told.contains(key)) << key;
  EXPECT_LE(told["relative_gap"].get<double>(), 1e-3);
  EXPECT_GT(told["primal"].get<double>(), told["dual"].get<double>());
  const ScoreMatrix scores = plugin.score(scratch / "svm.tmx", data, context);
  EXPECT_EQ(scores.documents(), 200U);
  EXPECT_EQ(scores.columns(), 3U);
  EXPECT_EQ(plugin.inspect(scratch / "svm.tmx")["primal"], told["primal"]);
  EXPECT_THROW(plugin.train(data, {{"c", "10"}}, {}, context), InputError);
}

}  // namespace
}  // namespace tunemix
