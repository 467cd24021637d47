#include "mix/weights.h"

#include <algorithm>
#include <cmath>

namespace tunemix::mixing {
namespace {

CellWeights weigh(const Cell& cell, std::span<const double> omega, std::span<const double> cs) {
  CellWeights result;
  for (const size_t m : cell.members) result.best = std::max(result.best, omega[m]);
  result.mass.assign(cs.size(), 0);
  for (const size_t m : cell.members)
    for (size_t j = 0; j < cs.size(); ++j) {
      result.members.push_back(std::exp(cs[j] * (omega[m] - result.best)));
      result.mass[j] += result.members.back();
    }
  return result;
}

// Appends the factor of each of the chosen cells for c number j: the weights of every family, or of all
// members where they are pooled, have the same sum, and all together 1.
void append_factors(const Layout& layout, std::span<const CellWeights> weights,
                    std::span<const size_t> chosen, double c, size_t j, bool pooled,
                    std::vector<double>& out) {
  const auto group = [&](size_t cell) { return pooled ? 0 : layout.cells[cell].family; };
  std::vector<double> best(pooled ? 1 : layout.families, 0.0), mass(best.size(), 0.0);
  for (const size_t i : chosen) best[group(i)] = std::max(best[group(i)], weights[i].best);
  const size_t begin = out.size();
  for (const size_t i : chosen) {
    out.push_back(std::exp(c * (weights[i].best - best[group(i)])));
    mass[group(i)] += out.back() * weights[i].mass[j];
  }
  const auto groups = static_cast<double>(mass.size() - std::count(mass.begin(), mass.end(), 0.0));
  for (size_t i = 0; i < chosen.size(); ++i) out[begin + i] /= mass[group(chosen[i])] * groups;
}

}  // namespace

Weights make_weights(const Layout& layout, std::span<const double> omega, std::span<const double> cs,
                     Families families) {
  Weights result;
  for (const Cell& cell : layout.cells) result.cells.push_back(weigh(cell, omega, cs));
  for (const Block& block : layout.blocks) {
    std::vector<double>& factors = result.blocks.emplace_back();
    for (size_t j = 0; j < cs.size(); ++j)
      append_factors(layout, result.cells, block, cs[j], j, true, factors);
  }
  if (families == Families::kWeighted || families == Families::kLearned) return result;
  for (const std::vector<Selection>& selections : layout.selections) {
    auto& of_variant = result.selections.emplace_back();
    for (const Selection& selection : selections) {
      std::vector<double>& factors = of_variant.emplace_back();
      for (size_t j = 0; j < cs.size(); ++j)
        append_factors(layout, result.cells, selection.cells, cs[j], j, families == Families::kPooled,
                       factors);
    }
  }
  return result;
}

std::vector<double> family_masses(std::span<const double> qualities, size_t queries) {
  const double best = *std::max_element(qualities.begin(), qualities.end());
  const double rate = 2 * std::sqrt(static_cast<double>(queries));
  std::vector<double> masses;
  double sum = 0;
  for (const double quality : qualities) {
    masses.push_back(std::exp(rate * (quality - best)));
    sum += masses.back();
  }
  for (double& mass : masses) mass /= sum;
  return masses;
}

}  // namespace tunemix::mixing
