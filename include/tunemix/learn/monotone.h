// Features that a score may only rise, or only fall, with: `{bm25: increasing, 7: decreasing}`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tunemix/data/feature_names.h"

namespace tunemix {

// A feature, by its number from 1 or its name, and 1 for increasing or -1 for decreasing.
using Monotone = std::vector<std::pair<std::string, int8_t>>;

// With or without the braces; throws InputError.
Monotone parse_monotone(std::string_view text);
std::string to_text(const Monotone& monotone);
// The same by numbers alone, ascending; throws InputError for a name that no feature has, and for a feature
// that is named twice.
Monotone numbered(const Monotone& monotone, const FeatureNames& names);
// Of each of so many features: 1, -1, or 0 where it is free; empty where all are. `monotone` has numbers
// alone; throws InputError for one that there is not.
std::vector<int8_t> directions(const Monotone& monotone, size_t features);

}  // namespace tunemix
