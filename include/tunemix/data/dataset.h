// Documents with features; immutable once built.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "tunemix/core/hash.h"
#include "tunemix/core/parallel.h"
#include "tunemix/data/documents.h"
#include "tunemix/data/feature_names.h"
#include "tunemix/data/float_buffer.h"

namespace tunemix {

// A feature's values in documents that follow one another.
struct FeatureColumn {
  const float* values;
  size_t stride;  // floats from one document's to the next
};

// Features that are made of others where they are read.
class FeatureView {
 public:
  virtual ~FeatureView() = default;
  virtual size_t features() const = 0;
  // The same where the values are.
  virtual Hash128 fingerprint() const = 0;
  // As in Dataset.
  virtual FeatureColumn column(size_t feature, size_t begin, size_t count, float* scratch) const = 0;
  virtual void read(size_t document, size_t first, std::span<float> out) const = 0;
  // All features of the documents of a query, row by row.
  virtual void read_query(size_t query, float* out) const = 0;
  virtual std::shared_ptr<const FeatureView> select_queries(std::span<const size_t> queries) const = 0;
};

// A copy shares everything with the data set that it was made from.
class Dataset {
 public:
  // features: documents x num_features, row by row; a missing value is NaN (missing.h).
  Dataset(FloatBuffer features, size_t num_features, Documents about);
  // Features in somebody else's memory, which stays there and as it is while `owner` lives.
  Dataset(std::span<const float> features, std::shared_ptr<const void> owner, size_t num_features,
          Documents about);

  // Other features of the same documents, without names of their own.
  Dataset with_features(FloatBuffer features, size_t num_features) const;
  Dataset viewed(std::shared_ptr<const FeatureView> view) const;
  // The same features with other labels, queries or weights.
  Dataset with_documents(Documents about) const;
  Dataset named(const FeatureNames& names) &&;
  // The documents of the given queries, in the given order. Queries that follow one another share their
  // features with this data set; others are copied.
  Dataset select_queries(std::span<const size_t> queries) const;

  size_t documents() const { return about_->size(); }
  size_t features() const { return num_features_; }
  // All features of a document, or of all documents. Those of a view are all made when the first is asked
  // for.
  std::span<const float> row(size_t document) const {
    return {base() + document * num_features_, num_features_};
  }
  std::span<const float> values() const { return {base(), documents() * num_features_}; }
  // The feature's values in documents begin..begin+count: where they are or, of a view, in `scratch`, which
  // has room for them.
  FeatureColumn column(size_t feature, size_t begin, size_t count, float* scratch) const {
    if (!made()) return view_->view->column(feature, begin, count, scratch);
    return {base() + begin * num_features_ + feature, num_features_};
  }
  // Copies the features first, first + 1, ... of a document.
  void read(size_t document, size_t first, std::span<float> out) const;
  // Whether all features are in memory, and brings them there on several threads.
  bool made() const { return view_ == nullptr || view_->values.load(std::memory_order_acquire) != nullptr; }
  void make(ThreadPool& pool) const { make_values(&pool); }
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
  struct View {
    std::shared_ptr<const FeatureView> view;
    std::once_flag once;
    std::shared_ptr<const void> owner;  // of the values
    std::atomic<const float*> values = nullptr;
  };

  Dataset(std::span<const float> features, std::shared_ptr<const void> owner, size_t num_features,
          std::shared_ptr<const Documents> about);
  Dataset(std::shared_ptr<View> view, std::shared_ptr<const Documents> about);
  Dataset(const std::shared_ptr<const FloatBuffer>& features, size_t num_features,
          std::shared_ptr<const Documents> about);

  const float* base() const {
    if (view_ == nullptr) return features_;
    const float* values = view_->values.load(std::memory_order_acquire);
    return values != nullptr ? values : make_values(nullptr);
  }
  const float* make_values(ThreadPool* pool) const;

  std::shared_ptr<const void> owner_;  // of the features
  const float* features_;
  std::shared_ptr<View> view_;  // in place of them
  size_t num_features_;
  std::shared_ptr<const Documents> about_;
  FeatureNames feature_names_;
  int max_label_ = 0;
  std::shared_ptr<Fingerprint> fingerprint_ = std::make_shared<Fingerprint>();
};

}  // namespace tunemix
