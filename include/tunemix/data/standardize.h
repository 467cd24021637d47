// Query-wise standardisation of features (spec: each feature minus its mean over the query, divided by its
// deviation).
#pragma once

#include <string_view>

#include "tunemix/core/context.h"
#include "tunemix/data/dataset.h"

namespace tunemix {

// kCdf: shares of the training data (feature_cdf.h), which take more than one data set to find.
enum class Standardize { kNone, kAppend, kReplace, kCdf };

Standardize parse_standardize(std::string_view name);  // none | append | replace | cdf; throws InputError
std::string_view to_string(Standardize mode);
// Within each query, by the documents that have a feature: what is missing stays so. Not by kCdf.
Dataset standardize(Dataset data, Standardize mode, const Context& context);
// Of so many features after that, the number of the first that is standardised; those before it are as
// before.
size_t first_standardized(size_t features, Standardize mode);

}  // namespace tunemix
