// What the gains of drawn features are relative to, as their bandit wants it.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "trees/bandit.h"
#include "trees/chance_columns.h"
#include "trees/gain_scale.h"

namespace tunemix::trees {

// Without chance: as GainScale has it. With chance: 1 for a gain that is surely more than chance gains, and
// not small among recent gains, both in leaves of about the same share of the documents; less in proportion
// for a smaller one.
class RewardScale {
 public:
  // `bandit` may be null: nothing is drawn then.
  RewardScale(const Bandit* bandit, const BinnedDataset& bins, const BinCuts& cuts) : bins_(bins) {
    if (bandit != nullptr && bandit->compares_with_chance()) chance_.emplace(bins, cuts);
  }

  // The columns to search: those of the drawn features, then, where gains are paid, some that show what
  // chance gains.
  std::vector<SearchedColumn> columns(std::span<const uint32_t> drawn, bool gains_are_paid) {
    std::vector<SearchedColumn> result;
    for (const uint32_t j : drawn) result.push_back({j, bins_.column(j)});
    if (chance_ && gains_are_paid) chance_->append_next(result);
    return result;
  }

  // Makes the rewards of the drawn features from the gains of all columns.
  void reward(std::vector<double>& gains, size_t drawn, size_t documents, size_t all) {
    if (!chance_) return gain_.reward(gains, documents, all);
    const std::span<const double> by_chance = std::span<const double>(gains).subspan(drawn);
    const double chance = chance_->mean(by_chance, size_class(documents, all));
    gains.resize(drawn);
    std::vector<double> recent = gains;
    gain_.reward(recent, documents, all);
    const double sure = std::max(kSure * chance, kNotSmall * gain_.high(documents, all));
    for (double& gain : gains) gain = gain > 0 ? std::min(1.0, gain / sure) : 0;
  }

  void save(BinaryWriter& out) const {
    gain_.save(out);
    if (chance_) chance_->save(out);
  }
  void load(BinaryReader& in) {
    gain_.load(in);
    if (chance_) chance_->load(in);
  }

 private:
  static constexpr double kSure = 5;         // times what chance gains
  static constexpr double kNotSmall = 0.25;  // of the high quantile of recent gains
  const BinnedDataset& bins_;
  GainScale gain_;
  std::optional<ChanceColumns> chance_;
};

}  // namespace tunemix::trees
