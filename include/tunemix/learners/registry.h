// The learners that come with the library.
#pragma once

#include "tunemix/learn/learner.h"

namespace tunemix {

// src/learners/registry.cc lists them. A program may add its own before it reads a config.
Registry& registry();

}  // namespace tunemix
