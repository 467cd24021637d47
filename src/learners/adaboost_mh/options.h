// The options of AdaBoost.MH.
#pragma once

#include "learners/adaboost_mh/weights.h"
#include "trees/bandit.h"
#include "tunemix/core/binary.h"
#include "tunemix/core/options.h"

namespace tunemix {

enum class BaseLearner { kStump, kTree, kProduct };
enum class Votes { kLeaf, kShared, kReal };
enum class Growth { kEdge, kEnergy };

struct AdaBoostOptions {
  BaseLearner base = BaseLearner::kTree;
  int leaves = 8;          // of a tree
  int terms = 3;           // of a product
  int passes = 3;          // most passes over the terms of a product
  int iterations = 100;    // rounds of boosting
  double shrinkage = 0.1;  // nu, times every alpha
  Votes votes = Votes::kLeaf;
  Growth growth = Growth::kEnergy;
  BanditKind bandit = BanditKind::kNone;
  int arms_per_pull = 4;           // features that a search looks at, under a bandit
  double exploration = 0;          // share of uniform draws; 0: the bandit's own
  double bandit_rate = 0;          // of exp3g, exp3a and value; 0: the bandit's own
  double bandit_power = 4;         // of value
  double bandit_confidence = 2.0;  // a of exp3p
  double bandit_horizon = 100000;  // T of exp3p
  InitialWeights weights = InitialWeights::kExponential;
  double edge_floor = 0;  // stop when a round's edge is not above this
  int max_bins = 255;
  int labels = 0;  // K; 0: one more than the largest label of the training data
};

const OptionTable<AdaBoostOptions>& adaboost_option_table();

// As pairs of names and texts, so that a later version can add options.
void write_options(BinaryWriter& out, const AdaBoostOptions& options);
AdaBoostOptions read_options(BinaryReader& in);

}  // namespace tunemix
