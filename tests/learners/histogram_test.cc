#include "learners/adaboost_mh/histogram.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/learners/boost_support.h"
#include "tests/support.h"

namespace tunemix::trees {
namespace {

constexpr size_t kBins = 37;

// The sums of some documents in each bin of one feature, straight from the definition.
struct PlainHistogram {
  std::vector<std::vector<int64_t>> positive, negative;  // [bin][label]

  PlainHistogram(const WeightTable& weights, const uint8_t* flip, const Documents& documents,
                 const uint8_t* bin_of)
      : positive(kBins, std::vector<int64_t>(weights.labels())), negative(positive) {
    const auto scale = static_cast<float>(kOne / weights.sum());
    for (size_t k = 0; k < documents.count; ++k) {
      const size_t i = documents.index == nullptr ? k : documents.index[k];
      for (size_t l = 0; l < weights.labels(); ++l) {
        const bool up = (weights.label()[i] == l) != (flip != nullptr && flip[i] != 0);
        (up ? positive : negative)[bin_of[i]][l] += fixed_point(weights.row(i)[l], scale, rounding_offset(i));
      }
    }
  }

  // Over the first `bins` bins, of one label.
  int64_t sum(size_t bins, size_t label, bool only_positive) const {
    int64_t total = 0;
    for (size_t b = 0; b < bins; ++b) total += positive[b][label] - (only_positive ? 0 : negative[b][label]);
    return total;
  }
};

// Documents with weights of several sizes, and their bins in eight features.
struct Case {
  Dataset data;
  Context context;
  WeightTable weights;
  std::vector<std::vector<uint8_t>> columns;
  std::vector<uint8_t> tile;
  std::vector<uint8_t> flip;
  std::vector<uint32_t> some;

  explicit Case(size_t labels)
      : data(labelled(labels)),
        weights(data.labels(), {}, labels, InitialWeights::kExponential, context),
        columns(8, std::vector<uint8_t>(data.documents())),
        tile(data.documents() * 8) {
    Random random(labels);
    for (size_t i = 0; i < data.documents(); ++i) {
      for (size_t f = 0; f < 8; ++f)
        tile[i * 8 + f] = columns[f][i] = static_cast<uint8_t>(f == 3 ? 5 : random.below(kBins));
      flip.push_back(static_cast<uint8_t>(random.below(2)));
      if (random.below(3) == 0) some.push_back(static_cast<uint32_t>(i));
    }
  }

  static Dataset labelled(size_t labels) {
    Random random(labels + 100);
    std::vector<float> features;
    std::vector<int32_t> label;
    for (size_t i = 0; i < 500; ++i) {
      features.push_back(0);
      label.push_back(static_cast<int32_t>(i < labels ? i : random.below(labels)));
    }
    return test::make_dataset(std::move(features), 1, std::move(label));
  }

