// Query-wise standardisation of features (spec: each feature minus its mean over the query, divided by its
// deviation).
#pragma once

#include <string_view>

#include "tunemix/core/context.h"
#include "tunemix/data/dataset.h"

namespace tunemix {

enum class Standardize { kNone, kAppend, kReplace };

Standardize parse_standardize(std::string_view name);  // none | append | replace; throws InputError
std::string_view to_string(Standardize mode);
Dataset standardize(Dataset data, Standardize mode, const Context& context);

}  // namespace tunemix
