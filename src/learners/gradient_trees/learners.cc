#include "learners/gradient_trees/learners.h"

#include "learners/gradient_trees/model.h"
#include "learners/gradient_trees/trainer.h"

namespace tunemix {
namespace {

using trees::TreeObjective;

LearnerEntry entry_of(TreeObjective objective, std::string type, std::string row, std::string doc,
                      std::string citation) {
  LearnerEntry entry;
  entry.type = type;
  entry.family = std::move(type);
  entry.row = std::move(row);
  entry.doc = std::move(doc);
  entry.citation = std::move(citation);
  entry.one_column = objective != TreeObjective::kLogitBoost;
  entry.resumable = true;
  if (objective == TreeObjective::kLambdaMart || objective == TreeObjective::kYetiRank)
    entry.weights = WeightUse::kQuery;
  trees::describe_tree_options(entry, objective);
  entry.start = [=](const TrainingRequest& request, const Context& context) {
    return trees::make_tree_trainer(objective, request, nullptr, context);
  };
  entry.resume = [=](const TrainingRequest& request, BinaryReader& state, const Context& context) {
    return trees::make_tree_trainer(objective, request, &state, context);
  };
  entry.load = [](BinaryReader& in) { return trees::TreeModel::load(in); };
  return entry;
}

}  // namespace

LearnerEntry lambdamart_learner() {
  LearnerEntry entry = entry_of(TreeObjective::kLambdaMart, "lambdamart", "LM",
                                "boosted trees on pairs of documents weighted by the change of NDCG@k",
                                "Burges, From RankNet to LambdaRank to LambdaMART, 2010");
  entry.version = 6;
  return entry;
}

LearnerEntry mart_learner() {
  LearnerEntry entry = entry_of(TreeObjective::kMart, "mart", "MART", "boosted regression trees on the grade",
                                "Friedman, Greedy function approximation: a gradient boosting machine, 2001");
  entry.version = 6;
  entry.takes_targets = true;
  return entry;
}

LearnerEntry yetirank_learner() {
  LearnerEntry entry = entry_of(
      TreeObjective::kYetiRank, "yetirank", "YR", "boosted trees on neighbours in randomly perturbed orders",
      "Gulin, Kuralenok, Pavlov, Winning the transfer learning track of Yahoo!'s LTR challenge with "
      "YetiRank, 2011");
  entry.version = 6;
  return entry;
}

LearnerEntry logitboost_learner() {
  LearnerEntry entry = entry_of(
      TreeObjective::kLogitBoost, "logitboost", "LB",
      "boosted trees on the probabilities of the labels, one tree a label and round",
      "Friedman, Hastie, Tibshirani, Additive logistic regression, 2000; Li, Robust LogitBoost, 2010");
  entry.version = 6;
  return entry;
}

LearnerEntry random_forest_learner() {
  return entry_of(TreeObjective::kRandomForest, "random_forest", "RF",
                  "average of regression trees on the grade, each grown on a bootstrap sample",
                  "Breiman, Random forests, 2001");
}

LearnerEntry extra_trees_learner() {
  return entry_of(TreeObjective::kExtraTrees, "extra_trees", "ET",
                  "average of regression trees on the grade with random cuts",
                  "Geurts, Ernst, Wehenkel, Extremely randomized trees, 2006");
}

}  // namespace tunemix
