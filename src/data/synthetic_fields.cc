// Documents as fields (body, title, anchor, ...): each feature shows one of eight latent qualities, and
// relevance is a sum of them with weights by query, a conjunction, steps and a product.
#include <array>

#include "data/synthetic_generator.h"

namespace tunemix {
namespace {

constexpr double kNoAnchor = -1.2;

class FieldsWorld {
 public:
  // What a document is, behind its features: each about standard normal.
  enum Latent { kBody, kTitle, kAnchor, kUrl, kAuthority, kClicks, kFresh, kSpam, kLatents };

  struct Query {
    double navigational;  // 0 to 1: whether text or authority decides
    double offset;        // how good its documents are on the whole
    double noise;         // how unsure its labels are
    double words;         // query length
    size_t length;        // documents
  };

  struct Document {
    std::array<double, kLatents> latents;
    bool anchored;  // whether it has anchor text at all: many have none
  };

  FieldsWorld(const SyntheticOptions& options, uint64_t structure) : options_(options) {
    for (size_t j = 0; j < options.features; ++j) features_.push_back(describe(j, structure));
  }

  size_t useful() const { return options_.useful; }
  bool shows_document(size_t j) const {
    const Kind kind = features_[j].kind;
    return kind != Kind::kQueryWords && kind != Kind::kQueryType && kind != Kind::kIrrelevant;
  }

  Query draw_query(Random& random) const {
    Query query{};
    query.length = draw_length(options_.mean_length, 0.6, 0, 12, random);
    query.navigational = 1 / (1 + std::exp(-2 * random.normal()));
    query.offset = 0.5 * random.normal();
    query.noise = options_.label_noise * std::exp(0.4 * random.normal());
    query.words = 1 + static_cast<double>(random.below(4) + random.below(4));
    return query;
  }

  Document draw_document(const Query&, Random& random) const {
    Document document{};
    auto& z = document.latents;
    const double quality = random.normal();
    for (double& value : z) value = 0.45 * quality + 0.893 * random.normal();
    z[kSpam] = random.normal() - 0.3 * quality;
    document.anchored = random.uniform() < 0.6;
    if (!document.anchored) z[kAnchor] = kNoAnchor;
    return document;
  }

  // Weights that depend on the query, a conjunction, a step, a penalty beyond a threshold, and a product
  // whose sign no single feature shows.
  double relevance(const Query& query, const Document& document, Random& random) const {
    const auto& z = document.latents;
    const double t = query.navigational;
    const double text = 0.9 * z[kBody] + 0.6 * z[kTitle];
    const double site = 1.0 * z[kAuthority] + 0.7 * z[kUrl];
    return (1 - t) * text + t * site + 0.8 * std::min(z[kTitle], z[kAnchor]) +
           (z[kClicks] > 0.8 ? 0.8 : 0.0) - (0.6 + t) * std::max(0.0, z[kSpam] - 0.4) +
           0.6 * std::tanh(z[kBody] * z[kFresh]) + query.offset + query.noise * random.normal();
  }

  void fill_row(const Query& query, const Document& document, Random& random, float* row) const {
    for (size_t j = 0; j < features_.size(); ++j)
      row[j] = draw_feature(features_[j], query, document, j > 0 ? row[j - 1] : 0.0F, random);
  }

 private:
  enum class Kind { kQueryWords, kQueryType, kCount, kHeavy, kRatio, kScore, kFlag, kIrrelevant, kEcho };

  struct Feature {
    Kind kind;
    Latent source;
    double level;
    double slope;
    double noise;
    double zeros;  // share of documents that lack it whatever they are
  };

  // The kinds come round in this order; 25 and the 8 latents have no common divisor, so all pairs occur.
  static constexpr Kind kPattern[] = {
      Kind::kQueryWords, Kind::kCount,      Kind::kHeavy, Kind::kScore,     Kind::kRatio,
      Kind::kCount,      Kind::kCount,      Kind::kHeavy, Kind::kScore,     Kind::kFlag,
      Kind::kCount,      Kind::kIrrelevant, Kind::kRatio, Kind::kQueryType, Kind::kHeavy,
      Kind::kCount,      Kind::kEcho,       Kind::kRatio, Kind::kScore,     Kind::kCount,
      Kind::kHeavy,      Kind::kCount,      Kind::kScore, Kind::kEcho,      Kind::kIrrelevant};

  static Feature describe(size_t j, uint64_t structure) {
    Random random(structure, fmt::format("feature {}", j));
    Feature feature{};
    feature.kind = kPattern[j % std::size(kPattern)];
    feature.source = static_cast<Latent>(j % kLatents);
    feature.level = random.uniform();
    feature.slope = 0.6 + 0.6 * random.uniform();
    feature.noise = 0.5 + 0.7 * random.uniform();
    feature.zeros = random.uniform() < 0.5 ? 0.45 * random.uniform() : 0.0;
    return feature;
  }

  static float draw_feature(const Feature& f, const Query& query, const Document& document, float previous,
                            Random& random) {
    if (f.kind == Kind::kQueryWords) return static_cast<float>(query.words);
    if (f.kind == Kind::kQueryType) return decimals(f.slope * query.navigational);
    if (f.kind == Kind::kEcho) return decimals(f.slope * previous * previous / query.words);
    if (f.source == kAnchor && !document.anchored) return 0;
    const double noise = rough_normal(random);
    if (f.zeros > 0 && random.uniform() < f.zeros) return 0;
    const double x = f.slope * document.latents[f.source] + f.noise * noise;
    switch (f.kind) {
      case Kind::kCount:
        return static_cast<float>(std::floor(std::exp(2.5 * f.level - 0.8 + x)));
      case Kind::kHeavy:
        return f.level < 0.5 ? decimals(std::exp(6 * f.level + 1.5 * x))
                             : static_cast<float>(std::floor(std::exp(4 * f.level + 1.8 * x)));
      case Kind::kRatio:
        return decimals(1 / (1 + std::exp(1 - x)));
      case Kind::kScore:
        return decimals(std::max(0.0, 8 * f.level + (4 + query.words) * x));
      case Kind::kFlag:
        return x > f.level ? 1.0F : 0.0F;
      default:
        return decimals(std::max(0.0, noise + f.level - 0.5));
    }
  }

  SyntheticOptions options_;
  std::vector<Feature> features_;
};

}  // namespace

std::unique_ptr<SyntheticGenerator> make_fields_generator(const SyntheticOptions& options) {
  return std::make_unique<WorldGenerator<FieldsWorld>>(options);
}

}  // namespace tunemix
