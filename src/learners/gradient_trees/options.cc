#include "learners/gradient_trees/options.h"

namespace tunemix::trees {

OptionTable<TreeOptions> common_options(const TreeKind& kind) {
  using O = TreeOptions;
  OptionTable<O> t;
  t.number("leaves", &O::leaves, 2, 256, "most leaves of a tree");
  t.number("depth", &O::depth, 0, 255, "most cuts on the way to a leaf; 0: no limit");
  t.number("iterations", &O::iterations, 1, 1000000, kind.average ? "trees" : "rounds of boosting");
  if (!kind.average)
    t.number("shrinkage", &O::shrinkage, 1e-6, 1.0, "learning rate: a factor of every leaf's value");
  t.number("feature_fraction", &O::feature_fraction, 1e-6, 1.0,
           kind.average ? "share of the features that each node looks at"
                        : "share of the features that each tree is given");
  t.number("row_fraction", &O::row_fraction, 1e-6, 1.0, "share of the documents or queries of each tree");
  t.choice("sample", &O::sample, {{"query", RowSample::kQuery}, {"document", RowSample::kDocument}},
           "what row_fraction draws: whole queries, or documents");
  if (kind.average) t.flag("bootstrap", &O::bootstrap, "draw the rows of a tree with replacement");
  t.number("min_documents", &O::min_documents, 1, 1000000000,
           "fewest documents of a leaf, estimated by its share of the hessian");
  if (!kind.average) {
    t.number("min_hessian", &O::min_hessian, 0.0, 1e12, "least sum of second derivatives in a leaf");
    t.number("l2", &O::l2, 0.0, 1e12, "added to the second derivatives of every leaf");
  }
  t.number("max_bins", &O::max_bins, 2, 255, "most bins of a feature");
  if (kind.one_column)
    t.custom(
        "monotone", "features with increasing or decreasing, such as {bm25: increasing, 7: decreasing}",
        [](O& options, std::string_view text) { options.monotone = parse_monotone(text); },
        [](const O& options) { return to_text(options.monotone); },
        "features, by number from 1 or by name, with which the score may only rise or only fall");
  if (!kind.average) {
    t.number("patience", &O::patience, 0, 1000000,
             "stop after so many rounds without a better NDCG@10 on the validation split; 0: never");
    t.choice("bandit", &O::bandit, bandit_words(),
             "chooses the features that a node looks at; none: all of them");
    t.number("arms_per_pull", &O::arms_per_pull, 1, 100000, "features that a node looks at, under a bandit");
    t.number("exploration", &O::exploration, 0.0, 1.0,
             "share of uniform draws (of value: the least; not ucb1, ucbv, random); 0: the bandit's own");
    t.number("bandit_rate", &O::bandit_rate, 0.0, 1000.0,
             "eta of exp3g, eta times the features of exp3a, the step of value; 0: the bandit's own");
    t.number("bandit_power", &O::bandit_power, 0.01, 100.0,
             "of value, which draws by an arm's value to this power");
    t.number("bandit_confidence", &O::bandit_confidence, 0.0, 1000.0, "a of exp3p");
    t.number("bandit_horizon", &O::bandit_horizon, 1.0, 1e12, "pulls that exp3p is tuned for");
  }
  return t;
}

}  // namespace tunemix::trees
