// Scores in terms that other programs know: sums of decision trees and of weighted features.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
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
    bool missing_above = false;  // where a missing value goes

    bool is_leaf() const { return below < 0; }
  };
  std::vector<Node> nodes;     // the root first, children after their parents
  std::vector<double> values;  // of every leaf, `columns` each

  // The leaf of a document.
  uint32_t leaf(std::span<const float> row) const {
    const Node* node = &nodes[0];
    while (!node->is_leaf()) {
      const float x = row[node->feature];
      const bool above = std::isnan(x) ? node->missing_above : x >= node->threshold;
      node = &nodes[static_cast<size_t>(above ? node->above : node->below)];
    }
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
  // Features whose missing values training has seen: where they go is learned.
  std::set<uint32_t> missing;
};

}  // namespace tunemix
