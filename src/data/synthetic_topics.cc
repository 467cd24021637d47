// Queries and documents as vectors of topics: relevance comes from their products beyond a threshold, and
// what else makes a document good depends on the query. No feature shows it alone, and many columns belong to
// the query.
#include <array>

#include "data/synthetic_generator.h"

namespace tunemix {
namespace {

class TopicsWorld {
 public:
  static constexpr size_t kTopics = 8;
  using Topics = std::array<double, kTopics>;
  enum Trait { kAuthority, kFreshness, kQuality, kSpam, kSize, kTraits };

  struct Query {
    Topics topics;        // what it asks for; the sum is 1
    double navigational;  // 0 to 1: whether authority counts
    double news;          // whether fresh documents are liked, or old ones
    double words;
    double popularity;
    double offset;  // how good its documents are on the whole
    double noise;   // how unsure its labels are
    size_t length;  // documents
  };

  struct Document {
    Topics topics;                       // most are 0, some are large
    std::array<double, kTraits> traits;  // each about standard normal
  };

  TopicsWorld(const SyntheticOptions& options, uint64_t structure) : options_(options) {
    Random random(structure, "topics that stand for others");
    for (size_t k = 0; k < kTopics; ++k) {
      blend_[k].fill(0);
      blend_[k][k] = 1;
      const size_t near = 1 + random.below(kTopics - 1);
      const size_t far = 1 + (near + random.below(kTopics - 2)) % (kTopics - 1);  // another than `near`
      blend_[k][(k + near) % kTopics] = 0.6;
      blend_[k][(k + far) % kTopics] = -0.6;
    }
    size_t shown = 0;
    for (size_t j = 0; j < options.features; ++j) {
      features_.push_back(describe(j, structure));
      shown += shows_document(j) ? 1 : 0;
    }
    // A third of all features is noise; the query's are not among them.
    useful_ = options.useful > 0 ? options.useful : shown - std::min(options.features / 3, shown / 2);
  }

  size_t useful() const { return useful_; }
  bool shows_document(size_t j) const { return features_[j].kind != Kind::kQuery; }

  Query draw_query(Random& random) const {
    Query query{};
    query.length = draw_length(options_.mean_length, 0.95, 0.125, 11.25, random);
    for (double& topic : query.topics) topic = random.uniform() < 0.15 ? 0.8 * random.uniform() : 0.0;
    query.topics[random.below(kTopics)] = 1;
    const double sum = std::accumulate(query.topics.begin(), query.topics.end(), 0.0);
    for (double& topic : query.topics) topic /= sum;
    query.navigational = logistic_of(2 * random.normal());
    query.news = 0.1 + 0.8 * random.normal();
    query.words = 1 + static_cast<double>(random.below(3) + random.below(3) + random.below(3));
    query.popularity = random.normal();
    query.offset = 0.5 * random.normal() - (random.uniform() < 0.05 ? 6 : 0);  // nothing there for some
    query.noise = options_.label_noise * std::exp(0.4 * random.normal());
    return query;
  }

  // Documents that were found for a query have its topics more often.
  Document draw_document(const Query& query, Random& random) const {
    Document document{};
    for (size_t k = 0; k < kTopics; ++k)
      document.topics[k] =
          random.uniform() < 0.2 + 0.5 * query.topics[k] ? std::exp(0.9 * random.normal()) : 0.0;
    for (double& trait : document.traits) trait = random.normal();
    return document;
  }

  double relevance(const Query& query, const Document& document, Random& random) const {
    double match = 0;
    for (size_t k = 0; k < kTopics; ++k) {
      double strength = 0;
      for (size_t l = 0; l < kTopics; ++l) strength += blend_[k][l] * std::log1p(document.topics[l]);
      match += query.topics[k] * strength;
    }
    const auto& z = document.traits;
    const double on_topic = logistic_of(6 * (match - 0.75));
    return on_topic *
               (2.2 + std::tanh(z[kQuality]) + (z[kAuthority] > 0.7 ? 1.6 * query.navigational : 0.0)) +
           0.9 * query.news * std::tanh(1.5 * z[kFreshness]) -
           std::max(0.0, z[kSpam] - 0.5) * (1.3 - on_topic) + 0.9 * std::tanh(z[kQuality] * z[kSize]) +
           query.offset + query.noise * random.normal();
  }

