#include "tunemix/data/synthetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "data/letor_text.h"
#include "data/text_sink.h"
#include "tunemix/core/error.h"
#include "tunemix/core/random.h"

namespace tunemix {
namespace {

// What a document is, behind its features: each about standard normal.
enum Latent { kBody, kTitle, kAnchor, kUrl, kAuthority, kClicks, kFresh, kSpam, kLatents };
using Latents = std::array<double, kLatents>;

struct Query {
  double navigational;  // 0 to 1: whether text or authority decides
  double offset;        // how good its documents are on the whole
  double noise;         // how unsure its labels are
  double words;         // query length
  size_t length;        // documents
};

// Four 16-bit uniforms from one draw: near enough to a Gaussian, and cheap.
double rough_normal(Random& random) {
  const uint64_t bits = random.next();
  const auto sum =
      static_cast<double>((bits & 0xffff) + ((bits >> 16) & 0xffff) + ((bits >> 32) & 0xffff) + (bits >> 48));
  return (sum * 0x1.0p-16 - 2.0) * 1.7320508075688772;
}

// As many decimals as ranking files have and a float can hold.
float decimals(double x) {
  const double size = std::abs(x);
  const double unit = size < 10 ? 1e6 : size < 100 ? 1e5 : size < 1000 ? 1e4 : size < 1e5 ? 1e2 : 1;
  return static_cast<float>(std::nearbyint(x * unit) / unit);
}

Query draw_query(const SyntheticOptions& options, Random& random) {
  constexpr double kSpread = 0.6;
  Query query{};
  const double log_mean = std::log(options.mean_length) - kSpread * kSpread / 2;
  const double length = std::nearbyint(std::exp(log_mean + kSpread * random.normal()));
  query.length = static_cast<size_t>(std::clamp(length, 1.0, 12 * options.mean_length));
  query.navigational = 1 / (1 + std::exp(-2 * random.normal()));
  query.offset = 0.5 * random.normal();
  query.noise = options.label_noise * std::exp(0.4 * random.normal());
  query.words = 1 + static_cast<double>(random.below(4) + random.below(4));
  return query;
}

constexpr double kNoAnchor = -1.2;

// Also says whether the document has anchor text at all: many have none.
Latents draw_document(Random& random, bool& anchored) {
  Latents z;
  const double quality = random.normal();
  for (double& value : z) value = 0.45 * quality + 0.893 * random.normal();
  z[kSpam] = random.normal() - 0.3 * quality;
  anchored = random.uniform() < 0.6;
  if (!anchored) z[kAnchor] = kNoAnchor;
  return z;
}

// Weights that depend on the query, a conjunction, a step, a penalty beyond a threshold, and a product whose
// sign no single feature shows.
double relevance(const Query& query, const Latents& z, Random& random) {
  const double t = query.navigational;
  const double text = 0.9 * z[kBody] + 0.6 * z[kTitle];
  const double site = 1.0 * z[kAuthority] + 0.7 * z[kUrl];
  return (1 - t) * text + t * site + 0.8 * std::min(z[kTitle], z[kAnchor]) + (z[kClicks] > 0.8 ? 0.8 : 0.0) -
         (0.6 + t) * std::max(0.0, z[kSpam] - 0.4) + 0.6 * std::tanh(z[kBody] * z[kFresh]) + query.offset +
         query.noise * random.normal();
}

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
constexpr Kind kPattern[] = {
    Kind::kQueryWords, Kind::kCount,      Kind::kHeavy, Kind::kScore,     Kind::kRatio,
    Kind::kCount,      Kind::kCount,      Kind::kHeavy, Kind::kScore,     Kind::kFlag,
    Kind::kCount,      Kind::kIrrelevant, Kind::kRatio, Kind::kQueryType, Kind::kHeavy,
    Kind::kCount,      Kind::kEcho,       Kind::kRatio, Kind::kScore,     Kind::kCount,
    Kind::kHeavy,      Kind::kCount,      Kind::kScore, Kind::kEcho,      Kind::kIrrelevant};

class Generator {
 public:
  explicit Generator(const SyntheticOptions& options) : options_(options) {
    if (options.queries < 1) throw InputError("queries is 0; expected at least 1");
    if (options.features < 1 || options.features > 10000)
      throw_input("features is {}; expected 1 to 10000", options.features);
    if (options.labels < 2 || options.labels > 5)
      throw_input("labels is {}; expected 2 to 5", options.labels);
    if (!(options.mean_length >= 1 && options.mean_length <= 10000))
      throw_input("mean_length is {}; expected 1 to 10000", options.mean_length);
    if (!(options.label_noise >= 0 && options.label_noise <= 100))
      throw_input("label_noise is {}; expected 0 to 100", options.label_noise);
    if (options.useful > options.features)
      throw_input("useful is {}; expected at most the {} features", options.useful, options.features);
    for (size_t j = 0; j < options.features; ++j) features_.push_back(describe(j));
    if (options.useful > 0 && options.useful < options.features) choose_useful();
    find_thresholds();
  }

