#include <algorithm>
#include <cmath>
#include <sstream>

#include "learners/adaboost_mh/round_learner.h"
#include "learners/adaboost_mh/run.h"
#include "trees/block_scorer.h"
#include "trees/plain_tree.h"
#include "tunemix/learners/adaboost_mh.h"

namespace tunemix {
namespace {

std::vector<uint8_t> pack_bits(std::span<const BoostRound> rounds, size_t labels) {
  std::vector<uint8_t> bytes;
  size_t bit = 0;
  for (const BoostRound& round : rounds)
    for (const uint32_t votes : round.votes)
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

// One field of every round, as a vector.
template <typename T, typename Get>
std::vector<T> column(std::span<const BoostRound> rounds, Get get) {
  std::vector<T> values;
  for (const BoostRound& round : rounds) values.push_back(static_cast<T>(get(round)));
  return values;
}

// One field of every cut of every round, as a vector.
template <typename T, typename Get>
std::vector<T> cut_column(std::span<const BoostRound> rounds, Get get) {
  std::vector<T> values;
  for (const BoostRound& round : rounds)
    for (const Cut& cut : round.cuts) values.push_back(static_cast<T>(get(cut)));
  return values;
}

template <typename T>
std::vector<T> get_vector_of(BinaryReader& in, size_t size) {
  std::vector<T> values = in.get_vector<T>();
  if (values.size() != size) in.fail("the parts of the model do not fit together");
  return values;
}

void write_rounds(BinaryWriter& out, std::span<const BoostRound> rounds, size_t labels) {
  out.put<uint64_t>(rounds.size());
  out.put(column<double>(rounds, [](const BoostRound& r) { return r.edge; }));
  out.put(column<double>(rounds, [](const BoostRound& r) { return r.alpha; }));
  out.put(column<double>(rounds, [](const BoostRound& r) { return r.normalizer; }));
  out.put(column<uint8_t>(rounds, [](const BoostRound& r) { return r.product ? 1 : 0; }));
  out.put(column<uint8_t>(rounds, [](const BoostRound& r) { return r.cuts.size(); }));
  out.put(cut_column<uint32_t>(rounds, [](const Cut& cut) { return cut.feature; }));
  out.put(cut_column<uint8_t>(rounds, [](const Cut& cut) { return cut.bin; }));
  std::vector<uint8_t> split_leaf;
  std::vector<float> values;
  for (const BoostRound& round : rounds) {
    split_leaf.insert(split_leaf.end(), round.split_leaf.begin(), round.split_leaf.end());
    values.insert(values.end(), round.values.begin(), round.values.end());
  }
  out.put(split_leaf);
  out.put(pack_bits(rounds, labels));
  out.put(values);
}

std::vector<BoostRound> read_rounds(BinaryReader& in, size_t labels, const BinCuts& cuts, bool real) {
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
  const auto split_leaf = get_vector_of<uint8_t>(in, tree_cuts);
  BitReader bits(in.get_vector<uint8_t>(), in);
  const auto values = in.get_vector<float>();

  std::vector<BoostRound> rounds(count);
  size_t next_cut = 0;
  size_t next_split = 0;
  size_t next_value = 0;
  for (size_t t = 0; t < count; ++t) {
    BoostRound& round = rounds[t];
    round.edge = edge[t];
    round.alpha = alpha[t];
    round.normalizer = normalizer[t];
    if (!std::isfinite(round.edge + round.alpha + round.normalizer) || round.normalizer <= 0)
      in.fail("a round has no finite weight");
    round.product = product[t] != 0;
    for (size_t k = 0; k < cut_count[t]; ++k, ++next_cut) {
      const Cut cut = {feature[next_cut], bin[next_cut]};
      if (cut.feature >= cuts.features() || cut.bin >= cuts.thresholds(cut.feature).size())
        in.fail("a cut has no threshold");
      round.cuts.push_back(cut);
      if (round.product) continue;
      round.split_leaf.push_back(split_leaf[next_split++]);
      if (round.split_leaf.back() > k) in.fail("a split has no leaf");
    }
    if (real && !round.product) {
      const size_t size = round.leaves() * labels;
      if (size > values.size() - next_value) in.fail("values of leaves are missing");
      round.values.assign(values.begin() + static_cast<std::ptrdiff_t>(next_value),
                          values.begin() + static_cast<std::ptrdiff_t>(next_value + size));
      next_value += size;
    } else {
      for (size_t leaf = 0; leaf < round.leaves(); ++leaf) round.votes.push_back(bits.take(labels));
    }
  }
  if (next_value != values.size()) in.fail("there are too many values of leaves");
  return rounds;
}

}  // namespace

std::vector<size_t> AdaBoostModel::feature_use() const {
  std::vector<size_t> use(features(), 0);
  for (const BoostRound& round : rounds_)
    for (const Cut& cut : round.cuts) ++use[cut.feature];
  return use;
}

double AdaBoostModel::error_bound(int rounds) const {
  double bound = 1;
  for (int t = 0; t < rounds; ++t) bound *= rounds_[t].normalizer;
  return bound;
}

double AdaBoostModel::alpha_sum(int rounds) const {
  double sum = 0;
  for (int t = 0; t < rounds; ++t) {
    double most = rounds_[t].values.empty() ? 1 : 0;
    for (const float value : rounds_[t].values) most = std::max(most, static_cast<double>(std::abs(value)));
    sum += options_.shrinkage * rounds_[t].alpha * most;
  }
  return sum;
}

ScoreMatrix AdaBoostModel::score(const Dataset& data, int rounds, const Context& context) const {
  const int checkpoints[1] = {rounds};
  return std::move(score(data, checkpoints, context)[0]);
}

std::vector<ScoreMatrix> AdaBoostModel::score(const Dataset& data, std::span<const int> checkpoints,
                                              const Context& context) const {
  trees::expect_features(data, features());
  for (size_t c = 0; c < checkpoints.size(); ++c)
    if (checkpoints[c] < 0 || checkpoints[c] > rounds() || (c > 0 && checkpoints[c] < checkpoints[c - 1]))
      throw_input("{} rounds were asked for; the model has {} (and checkpoints ascend)", checkpoints[c],
                  rounds());
  std::vector<ScoreMatrix> out(checkpoints.size(),
                               ScoreMatrix(data.documents(), labels_, data.fingerprint(), id_));
  trees::add_scores(cuts_, rounds_, options_.shrinkage, data, nullptr, checkpoints, out, context);
  return out;
}

PlainModel AdaBoostModel::plain(int rounds) const {
  PlainModel plain;
  plain.features = features();
  plain.columns = labels_;
  plain.start.assign(labels_, 0.0);
  for (int t = 0; t < rounds; ++t) {
    const BoostRound& round = rounds_[t];
    PlainTree tree = trees::plain_tree(round, cuts_);
    const auto step = static_cast<float>(options_.shrinkage * round.alpha);
    for (size_t leaf = 0; leaf < round.leaves(); ++leaf)
      for (size_t l = 0; l < labels_; ++l)
        tree.values.push_back(!round.values.empty()               ? step * round.values[leaf * labels_ + l]
                              : (round.votes[leaf] >> l & 1) != 0 ? step
                                                                  : -step);
    plain.trees.push_back(std::move(tree));
  }
  return plain;
}

void AdaBoostModel::save(BinaryWriter& out) const {
  trees::write_options(out, options_);
  out.put<uint64_t>(labels_);
  out.put(seed_);
  out.put(trained_on_.high);
  out.put(trained_on_.low);
  out.put(id_);
  out.put<uint8_t>(finished_ ? 1 : 0);
  cuts_.save(out);
  write_rounds(out, rounds_, labels_);
  out.put<uint64_t>(bandit_samples_.size());
  for (const BanditSample& sample : bandit_samples_) {
    out.put<int32_t>(sample.round);
    out.put(sample.probabilities);
  }
}

AdaBoostModel AdaBoostModel::load(BinaryReader& in) {
  AdaBoostModel model;
  model.options_ = trees::read_options(in);
  model.labels_ = in.get<uint64_t>();
  if (model.labels_ < 2 || model.labels_ > 32) in.fail("the number of labels is wrong");
  model.seed_ = in.get<uint64_t>();
  model.trained_on_.high = in.get<uint64_t>();
  model.trained_on_.low = in.get<uint64_t>();
  model.id_ = in.get_string();
  model.finished_ = in.get<uint8_t>() != 0;
  model.cuts_ = BinCuts::load(in);
  model.rounds_ = read_rounds(in, model.labels_, model.cuts_, model.options_.votes == Votes::kReal);
  const size_t samples = in.get_count(1);
  for (size_t s = 0; s < samples; ++s) {
    BanditSample sample;
    sample.round = in.get<int32_t>();
    sample.probabilities = get_vector_of<float>(in, model.features());
    model.bandit_samples_.push_back(std::move(sample));
  }
  return model;
}

}  // namespace tunemix
