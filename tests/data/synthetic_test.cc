#include "tunemix/data/synthetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "tests/support.h"
#include "tunemix/core/error.h"
#include "tunemix/data/letor_reader.h"

namespace tunemix {
namespace {

SyntheticOptions web_like(size_t queries, std::string_view preset = "mslr10k") {
  SyntheticOptions options = synthetic_preset(preset);
  options.queries = queries;
  return options;
}

TEST(Synthetic, SameOnAnyThreadsAndInTheFile) {
  const test::ScratchDirectory scratch;
  for (const SyntheticOptions& options :
       {synthetic_preset("quickstart"), web_like(30), web_like(20, "web2")}) {
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

// The mean logarithm of a feature over relevant documents, and its square's.
std::pair<double, double> mean_if_relevant(const Dataset& data, size_t j) {
  double sum = 0;
  double square = 0;
  double count = 0;
  for (size_t i = 0; i < data.documents(); ++i) {
    if (data.labels()[i] < 2) continue;
    const double x = std::log1p(std::abs(data.row(i)[j]));
    sum += x;
    square += x * x;
    count += 1;
  }
  return {sum / count, square / count};
}

TEST(Synthetic, SeedsDifferButDescribeOneProblem) {
  for (const auto* preset : {"mslr10k", "web2"}) {
    SyntheticOptions options = web_like(700, preset);
    options.mean_length = 20;
    const Dataset a = make_synthetic(options, Context(2));
    options.seed = 2;
    const Dataset b = make_synthetic(options, Context(2));
    EXPECT_NE(a.fingerprint(), b.fingerprint());
    options.problem = 1;
    const Dataset other = make_synthetic(options, Context(2));
    size_t changed = 0;
    for (size_t j = 0; j < a.features(); ++j) {
      const auto [mean, square] = mean_if_relevant(a, j);
      const double near = 0.25 * std::sqrt(square) + 1e-9;
      EXPECT_NEAR(mean, mean_if_relevant(b, j).first, near) << preset << ", feature " << j + 1;
      changed += std::abs(mean - mean_if_relevant(other, j).first) > near ? 1 : 0;
    }
    EXPECT_GE(changed, 30U) << preset;
  }
}

std::vector<double> shares_of_labels(const Dataset& data) {
  std::vector<double> shares(5, 0.0);
  for (const int32_t label : data.labels())
    shares[static_cast<size_t>(label)] += 1 / static_cast<double>(data.documents());
  return shares;
}

auto shares_of_a_web_set() {
  using testing::DoubleNear;
  return testing::ElementsAre(DoubleNear(0.52, 0.04), DoubleNear(0.32, 0.03), DoubleNear(0.13, 0.03),
                              DoubleNear(0.02, 0.01), DoubleNear(0.01, 0.006));
}

// How many features are constant within every query, whole numbers, of a heavy tail; and the share of zeros.
struct Looks {
  size_t of_query = 0;
  size_t whole = 0;
  size_t heavy = 0;
  double zeros = 0;
};

Looks looks_of(const Dataset& data) {
  const auto n = static_cast<double>(data.documents());
  Looks looks;
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
        looks.zeros += x == 0 ? 1 / (n * static_cast<double>(data.features())) : 0;
        sum += x;
        most = std::max(most, x);
      }
    looks.of_query += constant;
    looks.whole += integral;
    looks.heavy += most > 50 * sum / n;
  }
  return looks;
}

TEST(Synthetic, LooksLikeAWebSet) {
  const Dataset data = make_synthetic(web_like(600), Context(2));
  EXPECT_NEAR(static_cast<double>(data.documents()) / 600, 72.3, 8);
  EXPECT_THAT(shares_of_labels(data), shares_of_a_web_set());
  const Looks looks = looks_of(data);
  EXPECT_NEAR(looks.zeros, 0.4, 0.15);
  EXPECT_GE(looks.of_query, 5U);
  EXPECT_GE(looks.whole, 30U);
  EXPECT_GE(looks.heavy, 15U);
  // Lengths vary.
  std::set<size_t> lengths;
  for (size_t q = 0; q < data.queries().size(); ++q) lengths.insert(data.queries().length(q));
  EXPECT_GT(lengths.size(), 80U);
  EXPECT_GT(*lengths.rbegin(), 8 * *lengths.begin());
}

TEST(Synthetic, TheSecondWebSetHasLongQueriesAndSomeWithoutRelevantDocuments) {
  const Dataset data = make_synthetic(web_like(1500, "web2"), Context(2));
  EXPECT_NEAR(static_cast<double>(data.documents()) / 1500, 80, 9);
  EXPECT_THAT(shares_of_labels(data), shares_of_a_web_set());
  const Looks looks = looks_of(data);
  EXPECT_NEAR(looks.zeros, 0.5, 0.15);
  EXPECT_EQ(looks.of_query, 13U);
  EXPECT_GE(looks.whole, 40U);
  EXPECT_GE(looks.heavy, 15U);
  size_t shortest = 1000;
  size_t longest = 0;
  double without = 0;
  for (size_t q = 0; q < data.queries().size(); ++q) {
    shortest = std::min(shortest, data.queries().length(q));
    longest = std::max(longest, data.queries().length(q));
    const auto labels = data.labels().subspan(data.queries().begin(q), data.queries().length(q));
    without += std::ranges::all_of(labels, [](int32_t label) { return label == 0; }) ? 1.0 / 1500 : 0;
  }
  EXPECT_EQ(shortest, 10U);
  EXPECT_GT(longest, 600U);
  EXPECT_LE(longest, 900U);
  EXPECT_NEAR(without, 0.05, 0.02);
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

// Whether a feature's ranks within the queries follow the labels, roughly: by the signs of differences of
// neighbours in queries that `counts` takes. About standard normal where they do not.
template <class Counts>
double concordance(const Dataset& data, size_t j, Counts counts) {
  double concordant = 0;
  double pairs = 0;
  for (size_t q = 0; q < data.queries().size(); ++q) {
    if (!counts(q)) continue;
    for (size_t i = data.queries().begin(q); i + 1 < data.queries().end(q); ++i) {
      const int label = data.labels()[i] - data.labels()[i + 1];
      const float value = data.row(i)[j] - data.row(i + 1)[j];
      if (label == 0 || value == 0) continue;
      concordant += (label > 0) == (value > 0) ? 1 : -1;
      pairs += 1;
    }
  }
  return pairs > 0 ? concordant / std::sqrt(pairs) : 0;
}

double concordance(const Dataset& data, size_t j) {
  return std::abs(concordance(data, j, [](size_t) { return true; }));
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

// What a topic of a document is worth depends on the query's column of that topic: much where the query asks
// for it alone, little or nothing where it does not.
TEST(Synthetic, TopicsOfQueryAndDocumentCountTogether) {
  const Dataset data = make_synthetic(web_like(1500, "web2"), Context(2));
  size_t counted = 0;
  size_t noise = 0;
  for (size_t j = 0; j < data.features(); ++j) {
    const size_t kind = j % 11;
    if (kind == 0) continue;
    noise += concordance(data, j) < 3 ? 1 : 0;
    if (kind != 1 && kind != 4 && kind != 7 && kind != 10) continue;  // counts of the terms of topic j mod 8
    const size_t column = 11 * (j % 8);
    const auto asks = [&](size_t q) { return data.row(data.queries().begin(q))[column]; };
    const double alone = concordance(data, j, [&](size_t q) { return asks(q) == 1; });
    const double not_at_all = concordance(data, j, [&](size_t q) { return asks(q) == 0; });
    counted += alone > 4 && alone > 2 * std::abs(not_at_all) ? 1 : 0;
  }
  EXPECT_GE(counted, 25U) << "of the 50 counts, of which a third is noise";
  EXPECT_GE(noise, 40U);
  EXPECT_LE(noise, 60U);
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
