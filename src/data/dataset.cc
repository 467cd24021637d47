#include "tunemix/data/dataset.h"

#include <algorithm>
#include <utility>

#include "tunemix/core/error.h"

namespace tunemix {

namespace {

constexpr size_t kHashBlock = size_t{1} << 20;  // floats

Hash128 content_of(std::span<const float> features, size_t num_features, const Documents& about) {
  std::vector<Hash128> blocks;
  for (size_t at = 0; at < features.size(); at += kHashBlock) {
    const auto block = features.subspan(at, std::min(kHashBlock, features.size() - at));
    blocks.push_back(hash_bytes(block.data(), block.size_bytes()));
  }
  Hasher hasher;
  hasher.number(num_features).hash(Hasher().values(std::span<const Hash128>(blocks)).digest());
  hasher.values(std::span<const int32_t>(about.labels));
  hasher.values(std::span<const size_t>(about.queries.offsets()));
  for (const std::string& id : about.queries.ids()) hasher.text(id);
  const Hash128 hash = hasher.digest();
  if (about.weights.empty()) return hash;
  return Hasher().number(hash.high).number(hash.low).values(std::span<const float>(about.weights)).digest();
}

// Weights that are all 1 are as good as none.
std::shared_ptr<const Documents> checked(Documents about) {
  const auto fits = [&](size_t size) { return size == 0 || size == about.size(); };
  require(about.queries.documents() == about.size(), "queries do not fit the documents");
  require(fits(about.names.size()), "names do not fit the documents");
  require(fits(about.source_rows.size()), "source rows do not fit the documents");
  require(fits(about.weights.size()), "weights do not fit the documents");
  for (const int32_t label : about.labels) require(label >= 0, "a negative label");
  for (const float weight : about.weights) require(weight >= 0, "a negative weight");
  if (std::all_of(about.weights.begin(), about.weights.end(), [](float weight) { return weight == 1; }))
    about.weights.clear();
  return std::make_shared<const Documents>(std::move(about));
}

}  // namespace

Dataset::Dataset(std::span<const float> features, std::shared_ptr<const void> owner, size_t num_features,
                 std::shared_ptr<const Documents> about)
    : owner_(std::move(owner)), features_(features), num_features_(num_features), about_(std::move(about)) {
  require(features_.size() == documents() * num_features_, "features do not fit the documents");
  for (const int32_t label : about_->labels) max_label_ = std::max(max_label_, label);
}

Dataset::Dataset(std::span<const float> features, std::shared_ptr<const void> owner, size_t num_features,
                 Documents about)
    : Dataset(features, std::move(owner), num_features, checked(std::move(about))) {}

Dataset::Dataset(const std::shared_ptr<const FloatBuffer>& features, size_t num_features,
                 std::shared_ptr<const Documents> about)
    : Dataset(features->values(), features, num_features, std::move(about)) {}

Dataset::Dataset(FloatBuffer features, size_t num_features, Documents about)
    : Dataset(std::make_shared<const FloatBuffer>(std::move(features)), num_features,
              checked(std::move(about))) {}

Dataset Dataset::with_features(FloatBuffer features, size_t num_features) const {
  return {std::make_shared<const FloatBuffer>(std::move(features)), num_features, about_};
}

Dataset Dataset::with_documents(Documents about) const {
  return Dataset(features_, owner_, num_features_, std::move(about)).named(feature_names_);
}

Dataset Dataset::named(const FeatureNames& names) && {
  feature_names_ = names.first(num_features_);
  return std::move(*this);
}

Dataset Dataset::select_queries(std::span<const size_t> chosen) const {
  Documents about = about_->select_queries(chosen);
  bool in_place = true;
  for (size_t i = 1; i < chosen.size(); ++i) in_place = in_place && chosen[i] == chosen[i - 1] + 1;
  if (in_place) {
    const size_t first = chosen.empty() ? 0 : queries().begin(chosen[0]);
    const size_t values = about.size() * num_features_;
    return Dataset(features_.subspan(first * num_features_, values), owner_, num_features_, std::move(about))
        .named(feature_names_);
  }
  FloatBuffer features(about.size() * num_features_);
  float* to = features.data();
  for (const size_t q : chosen)
    to = std::copy_n(features_.data() + queries().begin(q) * num_features_,
                     queries().length(q) * num_features_, to);
  return Dataset(std::move(features), num_features_, std::move(about)).named(feature_names_);
}

const Hash128& Dataset::fingerprint() const {
  std::call_once(fingerprint_->made,
                 [&] { fingerprint_->hash = content_of(features_, num_features_, *about_); });
  return fingerprint_->hash;
}

}  // namespace tunemix
