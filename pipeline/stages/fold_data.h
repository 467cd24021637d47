// The data of one fold: what the later stages know of it (FoldInfo, cached), and its features (FoldFeatures,
// read again whenever a model has to be trained).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "pipeline/config/config.h"
#include "pipeline/store/store.h"
#include "tunemix/core/context.h"
#include "tunemix/data/categories.h"
#include "tunemix/data/dataset.h"
#include "tunemix/data/split.h"
#include "tunemix/learn/composed_model.h"
#include "tunemix/learn/training_data.h"

namespace tunemix {

struct SplitInfo : Documents {
  Hash128 fingerprint = {};
  std::vector<Hash128> query_contents = {};      // of each query (data_checks.h)
  std::vector<uint64_t> document_contents = {};  // of each document
};

struct FoldInfo {
  int labels = 0;              // K
  size_t features = 0;         // as read, before standardisation
  FeatureNames feature_names;  // as the head of the training data says
  Categories categories;       // of the training data
  SplitInfo train;
  SplitInfo valid;  // as test, empty for the final model
  SplitInfo test;
};

// The features of a fold standardised as some learners want them, and what these train on, with the bins that
// they share.
struct PreparedFold {
  PreparedFold(FoldFeatures features, Standardize mode, SourceUse source_use, double source_weight,
               std::optional<FeatureMap> feature_map);
  const Dataset& training_data() const { return training ? *training : data.train; }
  // The numbers of the queries to train on in training_data(), for a bag of the fold's own.
  std::vector<size_t> training_queries(std::span<const size_t> own) const;
  // Of a view: brings all features into memory, for learners that read them by rows.
  void make_features(const Context& context) const;

  FoldFeatures data;  // without the source
  SourceUse use;
  std::optional<Dataset> training;  // where it is not the fold's own
  BinCache bins;
  std::optional<FeatureMap> map;  // what was done to them that a model has to repeat
};

// Adds the content of files to a hash; reads those that are not known.
void hash_files(const Config& config, const std::vector<std::string>& files, ArtifactStore& store,
                MissingFiles missing, Hasher& hasher);
// Of the fold's content and of the options that its reading depends on; reads no features.
Hash128 fold_key(const Config& config, size_t fold, ArtifactStore& store, MissingFiles missing);

// The files that a fold's data is read from, with the sizes of groups and the weights beside them.
std::vector<std::filesystem::path> content_of(const Config& config, const FoldFiles& files);
// Reads the files (or takes the given data, or generates the preset) without standardisation; throws
// InputError naming file and line, and RunError where a file is not what the plan was made for.
FoldFeatures read_fold(const Config& config, size_t fold, const ArtifactStore& store, const Context& context);
// What is left of the training data, and the validation split out of it. Queries that occur twice stay in
// training, so that none is in both.
std::pair<Dataset, Dataset> take_valid(const Dataset& train, const ValidFromTrain& from,
                                       const Context& context);
// Whether this is what describe_fold says of these features.
bool describes(const FoldInfo& info, const FoldFeatures& features);
FoldInfo describe_fold(const Config& config, const FoldFeatures& features, const Context& context);
// The features of a fold with its categories put in: apart for the training data, so that no document sees
// labels of its own query.
std::shared_ptr<const FoldFeatures> with_categories(const Config& config, const FoldInfo& info,
                                                    std::shared_ptr<const FoldFeatures> features);
// K.
int labels_of(const Config& config, const Dataset& train);
// The names of the features: of the config's file, or of the data.
FeatureNames fold_feature_names(const Config& config, const FoldInfo& info);
// As the view has it, of the features that the config names.
std::shared_ptr<PreparedFold> prepare_fold(const Config& config, const FoldFeatures& features,
                                           Standardize mode, SourceUse source, const Context& context);
// How a bundle standardises features for a model: what is not done by the model itself.
Standardize bundle_standardize(Standardize mode);
// Throws InputError where the config names a feature that the fold does not have, or groups other labels.
void expect_known_parts(const Config& config, size_t fold, const FoldInfo& info);
std::vector<std::filesystem::path> paths_of(const Config& config, const std::vector<std::string>& files);

std::vector<uint8_t> save_fold_info(const FoldInfo& info);
FoldInfo load_fold_info(std::span<const uint8_t> payload);

// What a bag is trained on, and the part of the training queries that it leaves out: part `bag` of a random
// partition of the fold, the same for all learners; where the parts are used up, of another partition.
QuerySplit bag_split(const Config& config, const QueryIndex& train, size_t fold, int bag);
// The training queries that the bags of every learner have left out: what the learner with the fewest has.
std::vector<size_t> queries_left_out(const Config& config, const QueryIndex& train, size_t fold);

// 2^l - 1, or the config's grades; throws InputError when there are fewer grades than labels.
std::vector<double> fold_grades(const Config& config, int labels);

}  // namespace tunemix
