#include "tunemix/data/dataset.h"

#include <algorithm>
#include <utility>

#include "tunemix/core/error.h"

namespace tunemix {

namespace {

constexpr size_t kHashBlock = size_t{1} << 20;  // floats

Hash128 hash_of(std::span<const float> features) {
  std::vector<Hash128> blocks;
  for (size_t at = 0; at < features.size(); at += kHashBlock) {
    const auto block = features.subspan(at, std::min(kHashBlock, features.size() - at));
    blocks.push_back(hash_bytes(block.data(), block.size_bytes()));
  }
  return Hasher().values(std::span<const Hash128>(blocks)).digest();
}

Hash128 content_of(const Hash128& features, size_t num_features, const Documents& about) {
  Hasher hasher;
  hasher.number(num_features).hash(features);
  hasher.values(std::span<const int32_t>(about.labels));
  hasher.values(std::span<const size_t>(about.queries.offsets()));
  for (const std::string& id : about.queries.ids()) hasher.text(id);
  for (const auto& [feature, words] : about.words.all()) {
    hasher.number(feature);
    for (const std::string& word : *words) hasher.text(word);
  }
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

int largest_label(const Documents& about) {
  int largest = 0;
  for (const int32_t label : about.labels) largest = std::max(largest, label);
  return largest;
}

}  // namespace

Dataset::Dataset(std::span<const float> features, std::shared_ptr<const void> owner, size_t num_features,
                 std::shared_ptr<const Documents> about)
    : owner_(std::move(owner)),
      features_(features.data()),
      num_features_(num_features),
      about_(std::move(about)),
      max_label_(largest_label(*about_)) {
  require(features.size() == documents() * num_features_, "features do not fit the documents");
}

Dataset::Dataset(std::shared_ptr<View> view, std::shared_ptr<const Documents> about)
    : features_(nullptr),
      view_(std::move(view)),
      num_features_(view_->view->features()),
      about_(std::move(about)),
      max_label_(largest_label(*about_)) {}

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

Dataset Dataset::viewed(std::shared_ptr<const FeatureView> view) const {
  auto lazy = std::make_shared<View>();
  lazy->view = std::move(view);
  return {std::move(lazy), about_};
}

Dataset Dataset::with_documents(Documents about) const {
  if (view_ == nullptr)
    return Dataset(values(), owner_, num_features_, std::move(about)).named(feature_names_);
  require(about.queries.offsets() == queries().offsets(), "features of other queries");
  return Dataset(view_, checked(std::move(about))).named(feature_names_);
}

Dataset Dataset::named(const FeatureNames& names) && {
  feature_names_ = names.first(num_features_);
  return std::move(*this);
}

Dataset Dataset::select_queries(std::span<const size_t> chosen) const {
  Documents about = about_->select_queries(chosen);
  std::shared_ptr<const void> owner;
  std::span<const float> features;
  if (made()) {
    owner = view_ == nullptr ? owner_ : view_->owner;
    bool in_place = true;
    for (size_t i = 1; i < chosen.size(); ++i) in_place = in_place && chosen[i] == chosen[i - 1] + 1;
    const size_t first = chosen.empty() ? 0 : queries().begin(chosen[0]);
    if (in_place) {
      features = values().subspan(first * num_features_, about.size() * num_features_);
    } else {
      auto copy = std::make_shared<FloatBuffer>(about.size() * num_features_);
      float* to = copy->data();
      for (const size_t q : chosen)
        to = std::copy_n(row(queries().begin(q)).data(), queries().length(q) * num_features_, to);
      features = copy->values();
      owner = std::move(copy);
    }
  }
  if (view_ == nullptr)
    return Dataset(features, std::move(owner), num_features_, std::move(about)).named(feature_names_);
  auto lazy = std::make_shared<View>();
  lazy->view = view_->view->select_queries(chosen);
  lazy->owner = std::move(owner);
  lazy->values = features.data();
  return Dataset(std::move(lazy), checked(std::move(about))).named(feature_names_);
}

void Dataset::read(size_t document, size_t first, std::span<float> out) const {
  if (made())
    std::copy_n(base() + document * num_features_ + first, out.size(), out.begin());
  else
    view_->view->read(document, first, out);
}

const float* Dataset::make_values(ThreadPool* pool) const {
  if (view_ == nullptr) return features_;
  std::call_once(view_->once, [&] {
    if (view_->values != nullptr) return;  // selected from what was made
    auto buffer = std::make_shared<FloatBuffer>(documents() * num_features_);
    const auto make = [&](size_t q) {
      view_->view->read_query(q, buffer->data() + queries().begin(q) * num_features_);
    };
    if (pool != nullptr)
      pool->run(queries().size(), make);
    else
      for (size_t q = 0; q < queries().size(); ++q) make(q);
    const float* values = buffer->data();
    view_->owner = std::move(buffer);
    view_->values.store(values, std::memory_order_release);
  });
  return view_->values.load(std::memory_order_acquire);
}

const Hash128& Dataset::fingerprint() const {
  std::call_once(fingerprint_->made, [&] {
    fingerprint_->hash =
        content_of(view_ != nullptr ? view_->view->fingerprint() : hash_of(values()), num_features_, *about_);
  });
  return fingerprint_->hash;
}

}  // namespace tunemix
