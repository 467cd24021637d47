// A sum or an average of regression trees, with points along the way.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trees/block_scorer.h"
#include "trees/tree.h"
#include "tunemix/data/binning.h"
#include "tunemix/learn/learner.h"

namespace tunemix::trees {

// What a model is made of.
struct TreeModelParts {
  size_t columns = 1;
  bool average = false;  // of the trees, instead of their sum
  float start = 0;       // score before the first tree
  struct PointRounds {
    int64_t length = 0;  // that was asked for
    uint64_t rounds = 0;
  };
  std::vector<PointRounds> points;  // ascending in both
  BinCuts cuts;
  std::vector<Tree> trees;   // `columns` a round
  std::vector<float> gains;  // of every cut
  std::vector<FeatureShares> attention;
  std::vector<int8_t>
      monotone;  // of each feature: 1, scores only rise with it, -1, only fall; empty: all free
};

class TreeModel final : public Model {
 public:
  // Keeps what the points need and nothing else.
  explicit TreeModel(TreeModelParts parts);

  size_t features() const override { return parts_.cuts.features(); }
  size_t columns() const override { return parts_.columns; }
  std::vector<Point> points() const override;
  std::vector<ScoreMatrix> score(const Dataset& data, std::span<const size_t> points,
                                 const Context& context) const override;
  double range(size_t point) const override;
  std::unique_ptr<Model> keep(std::span<const size_t> points) const override;
  Facts facts() const override;
  std::vector<double> importance() const override;  // by gain
  std::vector<FeatureShares> attention() const override { return parts_.attention; }
  PlainModel plain(size_t point) const override;
  std::vector<int8_t> monotone() const override { return parts_.monotone; }
  void save(BinaryWriter& out) const override;
  static std::unique_ptr<Model> load(BinaryReader& in);

  const std::vector<Tree>& trees() const { return parts_.trees; }
  const BinCuts& cuts() const { return parts_.cuts; }
  uint64_t rounds(size_t point) const { return parts_.points[point].rounds; }

 private:
  TreeModelParts parts_;
  std::string id_;
  KeptScorer scorer_;
};

}  // namespace tunemix::trees
