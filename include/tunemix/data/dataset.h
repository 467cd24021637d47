// Documents with features; immutable once built.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "tunemix/core/hash.h"
#include "tunemix/data/documents.h"
#include "tunemix/data/feature_names.h"
#include "tunemix/data/float_buffer.h"

namespace tunemix {

// A copy shares everything with the data set that it was made from.
class Dataset {
 public:
  // features: documents x num_features, row by row; missing values are 0.
  Dataset(FloatBuffer features, size_t num_features, Documents about);
  // Features in somebody else's memory, which stays there and as it is while `owner` lives.
  Dataset(std::span<const float> features, std::shared_ptr<const void> owner, size_t num_features,
          Documents about);

  // Other features of the same documents, without names of their own.
  Dataset with_features(FloatBuffer features, size_t num_features) const;
  // The same features with other labels, queries or weights.
  Dataset with_documents(Documents about) const;
  Dataset named(const FeatureNames& names) &&;
  // The documents of the given queries, in the given order. Queries that follow one another share their
  // features with this data set; others are copied.
  Dataset select_queries(std::span<const size_t> queries) const;

  size_t documents() const { return about_->size(); }
  size_t features() const { return num_features_; }
  std::span<const float> row(size_t document) const {
    return {features_.data() + document * num_features_, num_features_};
  }
  std::span<const float> values() const { return features_; }
  const Documents& about() const { return *about_; }
  std::span<const int32_t> labels() const { return about_->labels; }
  const QueryIndex& queries() const { return about_->queries; }
  const NameTable& names() const { return about_->names; }
  std::span<const uint32_t> source_rows() const { return about_->source_rows; }
  std::span<const float> weights() const { return about_->weights; }
  int max_label() const { return max_label_; }
  // What its features are called; no part of the content.
  const FeatureNames& feature_names() const { return feature_names_; }
  // Of the content: features, labels, queries, weights; not of the path or the format it was read from. Made
  // when first asked for, by any thread.
  const Hash128& fingerprint() const;

 private:
  struct Fingerprint {
    std::once_flag made;
    Hash128 hash;
  };

  Dataset(std::span<const float> features, std::shared_ptr<const void> owner, size_t num_features,
          std::shared_ptr<const Documents> about);
  Dataset(const std::shared_ptr<const FloatBuffer>& features, size_t num_features,
          std::shared_ptr<const Documents> about);

  std::shared_ptr<const void> owner_;  // of the features
  std::span<const float> features_;
  size_t num_features_;
  std::shared_ptr<const Documents> about_;
  FeatureNames feature_names_;
  int max_label_ = 0;
  std::shared_ptr<Fingerprint> fingerprint_ = std::make_shared<Fingerprint>();
};

}  // namespace tunemix
