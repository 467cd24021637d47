#include "learners/adaboost_mh/options.h"

namespace tunemix {

const OptionTable<AdaBoostOptions>& adaboost_option_table() {
  using O = AdaBoostOptions;
  static const OptionTable<O> table = [] {
    OptionTable<O> t;
    t.choice(
        "base", &O::base,
        {{"stump", BaseLearner::kStump}, {"tree", BaseLearner::kTree}, {"product", BaseLearner::kProduct}},
        "base learner");
    t.number("leaves", &O::leaves, 2, 256, "most leaves of a tree");
    t.number("terms", &O::terms, 1, 255, "most terms of a product");
    t.number("passes", &O::passes, 1, 1000, "most passes over the terms of a product");
    t.number("iterations", &O::iterations, 1, 1000000, "rounds of boosting");
    t.number("shrinkage", &O::shrinkage, 1e-6, 1.0, "nu, a factor of every alpha; 1 is plain AdaBoost.MH");
    t.choice("votes", &O::votes, {{"leaf", Votes::kLeaf}, {"shared", Votes::kShared}, {"real", Votes::kReal}},
             "of a tree: +-1 by leaf and label, one +-1 vector shared by all leaves, or real values by leaf "
             "and label");
    t.choice("growth", &O::growth, {{"edge", Growth::kEdge}, {"energy", Growth::kEnergy}},
             "what the splits of a tree gain: edge, or the fall of sum sqrt(W+ W-), which lowers the bound "
             "most with "
             "real votes; with +-1 votes the edge does, and energy works as a regulariser");
    t.choice("bandit", &O::bandit, bandit_words(),
             "chooses the features that a search looks at; none: all of them; of the others take value "
             "(experiments/bandit)");
    t.number("arms_per_pull", &O::arms_per_pull, 1, 100000,
             "features that a search looks at, under a bandit");
    t.number("exploration", &O::exploration, 0.0, 1.0,
             "share of uniform draws (of value: the least; not ucb1, ucbv, random); 0: the bandit's own");
    t.number("bandit_rate", &O::bandit_rate, 0.0, 1000.0,
             "eta of exp3g, eta times the features of exp3a, the step of value; 0: the bandit's own");
    t.number("bandit_power", &O::bandit_power, 0.01, 100.0,
             "of value, which draws by an arm's value to this power");
    t.number("bandit_confidence", &O::bandit_confidence, 0.0, 1000.0, "a of exp3p");
    t.number("bandit_horizon", &O::bandit_horizon, 1.0, 1e12, "pulls that exp3p is tuned for");
    t.choice(
        "weights", &O::weights,
        {{"uniform", InitialWeights::kUniform},
         {"exponential", InitialWeights::kExponential},
         {"distance", InitialWeights::kDistance}},
        "initial weights of the documents: equal, or 2^label; distance: 2^label, and a wrong label weighs "
        "by how far it is from the right one (a monotone loss, T&M section 4)");
    t.number("edge_floor", &O::edge_floor, 0.0, 1.0, "stop when a round's edge is not above this");
    t.number("max_bins", &O::max_bins, 2, 255, "most bins of a feature");
    t.number("labels", &O::labels, 0, 32,
             "number of labels K; 0: one more than the largest in the training data");
    return t;
  }();
  return table;
}

void write_options(BinaryWriter& out, const AdaBoostOptions& options) {
  const auto& entries = adaboost_option_table().entries();
  out.put<uint64_t>(entries.size());
  for (const auto& entry : entries) {
    out.put(entry.name);
    out.put(entry.get(options));
  }
}

AdaBoostOptions read_options(BinaryReader& in) {
  AdaBoostOptions options;
  const size_t count = in.get_count(1);
  for (size_t k = 0; k < count; ++k) {
    const std::string name = in.get_string();
    adaboost_option_table().set(options, name, in.get_string());
  }
  return options;
}

}  // namespace tunemix
