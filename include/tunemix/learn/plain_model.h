// Scores in terms that other programs know: sums of decision trees and of weighted features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tunemix {

struct PlainTree {
  struct Node {
    uint32_t feature = 0;
    float threshold = 0;
    int32_t below = -1;  // the node for x < threshold; -1: this is a leaf
    int32_t above = -1;  // the node for x >= threshold: the one after `below`, as XGBoost takes it to be
    uint32_t leaf = 0;   // its number, if it is one

    bool is_leaf() const { return below < 0; }
  };
  std::vector<Node> nodes;     // the root first, children after their parents
  std::vector<double> values;  // of every leaf, `columns` each

  // The leaf of a document.
  uint32_t leaf(std::span<const float> row) const {
    const Node* node = &nodes[0];
    while (!node->is_leaf())
      node = &nodes[static_cast<size_t>(row[node->feature] < node->threshold ? node->below : node->above)];
    return node->leaf;
  }
};

// The score of a column: its start, plus what the trees' leaves add to it, plus the weighted features.
struct PlainModel {
  size_t features = 0;
  size_t columns = 1;
  std::vector<double> start;  // of every column
  std::vector<PlainTree> trees;
  std::vector<double> weights;  // features x columns; empty: none
};

}  // namespace tunemix
