#include "trees/used_cuts.h"

#include <array>

namespace tunemix::trees {

BinCuts keep_used_cuts(const BinCuts& cuts, std::span<Tree> trees) {
  std::vector<std::array<bool, 256>> used(cuts.features(), std::array<bool, 256>{});
  for (const Tree& tree : trees)
    for (const Cut& cut : tree.cuts) used[cut.feature][cut.bin] = true;
  for (size_t j = 0; j < used.size(); ++j) used[j][0] |= cuts.has_missing(j);
  std::vector<std::vector<float>> thresholds(used.size());
  std::vector<std::array<uint8_t, 256>> number(used.size());
  for (size_t j = 0; j < used.size(); ++j)
    for (size_t b = 0; b < cuts.thresholds(j).size(); ++b)
      if (used[j][b]) {
        number[j][b] = static_cast<uint8_t>(thresholds[j].size());
        thresholds[j].push_back(cuts.thresholds(j)[b]);
      }
  for (Tree& tree : trees)
    for (Cut& cut : tree.cuts) cut.bin = number[cut.feature][cut.bin];
  return BinCuts(thresholds);
}

}  // namespace tunemix::trees
