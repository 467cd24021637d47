// A point of a model by the name that a user gives it.
#pragma once

#include <string>

#include "tunemix/learn/learner.h"

namespace tunemix {

// The number of the point of that name, as `inspect` lists them; the last one for an empty name. Throws
// InputError.
size_t point_number(const Model& model, const std::string& wanted);

}  // namespace tunemix
