#include <algorithm>
#include <map>
#include <set>

#include "tunemix/mix/mixer.h"

namespace tunemix {

bool Variant::takes(const Member& member) const {
  return (family.empty() || family == member.family) && (!kind || *kind == member.kind);
}

std::vector<Variant> standard_variants(std::span<const Member> members, std::span<const FamilyRow> rows) {
  std::map<std::string, std::set<CalibrationKind>> families;
  for (const Member& member : members) families[member.family].insert(member.kind);
  std::vector<Variant> variants;
  size_t named = 0;
  for (const auto& [family, prefix] : rows) {
    const auto found = families.find(family);
    if (found == families.end()) continue;
    ++named;
    variants.push_back({prefix + "+EXP", family, std::nullopt, false});
    if (found->second.contains(CalibrationKind::kCpc))
      variants.push_back({prefix + "+EXP.CPC", family, CalibrationKind::kCpc, false});
    if (found->second.contains(CalibrationKind::kRbc))
      variants.push_back({prefix + "+EXP.RBC", family, CalibrationKind::kRbc, false});
    variants.push_back({prefix + "+OneBest", family, std::nullopt, true});
  }
  require(named == families.size(), "every family needs the prefix of its rows, once");
  if (named > 1) {
    variants.push_back({"ALL+EXP", "", std::nullopt, false});
    variants.push_back({"ALL+OneBest", "", std::nullopt, true});
  }
  return variants;
}

}  // namespace tunemix
