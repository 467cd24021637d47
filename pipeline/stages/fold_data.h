// The data of one fold: what the later stages know of it (FoldInfo, cached), and its features (FoldFeatures,
// read again whenever a model has to be trained).
#pragma once

#include <vector>

#include "pipeline/config/config.h"
#include "pipeline/store/store.h"
#include "tunemix/core/context.h"
#include "tunemix/data/dataset.h"
#include "tunemix/data/split.h"
#include "tunemix/learn/training_data.h"

namespace tunemix {

struct SplitInfo {
  std::vector<int32_t> labels;
  QueryIndex queries;
  NameTable names;
  std::vector<uint32_t> source_rows;  // of each document in its files; empty in file order
  Hash128 fingerprint;
  std::vector<Hash128> contents;    // of each query: query_contents of data_checks.h
  std::vector<uint64_t> documents;  // of each document: document_contents of data_checks.h
};

struct FoldInfo {
  int labels = 0;       // K
  size_t features = 0;  // as read, before standardisation
  SplitInfo train;
  SplitInfo valid;
  SplitInfo test;
};

struct FoldFeatures {
  Dataset train;
  Dataset valid;
  Dataset test;
};

// The features of a fold standardised as some learners want them, with the bins that these share.
struct PreparedFold {
  explicit PreparedFold(FoldFeatures features) : data(std::move(features)), bins(data.train) {}
  FoldFeatures data;
  BinCache bins;
};

// Adds the content of files to a hash; reads those that are not known.
void hash_files(const Config& config, const std::vector<std::string>& files, ArtifactStore& store,
                MissingFiles missing, Hasher& hasher);
// Of the fold's content and of the options that its reading depends on; reads no features.
Hash128 fold_key(const Config& config, size_t fold, ArtifactStore& store, MissingFiles missing);

// The files that a fold's data is read from, with the sizes of groups beside them.
std::vector<std::filesystem::path> content_of(const Config& config, const FoldFiles& files);
// Reads the files (or generates the preset) without standardisation; throws InputError naming file and line,
// and RunError where a file is not what the plan was made for.
FoldFeatures read_fold(const Config& config, size_t fold, const ArtifactStore& store, const Context& context);
// Whether this is what describe_fold says of these features.
bool describes(const FoldInfo& info, const FoldFeatures& features);
FoldInfo describe_fold(const Config& config, const FoldFeatures& features, const Context& context);
FoldFeatures standardize_fold(FoldFeatures features, Standardize mode, const Context& context);
std::vector<std::filesystem::path> paths_of(const Config& config, const std::vector<std::string>& files);

std::vector<uint8_t> save_fold_info(const FoldInfo& info);
FoldInfo load_fold_info(std::span<const uint8_t> payload);

// The train/calibration split of one bag.
QuerySplit bag_split(const Config& config, const QueryIndex& train, size_t fold, int bag);
// The labels and queries of some queries of a split.
SplitInfo select_info(const SplitInfo& info, std::span<const size_t> queries);

size_t fold_count(const Config& config);
// 2^l - 1, or the config's grades; throws InputError when there are fewer grades than labels.
std::vector<double> fold_grades(const Config& config, int labels);

}  // namespace tunemix
