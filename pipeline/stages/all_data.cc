#include "pipeline/stages/all_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>

namespace tunemix {
namespace {

const Dataset& dataset_of(const FoldFeatures& features, Split split) {
  return split == Split::kTrain ? features.train : split == Split::kValid ? features.valid : features.test;
}

// The queries of a split that are new.
class SeenQueries {
 public:
  std::vector<size_t> take_new(const SplitInfo& split) {
    std::vector<size_t> fresh;
    for (size_t q = 0; q < split.queries.size(); ++q) {
      const Hash128& content = split.query_contents[q];
      const bool is_new =
          content == Hash128{} ? ids_.insert(split.queries.id(q)).second : contents_.insert(content).second;
      if (is_new) fresh.push_back(q);
    }
    return fresh;
  }

 private:
  std::set<Hash128> contents_;
  std::set<std::string> ids_;  // of queries without a content of their own
};

}  // namespace

const SplitInfo& split_of(const FoldInfo& info, Split split) {
  return split == Split::kTrain ? info.train : split == Split::kValid ? info.valid : info.test;
}

const std::vector<std::string>& files_of(const FoldFiles& files, Split split) {
  return split == Split::kTrain ? files.train : split == Split::kValid ? files.valid : files.test;
}

AllDataInfo describe_all(const Config& config, const std::vector<FoldInfo>& folds) {
  AllDataInfo all;
  SeenQueries seen;
  for (size_t fold = 0; fold < folds.size(); ++fold) {
    all.labels = std::max(all.labels, folds[fold].labels);
    all.features = std::max(all.features, folds[fold].features);
    for (const Split split : {Split::kTrain, Split::kValid, Split::kTest}) {
      const SplitInfo& info = split_of(folds[fold], split);
      std::vector<size_t> fresh = seen.take_new(info);
      if (fresh.empty()) continue;
      all.documents.append(info.select_queries(fresh));
      all.pieces.push_back({fold, split, std::move(fresh)});
      if (config.data.folds.empty()) continue;
      for (const std::string& file : files_of(config.data.folds[fold], split))
        if (std::find(all.files.begin(), all.files.end(), file) == all.files.end()) all.files.push_back(file);
    }
  }
  if (!config.data.given.empty())
    all.files.emplace_back(kGivenData);
  else if (config.data.folds.empty())
    all.files.push_back(fmt::format("synthetic {}, {} fold{}", config.data.synthetic.preset, folds.size(),
                                    folds.size() == 1 ? "" : "s"));
  return all;
}

Dataset read_all(const Config& config, const AllDataInfo& all, const ArtifactStore& store,
                 const Context& context) {
  const Documents& documents = all.documents;
  FloatBuffer features(documents.labels.size() * all.features);
  float* to = features.data();
  for (size_t p = 0; p < all.pieces.size();) {
    const size_t fold = all.pieces[p].fold;
    const FoldFeatures read = read_fold(config, fold, store, context);
    for (; p < all.pieces.size() && all.pieces[p].fold == fold; ++p) {
      const Dataset& data = dataset_of(read, all.pieces[p].split);
      for (const size_t q : all.pieces[p].queries)
        for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i, to += all.features) {
          std::copy_n(data.row(i).data(), data.features(), to);
          std::fill(to + data.features(), to + all.features, 0.0F);
        }
    }
  }
  return Dataset(std::move(features), all.features, documents);
}

QuerySplit final_split(const Config& config, const QueryIndex& queries, int bag) {
  const size_t n = queries.size();
  if (n < 2) throw_input("a calibration split needs at least 2 queries; the data has {}", n);
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  Random(config.seed, "final/calibration").shuffle(std::span<size_t>(order));
  const auto wanted =
      static_cast<size_t>(std::lround(config.data.calibration_fraction * static_cast<double>(n)));
  const size_t count = std::clamp<size_t>(wanted, 1, n - 1);
  std::rotate(order.begin(), order.begin() + static_cast<ptrdiff_t>(static_cast<size_t>(bag) * count % n),
              order.end());
  QuerySplit split;
  split.calibration.assign(order.begin(), order.begin() + static_cast<ptrdiff_t>(count));
  split.train.assign(order.begin() + static_cast<ptrdiff_t>(count), order.end());
  std::sort(split.calibration.begin(), split.calibration.end());
  std::sort(split.train.begin(), split.train.end());
  return split;
}

std::unique_ptr<PreparedData> prepare_all(const Dataset& features, Standardize mode, const Context& context) {
  if (mode != Standardize::kCdf)
    return std::make_unique<PreparedData>(standardize(features, mode, context), mode, std::nullopt);
  FeatureMap map{features.features(), std::vector<uint32_t>(features.features()),
                 FeatureCdf::fit(features, context)};
  std::iota(map.columns.begin(), map.columns.end(), 0U);
  Dataset shares = map.apply(features, context);
  return std::make_unique<PreparedData>(std::move(shares), mode, std::move(map));
}

}  // namespace tunemix
