// The options of the gradient-boosted and averaged trees.
#pragma once

#include "learners/gradient_trees/grower.h"
#include "tunemix/core/options.h"
#include "tunemix/learn/learner.h"
#include "tunemix/trees/bandit.h"

namespace tunemix::trees {

enum class TreeObjective { kMart, kLambdaMart, kYetiRank, kLogitBoost, kRandomForest, kExtraTrees };
enum class RowSample { kQuery, kDocument };

constexpr bool is_forest(TreeObjective objective) {
  return objective == TreeObjective::kRandomForest || objective == TreeObjective::kExtraTrees;
}

struct TreeOptions {
  int leaves = 31;
  int depth = 0;  // 0: no limit
  int iterations = 100;
  double shrinkage = 0.1;
  double feature_fraction = 1;  // of a tree's features; of a node's in forests
  double row_fraction = 1;
  RowSample sample = RowSample::kQuery;
  bool bootstrap = false;  // rows are drawn with replacement
  int min_documents = 20;
  double min_hessian = 1e-3;
  double l2 = 0;
  int max_bins = 255;
  int patience = 0;  // rounds without a better validation NDCG@10; 0: no early stop
  BanditKind bandit = BanditKind::kNone;
  int arms_per_pull = 4;
  double exploration = 0;  // 0: the rule's own, as for the rate
  double bandit_rate = 0;
  double bandit_power = 4;
  double bandit_confidence = 2.0;
  double bandit_horizon = 100000;
  double sigma = 1;
  int truncation = 30;
  bool normalize = true;
  int permutations = 10;
  double decay = 0.85;
};

// Describes the options of a learner in its entry.
void describe_tree_options(LearnerEntry& entry, TreeObjective objective);
TreeOptions parse_tree_settings(TreeObjective objective, const Settings& settings);

}  // namespace tunemix::trees