  // The open histograms of all documents, or of `some`.
  std::vector<int32_t> histogram(const Kernels& kernels, const uint8_t* flips, bool all) const {
    std::vector<int32_t> open(8 * kernels.open_size(), 0);
    std::vector<int32_t> rows(data.documents() * kernels.lanes());
    const Documents documents = chosen(all);
    kernels.rows(weights, flips, documents, 0, documents.count, rows.data());
    std::vector<uint8_t> gathered;
    for (size_t k = 0; k < documents.count; ++k) {
      const size_t i = all ? k : some[k];
      gathered.insert(gathered.end(), tile.begin() + i * 8, tile.begin() + i * 8 + 8);
    }
    kernels.add_tile(rows.data(), gathered.data(), documents.count, open.data());
    return open;
  }
  Documents chosen(bool all) const {
    return all ? Documents{nullptr, data.documents()} : Documents{some.data(), some.size()};
  }
};

// What take() moves out of the open histogram of a feature.
std::vector<int32_t> packed(const Kernels& kernels, std::vector<int32_t>& open, size_t feature) {
  // One bin more, which must stay as it is, and what a search may read.
  std::vector<int32_t> result((kBins + 1) * kernels.packed_lanes() + kernels.lanes(), 77);
  kernels.take(&open[feature * kernels.open_size()], kBins, result.data());
  for (size_t k = kBins * kernels.packed_lanes(); k < result.size(); ++k) EXPECT_EQ(result[k], 77);
  return result;
}

void expect_equal(const Kernels& kernels, const std::vector<int32_t>& packed, const PlainHistogram& expected,
                  size_t labels, RowKind kind) {
  for (const size_t bins : {size_t{1}, size_t{6}, kBins}) {
    const Sums total = kernels.total(packed.data(), bins);
    for (size_t l = 0; l < labels; ++l) {
      EXPECT_EQ(kernels.signed_sum(total, l), expected.sum(bins, l, false));
      if (kind == RowKind::kSplit) {
        EXPECT_EQ(kernels.positive_sum(total, l), expected.sum(bins, l, true));
      }
    }
  }
}

// Every width of row, padded to 4, 8, 16 and 32 labels, in two planes and not, and every instruction set.
class Histograms : public testing::TestWithParam<std::tuple<size_t, RowKind, Instructions>> {
 protected:
  size_t labels_ = std::get<0>(GetParam());
  RowKind kind_ = std::get<1>(GetParam());
  Case case_{labels_};
  const Kernels* kernels_ = &kernels_for(labels_, kind_, std::get<2>(GetParam()));
  const uint8_t* flip() const { return kind_ == RowKind::kSigned ? case_.flip.data() : nullptr; }
  PlainHistogram plain(size_t feature, bool all) const {
    return {case_.weights, flip(), case_.chosen(all), case_.columns[feature].data()};
  }
};

TEST_P(Histograms, AreTheSumsOfTheDefinition) {
  for (const bool all : {true, false}) {
    std::vector<int32_t> open = case_.histogram(*kernels_, flip(), all);
    for (size_t f = 0; f < 8; ++f)
      expect_equal(*kernels_, packed(*kernels_, open, f), plain(f, all), labels_, kind_);
    EXPECT_EQ(open, std::vector<int32_t>(open.size(), 0));
  }
}

TEST_P(Histograms, AreTheSameFromColumnsAndFromDrawnFeatures) {
  std::vector<const uint8_t*> columns;
  for (size_t f = 0; f < 7; ++f) columns.push_back(case_.columns[f].data());
  for (const bool all : {true, false}) {
    const Documents documents = case_.chosen(all);
    const std::vector<int32_t> expected = case_.histogram(*kernels_, flip(), all);
    const size_t size = 7 * kernels_->open_size();
    std::vector<int32_t> rows(case_.data.documents() * kernels_->lanes());
    std::vector<int32_t> by_column(size, 0), drawn(size, 0);
    kernels_->rows(case_.weights, flip(), documents, 0, documents.count, rows.data());
    kernels_->add_columns(rows.data(), columns, documents, 0, documents.count, by_column.data());
    const size_t half = documents.count / 2;
    kernels_->add_drawn(case_.weights, flip(), columns, documents, 0, half, drawn.data());
    kernels_->add_drawn(case_.weights, flip(), columns, documents, half, documents.count - half,
                        drawn.data());
    EXPECT_TRUE(std::equal(by_column.begin(), by_column.end(), expected.begin()));
    EXPECT_EQ(by_column, drawn);
  }
}

TEST_P(Histograms, OfTheRestAreThoseOfAllLessThoseOfSome) {
  std::vector<int32_t> all = case_.histogram(*kernels_, flip(), true);
  std::vector<int32_t> some = case_.histogram(*kernels_, flip(), false);
  for (size_t f = 0; f < 8; ++f) {
    std::vector<int32_t> rest = packed(*kernels_, all, f);
    const std::vector<int32_t> less = packed(*kernels_, some, f);
    for (size_t k = 0; k < kBins * kernels_->packed_lanes(); ++k) rest[k] -= less[k];
    PlainHistogram expected = plain(f, true);
    const PlainHistogram part = plain(f, false);
    for (size_t b = 0; b < kBins; ++b)
      for (size_t l = 0; l < labels_; ++l) {
        expected.positive[b][l] -= part.positive[b][l];
        expected.negative[b][l] -= part.negative[b][l];
      }
    expect_equal(*kernels_, rest, expected, labels_, kind_);
  }
}

TEST_P(Histograms, TheBestCutHasTheHighestValue) {
  std::vector<int32_t> open = case_.histogram(*kernels_, flip(), true);
  std::vector<CriterionKind> kinds = {CriterionKind::kStump, CriterionKind::kEdge};
  if (kind_ == RowKind::kSplit) kinds.push_back(CriterionKind::kEnergy);
  for (size_t f = 0; f < 8; ++f) {
    const std::vector<int32_t> own = packed(*kernels_, open, f);
    for (const CriterionKind kind : kinds) {
      const PlainHistogram sums = plain(f, true);
      const auto value = [&](size_t cut) {
        double result = 0;
        for (size_t l = 0; l < labels_; ++l) {
          const auto side = [&](bool positive, bool above) {
            const auto below = static_cast<double>(sums.sum(cut + 1, l, positive));
            return above ? static_cast<double>(sums.sum(kBins, l, positive)) - below : below;
          };
          if (kind == CriterionKind::kStump)
            result += std::abs(side(false, true) - side(false, false));
          else if (kind == CriterionKind::kEdge)
            result += std::abs(side(false, true)) + std::abs(side(false, false));
          else
            for (const bool above : {false, true})
              result -= std::sqrt(side(true, above) * (side(true, above) - side(false, above)));
        }
        return result;
      };
      double highest = value(0);
      for (size_t cut = 1; cut + 1 < kBins; ++cut) highest = std::max(highest, value(cut));
      const BestCut found =
          kernels_->best_cut(own.data(), kBins, kernels_->total(own.data(), kBins), {kind, false, 0});
      if (f == 3 && !found.found) continue;  // all documents are in one bin
      ASSERT_TRUE(found.found);
      const double tolerance = kind == CriterionKind::kEnergy ? 1e-5 * std::abs(highest) : 0;
      EXPECT_NEAR(found.value, highest, tolerance);
      EXPECT_NEAR(value(found.bin), highest, tolerance);
    }
  }
}

TEST_P(Histograms, CutsAreThoseOfThePlainLoopsToTheLastBit) {
  const Kernels& plain_loops = kernels_for(labels_, kind_, Instructions::kScalar);
  std::vector<CriterionKind> kinds = {CriterionKind::kStump, CriterionKind::kEdge};
  if (kind_ == RowKind::kSplit) kinds.push_back(CriterionKind::kEnergy);
  for (const bool all : {true, false}) {
    std::vector<int32_t> open = case_.histogram(*kernels_, flip(), all);
    std::vector<int32_t> open_plain = case_.histogram(plain_loops, flip(), all);
    for (size_t f = 0; f < 8; ++f) {
      const std::vector<int32_t> own = packed(*kernels_, open, f);
      const std::vector<int32_t> expected = packed(plain_loops, open_plain, f);
      const Sums total = kernels_->total(own.data(), kBins);
      const Sums expected_total = plain_loops.total(expected.data(), kBins);
      for (const CriterionKind kind : kinds)
        for (const bool pooled : {false, true}) {
          if (pooled && kind == CriterionKind::kStump) continue;
          const Criterion criterion = {kind, pooled, 0x5a5a5a5a};
          const BestCut got = kernels_->best_cut(own.data(), kBins, total, criterion);
          const BestCut want = plain_loops.best_cut(expected.data(), kBins, expected_total, criterion);
          EXPECT_EQ(got.found, want.found);
          EXPECT_EQ(got.value, want.value);
          EXPECT_EQ(got.bin, want.bin);
          if (kind == CriterionKind::kStump) continue;
          EXPECT_EQ(kernels_->uncut(total, criterion), plain_loops.uncut(expected_total, criterion));
        }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, Histograms,
                         testing::Combine(testing::Values(2, 3, 4, 5, 6, 8, 9, 10, 11, 16, 20, 21, 32),
                                          testing::Values(RowKind::kSigned, RowKind::kSplit),
                                          testing::ValuesIn(available_instructions())));

}  // namespace
}  // namespace tunemix::trees
