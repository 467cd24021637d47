// The parsed features of a fold, and its bins, as artifacts of the store: tasks on other machines map a file
// instead of parsing text and looking for quantiles again.
#pragma once

#include <optional>

#include "pipeline/stages/fold_data.h"
#include "pipeline/store/store.h"

namespace tunemix {

inline constexpr const char* kFeaturesKind = "features";
inline constexpr uint32_t kFeaturesVersion = 2;

void save_features(const FoldFeatures& fold, const Hash128& fold_key, const ArtifactStore& store);
// Nothing where there are none. Damaged ones are named in a warning, removed, and count as missing.
std::optional<FoldFeatures> load_features(const Hash128& fold_key, const ArtifactStore& store,
                                          const Context& context);

inline constexpr const char* kBinsKind = "bins";
inline constexpr uint32_t kBinsVersion = 1;

// By the content of the data that they are made of. Damaged ones are named in a warning, removed and made
// again.
class StoredBins : public BinKeeper {
 public:
  explicit StoredBins(const ArtifactStore& store) : store_(store) {}
  static Hash128 key(const Dataset& data, size_t max_bins, BinLayout layout);
  std::optional<Bins> load(const Dataset& data, size_t max_bins, BinLayout layout,
                           const Context& context) override;
  void save(const Dataset& data, size_t max_bins, const Bins& bins) override;

 private:
  const ArtifactStore& store_;
};

}  // namespace tunemix
