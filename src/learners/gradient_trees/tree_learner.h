// Makes a learner of an objective: of a class with gradients, its options, and what its file tells of it.
#pragma once

#include <functional>
#include <memory>

#include "learners/gradient_trees/objective.h"
#include "learners/gradient_trees/options.h"
#include "tunemix/learn/learner.h"

namespace tunemix::trees {

using MakeObjective = std::function<std::unique_ptr<Objective>(const TrainingRequest&, const Context&)>;
using ReadOptions = std::function<TreeOptions(const Settings&)>;

struct TreeLearner {
  LearnerEntry entry;
  MakeObjective objective;  // alone, as training makes it
};

// Fills in what all learners of trees have in common.
TreeLearner tree_learner(LearnerEntry entry, const TreeKind& kind, const ReadOptions& options,
                         MakeObjective objective);

// `entry` has type, row, doc, citation, version and weights. `Options` is a TreeOptions with the learner's
// own defaults; options that it has beyond those of all trees are added to the table by
// Options::describe(table). A Loss is made from (const Options&, const TrainingRequest&, const Context&).
template <typename Loss, typename Options>
TreeLearner tree_learner(LearnerEntry entry, const TreeKind& kind = {}) {
  static const OptionTable<Options> table = [&] {
    OptionTable<Options> t;
    const OptionTable<TreeOptions> of_all = common_options(kind);
    for (const auto& common : of_all.entries())
      t.custom(
          common.name, common.expected,
          [common](Options& options, std::string_view text) { common.set(options, text); },
          [common](const Options& options) { return common.get(options); }, common.doc);
    if constexpr (requires { Options::describe(t); }) Options::describe(t);
    return t;
  }();
  describe_options(entry, table, {{"iterations", OptionRole::kLength}, {"monotone", OptionRole::kFeatures}});
  return tree_learner(
      std::move(entry), kind,
      [](const Settings& settings) -> TreeOptions { return parse_settings(table, settings); },
      [](const TrainingRequest& request, const Context& context) -> std::unique_ptr<Objective> {
        return std::make_unique<Loss>(parse_settings(table, request.settings), request, context);
      });
}

}  // namespace tunemix::trees