  Random stream(size_t q) const { return Random(options_.seed, fmt::format("synthetic query {}", q)); }
  size_t length(size_t q) const {
    Random random = stream(q);
    return draw_query(options_, random).length;
  }

  // Fills the labels and rows of query q, length(q) of them.
  void fill(size_t q, int32_t* labels, float* rows) const {
    Random random = stream(q);
    const Query query = draw_query(options_, random);
    for (size_t i = 0; i < query.length; ++i) {
      bool anchored = false;
      const Latents z = draw_document(random, anchored);
      const double score = relevance(query, z, random);
      labels[i] = static_cast<int32_t>(std::upper_bound(thresholds_.begin(), thresholds_.end(), score) -
                                       thresholds_.begin());
      fill_row(query, z, anchored, random, rows + i * features_.size());
    }
    if (!useless_.empty()) hide_useless(q, query, rows);
  }

  std::string name(size_t q, size_t i) const {
    return fmt::format("syn{}-{}-{}", options_.seed, q + 1, i + 1);
  }

 private:
  static constexpr uint64_t kStructure = 2013;  // of all data, whatever the seed

  void fill_row(const Query& query, const Latents& z, bool anchored, Random& random, float* row) const {
    for (size_t j = 0; j < features_.size(); ++j)
      row[j] = draw_feature(features_[j], query, z, anchored, j > 0 ? row[j - 1] : 0.0F, random);
  }

  // Useless features have the values of a document that is not there: the same look, and nothing to learn.
  void hide_useless(size_t q, const Query& query, float* rows) const {
    Random random(options_.seed, fmt::format("synthetic decoys {}", q));
    std::vector<float> decoy(features_.size());
    for (size_t i = 0; i < query.length; ++i) {
      bool anchored = false;
      const Latents z = draw_document(random, anchored);
      fill_row(query, z, anchored, random, decoy.data());
      for (const size_t j : useless_) rows[i * features_.size() + j] = decoy[j];
    }
  }

