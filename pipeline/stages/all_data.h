// All the data that a config names, each query once: what the final model is trained on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/stages/fold_data.h"

namespace tunemix {

// What stands for the files of data that the calling program has given.
inline constexpr const char* kGivenData = "data in memory";

enum class Split : uint8_t { kTrain, kValid, kTest };
const SplitInfo& split_of(const FoldInfo& info, Split split);
const std::vector<std::string>& files_of(const FoldFiles& files, Split split);

// The queries of a split of a fold that no piece before it has.
struct DataPiece {
  size_t fold = 0;
  Split split = Split::kTrain;
  std::vector<size_t> queries;  // ascending
};

// What the later steps know of all the data, without its features.
struct AllDataInfo {
  int labels = 0;  // K
  size_t features = 0;
  std::vector<DataPiece> pieces;
  Documents documents;  // piece by piece

  std::vector<std::string> files;  // that have a part in it, as the config names them
};

// A query is one that was there before if its documents are the same, whatever its id; where documents cannot
// tell (one, or all alike), if its id is the same.
AllDataInfo describe_all(const Config& config, const std::vector<FoldInfo>& folds);

// The features of the pieces, read again.
Dataset read_all(const Config& config, const AllDataInfo& all, const ArtifactStore& store,
                 const Context& context);

// The train/calibration split of one bag. The calibration parts of the bags follow one another in a random
// order of the queries: with enough bags every query trains all models but one.
QuerySplit final_split(const Config& config, const QueryIndex& queries, int bag);

// The features standardised as some learners want them, with the bins that these share.
struct PreparedData {
  PreparedData(Dataset features, Standardize mode, std::optional<FeatureMap> feature_map)
      : data(std::move(features)),
        bins(data, first_standardized(data.features(), mode)),
        map(std::move(feature_map)) {}
  Dataset data;
  BinCache bins;
  std::optional<FeatureMap> map;  // what was done to them that a model has to repeat
};

std::unique_ptr<PreparedData> prepare_all(const Dataset& features, Standardize mode, const Context& context);

}  // namespace tunemix
