#include "tunemix/data/dataset.h"

#include <algorithm>
#include <cstring>

#include "tunemix/core/error.h"

namespace tunemix {

namespace {

constexpr size_t kHashBlock = size_t{1} << 20;  // floats

// Hashes of fixed blocks, hashed in order: the same on any number of threads.
Hash128 hash_features(std::span<const float> values, ThreadPool* pool) {
  std::vector<Hash128> blocks((values.size() + kHashBlock - 1) / kHashBlock);
  const auto hash_block = [&](size_t b) {
    const auto block = values.subspan(b * kHashBlock, std::min(kHashBlock, values.size() - b * kHashBlock));
    blocks[b] = hash_bytes(block.data(), block.size_bytes());
  };
  if (pool != nullptr) {
    pool->run(blocks.size(), hash_block);
  } else {
    for (size_t b = 0; b < blocks.size(); ++b) hash_block(b);
  }
  return Hasher().values(std::span<const Hash128>(blocks)).digest();
}

}  // namespace

Dataset::Dataset(FloatBuffer features, size_t num_features, std::vector<int32_t> labels, QueryIndex queries,
                 NameTable names, std::vector<uint32_t> source_rows, ThreadPool* pool)
    : Dataset(std::make_shared<const FloatBuffer>(std::move(features)), num_features, std::move(labels),
              std::move(queries), std::move(names), std::move(source_rows), pool) {}

Dataset::Dataset(std::span<const float> features, std::shared_ptr<const void> owner, size_t num_features,
                 std::vector<int32_t> labels, QueryIndex queries, NameTable names,
                 std::vector<uint32_t> source_rows, ThreadPool* pool)
    : owner_(std::move(owner)),
      features_(features),
      num_features_(num_features),
      labels_(std::move(labels)),
      queries_(std::move(queries)),
      names_(std::move(names)),
      source_rows_(std::move(source_rows)) {
  require(features_.size() == labels_.size() * num_features_, "features do not fit the documents");
  require(queries_.documents() == labels_.size(), "queries do not fit the documents");
  require(names_.size() == 0 || names_.size() == labels_.size(), "names do not fit the documents");
  require(source_rows_.empty() || source_rows_.size() == labels_.size(),
          "source rows do not fit the documents");
  for (const int32_t label : labels_) {
    require(label >= 0, "a negative label");
    max_label_ = std::max(max_label_, label);
  }
  const Hash128 content = hash_features(features_, pool);
  Hasher hasher;
  hasher.number(num_features_).hash(content);
  hasher.values(std::span<const int32_t>(labels_)).values(std::span<const size_t>(queries_.offsets()));
  for (const std::string& id : queries_.ids()) hasher.text(id);
  fingerprint_ = hasher.digest();
}

Dataset Dataset::named(const FeatureNames& names) && {
  feature_names_ = names.first(num_features_);
  return std::move(*this);
}

Dataset Dataset::select_queries(std::span<const size_t> queries) const {
  std::vector<size_t> offsets = {0};
  std::vector<std::string> ids;
  for (const size_t q : queries) {
    offsets.push_back(offsets.back() + queries_.length(q));
    ids.push_back(queries_.id(q));
  }
  FloatBuffer features(offsets.back() * num_features_);
  std::vector<int32_t> labels(offsets.back());
  NameTable names;
  for (size_t i = 0; i < queries.size(); ++i) {
    const size_t from = queries_.begin(queries[i]);
    const size_t count = queries_.length(queries[i]);
    std::copy_n(features_.data() + from * num_features_, count * num_features_,
                features.data() + offsets[i] * num_features_);
    std::copy_n(labels_.begin() + from, count, labels.begin() + offsets[i]);
    if (names_.size() > 0)
      for (size_t d = from; d < from + count; ++d) names.add(names_[d]);
  }
  Dataset result(std::move(features), num_features_, std::move(labels),
                 QueryIndex(std::move(offsets), std::move(ids)), std::move(names));
  result.feature_names_ = feature_names_;
  if (weights_.empty()) return result;
  std::vector<float> weights;
  for (const size_t q : queries)
    weights.insert(weights.end(), weights_.begin() + static_cast<ptrdiff_t>(queries_.begin(q)),
                   weights_.begin() + static_cast<ptrdiff_t>(queries_.end(q)));
  return std::move(result).weighted(std::move(weights));
}

Dataset Dataset::weighted(std::vector<float> weights) && {
  require(weights_.empty() && (weights.empty() || weights.size() == documents()),
          "weights do not fit the documents");
  for (const float weight : weights) require(weight >= 0, "a negative weight");
  if (std::all_of(weights.begin(), weights.end(), [](float weight) { return weight == 1; }))
    return std::move(*this);
  weights_ = std::move(weights);
  fingerprint_ = Hasher()
                     .number(fingerprint_.high)
                     .number(fingerprint_.low)
                     .values(std::span<const float>(weights_))
                     .digest();
  return std::move(*this);
}

}  // namespace tunemix
