// Views of the features: standardised within each query (each feature minus its mean over the query, divided
// by its deviation), beside the others or in their place.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "tunemix/core/context.h"
#include "tunemix/data/dataset.h"

namespace tunemix {

// What becomes of the d features. kNone: nothing; kAppend: the standardised ones follow them; kReplace: these
// alone; kCdf: shares of the training data (feature_cdf.h), which take more than one data set to find;
// kContext: as kAppend, and then the query's mean of each.
enum class Standardize : uint8_t { kNone, kAppend, kReplace, kCdf, kContext };

// Words of configs and results with what they stand for.
const std::vector<std::pair<std::string, Standardize>>& standardize_words();
Standardize parse_standardize(std::string_view name);  // throws InputError
std::string_view to_string(Standardize mode);
// How many features there are of so many.
size_t viewed_features(Standardize mode, size_t features);
// The feature that feature j of a view of so many is made from, and how: "" or " (standardised)".
std::pair<size_t, std::string_view> feature_origin(Standardize mode, size_t j, size_t features);
// Features first..last-1.
struct FeatureSpan {
  size_t first = 0;
  size_t last = 0;
  bool contains(size_t feature) const { return feature >= first && feature < last; }
};
// Those of so many in a view that are standardised.
FeatureSpan standardized_features(Standardize mode, size_t viewed);
// Within each query, by the documents that have a feature: what is missing stays so. Not by kCdf. The
// features are made where they are read (FeatureView).
Dataset standardize(const Dataset& data, Standardize mode, const Context& context);

}  // namespace tunemix
