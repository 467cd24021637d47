// What the trees of each learner are fitted to: gradients and hessians of a loss at the scores so far.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "learners/gradient_trees/options.h"
#include "learners/gradient_trees/words.h"
#include "tunemix/core/context.h"
#include "tunemix/learn/training_data.h"

namespace tunemix::trees {

class Objective {
 public:
  virtual ~Objective() = default;

  virtual size_t columns() const { return 1; }
  // The score of every document before the first tree.
  virtual float start() const { return 0; }
  // A factor of every leaf's value.
  virtual double step() const { return 1; }
  // Raw words of the training documents, by their number in all(), for the tree of `column` in round `round`.
  // scores[column][document] are those after the last round. Called for columns 0, 1, ... of a round in turn.
  virtual void gradients(uint64_t round, size_t column, std::span<const std::vector<float>> scores,
                         uint64_t* words) = 0;
  // One score a document to rank by, from all columns.
  virtual std::vector<float> ranking(std::span<const std::vector<float>> scores) const { return scores[0]; }
};

// `targets`: of MART alone, as TrainingRequest has them.
std::unique_ptr<Objective> make_objective(TreeObjective kind, const TreeOptions& options,
                                          const TrainingData& data, std::span<const float> targets,
                                          const Context& context);

}  // namespace tunemix::trees
