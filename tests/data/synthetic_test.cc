#include "tunemix/data/synthetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/support.h"
#include "tunemix/core/error.h"
#include "tunemix/data/letor_reader.h"

namespace tunemix {
namespace {

SyntheticOptions web_like(size_t queries) {
  SyntheticOptions options = synthetic_preset("mslr10k");
  options.queries = queries;
  return options;
}

TEST(Synthetic, SameOnAnyThreadsAndInTheFile) {
  const test::ScratchDirectory scratch;
  for (const SyntheticOptions& options : {synthetic_preset("quickstart"), web_like(30)}) {
    const Dataset one = make_synthetic(options, Context(1));
    EXPECT_EQ(make_synthetic(options, Context(4)).fingerprint(), one.fingerprint());
    const auto file = scratch / "synthetic.txt";
    EXPECT_EQ(write_synthetic(options, file, Context(3)), one.documents());
    const Dataset read = read_letor(file, {}, Context(2));
    EXPECT_EQ(read.fingerprint(), one.fingerprint());
    ASSERT_EQ(read.names().size(), one.names().size());
    for (size_t i = 0; i < read.documents(); ++i) ASSERT_EQ(read.names()[i], one.names()[i]);
  }
}

TEST(Synthetic, SeedsDifferButDescribeOneProblem) {
  SyntheticOptions options = web_like(200);
  const Dataset a = make_synthetic(options, Context(2));
  options.seed = 2;
  const Dataset b = make_synthetic(options, Context(2));
  EXPECT_NE(a.fingerprint(), b.fingerprint());
  // Means of a feature over relevant documents agree between seeds, on the scale of its deviation.
  for (size_t j = 0; j < a.features(); ++j) {
    double mean[2] = {0, 0};
    double square = 0;
    double count[2] = {0, 0};
    for (const auto* data : {&a, &b})
      for (size_t i = 0; i < data->documents(); ++i) {
        if (data->labels()[i] < 2) continue;
        const double x = std::log1p(data->row(i)[j]);
        mean[data == &b] += x;
        count[data == &b] += 1;
        square += x * x;
      }
    const double deviation = std::sqrt(square / (count[0] + count[1]));
    EXPECT_NEAR(mean[0] / count[0], mean[1] / count[1], 0.25 * deviation + 1e-9) << "feature " << j + 1;
  }
}

TEST(Synthetic, LooksLikeAWebSet) {
  const Dataset data = make_synthetic(web_like(600), Context(2));
  const auto n = static_cast<double>(data.documents());
  EXPECT_NEAR(n / 600, 72.3, 8);
  // Labels: 52, 32, 13, 2 and 1 percent.
  std::vector<double> shares(5, 0.0);
  for (const int32_t label : data.labels()) shares[static_cast<size_t>(label)] += 1 / n;
  EXPECT_THAT(shares, testing::ElementsAre(testing::DoubleNear(0.52, 0.04), testing::DoubleNear(0.32, 0.03),
                                           testing::DoubleNear(0.13, 0.03), testing::DoubleNear(0.02, 0.01),
                                           testing::DoubleNear(0.01, 0.006)));
  size_t zeros = 0;
  size_t of_query = 0;
  size_t whole = 0;
  size_t heavy = 0;
  for (size_t j = 0; j < data.features(); ++j) {
    bool constant = true;
    bool integral = true;
    double sum = 0;
    float most = 0;
    for (size_t q = 0; q < data.queries().size(); ++q)
      for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i) {
        const float x = data.row(i)[j];
        constant = constant && x == data.row(data.queries().begin(q))[j];
        integral = integral && x == std::floor(x);
        zeros += x == 0;
        sum += x;
        most = std::max(most, x);
      }
    of_query += constant;
    whole += integral;
    heavy += most > 50 * sum / n;
  }
  EXPECT_NEAR(static_cast<double>(zeros) / (n * 136), 0.4, 0.15);
  EXPECT_GE(of_query, 5U);
  EXPECT_GE(whole, 30U);
  EXPECT_GE(heavy, 15U);
  // Lengths vary.
  std::set<size_t> lengths;
  for (size_t q = 0; q < data.queries().size(); ++q) lengths.insert(data.queries().length(q));
  EXPECT_GT(lengths.size(), 80U);
  EXPECT_GT(*lengths.rbegin(), 8 * *lengths.begin());
}

TEST(Synthetic, FileOrderTellsNothingOfRelevance) {
  const Dataset data = make_synthetic(web_like(600), Context(2));
  double sums[2] = {0, 0};
  double counts[2] = {0, 0};
  for (size_t q = 0; q < data.queries().size(); ++q)
    for (size_t i = 0; i < data.queries().length(q); ++i) {
      const bool late = 2 * i >= data.queries().length(q);
      sums[late] += data.labels()[data.queries().begin(q) + i];
      counts[late] += 1;
    }
  EXPECT_NEAR(sums[0] / counts[0], sums[1] / counts[1], 0.03);
}

// |correlation| of a feature's ranks within the queries with the labels, roughly: by the signs of
// differences.
double concordance(const Dataset& data, size_t j) {
  double concordant = 0;
  double pairs = 0;
  for (size_t i = 0; i + 1 < data.documents(); ++i) {
    const int label = data.labels()[i] - data.labels()[i + 1];
    const float value = data.row(i)[j] - data.row(i + 1)[j];
    if (label == 0 || value == 0) continue;
    concordant += (label > 0) == (value > 0) ? 1 : -1;
    pairs += 1;
  }
  return pairs > 0 ? std::abs(concordant) / std::sqrt(pairs) : 0;  // about standard normal where unrelated
}

TEST(Synthetic, OnlyTheUsefulFeaturesTellTheLabels) {
  SyntheticOptions options = web_like(120);
  options.features = 100;
  options.useful = 12;
  const Dataset data = make_synthetic(options, Context(2));
  options.seed = 2;
  const Dataset other = make_synthetic(options, Context(1));
  size_t telling = 0;
  for (size_t j = 0; j < 100; ++j) telling += concordance(data, j) > 4 && concordance(other, j) > 4 ? 1 : 0;
  EXPECT_GE(telling, 8U);
  EXPECT_LE(telling, 12U);
  // The labels and the useful features are those that there are without the option; the others look alike.
  options.useful = 0;
  const Dataset all = make_synthetic(options, Context(1));
  size_t same = 0;
  for (size_t j = 0; j < 100; ++j) {
    double mean[2] = {0, 0};
    bool equal = true;
    for (size_t i = 0; i < all.documents(); ++i) {
      equal = equal && all.row(i)[j] == other.row(i)[j];
      mean[0] += std::log1p(all.row(i)[j]);
      mean[1] += std::log1p(other.row(i)[j]);
    }
    same += equal ? 1 : 0;
    EXPECT_NEAR(mean[0], mean[1], 0.05 * mean[0]) << "feature " << j + 1;
  }
  EXPECT_TRUE(std::equal(all.labels().begin(), all.labels().end(), other.labels().begin()));
  EXPECT_GE(same, 12U);
  EXPECT_LE(same, 20U) << "besides the useful ones, those of the query";
}

TEST(Synthetic, RefusesWhatItCannotMake) {
  SyntheticOptions options;
  options.labels = 6;
  EXPECT_THROW(make_synthetic(options, Context(1)), InputError);
  options = {};
  options.features = 0;
  EXPECT_THROW(make_synthetic(options, Context(1)), InputError);
  options = {};
  options.useful = options.features + 1;
  EXPECT_THROW(make_synthetic(options, Context(1)), InputError);
  options = {};
  options.queries = 0;
  EXPECT_THROW(make_synthetic(options, Context(1)), InputError);
  EXPECT_THROW(synthetic_preset("yahoo"), InputError);
  EXPECT_THROW(write_synthetic({}, "/no/such/folder/file.txt", Context(1)), InputError);
}

}  // namespace
}  // namespace tunemix
