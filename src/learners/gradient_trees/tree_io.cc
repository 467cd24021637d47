#include "learners/gradient_trees/tree_io.h"

#include <cmath>

namespace tunemix::trees {
namespace {

template <typename T>
std::vector<T> get_vector_of(BinaryReader& in, size_t size) {
  std::vector<T> values = in.get_vector<T>();
  if (values.size() != size) in.fail("the parts of the model do not fit together");
  return values;
}

}  // namespace

void write_trees(BinaryWriter& out, std::span<const Tree> trees, std::span<const float> gains) {
  std::vector<uint8_t> cut_count;
  std::vector<uint32_t> feature;
  std::vector<uint8_t> bin;
  std::vector<uint8_t> missing_above;
  std::vector<uint8_t> split_leaf;
  std::vector<float> values;
  for (const Tree& tree : trees) {
    cut_count.push_back(static_cast<uint8_t>(tree.cuts.size()));
    for (const Cut& cut : tree.cuts) {
      feature.push_back(cut.feature);
      bin.push_back(cut.bin);
      missing_above.push_back(cut.missing_above ? 1 : 0);
    }
    split_leaf.insert(split_leaf.end(), tree.split_leaf.begin(), tree.split_leaf.end());
    values.insert(values.end(), tree.values.begin(), tree.values.end());
  }
  out.put(cut_count);
  out.put(feature);
  out.put(bin);
  out.put(missing_above);
  out.put(split_leaf);
  out.put(values);
  out.put_span(gains);
}

std::pair<std::vector<Tree>, std::vector<float>> read_trees(BinaryReader& in, const BinCuts& cuts) {
  const auto cut_count = in.get_vector<uint8_t>();
  size_t total = 0;
  for (const uint8_t count : cut_count) total += count;
  const auto feature = get_vector_of<uint32_t>(in, total);
  const auto bin = get_vector_of<uint8_t>(in, total);
  const auto missing_above = get_vector_of<uint8_t>(in, total);
  const auto split_leaf = get_vector_of<uint8_t>(in, total);
  const auto values = get_vector_of<float>(in, total + cut_count.size());
  auto gains = get_vector_of<float>(in, total);

  std::vector<Tree> trees(cut_count.size());
  size_t next = 0;
  size_t next_value = 0;
  for (size_t t = 0; t < trees.size(); ++t) {
    Tree& tree = trees[t];
    for (size_t k = 0; k < cut_count[t]; ++k, ++next) {
      if (feature[next] >= cuts.features() || bin[next] >= cuts.thresholds(feature[next]).size())
        in.fail("a cut has no threshold");
      if (split_leaf[next] > k) in.fail("a split has no leaf");
      tree.cuts.push_back({feature[next], bin[next], missing_above[next] != 0});
      tree.split_leaf.push_back(split_leaf[next]);
    }
    for (size_t k = 0; k < tree.leaves(); ++k, ++next_value) {
      if (!std::isfinite(values[next_value])) in.fail("a leaf has no finite value");
      tree.values.push_back(values[next_value]);
    }
  }
  return {std::move(trees), std::move(gains)};
}

}  // namespace tunemix::trees
