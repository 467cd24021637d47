// Small things that the trainer and the model share.
#pragma once

#include "tunemix/learners/adaboost_mh.h"

namespace tunemix::trees {

BanditOptions bandit_options(const AdaBoostOptions& options);
// As pairs of names and texts, so that a later version can add options.
void write_options(BinaryWriter& out, const AdaBoostOptions& options);
AdaBoostOptions read_options(BinaryReader& in);
// Throws InputError unless the data has as many features as the model.
void expect_features(const Dataset& data, size_t features);

}  // namespace tunemix::trees
