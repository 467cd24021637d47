#include "tunemix/data/standardize.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tunemix/core/error.h"
#include "tunemix/core/text.h"
#include "tunemix/data/missing.h"

namespace tunemix {
namespace {

enum class Part : uint8_t { kRaw, kStandardised, kMean };

// The parts of a view, d features each, one after the other.
std::span<const Part> parts_of(Standardize mode) {
  static constexpr Part kAll[] = {Part::kRaw, Part::kStandardised, Part::kMean};
  const std::span<const Part> all(kAll);
  switch (mode) {
    case Standardize::kNone:
    case Standardize::kCdf:
      return all.first(1);
    case Standardize::kAppend:
      return all.first(2);
    case Standardize::kReplace:
      return all.subspan(1, 1);
    case Standardize::kContext:
      return all;
  }
  throw InternalError("standardize mode");
}

// Of one feature in one query, by the documents that have it.
struct Scale {
  double mean;       // missing where there are none
  double deviation;  // infinite of a constant, which becomes 0 however its mean is rounded

  float standardised(float x) const {
    if (is_missing(x)) return kMissing;
    return static_cast<float>((x - mean) / deviation) + 0.0F;  // adding 0 leaves no -0
  }
};

std::vector<Scale> scales_of(const Dataset& data, const Context& context) {
  const size_t d = data.features();
  const QueryIndex& queries = data.queries();
  std::vector<Scale> scales(queries.size() * d);
  context.pool().run(queries.size(), [&](size_t q) {
    std::vector<float> first(data.row(queries.begin(q)).begin(), data.row(queries.begin(q)).end());
    std::vector<double> count(d, 0.0);
    Scale* scale = scales.data() + q * d;
    std::vector<uint8_t> varies(d, 0);
    for (size_t i = queries.begin(q); i < queries.end(q); ++i) {
      const float* x = data.row(i).data();
      for (size_t j = 0; j < d; ++j) {
        const bool there = !is_missing(x[j]);
        first[j] = is_missing(first[j]) ? x[j] : first[j];
        count[j] += there ? 1 : 0;
        scale[j].mean += there ? x[j] : 0;
        varies[j] |= there && x[j] != first[j];
      }
    }
    for (size_t j = 0; j < d; ++j) scale[j].mean /= count[j];
    for (size_t i = queries.begin(q); i < queries.end(q); ++i) {
      const float* x = data.row(i).data();
      for (size_t j = 0; j < d; ++j) {
        const double centred = is_missing(x[j]) ? 0 : x[j] - scale[j].mean;
        scale[j].deviation += centred * centred;
      }
    }
    for (size_t j = 0; j < d; ++j) {
      scale[j].deviation = std::sqrt(scale[j].deviation / count[j]);
      if (varies[j] == 0 || !(scale[j].deviation > 0))
        scale[j] = {first[j], std::numeric_limits<double>::infinity()};
    }
  });
  return scales;
}

class QueryView final : public FeatureView {
 public:
  QueryView(Dataset raw, Standardize mode, std::vector<Scale> scales)
      : raw_(std::move(raw)), mode_(mode), scales_(std::move(scales)) {}

  size_t features() const override { return viewed_features(mode_, raw_.features()); }
  Hash128 fingerprint() const override {
    return Hasher().text(to_string(mode_)).hash(raw_.fingerprint()).digest();
  }

  FeatureColumn column(size_t feature, size_t begin, size_t count, float* scratch) const override {
    const size_t d = raw_.features();
    const size_t j = feature % d;
    const Part part = parts_of(mode_)[feature / d];
    const FeatureColumn raw = raw_.column(j, begin, count, scratch);
    if (part == Part::kRaw) return raw;
    const QueryIndex& queries = raw_.queries();
    size_t i = 0;
    for (size_t q = query_of(begin); i < count; ++q) {
      const size_t end = std::min(count, queries.end(q) - begin);
      const Scale scale = scales_[q * d + j];
      if (part == Part::kMean)
        std::fill(scratch + i, scratch + end, static_cast<float>(scale.mean) + 0.0F);
      else
        for (size_t k = i; k < end; ++k) scratch[k] = scale.standardised(raw.values[k * raw.stride]);
      i = end;
    }
    return {scratch, 1};
  }

