#include "tunemix/data/standardize.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tunemix/core/error.h"
#include "tunemix/data/missing.h"

namespace tunemix {

Standardize parse_standardize(std::string_view name) {
  if (name == "none") return Standardize::kNone;
  if (name == "append") return Standardize::kAppend;
  if (name == "replace") return Standardize::kReplace;
  if (name == "cdf") return Standardize::kCdf;
  throw_input("standardize is '{}'; expected none, append, replace or cdf", name);
}

std::string_view to_string(Standardize mode) {
  switch (mode) {
    case Standardize::kNone:
      return "none";
    case Standardize::kAppend:
      return "append";
    case Standardize::kReplace:
      return "replace";
    case Standardize::kCdf:
      return "cdf";
  }
  throw InternalError("standardize mode");
}

size_t first_standardized(size_t features, Standardize mode) {
  return mode == Standardize::kAppend ? features / 2 : mode == Standardize::kReplace ? 0 : features;
}

Dataset standardize(Dataset data, Standardize mode, const Context& context) {
  if (mode == Standardize::kNone) return data;
  require(mode != Standardize::kCdf, "shares need the training data");
  const size_t d = data.features();
  const size_t offset = mode == Standardize::kAppend ? d : 0;
  const size_t width = d + offset;
  FloatBuffer features(data.documents() * width);
  const QueryIndex& queries = data.queries();
  context.pool().run(queries.size(), [&](size_t q) {
    // By the documents that have the feature.
    std::vector<float> first(data.row(queries.begin(q)).begin(), data.row(queries.begin(q)).end());
    std::vector<double> count(d, 0.0);
    std::vector<double> mean(d, 0.0);
    std::vector<double> deviation(d, 0.0);
    std::vector<uint8_t> varies(d, 0);
    for (size_t i = queries.begin(q); i < queries.end(q); ++i) {
      const float* x = data.row(i).data();
      for (size_t j = 0; j < d; ++j) {
        const bool there = !is_missing(x[j]);
        first[j] = is_missing(first[j]) ? x[j] : first[j];
        count[j] += there ? 1 : 0;
        mean[j] += there ? x[j] : 0;
        varies[j] |= there && x[j] != first[j];
      }
    }
    for (size_t j = 0; j < d; ++j) mean[j] /= count[j];
    for (size_t i = queries.begin(q); i < queries.end(q); ++i) {
      const float* x = data.row(i).data();
      for (size_t j = 0; j < d; ++j) {
        const double centred = is_missing(x[j]) ? 0 : x[j] - mean[j];
        deviation[j] += centred * centred;
      }
    }
    for (size_t j = 0; j < d; ++j) {
      deviation[j] = std::sqrt(deviation[j] / count[j]);
      if (varies[j] != 0 && deviation[j] > 0) continue;
      // A constant is 0, however its mean was rounded.
      mean[j] = first[j];
      deviation[j] = std::numeric_limits<double>::infinity();
    }
    for (size_t i = queries.begin(q); i < queries.end(q); ++i) {
      const float* x = data.row(i).data();
      float* to = features.data() + i * width;
      if (offset > 0) std::copy_n(x, d, to);
      // Adding 0 leaves no -0.
      for (size_t j = 0; j < d; ++j)
        to[offset + j] =
            is_missing(x[j]) ? kMissing : static_cast<float>((x[j] - mean[j]) / deviation[j]) + 0.0F;
    }
  });
  return data.with_features(std::move(features), width);
}

}  // namespace tunemix
