// A single model as a bundle: scores that need one document only, where an ensemble's compare those of a
// query.
#pragma once

#include <string>

#include "tunemix/export/bundle.h"

namespace tunemix {

// The last point of a model of one column as an ensemble of one member, whose scores are the model's.
// `title` says what the model is.
Bundle bundle_of_model(BundleInfo info, const LearnedModel& learned, const std::string& title);

}  // namespace tunemix
