#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "learners/adaboost_mh/round_learner.h"
#include "trees/partition.h"

namespace tunemix::trees {
namespace {

// Coordinate ascent over the terms v_j phi_j of a product (Kegl and Busa-Fekete 2009). A term is optimised
// against the virtual labels y' = y * (the other terms); as the vote vectors only flip the signs of whole
// labels, which the search does not mind, y' is y times the other terms' phi. A term that helps nothing stays
// the constant 1.
class ProductLearner final : public RoundLearner {
 public:
  ProductLearner(int terms, int passes, ClassWeights& weights, ClassSearch& search)
      : terms_(static_cast<size_t>(terms)),
        passes_(static_cast<size_t>(passes)),
        weights_(weights),
        search_(search) {}

  Tree fit(bool full, std::span<uint8_t> leaf, Random& random) override {
    Tree tree;
    tree.product = true;
    std::fill(leaf.begin(), leaf.end(), uint8_t{0});
    std::vector<std::optional<Cut>> terms(terms_);
    weights_.set_criterion(CriterionKind::kStump, false);
    weights_.set_flip(leaf.data());
    bool first = true;
    size_t tried_since_growth = 0;
    for (size_t attempt = 0; attempt < terms_ * passes_; ++attempt) {
      std::optional<Cut>& term = terms[attempt % terms_];
      const auto toggle = [&] {
        if (term) xor_failing(search_.bins(), *term, leaf, search_.context());
      };
      toggle();  // `leaf` is now the product of the other terms
      const NodeCut<Sums> found = full || !search_.has_bandit()
                                      ? search_.search(weights_.root(), weights_.criterion(), nullptr)
                                      : search_.search_drawn(weights_.root(), weights_.criterion(), random);
      if (first) set_votes(found.total, nullptr, tree);  // the constant learner
      first = false;
      const double edge = found.found ? ClassWeights::edge(found) : 0;
      if (edge > tree.edge) {
        term = with_side(found);
        set_votes(found.total, &found.below, tree);
        tried_since_growth = 0;
      } else {
        ++tried_since_growth;
      }
      toggle();
      if (tried_since_growth + 1 >= terms_) break;
    }
    for (const std::optional<Cut>& term : terms)
      if (term) tree.cuts.push_back(*term);
    return tree;
  }

 private:
  Cut with_side(const NodeCut<Sums>& found) const {
    Cut cut = found.cut;
    const Documents all = weights_.root();
    if (!found.side_known)
      cut.missing_above = larger_above(
          count_passing(search_.bins(), cut, all.index, all.count, search_.context().pool()), all.count);
    return cut;
  }

  // v_l is the sign of the edge on label l; leaf 1 is where the product of the phi is -1.
  void set_votes(const Sums& total, const Sums* below, Tree& tree) const {
    uint32_t votes = 0;
    double edge = 0;
    for (size_t l = 0; l < weights_.labels(); ++l) {
      double sum = weights_.signed_sum(total, l);
      if (below != nullptr) sum -= 2.0 * weights_.signed_sum(*below, l);
      if (sum > 0) votes |= 1U << l;
      edge += std::abs(sum);
    }
    tree.edge = std::min(1.0, edge / kOne);
    tree.votes = {votes, ~votes & label_mask(weights_.labels())};
  }

  size_t terms_;
  size_t passes_;
  ClassWeights& weights_;
  ClassSearch& search_;
};

}  // namespace

void xor_failing(const BinnedDataset& bins, const Cut& cut, std::span<uint8_t> leaf, const Context& context) {
  const BinnedDataset::Place& place = bins.place(cut.feature);
  const uint8_t* column = bins.column(place.column);
  const size_t width = bins.width(place.column);
  const std::array<uint8_t, 256> byte_passes = place.above(cut.bin, cut.missing_above);
  parallel_blocks(context.pool(), leaf.size(), 65536, [&](size_t begin, size_t end) {
    // Bytes may alias anything, so all that the loops read besides is local.
    uint8_t* __restrict to = leaf.data();
    const uint8_t* from = column;
    const uint8_t* passes = byte_passes.data();
    // One less, a missing value is above all bins.
    const uint8_t less = place.missing && cut.missing_above ? 1 : 0;
    const auto bin = static_cast<uint8_t>(cut.bin - less);
    if (width == 1)
      for (size_t i = begin; i < end; ++i)
        to[i] ^= static_cast<uint8_t>(static_cast<uint8_t>(from[i] - less) <= bin);
    else
      for (size_t i = begin, w = width; i < end; ++i) to[i] ^= passes[from[i * w]] ^ 1;
  });
}

uint32_t label_mask(size_t labels) { return labels >= 32 ? ~0U : (1U << labels) - 1; }

std::unique_ptr<RoundLearner> make_product_learner(int terms, int passes, ClassWeights& weights,
                                                   ClassSearch& search) {
  return std::make_unique<ProductLearner>(terms, passes, weights, search);
}

}  // namespace tunemix::trees
