#include "tunemix/data/dataset.h"

#include <algorithm>
#include <cstring>

#include "tunemix/core/error.h"

namespace tunemix {

Dataset::Dataset(std::vector<float> features, size_t num_features, std::vector<int32_t> labels,
                 QueryIndex queries, NameTable names)
    : features_(std::move(features)),
      num_features_(num_features),
      labels_(std::move(labels)),
      queries_(std::move(queries)),
      names_(std::move(names)) {
  require(features_.size() == labels_.size() * num_features_, "features do not fit the documents");
  require(queries_.documents() == labels_.size(), "queries do not fit the documents");
  require(names_.size() == 0 || names_.size() == labels_.size(), "names do not fit the documents");
  for (const int32_t label : labels_) {
    require(label >= 0, "a negative label");
    max_label_ = std::max(max_label_, label);
  }
  Hasher hasher;
  hasher.number(num_features_)
      .values(std::span<const float>(features_))
      .values(std::span<const int32_t>(labels_));
  hasher.values(std::span<const size_t>(queries_.offsets()));
  for (const std::string& id : queries_.ids()) hasher.text(id);
  fingerprint_ = hasher.digest();
}

Dataset Dataset::select_queries(std::span<const size_t> queries) const {
  std::vector<size_t> offsets = {0};
  std::vector<std::string> ids;
  for (const size_t q : queries) {
    offsets.push_back(offsets.back() + queries_.length(q));
    ids.push_back(queries_.id(q));
  }
  std::vector<float> features(offsets.back() * num_features_);
  std::vector<int32_t> labels(offsets.back());
  NameTable names;
  for (size_t i = 0; i < queries.size(); ++i) {
    const size_t from = queries_.begin(queries[i]);
    const size_t count = queries_.length(queries[i]);
    std::copy_n(features_.begin() + from * num_features_, count * num_features_,
                features.begin() + offsets[i] * num_features_);
    std::copy_n(labels_.begin() + from, count, labels.begin() + offsets[i]);
    if (names_.size() > 0)
      for (size_t d = from; d < from + count; ++d) names.add(names_[d]);
  }
  return Dataset(std::move(features), num_features_, std::move(labels),
                 QueryIndex(std::move(offsets), std::move(ids)), std::move(names));
}

}  // namespace tunemix
