#include <gtest/gtest.h>

#include <cmath>

#include "tests/support.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/svm/crammer_singer.h"

namespace tunemix {
namespace {

TEST(SvmTrain, BothSolversReachTheGapOnMq2008AndAgree) {
  TUNEMIX_NEED_SHARED_DATA();
  const Context context(2);
  const Dataset data = read_letor(test::shared_data() / "MQ2008" / "S1.txt", {}, context);
  const double Cs[] = {0.01, 1, 100};
  SvmOptions options;
  options.solver = SvmSolver::kNewton;
  const auto newton = train_svm_path(data, options, Cs, context);
  options.solver = SvmSolver::kDual;
  const auto dual = train_svm_path(data, options, Cs, context);
  for (size_t c = 0; c < std::size(Cs); ++c) {
    const auto& a = newton[c].solution();
    const auto& b = dual[c].solution();
    EXPECT_EQ(a.C, Cs[c]);
    EXPECT_LE(a.gap(), 1e-3);
    EXPECT_LE(b.gap(), 1e-3);
    EXPECT_GE(a.gap(), 0);
    EXPECT_GE(b.gap(), 0);
    // Each dual value bounds the other's primal value.
    EXPECT_GE(a.primal, b.dual);
    EXPECT_GE(b.primal, a.dual);
  }
}

}  // namespace
}  // namespace tunemix
