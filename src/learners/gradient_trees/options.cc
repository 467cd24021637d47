#include "learners/gradient_trees/options.h"

namespace tunemix::trees {
namespace {

// The defaults of one learner.
template <TreeObjective kObjective>
struct OptionsOf : TreeOptions {
  OptionsOf() {
    if constexpr (is_forest(kObjective)) {
      leaves = 64;
      min_documents = kObjective == TreeObjective::kRandomForest ? 5 : 3;
      feature_fraction = 1.0 / 3;
      bootstrap = kObjective == TreeObjective::kRandomForest;
      sample = RowSample::kDocument;
      iterations = 300;
      min_hessian = 0;
    }
    if constexpr (kObjective == TreeObjective::kLogitBoost) leaves = 8;
  }
};

template <TreeObjective kObjective>
const OptionTable<OptionsOf<kObjective>>& table() {
  using O = OptionsOf<kObjective>;
  static const OptionTable<O> built = [] {
    OptionTable<O> t;
    constexpr bool kForest = is_forest(kObjective);
    constexpr bool kPairs =
        kObjective == TreeObjective::kLambdaMart || kObjective == TreeObjective::kYetiRank;
    // Members of the base class as members of the learner's own options.
    const auto of = []<typename T>(T TreeOptions::*member) -> T O::* { return member; };
    t.number("leaves", of(&O::leaves), 2, 256, "most leaves of a tree");
    t.number("depth", of(&O::depth), 0, 255, "most cuts on the way to a leaf; 0: no limit");
    t.number("iterations", of(&O::iterations), 1, 1000000, kForest ? "trees" : "rounds of boosting");
    if constexpr (!kForest)
      t.number("shrinkage", of(&O::shrinkage), 1e-6, 1.0, "learning rate: a factor of every leaf's value");
    t.number("feature_fraction", of(&O::feature_fraction), 1e-6, 1.0,
             kForest ? "share of the features that each node looks at"
                     : "share of the features that each tree is given");
    t.number("row_fraction", of(&O::row_fraction), 1e-6, 1.0,
             "share of the documents or queries of each tree");
    t.choice("sample", of(&O::sample), {{"query", RowSample::kQuery}, {"document", RowSample::kDocument}},
             "what row_fraction draws: whole queries, or documents");
    if constexpr (kForest) t.flag("bootstrap", of(&O::bootstrap), "draw the rows of a tree with replacement");
    t.number("min_documents", of(&O::min_documents), 1, 1000000000,
             "fewest documents of a leaf, estimated by its share of the hessian");
    if constexpr (!kForest) {
      t.number("min_hessian", of(&O::min_hessian), 0.0, 1e12, "least sum of second derivatives in a leaf");
      t.number("l2", of(&O::l2), 0.0, 1e12, "added to the second derivatives of every leaf");
    }
    t.number("max_bins", of(&O::max_bins), 2, 255, "most bins of a feature");
    if constexpr (!kForest) {
      t.number("patience", of(&O::patience), 0, 1000000,
               "stop after so many rounds without a better NDCG@10 on the validation split; 0: never");
      t.choice("bandit", of(&O::bandit), bandit_words(),
               "chooses the features that a node looks at; none: all of them");
      t.number("arms_per_pull", of(&O::arms_per_pull), 1, 100000,
               "features that a node looks at, under a bandit");
      t.number("exploration", of(&O::exploration), 0.0, 1.0,
               "share of uniform draws (of value: the least; not ucb1, ucbv, random); 0: the bandit's own");
      t.number("bandit_rate", of(&O::bandit_rate), 0.0, 1000.0,
               "eta of exp3g, eta times the features of exp3a, the step of value; 0: the bandit's own");
      t.number("bandit_power", of(&O::bandit_power), 0.01, 100.0,
               "of value, which draws by an arm's value to this power");
      t.number("bandit_confidence", of(&O::bandit_confidence), 0.0, 1000.0, "a of exp3p");
      t.number("bandit_horizon", of(&O::bandit_horizon), 1.0, 1e12, "pulls that exp3p is tuned for");
    }
    if constexpr (kPairs)
      t.number("sigma", of(&O::sigma), 1e-6, 1e6, "steepness of the logistic loss of a pair");
    if constexpr (kObjective == TreeObjective::kLambdaMart) {
      t.number("truncation", of(&O::truncation), 1, 1000000000,
               "k of the NDCG@k that is optimised: pairs have a document in the first k");
      t.flag("normalize", of(&O::normalize),
             "divide pairs by their distance in score, and scale the gradients of each query by their sum");
    }
    if constexpr (kObjective == TreeObjective::kYetiRank) {
      t.number("permutations", of(&O::permutations), 1, 1000, "perturbed orders of each query a round");
      t.number("decay", of(&O::decay), 1e-6, 1.0, "weight of a place in the order beside the one before it");
    }
    return t;
  }();
  return built;
}

template <typename Body>
auto with_objective(TreeObjective objective, Body body) {
  switch (objective) {
    case TreeObjective::kMart:
      return body.template operator()<TreeObjective::kMart>();
    case TreeObjective::kLambdaMart:
      return body.template operator()<TreeObjective::kLambdaMart>();
    case TreeObjective::kYetiRank:
      return body.template operator()<TreeObjective::kYetiRank>();
    case TreeObjective::kLogitBoost:
      return body.template operator()<TreeObjective::kLogitBoost>();
    case TreeObjective::kRandomForest:
      return body.template operator()<TreeObjective::kRandomForest>();
    default:
      return body.template operator()<TreeObjective::kExtraTrees>();
  }
}

}  // namespace

void describe_tree_options(LearnerEntry& entry, TreeObjective objective) {
  with_objective(objective, [&]<TreeObjective kObjective>() {
    describe_options(entry, table<kObjective>(), {{"iterations", OptionRole::kLength}});
  });
}

TreeOptions parse_tree_settings(TreeObjective objective, const Settings& settings) {
  return with_objective(objective, [&]<TreeObjective kObjective>() -> TreeOptions {
    return parse_settings(table<kObjective>(), settings);
  });
}

}  // namespace tunemix::trees