  // Features that show something of the document come first among the useful ones.
  void choose_useful() {
    std::vector<size_t> order(features_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    Random random(kStructure, "useful features");
    random.shuffle(std::span(order));
    std::stable_partition(order.begin(), order.end(), [&](size_t j) {
      const Kind kind = features_[j].kind;
      return kind != Kind::kQueryWords && kind != Kind::kQueryType && kind != Kind::kIrrelevant;
    });
    useless_.assign(order.begin() + static_cast<std::ptrdiff_t>(options_.useful), order.end());
    std::sort(useless_.begin(), useless_.end());
  }

  static Feature describe(size_t j) {
    Random random(kStructure, fmt::format("feature {}", j));
    Feature feature{};
    feature.kind = kPattern[j % std::size(kPattern)];
    feature.source = static_cast<Latent>(j % kLatents);
    feature.level = random.uniform();
    feature.slope = 0.6 + 0.6 * random.uniform();
    feature.noise = 0.5 + 0.7 * random.uniform();
    feature.zeros = random.uniform() < 0.5 ? 0.45 * random.uniform() : 0.0;
    return feature;
  }

  static float draw_feature(const Feature& f, const Query& query, const Latents& z, bool anchored,
                            float previous, Random& random) {
    if (f.kind == Kind::kQueryWords) return static_cast<float>(query.words);
    if (f.kind == Kind::kQueryType) return decimals(f.slope * query.navigational);
    if (f.kind == Kind::kEcho) return decimals(f.slope * previous * previous / query.words);
    if (f.source == kAnchor && !anchored) return 0;
    const double noise = rough_normal(random);
    if (f.zeros > 0 && random.uniform() < f.zeros) return 0;
    const double x = f.slope * z[f.source] + f.noise * noise;
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

  // Where the grades begin: quantiles of a pilot draw, so that labels have the proportions of a web set.
  void find_thresholds() {
    constexpr double kShares[] = {0.52, 0.32, 0.13, 0.02};
    constexpr size_t kPilotQueries = 4000;
    constexpr size_t kPilotDocuments = 20;
    std::vector<double> scores;
    Random random(kStructure, "pilot");
    for (size_t q = 0; q < kPilotQueries; ++q) {
      const Query query = draw_query(options_, random);
      for (size_t i = 0; i < kPilotDocuments; ++i) {
        bool anchored = false;
        const Latents z = draw_document(random, anchored);
        scores.push_back(relevance(query, z, random));
      }
    }
    std::sort(scores.begin(), scores.end());
    double below = 0;
    for (int l = 0; l + 1 < options_.labels; ++l) {
      below += kShares[l];
      thresholds_.push_back(scores[static_cast<size_t>(below * static_cast<double>(scores.size()))]);
    }
  }

  SyntheticOptions options_;
  std::vector<Feature> features_;
  std::vector<size_t> useless_;
  std::vector<double> thresholds_;
};

}  // namespace

std::vector<std::string> synthetic_presets() { return {"quickstart", "mslr10k"}; }

SyntheticOptions synthetic_preset(std::string_view name) {
  SyntheticOptions options;
  if (name == "quickstart") return options;
  if (name != "mslr10k") throw_input("preset is '{}'; expected quickstart or mslr10k", name);
  options.queries = 10000;
  options.features = 136;
  options.mean_length = 72.3;
  return options;
}

Dataset make_synthetic(const SyntheticOptions& options, const Context& context) {
  const Generator generator(options);
  std::vector<size_t> offsets(options.queries + 1, 0);
  context.pool().run(options.queries, [&](size_t q) { offsets[q + 1] = generator.length(q); });
  for (size_t q = 0; q < options.queries; ++q) offsets[q + 1] += offsets[q];
  FloatBuffer features(offsets.back() * options.features);
  std::vector<int32_t> labels(offsets.back());
  context.pool().run(options.queries, [&](size_t q) {
    generator.fill(q, labels.data() + offsets[q], features.data() + offsets[q] * options.features);
  });
  std::vector<std::string> ids;
  NameTable names;
  for (size_t q = 0; q < options.queries; ++q) {
    ids.push_back(std::to_string(q + 1));
    for (size_t i = 0; i < offsets[q + 1] - offsets[q]; ++i) names.add(generator.name(q, i));
  }
  return Dataset(std::move(features), options.features, std::move(labels),
                 QueryIndex(std::move(offsets), std::move(ids)), std::move(names), {}, &context.pool());
}

size_t write_synthetic(const SyntheticOptions& options, const std::filesystem::path& file,
                       const Context& context) {
  constexpr size_t kQueriesAPiece = 4;
  constexpr size_t kPieces = 32;
  const Generator generator(options);
  TextSink sink(file);
  std::vector<std::string> pieces(kPieces);
  std::vector<size_t> documents(kPieces);
  size_t total = 0;
  for (size_t first = 0; first < options.queries; first += kPieces * kQueriesAPiece) {
    context.check_stop();
    context.pool().run(kPieces, [&](size_t p) {
      pieces[p].clear();
      documents[p] = 0;
      std::vector<int32_t> labels;
      std::vector<float> rows;
      const size_t begin = first + p * kQueriesAPiece;
      for (size_t q = begin; q < std::min(begin + kQueriesAPiece, options.queries); ++q) {
        const size_t length = generator.length(q);
        labels.resize(length);
        rows.resize(length * options.features);
        generator.fill(q, labels.data(), rows.data());
        for (size_t i = 0; i < length; ++i)
          append_letor_line(pieces[p], labels[i], std::to_string(q + 1),
                            std::span(rows).subspan(i * options.features, options.features),
                            generator.name(q, i), true, true);
        documents[p] += length;
      }
    });
    sink.append(pieces, context.pool());
    for (const size_t count : documents) total += count;
    context.progress(std::min(first + kPieces * kQueriesAPiece, options.queries), options.queries, 0);
  }
  sink.close();
  return total;
}

}  // namespace tunemix
