// The documents that a model is trained on: some queries of a data set, with what is derived from all of it
// (bins) made once and shared by everyone who trains on it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tunemix/core/context.h"
#include "tunemix/data/binning.h"
#include "tunemix/data/dataset.h"
#include "tunemix/data/feature_fill.h"

namespace tunemix {

struct Bins {
  std::shared_ptr<const BinCuts> cuts;
  std::shared_ptr<const BinnedDataset> data;
};

// Keeps bins for other processes that train on the same data.
class BinKeeper {
 public:
  virtual ~BinKeeper() = default;
  virtual std::optional<Bins> load(const Dataset& data, size_t max_bins, BinLayout layout,
                                   const Context& context) = 0;
  virtual void save(const Dataset& data, size_t max_bins, const Bins& bins) = 0;
};

// What is derived of a data set, made when first asked for: its bins in each layout, and for learners that
// take numbers only the data with missing values filled in. Safe to share between threads.
class BinCache {
 public:
  // `standardized`: features that are standardised within queries.
  explicit BinCache(const Dataset& data, FeatureSpan standardized = {})
      : data_(data), standardized_(standardized) {}

  const Dataset& data() const { return data_; }
  FeatureSpan standardized() const { return standardized_; }
  void keep_with(std::unique_ptr<BinKeeper> keeper) { keeper_ = std::move(keeper); }
  Bins bins(size_t max_bins, BinLayout layout, const Context& context);

  const FeatureFill& fill(const Context& context);
  // Of the data filled in: this one where nothing is missing.
  BinCache& filled(const Context& context);

 private:
  const Dataset& data_;
  FeatureSpan standardized_;
  std::unique_ptr<BinKeeper> keeper_;
  std::mutex mutex_;
  std::map<std::pair<size_t, BinLayout>, Bins> made_;
  std::optional<FeatureFill> fill_;
  std::optional<Dataset> filled_;
  std::unique_ptr<BinCache> filled_cache_;
};

class TrainingData {
 public:
  // `queries`: ascending numbers of queries of the cache's data; K labels with their grades. The cache
  // outlives it. Throws InputError where no document of the queries has a weight above 0.
  TrainingData(BinCache& cache, std::vector<size_t> queries, int labels, std::vector<double> grades);
  // All queries; K from the data, grades 2^l - 1.
  explicit TrainingData(BinCache& cache);

  const Dataset& all() const { return cache_.data(); }
  BinCache& cache() const { return cache_; }
  const std::vector<size_t>& query_numbers() const { return query_numbers_; }
  bool is_all() const { return documents_.size() == all().documents(); }
  // The documents of these queries by their number in all(), ascending.
  std::span<const uint32_t> documents() const { return documents_; }
  // The queries as runs of documents().
  const QueryIndex& queries() const { return queries_; }
  std::vector<int32_t> labels() const;                        // of documents()
  int label_count() const { return label_count_; }            // K
  std::span<const double> grades() const { return grades_; }  // of each label
  // What a document, by its number in all(), counts; and what each of queries() does, the mean of its
  // documents. A loss over documents is weighted by the former, one over pairs or lists by the latter.
  double weight(size_t document) const {
    return all().weights().empty() ? 1.0 : static_cast<double>(all().weights()[document]);
  }
  bool weighted() const { return !all().weights().empty(); }
  std::vector<double> query_weights() const;
  // A data set of these documents alone: a copy.
  Dataset select() const { return all().select_queries(query_numbers_); }
  Hash128 fingerprint() const;  // of all() and the chosen queries

 private:
  BinCache& cache_;
  std::vector<size_t> query_numbers_;
  std::vector<uint32_t> documents_;
  QueryIndex queries_;
  int label_count_;
  std::vector<double> grades_;
};

// Throws InputError where all documents have the same label: there is nothing to learn.
void expect_several_labels(const Dataset& data);

}  // namespace tunemix
