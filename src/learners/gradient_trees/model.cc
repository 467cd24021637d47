#include "learners/gradient_trees/model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "learners/gradient_trees/scorer.h"
#include "learners/gradient_trees/tree_io.h"
#include "trees/plain_tree.h"
#include "trees/used_cuts.h"
#include "tunemix/core/hash.h"

namespace tunemix::trees {

TreeModel::TreeModel(TreeModelParts parts) : parts_(std::move(parts)) {
  uint64_t rounds = 0;
  for (const auto& point : parts_.points) rounds = std::max(rounds, point.rounds);
  parts_.trees.resize(std::min<size_t>(parts_.trees.size(), rounds * parts_.columns));
  size_t cuts = 0;
  for (const Tree& tree : parts_.trees) cuts += tree.cuts.size();
  parts_.gains.resize(cuts);
  parts_.cuts = keep_used_cuts(parts_.cuts, parts_.trees);
  std::erase_if(parts_.attention,
                [&](const FeatureShares& shares) { return static_cast<uint64_t>(shares.round) > rounds; });
  BinaryWriter out;
  save(out);
  Hasher hasher;
  hasher.text("trees").values(out.bytes());
  id_ = hasher.digest().hex();
}

std::vector<Point> TreeModel::points() const {
  std::vector<Point> points;
  for (const auto& point : parts_.points) points.push_back({point.length, ""});
  return points;
}

std::vector<ScoreMatrix> TreeModel::score(const Dataset& data, std::span<const size_t> points,
                                          const Context& context) const {
  if (data.features() != features())
    throw_input("the data has {} features; the model was trained on {}", data.features(), features());
  constexpr size_t kBlock = BlockScorer::kBlock;
  const size_t columns = parts_.columns;
  std::vector<ScoreMatrix> out(points.size(), ScoreMatrix(data.documents(), columns, id_));
  // By rising number of rounds, whatever the order asked for.
  std::vector<size_t> by_rounds(points.size());
  std::iota(by_rounds.begin(), by_rounds.end(), size_t{0});
  std::stable_sort(by_rounds.begin(), by_rounds.end(),
                   [&](size_t a, size_t b) { return rounds(points[a]) < rounds(points[b]); });
  std::vector<size_t> stops;
  for (const size_t p : by_rounds) stops.push_back(rounds(points[p]) * columns);
  score_blocks(
      scorer_.get([&] { return BlockScorer(parts_.cuts, parts_.trees); }), parts_.trees, columns, data, stops,
      context,
      [&](size_t, size_t, float* sums) {
        if (!parts_.average) std::fill_n(sums, columns * kBlock, parts_.start);
      },
      [&](size_t stop, size_t first, size_t count, const float* sums) {
        ScoreMatrix& to = out[by_rounds[stop]];
        const float trees = static_cast<float>(std::max<size_t>(1, stops[stop]));
        for (size_t i = 0; i < count; ++i)
          for (size_t c = 0; c < columns; ++c)
            to.row(first + i)[c] =
                parts_.average ? parts_.start + sums[c * kBlock + i] / trees : sums[c * kBlock + i];
      });
  return out;
}

double TreeModel::range(size_t point) const {
  std::vector<double> most(parts_.columns, 0);
  const size_t trees = parts_.points[point].rounds * parts_.columns;
  for (size_t t = 0; t < trees; ++t) {
    double highest = 0;
    for (const float value : parts_.trees[t].values)
      highest = std::max(highest, std::abs(static_cast<double>(value)));
    most[t % parts_.columns] += highest;
  }
  const double sum = *std::max_element(most.begin(), most.end());
  return std::abs(static_cast<double>(parts_.start)) +
         (parts_.average ? sum / static_cast<double>(std::max<size_t>(1, trees)) : sum);
}

std::unique_ptr<Model> TreeModel::keep(std::span<const size_t> points) const {
  TreeModelParts parts = parts_;
  parts.points.clear();
  for (const size_t p : points) parts.points.push_back(parts_.points[p]);
  return std::make_unique<TreeModel>(std::move(parts));
}

Facts TreeModel::facts() const {
  std::vector<double> use(features(), 0);
  size_t leaves = 0;
  for (const Tree& tree : parts_.trees) {
    leaves += tree.leaves();
    for (const Cut& cut : tree.cuts) ++use[cut.feature];
  }
  return {{"trees", static_cast<int64_t>(parts_.trees.size())},
          {"leaves", static_cast<int64_t>(leaves)},
          {"cuts of each feature", use}};
}

std::vector<double> TreeModel::importance() const {
  std::vector<double> gain(features(), 0);
  double sum = 0;
  size_t next = 0;
  for (const Tree& tree : parts_.trees)
    for (const Cut& cut : tree.cuts) {
      gain[cut.feature] += parts_.gains[next];
      sum += parts_.gains[next++];
    }
  if (sum <= 0) return {};
  for (double& share : gain) share /= sum;
  return gain;
}

PlainModel TreeModel::plain(size_t point) const {
  const size_t trees = rounds(point) * parts_.columns;
  PlainModel plain;
  plain.features = features();
  plain.missing = features_with_missing(parts_.cuts);
  plain.columns = parts_.columns;
  plain.start.assign(parts_.columns, parts_.start);
  for (size_t t = 0; t < trees; ++t) {
    PlainTree tree = plain_tree(parts_.trees[t], parts_.cuts);
    tree.values.assign(parts_.trees[t].values.size() * parts_.columns, 0.0);
    for (size_t leaf = 0; leaf < parts_.trees[t].values.size(); ++leaf)
      tree.values[leaf * parts_.columns + t % parts_.columns] =
          static_cast<double>(parts_.trees[t].values[leaf]) /
          (parts_.average ? static_cast<double>(trees) : 1.0);
    plain.trees.push_back(std::move(tree));
  }
  return plain;
}

void TreeModel::save(BinaryWriter& out) const {
  out.put<uint64_t>(parts_.columns);
  out.put<uint8_t>(parts_.average ? 1 : 0);
  out.put(parts_.start);
  out.put<uint64_t>(parts_.points.size());
  for (const auto& point : parts_.points) {
    out.put(point.length);
    out.put(point.rounds);
  }
  out.put(parts_.monotone);
  parts_.cuts.save(out);
  write_trees(out, parts_.trees, parts_.gains);
  out.put<uint64_t>(parts_.attention.size());
  for (const FeatureShares& shares : parts_.attention) {
    out.put(shares.round);
    out.put(shares.shares);
  }
}

std::unique_ptr<Model> TreeModel::load(BinaryReader& in) {
  TreeModelParts parts;
  parts.columns = in.get<uint64_t>();
  if (parts.columns < 1 || parts.columns > 1024) in.fail("the number of score columns is wrong");
  parts.average = in.get<uint8_t>() != 0;
  parts.start = in.get<float>();
  if (!std::isfinite(parts.start)) in.fail("the model has no finite start");
  const size_t points = in.get_count(16);
  for (size_t p = 0; p < points; ++p) {
    TreeModelParts::PointRounds point;
    point.length = in.get<int64_t>();
    point.rounds = in.get<uint64_t>();
    if (p > 0 && (point.length <= parts.points.back().length || point.rounds < parts.points.back().rounds))
      in.fail("the points of the model are out of order");
    parts.points.push_back(point);
  }
  parts.monotone = in.get_vector<int8_t>();
  parts.cuts = BinCuts::load(in);
  if (!parts.monotone.empty() && parts.monotone.size() != parts.cuts.features())
    in.fail("the parts of the model do not fit together");
  std::tie(parts.trees, parts.gains) = read_trees(in, parts.cuts);
  if (parts.trees.size() % parts.columns != 0) in.fail("a round is not complete");
  for (const auto& point : parts.points)
    if (point.rounds > parts.trees.size() / parts.columns) in.fail("a point has too many rounds");
  const size_t samples = in.get_count(1);
  for (size_t s = 0; s < samples; ++s) {
    FeatureShares shares;
    shares.round = in.get<int64_t>();
    shares.shares = in.get_vector<float>();
    if (shares.shares.size() != parts.cuts.features()) in.fail("the parts of the model do not fit together");
    parts.attention.push_back(std::move(shares));
  }
  return std::make_unique<TreeModel>(std::move(parts));
}

}  // namespace tunemix::trees
