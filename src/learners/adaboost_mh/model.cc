#include "learners/adaboost_mh/model.h"

#include <algorithm>
#include <cmath>

#include "trees/plain_tree.h"
#include "trees/used_cuts.h"

namespace tunemix {
namespace {

std::vector<uint8_t> pack_bits(std::span<const Tree> rounds, size_t labels) {
  std::vector<uint8_t> bytes;
  size_t bit = 0;
  for (const Tree& tree : rounds)
    for (const uint32_t votes : tree.votes)
      for (size_t l = 0; l < labels; ++l, ++bit) {
        if (bit % 8 == 0) bytes.push_back(0);
        bytes.back() = static_cast<uint8_t>(bytes.back() | (votes >> l & 1) << (bit % 8));
      }
  return bytes;
}

class BitReader {
 public:
  BitReader(std::vector<uint8_t> bytes, const BinaryReader& in) : bytes_(std::move(bytes)), in_(in) {}
  uint32_t take(size_t count) {
    if (count > bytes_.size() * 8 - at_) in_.fail("votes are missing");
    uint32_t value = 0;
    for (size_t l = 0; l < count; ++l, ++at_)
      value |= static_cast<uint32_t>(bytes_[at_ / 8] >> (at_ % 8) & 1) << l;
    return value;
  }

