#include "tunemix/learn/training_data.h"

#include <algorithm>
#include <numeric>

#include "tunemix/metric/policy.h"

namespace tunemix {
namespace {

std::vector<size_t> all_queries(const Dataset& data) {
  std::vector<size_t> numbers(data.queries().size());
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  return numbers;
}

int count_labels(const Dataset& data) { return std::max(2, data.max_label() + 1); }

}  // namespace

Bins BinCache::bins(size_t max_bins, BinLayout layout, const Context& context) {
  const std::lock_guard lock(mutex_);
  Bins& bins = made_[{max_bins, layout}];
  if (bins.data != nullptr) return bins;
  if (keeper_ != nullptr)
    if (const auto kept = keeper_->load(data_, max_bins, layout, context)) return bins = *kept;
  for (const auto& [key, other] : made_)
    if (key.first == max_bins && other.data != nullptr) bins.cuts = other.cuts;
  if (bins.cuts == nullptr) bins.cuts = std::make_shared<const BinCuts>(find_cuts(data_, max_bins, context));
  bins.data = std::make_shared<const BinnedDataset>(data_, *bins.cuts, layout, context);
  if (keeper_ != nullptr) keeper_->save(data_, max_bins, bins);
  return bins;
}

const FeatureFill& BinCache::fill(const Context& context) {
  const std::lock_guard lock(mutex_);
  if (fill_) return *fill_;
  FeatureFill fill = FeatureFill::fit(data_, standardized_, context);
  if (!fill.indicators().empty()) {
    filled_ = fill.apply(data_, context);
    filled_cache_ = std::make_unique<BinCache>(*filled_);
  }
  return fill_.emplace(std::move(fill));
}

BinCache& BinCache::filled(const Context& context) {
  fill(context);
  return filled_cache_ != nullptr ? *filled_cache_ : *this;
}

TrainingData::TrainingData(BinCache& cache, std::vector<size_t> queries, int labels,
                           std::vector<double> grades)
    : cache_(cache), query_numbers_(std::move(queries)), label_count_(labels), grades_(std::move(grades)) {
  const QueryIndex& index = all().queries();
  for (const size_t q : query_numbers_)
    for (size_t i = index.begin(q); i < index.end(q); ++i) documents_.push_back(static_cast<uint32_t>(i));
  queries_ = index.select(query_numbers_);
  if (!documents_.empty() &&
      std::none_of(documents_.begin(), documents_.end(), [&](uint32_t i) { return weight(i) > 0; }))
    throw_input("all {} documents to train on have weight 0; expected some above 0", documents_.size());
}

TrainingData::TrainingData(BinCache& cache)
    : TrainingData(cache, all_queries(cache.data()), count_labels(cache.data()),
                   exponential_grades(count_labels(cache.data()))) {}

std::vector<int32_t> TrainingData::labels() const {
  std::vector<int32_t> labels;
  labels.reserve(documents_.size());
  for (const uint32_t i : documents_) labels.push_back(all().labels()[i]);
  return labels;
}

std::vector<double> TrainingData::query_weights() const {
  std::vector<double> weights(queries_.size(), 1.0);
  for (size_t q = 0; q < queries_.size() && weighted(); ++q) {
    double sum = 0;
    for (size_t i = queries_.begin(q); i < queries_.end(q); ++i) sum += weight(documents_[i]);
    weights[q] = sum / static_cast<double>(queries_.length(q));
  }
  return weights;
}

Hash128 TrainingData::fingerprint() const {
  Hasher hasher;
  hasher.hash(all().fingerprint());
  hasher.values(std::span<const size_t>(query_numbers_));
  return hasher.digest();
}

void expect_several_labels(const Dataset& data) {
  if (data.documents() == 0) throw InputError("the training data has no documents");
  const auto labels = data.labels();
  if (std::all_of(labels.begin(), labels.end(), [&](int32_t label) { return label == labels[0]; }))
    throw_input(
        "all {} training documents have label {}, so that there is nothing to learn; expected two labels or "
        "more",
        labels.size(), labels[0]);
}

}  // namespace tunemix
