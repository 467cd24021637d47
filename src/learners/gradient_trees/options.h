// The options of the gradient-boosted and averaged trees.
#pragma once

#include "trees/bandit.h"
#include "tunemix/core/options.h"
#include "tunemix/learn/monotone.h"

namespace tunemix::trees {

enum class RowSample { kQuery, kDocument };

// How the trees of a learner come about.
struct TreeKind {
  bool one_column = true;    // one score a document rather than K
  bool average = false;      // a forest: trees are averaged, each fitted to the first scores
  bool random_cuts = false;  // one random cut a feature instead of the best
  bool draws = false;        // gradients are random: they differ at the same scores
};

// What all learners of trees have.
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
  Monotone monotone;  // by the numbers of features
  int patience = 0;   // rounds without a better validation NDCG@10; 0: no early stop
  BanditKind bandit = BanditKind::kNone;
  int arms_per_pull = 4;
  double exploration = 0;  // 0: the rule's own, as for the rate
  double bandit_rate = 0;
  double bandit_power = 4;
  double bandit_confidence = 2.0;
  double bandit_horizon = 100000;
};

OptionTable<TreeOptions> common_options(const TreeKind& kind);

}  // namespace tunemix::trees