 private:
  std::vector<uint8_t> bytes_;
  const BinaryReader& in_;
  size_t at_ = 0;
};

// One field of every tree, as a vector.
template <typename T, typename Get>
std::vector<T> column(std::span<const Tree> rounds, Get get) {
  std::vector<T> values;
  for (const Tree& tree : rounds) values.push_back(static_cast<T>(get(tree)));
  return values;
}

// One field of every cut of every tree, as a vector.
template <typename T, typename Get>
std::vector<T> cut_column(std::span<const Tree> rounds, Get get) {
  std::vector<T> values;
  for (const Tree& tree : rounds)
    for (const Cut& cut : tree.cuts) values.push_back(static_cast<T>(get(cut)));
  return values;
}

template <typename T>
std::vector<T> get_vector_of(BinaryReader& in, size_t size) {
  std::vector<T> values = in.get_vector<T>();
  if (values.size() != size) in.fail("the parts of the model do not fit together");
  return values;
}

void write_rounds(BinaryWriter& out, std::span<const Tree> rounds, size_t labels) {
  out.put<uint64_t>(rounds.size());
  out.put(column<double>(rounds, [](const Tree& r) { return r.edge; }));
  out.put(column<double>(rounds, [](const Tree& r) { return r.alpha; }));
  out.put(column<double>(rounds, [](const Tree& r) { return r.normalizer; }));
  out.put(column<uint8_t>(rounds, [](const Tree& r) { return r.product ? 1 : 0; }));
  out.put(column<uint8_t>(rounds, [](const Tree& r) { return r.cuts.size(); }));
  out.put(cut_column<uint32_t>(rounds, [](const Cut& cut) { return cut.feature; }));
  out.put(cut_column<uint8_t>(rounds, [](const Cut& cut) { return cut.bin; }));
  out.put(cut_column<uint8_t>(rounds, [](const Cut& cut) { return cut.missing_above ? 1 : 0; }));
  std::vector<uint8_t> split_leaf;
  std::vector<float> values;
  for (const Tree& tree : rounds) {
    split_leaf.insert(split_leaf.end(), tree.split_leaf.begin(), tree.split_leaf.end());
    values.insert(values.end(), tree.values.begin(), tree.values.end());
  }
  out.put(split_leaf);
  out.put(pack_bits(rounds, labels));
  out.put(values);
}

std::vector<Tree> read_rounds(BinaryReader& in, size_t labels, const BinCuts& cuts, bool real) {
  const size_t count = in.get_count(1);
  const auto edge = get_vector_of<double>(in, count);
  const auto alpha = get_vector_of<double>(in, count);
  const auto normalizer = get_vector_of<double>(in, count);
  const auto product = get_vector_of<uint8_t>(in, count);
  const auto cut_count = get_vector_of<uint8_t>(in, count);
  size_t total_cuts = 0;
  size_t tree_cuts = 0;
  for (size_t t = 0; t < count; ++t) {
    total_cuts += cut_count[t];
    if (product[t] == 0) tree_cuts += cut_count[t];
  }
  const auto feature = get_vector_of<uint32_t>(in, total_cuts);
  const auto bin = get_vector_of<uint8_t>(in, total_cuts);
  const auto missing_above = get_vector_of<uint8_t>(in, total_cuts);
  const auto split_leaf = get_vector_of<uint8_t>(in, tree_cuts);
  BitReader bits(in.get_vector<uint8_t>(), in);
  const auto values = in.get_vector<float>();

  std::vector<Tree> rounds(count);
  size_t next_cut = 0;
  size_t next_split = 0;
  size_t next_value = 0;
  for (size_t t = 0; t < count; ++t) {
    Tree& tree = rounds[t];
    tree.edge = edge[t];
    tree.alpha = alpha[t];
    tree.normalizer = normalizer[t];
    if (!std::isfinite(tree.edge + tree.alpha + tree.normalizer) || tree.normalizer <= 0)
      in.fail("a round has no finite weight");
    tree.product = product[t] != 0;
    for (size_t k = 0; k < cut_count[t]; ++k, ++next_cut) {
      const Cut cut = {feature[next_cut], bin[next_cut], missing_above[next_cut] != 0};
      if (cut.feature >= cuts.features() || cut.bin >= cuts.thresholds(cut.feature).size())
        in.fail("a cut has no threshold");
      tree.cuts.push_back(cut);
      if (tree.product) continue;
      tree.split_leaf.push_back(split_leaf[next_split++]);
      if (tree.split_leaf.back() > k) in.fail("a split has no leaf");
    }
    if (real && !tree.product) {
      const size_t size = tree.leaves() * labels;
      if (size > values.size() - next_value) in.fail("values of leaves are missing");
      tree.values.assign(values.begin() + static_cast<std::ptrdiff_t>(next_value),
                         values.begin() + static_cast<std::ptrdiff_t>(next_value + size));
      next_value += size;
    } else {
      for (size_t leaf = 0; leaf < tree.leaves(); ++leaf) tree.votes.push_back(bits.take(labels));
    }
  }
  if (next_value != values.size()) in.fail("there are too many values of leaves");
  return rounds;
}

}  // namespace

AdaBoostRounds AdaBoostRounds::first(int rounds) const {
  AdaBoostRounds result = *this;
  result.options.iterations = std::max(1, rounds);
  result.trees.resize(static_cast<size_t>(rounds));
  result.cuts = trees::keep_used_cuts(cuts, result.trees);
  result.finished = false;
  std::erase_if(result.bandit_samples, [&](const FeatureShares& sample) { return sample.round > rounds; });
  return result;
}

double AdaBoostRounds::error_bound() const {
  double bound = 1;
  for (const Tree& tree : trees) bound *= tree.normalizer;
  return bound;
}

double AdaBoostRounds::alpha_sum(int rounds) const {
  double sum = 0;
  for (int t = 0; t < rounds; ++t) {
    double most = trees[t].values.empty() ? 1 : 0;
    for (const float value : trees[t].values) most = std::max(most, static_cast<double>(std::abs(value)));
    sum += options.shrinkage * trees[t].alpha * most;
  }
  return sum;
}

void AdaBoostRounds::save(BinaryWriter& out) const {
  write_options(out, options);
  out.put<uint64_t>(labels);
  out.put(seed);
  out.put(trained_on.high);
  out.put(trained_on.low);
  out.put(id);
  out.put<uint8_t>(finished ? 1 : 0);
  cuts.save(out);
  write_rounds(out, trees, labels);
  out.put<uint64_t>(bandit_samples.size());
  for (const FeatureShares& sample : bandit_samples) {
    out.put(static_cast<int32_t>(sample.round));
    out.put(sample.shares);
  }
}

AdaBoostRounds AdaBoostRounds::load(BinaryReader& in) {
  AdaBoostRounds result;
  result.options = read_options(in);
  result.labels = in.get<uint64_t>();
  if (result.labels < 2 || result.labels > trees::kMostLabels) in.fail("the number of labels is wrong");
  result.seed = in.get<uint64_t>();
  result.trained_on.high = in.get<uint64_t>();
  result.trained_on.low = in.get<uint64_t>();
  result.id = in.get_string();
  result.finished = in.get<uint8_t>() != 0;
  result.cuts = BinCuts::load(in);
  result.trees = read_rounds(in, result.labels, result.cuts, result.options.votes == Votes::kReal);
  const size_t samples = in.get_count(1);
  for (size_t s = 0; s < samples; ++s) {
    FeatureShares sample;
    sample.round = in.get<int32_t>();
    sample.shares = get_vector_of<float>(in, result.cuts.features());
    result.bandit_samples.push_back(std::move(sample));
  }
  return result;
}

std::vector<Point> AdaBoostModel::points() const {
  std::vector<Point> points;
  for (const int64_t length : lengths_) points.push_back({length, ""});
  return points;
}

std::vector<ScoreMatrix> AdaBoostModel::score(const Dataset& data, std::span<const size_t> points,
                                              const Context& context) const {
  if (data.features() != features())
    throw_input("the data has {} features; the model was trained on {}", data.features(), features());
  // A model that ended early has the same scores at all later points.
  std::vector<int> rounds;
  for (const size_t point : points) rounds.push_back(rounds_of(point));
  std::vector<int> distinct = rounds;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<ScoreMatrix> scores(distinct.size(), ScoreMatrix(data.documents(), columns(), rounds_.id));
  const trees::BlockScorer& scorer = scorer_.get([&] {
    trees::BlockScorer made(rounds_.cuts, rounds_.trees);
    made.keep_tables(rounds_.options.shrinkage, columns());
    return made;
  });
  trees::add_scores(scorer, data, distinct, scores, context);
  if (distinct == rounds) return scores;
  std::vector<ScoreMatrix> result;
  for (const int count : rounds)
    result.push_back(scores[static_cast<size_t>(std::lower_bound(distinct.begin(), distinct.end(), count) -
                                                distinct.begin())]);
  return result;
}

std::unique_ptr<Model> AdaBoostModel::keep(std::span<const size_t> points) const {
  std::vector<int64_t> lengths;
  int rounds = 0;
  for (const size_t point : points) {
    lengths.push_back(lengths_.at(point));
    rounds = std::max(rounds, rounds_of(point));
  }
  return std::make_unique<AdaBoostModel>(rounds_.first(rounds), std::move(lengths));
}

Facts AdaBoostModel::facts() const {
  Facts facts = {{"id", rounds_.id}};
  for (const auto& entry : adaboost_option_table().entries())
    facts.push_back({"options." + entry.name, entry.get(rounds_.options)});
  facts.push_back({"labels", static_cast<int64_t>(rounds_.labels)});
  facts.push_back({"seed", static_cast<int64_t>(rounds_.seed)});
  facts.push_back({"trained_on", rounds_.trained_on.hex()});
  facts.push_back({"rounds", static_cast<int64_t>(rounds_.count())});
  facts.push_back({"finished_early", rounds_.finished ? "true" : "false"});
  facts.push_back({"error_bound", rounds_.error_bound()});
  facts.push_back({"alpha_sum", rounds_.alpha_sum(rounds_.count())});
  const auto of_trees = [&](auto get) { return column<double>(rounds_.trees, get); };
  facts.push_back({"edges", of_trees([](const Tree& tree) { return tree.edge; })});
  facts.push_back({"alphas", of_trees([](const Tree& tree) { return tree.alpha; })});
  facts.push_back({"normalizers", of_trees([](const Tree& tree) { return tree.normalizer; })});
  facts.push_back({"leaves", of_trees([](const Tree& tree) { return tree.leaves(); })});
  return facts;
}

std::vector<double> AdaBoostModel::importance() const {
  std::vector<double> shares(features(), 0);
  double total = 0;
  for (const Tree& tree : rounds_.trees)
    for (const Cut& cut : tree.cuts) {
      ++shares[cut.feature];
      ++total;
    }
  for (double& share : shares) share = total > 0 ? share / total : 0;
  return shares;
}

PlainModel AdaBoostModel::plain(size_t point) const {
  PlainModel plain;
  plain.features = features();
  plain.missing = trees::features_with_missing(rounds_.cuts);
  plain.columns = columns();
  plain.start.assign(columns(), 0.0);
  for (int t = 0; t < rounds_of(point); ++t) {
    const Tree& tree = rounds_.trees[t];
    PlainTree& nodes = plain.trees.emplace_back(trees::plain_tree(tree, rounds_.cuts));
    const auto step = static_cast<float>(rounds_.options.shrinkage * tree.alpha);
    for (size_t leaf = 0; leaf < tree.leaves(); ++leaf)
      for (size_t l = 0; l < columns(); ++l)
        nodes.values.push_back(!tree.values.empty()               ? step * tree.values[leaf * columns() + l]
                               : (tree.votes[leaf] >> l & 1) != 0 ? step
                                                                  : -step);
  }
  return plain;
}

void AdaBoostModel::save(BinaryWriter& out) const {
  rounds_.save(out);
  out.put(lengths_);
}

std::unique_ptr<Model> AdaBoostModel::load(BinaryReader& in) {
  AdaBoostRounds rounds = AdaBoostRounds::load(in);
  auto lengths = in.get_vector<int64_t>();
  for (size_t p = 0; p < lengths.size(); ++p)
    if (lengths[p] < 1 || (p > 0 && lengths[p] <= lengths[p - 1])) in.fail("its points do not ascend");
  return std::make_unique<AdaBoostModel>(std::move(rounds), std::move(lengths));
}

}  // namespace tunemix
