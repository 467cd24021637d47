// The weights of AdaBoost.MH: one float per (document, label).
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "trees/kernels/scoring.h"
#include "trees/tree.h"
#include "tunemix/core/aligned.h"
#include "tunemix/core/context.h"

namespace tunemix {

// A document's weight is the same for all or 2^label. Half of it is on its own label; the rest is on the
// others alike, or, under kDistance (with 2^label), by how far they are from its own.
enum class InitialWeights { kUniform, kExponential, kDistance };

}  // namespace tunemix

namespace tunemix::trees {

constexpr size_t kMostLabels = 32;

// Calls body.operator()<K>() for a number of labels.
template <typename Body>
void with_labels(size_t labels, Body body) {
  [&]<size_t... kFromTwo>(std::index_sequence<kFromTwo...>) {
    (void)((labels == kFromTwo + 2 ? (body.template operator()<kFromTwo + 2>(), true) : false) || ...);
  }
  (std::make_index_sequence<kMostLabels - 1>());
}

// The initial weight of a document of each label; half of it is on the pair with its own label, the rest
// spread over the others (spec, section 2). With weights of the documents, it is that of one of weight 1.
std::vector<double> document_weights(std::span<const int32_t> labels, size_t num_labels, InitialWeights kind,
                                     std::span<const float> weights = {});
// Of the weight of a document of label `own`, the share that is on the pair with label l.
double pair_share(size_t own, size_t l, size_t num_labels, InitialWeights kind);

class WeightTable {
 public:
  // `documents`: those that are trained on, by their numbers; empty: all. The others have no weight.
  // `of_documents`: a factor for each document of `labels`; empty: 1.
  WeightTable(std::span<const int32_t> labels, std::span<const uint32_t> documents, size_t num_labels,
              InitialWeights kind, const Context& context, std::span<const float> of_documents = {});

  size_t documents() const { return labels_.size(); }
  // The numbers of the documents that are trained on; empty: all of them.
  std::span<const uint32_t> trained() const { return trained_; }
  size_t labels() const { return num_labels_; }
  // Readable for padded_labels() floats.
  const float* row(size_t document) const { return weights_.data() + document * num_labels_; }
  float* row(size_t document) { return weights_.data() + document * num_labels_; }
  std::span<const float> values() const { return {weights_.data(), documents() * num_labels_}; }
  const uint8_t* label() const { return labels_.data(); }  // labels() for a document without weight
  double sum() const { return sum_; }

  // w *= exp(-h y) / sum for documents in `leaf` of the tree; sets the new sum and the tree's normalizer.
  // The factors come from a table by leaf and label.
  void update(Tree& tree, double shrinkage, std::span<const uint8_t> leaf, const Context& context);

  // For replaying a model: the factors of a tree that was made when the sum was `sum_before`.
  std::vector<float> factors(const Tree& tree, double shrinkage, double sum_before) const;
  // Multiplies the weights of `count` documents from `begin` by their factors.
  void apply(std::span<const float> factors, const uint8_t* leaf, size_t begin, size_t count);
  void set_sum(double sum) { sum_ = sum; }

 private:
  double add_up(const Context& context) const;
  double add_up(size_t begin, size_t count) const;

  size_t num_labels_;
  std::vector<uint8_t> labels_;
  std::vector<uint32_t> trained_;
  AlignedVector<float> weights_;
  double sum_ = 0;
};

}  // namespace tunemix::trees