  void fill_row(const Query& query, const Document& document, Random& random, float* row) const {
    for (size_t j = 0; j < features_.size(); ++j)
      row[j] = features_[j].kind == Kind::kQuery ? of_query(features_[j], query)
                                                 : of_document(features_[j], query, document, random);
  }

 private:
  enum class Kind { kQuery, kTermCount, kTermShare, kMatch, kHeavy, kRatio };

  struct Feature {
    Kind kind;
    size_t source;                   // a topic, a trait, or a number of the query
    std::array<bool, kTopics> seen;  // topics that a match looks at
    double level;
    double slope;
    double noise;
  };

  // The kinds come round in this order; 11 has no common divisor with the numbers of topics and traits.
  static constexpr Kind kPattern[] = {Kind::kQuery,     Kind::kTermCount, Kind::kMatch,    Kind::kHeavy,
                                      Kind::kTermCount, Kind::kTermShare, Kind::kRatio,    Kind::kTermCount,
                                      Kind::kMatch,     Kind::kHeavy,     Kind::kTermCount};

  static Feature describe(size_t j, uint64_t structure) {
    Random random(structure, fmt::format("topic feature {}", j));
    Feature feature{};
    feature.kind = kPattern[j % std::size(kPattern)];
    feature.source = feature.kind == Kind::kQuery                                   ? j / std::size(kPattern)
                     : feature.kind == Kind::kHeavy || feature.kind == Kind::kRatio ? j % kTraits
                                                                                    : j % kTopics;
    for (bool& seen : feature.seen) seen = random.uniform() < 0.25;
    feature.seen[j % kTopics] = true;
    feature.level = random.uniform();
    feature.slope = 0.6 + 0.6 * random.uniform();
    feature.noise = 0.6 + 0.8 * random.uniform();
    return feature;
  }

  static float of_query(const Feature& f, const Query& query) {
    switch (f.source % (kTopics + 4)) {
      case kTopics:
        return decimals(query.navigational);
      case kTopics + 1:
        return decimals(query.news);
      case kTopics + 2:
        return static_cast<float>(query.words);
      case kTopics + 3:
        return static_cast<float>(std::floor(std::exp(4 + 1.8 * query.popularity)));
      default:
        return decimals(query.topics[f.source % (kTopics + 4)]);
    }
  }

  static float of_document(const Feature& f, const Query& query, const Document& document, Random& random) {
    const double noise = f.noise * rough_normal(random);
    const double words = std::exp(3 + document.traits[kSize]);
    switch (f.kind) {
      case Kind::kTermCount:  // grows with the document's size
        return static_cast<float>(
            std::floor((0.05 + 0.2 * f.level) * document.topics[f.source] * words * std::exp(0.7 * noise)));
      case Kind::kTermShare:
        return decimals(document.topics[f.source] * std::exp(0.7 * noise) / (1 + document.topics[f.source]));
      case Kind::kMatch: {  // by some of the topics, more for long queries
        double sum = 0;
        for (size_t k = 0; k < kTopics; ++k)
          if (f.seen[k]) sum += query.topics[k] * std::log1p(document.topics[k]);
        return decimals((2 + query.words) * sum * std::exp(0.8 * noise));
      }
      case Kind::kHeavy:
        return static_cast<float>(
            std::floor(std::exp(5 * f.level + 1.8 * (f.slope * document.traits[f.source] + noise))));
      default:
        return decimals(logistic_of(f.slope * document.traits[f.source] + noise - f.level));
    }
  }

  SyntheticOptions options_;
  std::array<Topics, kTopics> blend_{};  // how far a topic answers a query for another
  std::vector<Feature> features_;
  size_t useful_ = 0;
};

}  // namespace

std::unique_ptr<SyntheticGenerator> make_topics_generator(const SyntheticOptions& options) {
  return std::make_unique<WorldGenerator<TopicsWorld>>(options);
}

}  // namespace tunemix
