// Data for a bundle, and the scores from elsewhere that it asks for.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tunemix/core/context.h"
#include "tunemix/export/bundle.h"

namespace tunemix {

// As many features as the bundle has: features that a file leaves out are 0, more are an error.
Dataset read_bundle_data(const std::vector<std::filesystem::path>& files, const BundleInfo& bundle,
                         const Context& context);

// The same, where a query of one file is another than that of the same id in the next.
Dataset read_bundle_files_apart(const std::vector<std::filesystem::path>& files, const BundleInfo& bundle,
                                const Context& context);

// The scores of `NAME=FILE`, one for each member from elsewhere.
GivenScores read_member_scores(const std::vector<std::string>& named, const Bundle& bundle,
                               const Dataset& data);

}  // namespace tunemix
