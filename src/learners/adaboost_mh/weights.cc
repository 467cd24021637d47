#include "learners/adaboost_mh/weights.h"

#include <algorithm>
#include <cmath>

#include "learners/adaboost_mh/kernels/weights.h"

namespace tunemix::trees {
namespace {

constexpr size_t kBlock = 4096;
}  // namespace

std::vector<double> document_weights(std::span<const int32_t> labels, size_t num_labels, InitialWeights kind,
                                     std::span<const float> weights) {
  std::vector<double> share(num_labels, 1.0);
  if (kind != InitialWeights::kUniform)
    for (size_t l = 0; l < num_labels; ++l) share[l] = std::ldexp(1.0, static_cast<int>(l));
  double total = 0;
  for (size_t i = 0; i < labels.size(); ++i)
    total += weights.empty() ? share[labels[i]] : share[labels[i]] * static_cast<double>(weights[i]);
  for (double& s : share) s /= total;
  return share;
}

double pair_share(size_t own, size_t l, size_t num_labels, InitialWeights kind) {
  if (l == own) return 0.5;
  if (kind != InitialWeights::kDistance) return 0.5 / static_cast<double>(num_labels - 1);
  size_t all = 0;
  for (size_t other = 0; other < num_labels; ++other) all += std::max(other, own) - std::min(other, own);
  return 0.5 * static_cast<double>(std::max(l, own) - std::min(l, own)) / static_cast<double>(all);
}

WeightTable::WeightTable(std::span<const int32_t> labels, std::span<const uint32_t> documents,
                         size_t num_labels, InitialWeights kind, const Context& context,
                         std::span<const float> of_documents)
    : num_labels_(num_labels),
      labels_(labels.size(), static_cast<uint8_t>(num_labels)),
      trained_(documents.begin(), documents.end()),
      weights_(labels.size() * num_labels + padded_labels(num_labels), 0.0F) {
  std::vector<int32_t> of_trained;
  std::vector<float> factors;
  for (const uint32_t i : trained_) {
    of_trained.push_back(labels[i]);
    if (!of_documents.empty()) factors.push_back(of_documents[i]);
  }
  const std::vector<double> share = trained_.empty()
                                        ? document_weights(labels, num_labels, kind, of_documents)
                                        : document_weights(of_trained, num_labels, kind, factors);
  const auto start = [&](size_t i) {
    const double factor = of_documents.empty() ? 1.0 : static_cast<double>(of_documents[i]);
    if (factor == 0) return;
    labels_[i] = static_cast<uint8_t>(labels[i]);
    const double half = share[labels_[i]] * factor / 2;
    for (size_t l = 0; l < num_labels; ++l)
      weights_[i * num_labels + l] =
          static_cast<float>(l == labels_[i] ? half
                             : kind == InitialWeights::kDistance
                                 ? share[labels_[i]] * pair_share(labels_[i], l, num_labels, kind)
                                 : half / static_cast<double>(num_labels - 1));
  };
  if (trained_.empty())
    for (size_t i = 0; i < labels.size(); ++i) start(i);
  for (const uint32_t i : trained_) start(i);
  sum_ = add_up(context);
}

double WeightTable::add_up(const Context& context) const {
  std::vector<double> sums((documents() + kBlock - 1) / kBlock);
  parallel_blocks(context.pool(), documents(), kBlock,
                  [&](size_t begin, size_t end) { sums[begin / kBlock] = add_up(begin, end - begin); });
  double sum = 0;
  for (const double s : sums) sum += s;
  return sum;
}

double WeightTable::add_up(size_t begin, size_t count) const {
  return weight_kernels().sum(num_labels_, row(begin), count);
}

std::vector<float> WeightTable::factors(const Tree& tree, double shrinkage, double sum_before) const {
  const size_t leaves = tree.leaves();
  // By leaf and label; the last row, of documents without weight, is 0.
  std::vector<float> table(leaves * (num_labels_ + 1) * num_labels_);
  for (size_t leaf = 0; leaf < leaves; ++leaf)
    for (size_t l = 0; l < num_labels_; ++l) {
      const double vote = tree.values.empty() ? ((tree.votes[leaf] >> l & 1) != 0 ? 1.0 : -1.0)
                                              : static_cast<double>(tree.values[leaf * num_labels_ + l]);
      const double h = shrinkage * tree.alpha * vote;
      const auto right = static_cast<float>(std::exp(-h) / sum_before);
      const auto wrong = static_cast<float>(std::exp(h) / sum_before);
      for (size_t label = 0; label < num_labels_; ++label)
        table[(leaf * (num_labels_ + 1) + label) * num_labels_ + l] = label == l ? right : wrong;
    }
  return table;
}

void WeightTable::apply(std::span<const float> factors, const uint8_t* leaf, size_t begin, size_t count) {
  weight_kernels().multiply(num_labels_, factors.data(), leaf, label() + begin, row(begin), count);
}

void WeightTable::update(Tree& tree, double shrinkage, std::span<const uint8_t> leaf,
                         const Context& context) {
  const std::vector<float> table = factors(tree, shrinkage, sum_);
  std::vector<double> sums((documents() + kBlock - 1) / kBlock);
  parallel_blocks(context.pool(), documents(), kBlock, [&](size_t begin, size_t end) {
    apply(table, leaf.data() + begin, begin, end - begin);
    sums[begin / kBlock] = add_up(begin, end - begin);
  });
  // The factors hold 1 / (the sum before), so the new sum is the normalizer.
  sum_ = 0;
  for (const double s : sums) sum_ += s;
  tree.normalizer = sum_;
}

}  // namespace tunemix::trees
