#include "learners/gradient_trees/tree_learner.h"

#include "learners/gradient_trees/model.h"
#include "learners/gradient_trees/trainer.h"

namespace tunemix::trees {

TreeLearner tree_learner(LearnerEntry entry, const TreeKind& kind, const ReadOptions& options,
                         MakeObjective objective) {
  entry.family = entry.type;
  entry.one_column = kind.one_column;
  entry.resumable = true;
  entry.reads_columns = true;
  const auto begin = [=](const TrainingRequest& request, BinaryReader* state, const Context& context) {
    return make_tree_trainer({kind, options(request.settings), objective}, request, state, context);
  };
  entry.start = [=](const TrainingRequest& request, const Context& context) {
    return begin(request, nullptr, context);
  };
  entry.resume = [=](const TrainingRequest& request, BinaryReader& state, const Context& context) {
    return begin(request, &state, context);
  };
  entry.takes_missing = true;
  entry.load = [](BinaryReader& in) { return TreeModel::load(in); };
  return {std::move(entry), std::move(objective)};
}

}  // namespace tunemix::trees
