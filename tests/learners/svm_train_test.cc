// Training as a user sees it: awkward data, paths, threads, scaling, files.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/learners/svm_support.h"
#include "tests/support.h"
#include "tunemix/core/binary.h"
#include "tunemix/data/letor_reader.h"

namespace tunemix {
namespace {

using test::OneC;
using test::random_rows;
using test::Rows;
using test::scores_of;
using test::train_svm;

void expect_solved(const Rows& rows, OneC options, const std::string& what) {
  const Context context;
  for (const SvmSolver solver : test::kSolvers)
    for (const SvmScale scale : {SvmScale::kNone, SvmScale::kMinMax, SvmScale::kStandard})
      for (const bool bias : {false, true})
        for (const double C : {1e-6, 1.0, 100.0}) {
          options.solver = solver;
          options.scale = scale;
          options.bias = bias;
          options.C = C;
          const Dataset data = rows.dataset();
          const SvmSolution model = train_svm(data, options, context);
          EXPECT_LE(model.gap(), 1e-3) << what << ", C " << C;
          EXPECT_GE(model.gap(), -1e-12) << what;
          const ScoreMatrix scores = scores_of(model, data, context);
          for (const float f : scores.values()) EXPECT_TRUE(std::isfinite(f)) << what;
        }
}

TEST(SvmTrain, AwkwardDataIsSolved) {
  Rows zeros = random_rows(30, 3, 3, 1);
  std::fill(zeros.x.begin() + 15, zeros.x.begin() + 60, 0.0F);
  expect_solved(zeros, {}, "rows of zeros");

  Rows nothing = random_rows(20, 2, 3, 2);
  std::fill(nothing.x.begin(), nothing.x.end(), 0.0F);
  expect_solved(nothing, {}, "only zeros");

  Rows twins = random_rows(20, 3, 3, 3);
  for (size_t e = 0; e < 30; ++e) twins.x[30 + e] = twins.x[e];
  expect_solved(twins, {}, "duplicate rows with different labels");

  Rows same = random_rows(20, 3, 3, 4);
  std::fill(same.labels.begin(), same.labels.end(), 2);
  expect_solved(same, {}, "one label, not the first");
  std::fill(same.labels.begin(), same.labels.end(), 0);
  expect_solved(same, {}, "one label in all");

  OneC many;
  many.labels = 9;
  expect_solved(random_rows(4, 2, 3, 5), many, "fewer documents than labels");

  Rows constant = random_rows(30, 3, 3, 6);
  for (size_t i = 0; i < 30; ++i) constant.x[i * 3 + 1] = 0.1F;
  expect_solved(constant, {}, "a constant feature");
}

TEST(SvmTrain, APathEqualsColdStartsWithinTheGapAndKeepsTheOrderAsked) {
  const Context context;
  const Dataset data = random_rows(1500, 8, 4, 9).dataset();
  OneC options;
  const double Cs[] = {10, 1e-4, 1, 1000, 1};
  const std::vector<SvmSolution> path = train_svm_path(data, options, Cs, context);
  ASSERT_EQ(path.size(), std::size(Cs));
  for (size_t c = 0; c < std::size(Cs); ++c) {
    EXPECT_EQ(path[c].C, Cs[c]);
    options.C = Cs[c];
    const auto cold = train_svm(data, options, context);
    EXPECT_LE(path[c].gap(), 1e-3);
    EXPECT_LE(std::abs(path[c].primal - cold.primal), 1e-3 * cold.primal);
    EXPECT_GE(path[c].primal, cold.dual);
  }
}

TEST(SvmTrain, SameBytesOnAnyNumberOfThreads) {
  const Dataset data = random_rows(5000, 12, 5, 12).dataset();
  const double Cs[] = {1e-3, 1, 1000};
  for (const SvmSolver solver : test::kSolvers) {
    OneC options;
    options.solver = solver;
    options.max_epochs = 100;
    const std::vector<SvmSolution> one = train_svm_path(data, options, Cs, Context(1));
    for (const int threads : {2, 4}) {
      const std::vector<SvmSolution> more = train_svm_path(data, options, Cs, Context(threads));
      for (size_t c = 0; c < std::size(Cs); ++c) {
        EXPECT_EQ(one[c].id(), more[c].id());
        EXPECT_EQ(one[c].primal, more[c].primal);
        EXPECT_EQ(one[c].dual, more[c].dual);
      }
    }
  }
}

TEST(SvmTrain, ScalingIsFittedStoredAndApplied) {
  const Context context;
  Rows rows = random_rows(400, 3, 3, 14);
  for (size_t i = 0; i < 400; ++i) rows.x[i * 3] = 1000 + 50 * rows.x[i * 3];
  for (const SvmScale scale : {SvmScale::kMinMax, SvmScale::kStandard}) {
    OneC options;
    options.scale = scale;
    options.gap = 1e-6;
    const Dataset data = rows.dataset();
    const SvmSolution model = train_svm(data, options, context);
    Rows scaled = rows;
    for (size_t i = 0; i < 400; ++i)
      for (size_t j = 0; j < 3; ++j)
        scaled.x[i * 3 + j] = static_cast<float>(
            (static_cast<double>(rows.x[i * 3 + j]) - model.scaling.shift[j]) * model.scaling.factor[j]);
    double low = INFINITY;
    double high = -INFINITY;
    double squares = 0;
    for (size_t i = 0; i < 400; ++i) {
      low = std::min(low, static_cast<double>(scaled.x[i * 3]));
      high = std::max(high, static_cast<double>(scaled.x[i * 3]));
      squares += std::pow(static_cast<double>(scaled.x[i * 3]), 2);
    }
    if (scale == SvmScale::kMinMax) {
      EXPECT_EQ(low, 0);
      EXPECT_EQ(high, 1);
    } else {
      EXPECT_NEAR(squares / 400, 1, 1e-4);
    }
    options.scale = SvmScale::kNone;
    const SvmSolution same = train_svm(scaled.dataset(), options, context);
    EXPECT_NEAR(model.primal, same.primal, 1e-9);
    const ScoreMatrix a = scores_of(model, data, context);
    const ScoreMatrix b = scores_of(same, scaled.dataset(), context);
    for (size_t e = 0; e < a.values().size(); ++e) EXPECT_NEAR(a.values()[e], b.values()[e], 1e-4);
  }
}

TEST(SvmTrain, WhatDoesNotFitIsRefused) {
  const Context context;
  const Dataset data = random_rows(50, 3, 3, 15).dataset();
  OneC options;
  options.labels = 2;
  EXPECT_THROW(train_svm(data, options, context), InputError);
  const double negative[] = {1, -1};
  EXPECT_THROW(train_svm_path(data, {}, negative, context), InputError);
  EXPECT_THROW(train_svm(Dataset(FloatBuffer(), 3, {{}, QueryIndex()}), {}, context), InputError);
  const SvmSolution model = train_svm(data, {}, context);
  try {
    scores_of(model, random_rows(50, 4, 3, 15).dataset(), context);
    FAIL() << "accepted 4 features";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("4 features"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("expects 3"), std::string::npos);
  }
}

TEST(SvmTrain, LeavesManyWeightsToDescent) {
  const Context context;
  const Dataset data = random_rows(60, 120, 3, 9).dataset();
  OneC options;
  options.C = 1e4;
  options.gap = 1e-12;
  const auto trained = [&](SvmSolver solver, int max_epochs) {
    options.solver = solver;
    options.max_epochs = max_epochs;
    const SvmSolution model = train_svm(data, options, context);
    return std::pair(model.epochs, model.dual);
  };
  const int within = 1000;  // a Newton step costs as much as forty passes
  EXPECT_EQ(trained(SvmSolver::kAuto, within), trained(SvmSolver::kDual, within));
  EXPECT_NE(trained(SvmSolver::kAuto, 4 * within), trained(SvmSolver::kDual, 4 * within));
}

TEST(SvmTrain, SaysWhenTheGapIsNotReached) {
  Context context;
  std::vector<std::string> warnings;
  context.on_log = [&](LogLevel, const std::string& message) { warnings.push_back(message); };
  OneC options;
  options.gap = 1e-9;
  options.C = 1e4;
  options.max_epochs = 2;
  const SvmSolution model = train_svm(random_rows(500, 5, 3, 16).dataset(), options, context);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("stopped after 2 epochs"), std::string::npos);
  EXPECT_GT(model.gap(), 1e-9);
}

// Forty features that are nearly the same, and labels of which three fifths are chance: a model gains next to
// nothing, and how little is hard to tell.
TEST(SvmTrain, DoesNotLookForLongWhatNoiseDoesNotHave) {
  Rows rows = random_rows(1000, 40, 5, 17);
  Random random(18);
  for (size_t i = 0; i < rows.labels.size(); ++i) {
    float* x = rows.x.data() + 40 * i;
    const double common = random.normal();
    for (size_t j = 0; j < 40; ++j) x[j] = static_cast<float>(common + 0.1 * static_cast<double>(x[j]));
    const double score = common + 5 * static_cast<double>(x[0] - x[1]) + random.normal() - 1;
    rows.labels[i] = std::clamp(static_cast<int>(score), 0, 4);
    if (random.uniform() < 0.6)  // one half 0, a quarter 1, ...: with 2^label as weights all alike
      rows.labels[i] = std::min(4, static_cast<int>(-std::log2(1 - random.uniform())));
  }
  Context context;
  std::vector<std::string> warnings;
  context.on_log = [&](LogLevel, const std::string& message) { warnings.push_back(message); };
  OneC options;
  options.solver = SvmSolver::kDual;
  options.C = 30;
  const SvmSolution model = train_svm(rows.dataset(), options, context);
  EXPECT_LE(model.gap(), options.gap);
  EXPECT_LT(model.epochs, 500);
  EXPECT_TRUE(warnings.empty()) << warnings[0];
}

TEST(SvmModel, ComesBackFromItsBytesAndRefusesBrokenOnes) {
  const Context context;
  const Dataset data = random_rows(100, 4, 3, 19).dataset();
  const SvmSolution model = train_svm(data, {}, context);
  BinaryWriter saved;
  model.save(saved);
  const auto load = [](std::span<const uint8_t> bytes) {
    BinaryReader in(bytes, "the test");
    SvmSolution loaded = SvmSolution::load(in);
    in.expect_end();
    return loaded;
  };
  const SvmSolution again = load(saved.bytes());
  EXPECT_EQ(again.id(), model.id());
  EXPECT_EQ(again.primal, model.primal);
  EXPECT_EQ(again.epochs, model.epochs);
  const ScoreMatrix a = scores_of(model, data, context);
  const ScoreMatrix b = scores_of(again, data, context);
  EXPECT_TRUE(std::equal(a.values().begin(), a.values().end(), b.values().begin()));
  for (const size_t cut : {size_t{0}, size_t{5}, saved.bytes().size() / 2, saved.bytes().size() - 1})
    EXPECT_THROW(load(saved.bytes().first(cut)), InputError);

  BinaryWriter out;  // well-formed, but three weights for two features and two labels
  out.put<uint64_t>(2);
  for (const size_t size : {2, 2, 3}) out.put(std::vector<double>(size, 1.0));
  for (int i = 0; i < 3; ++i) out.put(1.0);
  out.put<int32_t>(1);
  EXPECT_THROW(load(out.bytes()), InputError);
}

TEST(SvmTrain, SolversAgreeOnMq2008) {
  TUNEMIX_NEED_SHARED_DATA();
  const Context context(2);
  const Dataset data = read_letor(test::shared_data() / "MQ2008" / "S1.txt", {}, context);
  const double Cs[] = {0.01, 1, 100};
  std::vector<std::vector<SvmSolution>> paths;
  for (const SvmSolver solver : test::kSolvers) {
    OneC options;
    options.solver = solver;
    paths.push_back(train_svm_path(data, options, Cs, context));
  }
  for (const auto& a : paths)
    for (size_t c = 0; c < std::size(Cs); ++c) {
      EXPECT_LE(a[c].gap(), 1e-3);
      // Each dual value bounds every primal value.
      for (const auto& b : paths) EXPECT_GE(a[c].primal, b[c].dual);
    }
}

}  // namespace
}  // namespace tunemix
