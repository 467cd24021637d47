// What the trees of a learner are fitted to: gradients and hessians of a loss at the scores so far. An
// objective is one file: its class, its options with their defaults, and a function of learners.h that tells
// what the learner is called and how it is trained (tree_learner.h). The registry has a line for it. Training
// makes it once, asks for the gradients of each round, and adds the trees that are grown by them to the
// scores.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learners/gradient_trees/words.h"
#include "tunemix/core/context.h"
#include "tunemix/learn/learner.h"

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

}  // namespace tunemix::trees
