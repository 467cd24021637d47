// The parsed features of a fold as an artifact of the store, so that tasks on other machines map a file
// instead of parsing text.
#pragma once

#include <optional>

#include "pipeline/stages/fold_data.h"
#include "pipeline/store/store.h"

namespace tunemix {

inline constexpr const char* kFeaturesKind = "features";
inline constexpr uint32_t kFeaturesVersion = 1;

void save_features(const FoldFeatures& fold, const Hash128& fold_key, const ArtifactStore& store);
// Nothing where there are none. Damaged ones are named in a warning, removed, and count as missing.
std::optional<FoldFeatures> load_features(const Hash128& fold_key, const ArtifactStore& store,
                                          const Context& context);

}  // namespace tunemix
