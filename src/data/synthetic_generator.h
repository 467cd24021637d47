// What all structures of synthetic data have in common: a random stream for each query, labels by fixed
// thresholds, and features that only look useful.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "tunemix/core/error.h"
#include "tunemix/core/random.h"
#include "tunemix/data/synthetic.h"

namespace tunemix {

class SyntheticGenerator {
 public:
  virtual ~SyntheticGenerator() = default;
  virtual size_t length(size_t q) const = 0;
  // Fills the labels and rows of query q, length(q) of them.
  virtual void fill(size_t q, int32_t* labels, float* rows) const = 0;
};

std::unique_ptr<SyntheticGenerator> make_fields_generator(const SyntheticOptions& options);
std::unique_ptr<SyntheticGenerator> make_topics_generator(const SyntheticOptions& options);

// Four 16-bit uniforms from one draw: near enough to a Gaussian, and cheap.
inline double rough_normal(Random& random) {
  const uint64_t bits = random.next();
  const auto sum =
      static_cast<double>((bits & 0xffff) + ((bits >> 16) & 0xffff) + ((bits >> 32) & 0xffff) + (bits >> 48));
  return (sum * 0x1.0p-16 - 2.0) * 1.7320508075688772;
}

// As many decimals as ranking files have and a float can hold.
inline float decimals(double x) {
  const double size = std::abs(x);
  const double unit = size < 10 ? 1e6 : size < 100 ? 1e5 : size < 1000 ? 1e4 : size < 1e5 ? 1e2 : 1;
  return static_cast<float>(std::nearbyint(x * unit) / unit);
}

inline double logistic_of(double x) { return 1 / (1 + std::exp(-x)); }

// Documents of a query: log-normal with the mean of the options, within limits that are multiples of it.
inline size_t draw_length(double mean, double spread, double least, double most, Random& random) {
  const double length =
      std::nearbyint(std::exp(std::log(mean) - spread * spread / 2 + spread * random.normal()));
  return static_cast<size_t>(std::clamp(length, std::max(1.0, least * mean), most * mean));
}

// A World says what a query and a document are, how relevant the one is for the other, and what the features
// show of it:
//   World(options, structure)             `structure`: the seed of all that does not depend on options.seed
//   Query draw_query(random)              with its `length`
//   Document draw_document(query, random)
//   double relevance(query, document, random)
//   void fill_row(query, document, random, row)
//   bool shows_document(j)                false: feature j is the same for every document of a query, or
//   noise size_t useful()                       how many of the features that show the document do; 0: all
template <class World>
class WorldGenerator final : public SyntheticGenerator {
 public:
  explicit WorldGenerator(const SyntheticOptions& options)
      : options_(options), structure_(2013 + options.problem), world_(options, structure_) {
    if (const size_t useful = world_.useful(); useful > 0 && useful < options.features) choose_useful(useful);
    find_thresholds();
  }

  size_t length(size_t q) const override {
    Random random = stream(q);
    return world_.draw_query(random).length;
  }

  void fill(size_t q, int32_t* labels, float* rows) const override {
    Random random = stream(q);
    const auto query = world_.draw_query(random);
    for (size_t i = 0; i < query.length; ++i) {
      const auto document = world_.draw_document(query, random);
      const double score = world_.relevance(query, document, random);
      labels[i] = static_cast<int32_t>(std::upper_bound(thresholds_.begin(), thresholds_.end(), score) -
                                       thresholds_.begin());
      world_.fill_row(query, document, random, rows + i * options_.features);
    }
    if (!useless_.empty()) hide_useless(q, query, rows);
  }

 private:
  Random stream(size_t q) const { return Random(options_.seed, fmt::format("synthetic query {}", q)); }

  // Useless features have the values of a document that is not there: the same look, and nothing to learn.
  template <class Query>
  void hide_useless(size_t q, const Query& query, float* rows) const {
    Random random(options_.seed, fmt::format("synthetic decoys {}", q));
    std::vector<float> decoy(options_.features);
    for (size_t i = 0; i < query.length; ++i) {
      world_.fill_row(query, world_.draw_document(query, random), random, decoy.data());
      for (const size_t j : useless_) rows[i * options_.features + j] = decoy[j];
    }
  }

  // Features that show something of the document come first among the useful ones.
  void choose_useful(size_t useful) {
    std::vector<size_t> order(options_.features);
    std::iota(order.begin(), order.end(), size_t{0});
    Random random(structure_, "useful features");
    random.shuffle(std::span(order));
    std::stable_partition(order.begin(), order.end(), [&](size_t j) { return world_.shows_document(j); });
    useless_.assign(order.begin() + static_cast<std::ptrdiff_t>(useful), order.end());
    std::sort(useless_.begin(), useless_.end());
  }

  // Where the grades begin: quantiles of a pilot draw, so that labels have the proportions of a web set.
  void find_thresholds() {
    constexpr double kShares[] = {0.52, 0.32, 0.13, 0.02};
    constexpr size_t kPilotQueries = 4000;
    constexpr size_t kPilotDocuments = 20;
    std::vector<double> scores;
    Random random(structure_, "pilot");
    for (size_t q = 0; q < kPilotQueries; ++q) {
      const auto query = world_.draw_query(random);
      for (size_t i = 0; i < kPilotDocuments; ++i)
        scores.push_back(world_.relevance(query, world_.draw_document(query, random), random));
    }
    std::sort(scores.begin(), scores.end());
    double below = 0;
    for (int l = 0; l + 1 < options_.labels; ++l) {
      below += kShares[l];
      thresholds_.push_back(scores[static_cast<size_t>(below * static_cast<double>(scores.size()))]);
    }
  }

  SyntheticOptions options_;
  uint64_t structure_;
  World world_;
  std::vector<size_t> useless_;
  std::vector<double> thresholds_;
};

}  // namespace tunemix