  void read(size_t document, size_t first, std::span<float> out) const override {
    const size_t q = query_of(document);
    for (size_t k = 0; k < out.size(); ++k) out[k] = value(document, q, first + k);
  }

  void read_query(size_t query, float* out) const override {
    const size_t d = raw_.features();
    const Scale* scale = scales_.data() + query * d;
    for (size_t i = raw_.queries().begin(query); i < raw_.queries().end(query); ++i) {
      const float* x = raw_.row(i).data();
      for (const Part part : parts_of(mode_)) {
        for (size_t j = 0; j < d; ++j) out[j] = of_part(part, x[j], scale[j]);
        out += d;
      }
    }
  }

  std::shared_ptr<const FeatureView> select_queries(std::span<const size_t> queries) const override {
    const size_t d = raw_.features();
    std::vector<Scale> scales;
    scales.reserve(queries.size() * d);
    for (const size_t q : queries)
      scales.insert(scales.end(), scales_.begin() + static_cast<ptrdiff_t>(q * d),
                    scales_.begin() + static_cast<ptrdiff_t>((q + 1) * d));
    return std::make_shared<QueryView>(raw_.select_queries(queries), mode_, std::move(scales));
  }

 private:
  static float of_part(Part part, float x, const Scale& scale) {
    if (part == Part::kRaw) return x;
    return part == Part::kMean ? static_cast<float>(scale.mean) + 0.0F : scale.standardised(x);
  }
  float value(size_t document, size_t query, size_t feature) const {
    const size_t d = raw_.features();
    return of_part(parts_of(mode_)[feature / d], raw_.row(document)[feature % d],
                   scales_[query * d + feature % d]);
  }
  size_t query_of(size_t document) const {
    const std::vector<size_t>& offsets = raw_.queries().offsets();
    return static_cast<size_t>(std::upper_bound(offsets.begin(), offsets.end(), document) - offsets.begin()) -
           1;
  }

  Dataset raw_;
  Standardize mode_;
  std::vector<Scale> scales_;  // [query][feature]
};

}  // namespace

const std::vector<std::pair<std::string, Standardize>>& standardize_words() {
  static const std::vector<std::pair<std::string, Standardize>> words = {{"none", Standardize::kNone},
                                                                         {"append", Standardize::kAppend},
                                                                         {"replace", Standardize::kReplace},
                                                                         {"cdf", Standardize::kCdf},
                                                                         {"context", Standardize::kContext}};
  return words;
}

Standardize parse_standardize(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& [word, mode] : standardize_words()) {
    if (word == name) return mode;
    known.push_back(word);
  }
  throw_input("standardize is '{}'; expected one of: {}", name, join(known, ", "));
}

std::string_view to_string(Standardize mode) {
  for (const auto& [word, value] : standardize_words())
    if (value == mode) return word;
  throw InternalError("standardize mode");
}

size_t viewed_features(Standardize mode, size_t features) { return parts_of(mode).size() * features; }

std::pair<size_t, std::string_view> feature_origin(Standardize mode, size_t j, size_t features) {
  constexpr std::string_view kHow[] = {"", " (standardised)", " (mean of the query)"};
  return {j % features, kHow[static_cast<size_t>(parts_of(mode)[j / features])]};
}

FeatureSpan standardized_features(Standardize mode, size_t viewed) {
  const std::span<const Part> parts = parts_of(mode);
  const size_t d = viewed / parts.size();
  const auto at =
      static_cast<size_t>(std::find(parts.begin(), parts.end(), Part::kStandardised) - parts.begin());
  return at == parts.size() ? FeatureSpan() : FeatureSpan{at * d, (at + 1) * d};
}

Dataset standardize(const Dataset& data, Standardize mode, const Context& context) {
  if (mode == Standardize::kNone) return data;
  require(mode != Standardize::kCdf, "shares need the training data");
  return data.viewed(std::make_shared<QueryView>(data, mode, scales_of(data, context)));
}

}  // namespace tunemix
