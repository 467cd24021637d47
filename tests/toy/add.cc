// The one line that a new learner needs besides its folder; in the library it stands in
// src/learners/registry.cc.
#include "tests/toy/covariance/learner.h"
#include "tunemix/learners/registry.h"

namespace {
[[maybe_unused]] const bool added = (tunemix::registry().add(tunemix::covariance_learner()), true);
}  // namespace
