// Documents with features, labels, queries and names; immutable once built.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tunemix/core/hash.h"
#include "tunemix/core/parallel.h"
#include "tunemix/data/feature_names.h"
#include "tunemix/data/float_buffer.h"
#include "tunemix/data/query_index.h"

namespace tunemix {

// The names of documents (`docid = X` of the comments) in one block of text; empty where a document has none.
class NameTable {
 public:
  void add(std::string_view name) {
    text_.append(name);
    ends_.push_back(text_.size());
  }
  size_t size() const { return ends_.size(); }
  std::string_view operator[](size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }
  bool any() const { return !text_.empty(); }

 private:
  std::string text_;
  std::vector<uint64_t> ends_;
};

// A copy shares the features with the data set that it was made from.
class Dataset {
 public:
  // features: documents x num_features, row by row; missing values are 0.
  // names may be empty (size 0) when no document has one; pool: to hash the content on several threads.
  Dataset(FloatBuffer features, size_t num_features, std::vector<int32_t> labels, QueryIndex queries,
          NameTable names, std::vector<uint32_t> source_rows = {}, ThreadPool* pool = nullptr);
  // Features in somebody else's memory, which stays there and as it is while `owner` lives.
  Dataset(std::span<const float> features, std::shared_ptr<const void> owner, size_t num_features,
          std::vector<int32_t> labels, QueryIndex queries, NameTable names,
          std::vector<uint32_t> source_rows = {}, ThreadPool* pool = nullptr);

  size_t documents() const { return labels_.size(); }
  size_t features() const { return num_features_; }
  std::span<const float> row(size_t document) const {
    return {features_.data() + document * num_features_, num_features_};
  }
  std::span<const float> values() const { return features_; }
  std::span<const int32_t> labels() const { return labels_; }
  const QueryIndex& queries() const { return queries_; }
  const NameTable& names() const { return names_; }
  // For each document its row in the files it was read from, counted over documents from 0; empty when the
  // documents are in file order.
  std::span<const uint32_t> source_rows() const { return source_rows_; }
  int max_label() const { return max_label_; }
  // How much each document counts in training, calibration and metrics; empty where all count 1.
  std::span<const float> weights() const { return weights_; }
  // What its features are called; no part of the content.
  const FeatureNames& feature_names() const { return feature_names_; }
  Dataset named(const FeatureNames& names) &&;
  // Of the content: features, labels, queries, weights; not of the path or the format it was read from.
  const Hash128& fingerprint() const { return fingerprint_; }

  // The documents of the given queries, in the given order: a data set of its own, without source rows.
  Dataset select_queries(std::span<const size_t> queries) const;
  // The same documents with these weights, none of them negative. Weights that are all 1 are as good as none.
  Dataset weighted(std::vector<float> weights) &&;

 private:
  Dataset(const std::shared_ptr<const FloatBuffer>& features, size_t num_features,
          std::vector<int32_t> labels, QueryIndex queries, NameTable names, std::vector<uint32_t> source_rows,
          ThreadPool* pool)
      : Dataset(features->values(), features, num_features, std::move(labels), std::move(queries),
                std::move(names), std::move(source_rows), pool) {}

  std::shared_ptr<const void> owner_;  // of the features
  std::span<const float> features_;
  size_t num_features_;
  std::vector<int32_t> labels_;
  QueryIndex queries_;
  NameTable names_;
  std::vector<uint32_t> source_rows_;
  std::vector<float> weights_;
  FeatureNames feature_names_;
  int max_label_ = 0;
  Hash128 fingerprint_;
};

}  // namespace tunemix
